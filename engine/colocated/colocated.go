// Package colocated is the control: one worker, one pool, one request object, no transfer. The very refusal that leaks
// in a disaggregated deployment works here without any guard, because the object that was refused is the one that
// answers: the verdict is looked at after the placeholder's forward pass, and the client gets it.
//
// A request waits for pages for prompt and answer, is computed in chunks, and runs one token a step.
package colocated

import (
	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/kv/tickets"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn"
	"github.com/stalepage/stalepage/engine/wire"
)

type state uint8

const (
	announced state = iota // aborted before its Submit came
	waiting
	forwarding
	running
	draining
	scrubbing
	over
)

// Config is what one co-located worker is built from.
type Config struct {
	Addr, Router wire.Addr
	Worker       config.Worker
	Guards       guard.Set
	Admission    port.Admission
	Allocator    port.Allocator
	Pool         port.Layout
	// Desk is memory to write effects on; nil is memory of its own.
	Desk *turn.Memory
}

type request struct {
	room         wire.Room
	state        state
	prompt       []wire.Token // a placeholder after a refusal with a stand-in
	asked        int
	maxNewTokens int
	truncated    bool
	pending      port.Verdict
	deadline     wire.Tick
	pages        []wire.Page
	computed     int
	output       []wire.Token
	ops          int
	scrub        wire.Ticket
}

// Worker is the co-located worker as a port.Worker.
type Worker struct {
	config     Config
	desk       turn.Desk
	requests   map[wire.Room]*request // tombstones included
	queue      []*request
	operations tickets.Map[*request]
	introduced bool
	// What a scrub that failed left dirty: out of circulation for good.
	quarantinedPages int
}

// New returns a co-located worker that has seen nothing yet.
func New(c Config) *Worker {
	return &Worker{
		config: c, desk: turn.New(c.Addr, c.Desk), requests: map[wire.Room]*request{},
	}
}

// Addr is the worker's address.
func (w *Worker) Addr() wire.Addr { return w.config.Addr }

// Held says what the worker still holds.
func (w *Worker) Held() event.Holdings {
	return event.Holdings{
		PagesFree: w.config.Allocator.Free(), PagesCapacity: w.config.Allocator.Capacity(),
		PagesQuarantined: w.quarantinedPages,
		Requests:         len(w.queue), Outstanding: w.operations.Len(),
	}
}

// Step takes what arrived, moves every request as far as it can go, and returns what is to be done.
func (w *Worker) Step(t port.Turn) port.Effects {
	w.desk.Begin(t.Now)
	if !w.introduced {
		w.introduced = true
		w.desk.Send(w.config.Router, 0, wire.PeerUp{
			MaxInputTokens: w.config.Worker.AnnouncedLimitTokens(), PageSize: w.config.Pool.PageSize,
		})
	}
	for _, m := range t.Messages {
		switch body := m.Body.(type) {
		case wire.Submit:
			w.submit(m.Room, body)
		case wire.Abort:
			w.abort(m.Room, m.From)
		}
	}
	for _, d := range t.Ops {
		w.opDone(d)
	}
	w.sweep() // first: pages that come free in this turn may be what a waiting request needs
	w.schedule()
	w.desk.ForgetWake() // a request that moved on waits for something else, or for nothing
	w.sweep()
	return w.desk.Effects()
}

func (w *Worker) submit(room wire.Room, body wire.Submit) {
	w.desk.Received(room, body)
	known := w.requests[room]
	if known != nil && known.state != announced {
		return
	}
	r := &request{
		room: room, state: waiting, prompt: body.Prompt, asked: len(body.Prompt),
		// The router refuses what is below; what is above fits no pool.
		maxNewTokens: min(max(body.MaxNewTokens, 1), config.TokensMax),
		deadline:     w.desk.Now() + wire.Tick(w.config.Worker.BootstrapTimeoutTicks),
	}
	w.requests[room] = r
	w.queue = append(w.queue, r)
	if known != nil {
		w.finish(r, 499, "aborted by the client")
		return
	}
	if !w.admit(r, wire.AtHTTP) || !w.admit(r, wire.AtIntake) {
		return
	}
	if r.pending.TruncateTo > 0 && r.pending.TruncateTo < len(r.prompt) {
		r.prompt, r.truncated = r.prompt[:r.pending.TruncateTo], true
		w.desk.Event(&event.Event{Kind: event.RequestTruncated, Room: room, Tokens: len(r.prompt), Count: r.asked})
	}
	if r.pending.StandIn {
		r.prompt, r.maxNewTokens = []wire.Token{0}, 1
	}
	if r.pending.Refused && w.config.Guards.Has(guard.DoorRefusal) {
		w.reject(r)
	}
}

// abort ends a request. One that comes before its Submit is kept for it.
func (w *Worker) abort(room wire.Room, from wire.Addr) {
	w.desk.Event(&event.Event{Kind: event.AbortReceived, Room: room, Peer: from})
	r := w.requests[room]
	switch {
	case r == nil:
		w.requests[room] = &request{room: room, state: announced}
	case r.state > announced && r.state < draining:
		w.finish(r, 499, "aborted by the client")
	}
}

// admit asks admission at a hand-over and reports whether the request may go on; turn.ActsOn has the rule.
func (w *Worker) admit(r *request, stage wire.Stage) bool {
	asked := port.Request{Room: r.room, Tokens: len(r.prompt), MaxNewTokens: r.maxNewTokens}
	r.pending = w.desk.Ask(w.config.Admission, stage, asked, r.pending, r.asked)
	if turn.ActsOn(r.pending, stage, w.config.Guards) {
		w.reject(r)
		return false
	}
	return true
}

func (w *Worker) reject(r *request) {
	w.desk.Event(&event.Event{
		Kind: event.RequestRejected, Room: r.room, Stage: r.pending.Stage, Tokens: r.asked, Reason: r.pending.Reason,
	})
	w.finish(r, 400, r.pending.Reason)
}

func (w *Worker) finish(r *request, status int, reason string) {
	w.desk.Answer(w.config.Router, r.room, wire.Finished{
		Status: status, PromptTokens: len(r.prompt), Tokens: r.output, Truncated: r.truncated, Reason: reason,
	})
	r.state = draining
}
