// Package router picks the pair, posts a request to prefill and decode at once, and hands the client decode's answer.
// Prefill's own answer is dropped, as SGLang's router does, unless the router is told to cancel on a prefill error.
// It refuses at the edge with either of two guards: a limit that the operator configured (edge-refusal) or one that
// its workers announced (limit-exchange).
package router

import (
	"slices"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn"
	"github.com/stalepage/stalepage/engine/wire"
)

// Config is what one router is built from.
type Config struct {
	Addr wire.Addr
	// Workers get every request: prefill and decode, in this order, or one co-located worker.
	Workers []wire.Addr
	Router  config.Router
	Guards  guard.Set
	// Desk is memory to write effects on; nil is memory of its own.
	Desk *turn.Memory
}

// Worker is the router as a port.Worker.
type Worker struct {
	config Config
	desk   turn.Desk
	// workers are the ones that every request is posted to, in the order of the configuration; the last one answers.
	workers []worker
	// rooms is every room ever asked for: a second Submit must not take over the first one's answer.
	rooms map[wire.Room]exchange
	// waiting lists those that wait for an answer, in order of arrival.
	waiting []wire.Room
}

// exchange is one request as the router knows it.
type exchange struct {
	client wire.Addr
	tokens int // of the prompt
	open   bool
	// aborted: its client gave up, so what prefill says of it is a consequence, and decode's answer is on its way.
	aborted bool
}

// New returns a router that has seen nothing yet.
func New(c Config) *Worker {
	w := &Worker{config: c, desk: turn.New(c.Addr, c.Desk), rooms: map[wire.Room]exchange{}}
	for _, addr := range c.Workers {
		w.workers = append(w.workers, worker{Peer: turn.Peer{Addr: addr}})
	}
	return w
}

// Addr is the router's address.
func (w *Worker) Addr() wire.Addr { return w.config.Addr }

// Held counts the rooms that still wait for an answer.
func (w *Worker) Held() event.Holdings { return event.Holdings{Requests: len(w.waiting)} }

// Step routes what arrived.
func (w *Worker) Step(t port.Turn) port.Effects {
	w.desk.Begin(t.Now)
	for _, m := range t.Messages {
		w.receive(m)
	}
	return w.desk.Effects()
}

func (w *Worker) receive(m wire.Message) {
	if !w.hears(m.From) {
		return
	}
	switch body := m.Body.(type) {
	case wire.PeerDown:
		w.peerDown(body.Peer)
	case wire.PeerUp:
		w.peerUp(m.From, body)
	case wire.Submit:
		w.submit(m, body)
	case wire.Abort:
		if r := w.rooms[m.Room]; r.open {
			r.aborted = true
			w.rooms[m.Room] = r
			w.desk.Event(&event.Event{Kind: event.AbortReceived, Room: m.Room, Peer: m.From})
			w.broadcast(m.Room, body)
		}
	case wire.Finished:
		w.answer(m.Room, body)
	case wire.Refused: // prefill's own answer: dropped, by default
		if r := w.rooms[m.Room]; r.open && !r.aborted && w.config.Router.Mode == config.CancelOnPrefillError {
			w.answer(m.Room, wire.Finished{Status: body.Status, PromptTokens: r.tokens, Reason: body.Reason})
			w.post(w.workers[len(w.workers)-1], m.Room, wire.Abort{})
		}
	}
}

func (w *Worker) submit(m wire.Message, body wire.Submit) {
	w.desk.Received(m.Room, body)
	if w.taken(m, len(body.Prompt)) {
		return
	}
	w.rooms[m.Room] = exchange{client: m.From, tokens: len(body.Prompt), open: true}
	w.waiting = append(w.waiting, m.Room)
	reason, trip, limit := "", guard.None, w.limit()
	switch {
	case len(body.Prompt) == 0 || body.MaxNewTokens < 1:
		w.reject(m.Room, len(body.Prompt), "a request needs at least one prompt token and one new token")
		return
	case w.config.Guards.Has(guard.EdgeRefusal) && len(body.Prompt) >= w.config.Router.EdgeLimitTokens:
		reason, trip = "prompt reaches the edge limit", guard.EdgeRefusal
	case w.config.Guards.Has(guard.LimitExchange) && limit > 0 && len(body.Prompt) >= limit:
		reason, trip = "prompt reaches the smallest limit that a worker announced", guard.LimitExchange
	}
	if trip == guard.None {
		w.serve(m.Room, body)
		return
	}
	w.desk.Event(&event.Event{Kind: event.GuardTripped, Room: m.Room, Guard: trip.String(), Reason: reason, First: -1})
	w.reject(m.Room, len(body.Prompt), reason)
}

// taken turns away a Submit for a room that was asked for before: the same client's is a repetition, another's is refused.
func (w *Worker) taken(m wire.Message, tokens int) bool {
	first, taken := w.rooms[m.Room]
	if taken && first.client != m.From {
		reason := "the room is another request's: draw a fresh one"
		w.desk.Event(&event.Event{
			Kind: event.RequestRejected, Room: m.Room, Stage: wire.AtEdge, Tokens: tokens, Reason: reason,
		})
		w.desk.Send(m.From, m.Room, wire.Finished{Status: 400, PromptTokens: tokens, Reason: reason})
	}
	return taken
}

func (w *Worker) reject(room wire.Room, tokens int, reason string) {
	w.desk.Event(&event.Event{
		Kind: event.RequestRejected, Room: room, Stage: wire.AtEdge, Tokens: tokens, Reason: reason,
	})
	w.answer(room, wire.Finished{Status: 400, PromptTokens: tokens, Reason: reason})
}

func (w *Worker) broadcast(room wire.Room, body wire.Body) {
	for _, to := range w.workers {
		w.post(to, room, body)
	}
}

// answer closes a room towards its client; a second answer finds no one waiting.
func (w *Worker) answer(room wire.Room, body wire.Finished) {
	if r := w.rooms[room]; r.open {
		r.open = false
		w.rooms[room] = r
		at := slices.Index(w.waiting, room)
		w.waiting = slices.Delete(w.waiting, at, at+1)
		w.desk.Send(r.client, room, body)
	}
}
