// Package decode is the worker that reserves pages, lets prefill write into them, and generates from them.
//
// A request passes these queues, in this order:
//
//	preallocating  until a metadata slot and pages for prompt and answer are free, in order  (admission: intake, reserve)
//	transferring   its pages are known to prefill; waits for prefill's "done"
//	verifying      reads the metadata slot back and proves what the guards ask for
//	running        prebuilt: one token a decode step, batched with every other running request
//	draining       answered: waits until neither prefill nor a device operation may touch its pages
//	scrubbing      its pages are zeroed before they go back
//	over           a tombstone that answers late messages
//
// Decode counts pages from its own request object: the full prompt as the client sent it. What prefill did with its own
// copy it learns only from messages, from the metadata slot, and from the bytes in its pages.
package decode

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
	announced state = iota // mentioned by a peer before its Submit came
	preallocating
	transferring
	verifying
	running
	draining
	scrubbing
	over
)

// The device queues: decode steps run beside checks and scrubs.
const (
	queueCompute uint8 = iota
	queueMemory
	Queues
)

// Config is what one decode worker is built from.
type Config struct {
	Addr, Prefill, Router wire.Addr
	Worker                config.Worker
	Guards                guard.Set
	RecordDigests         bool
	Admission             port.Admission
	Allocator             port.Allocator
	Slots                 port.Slots
	Pool                  port.Layout
	RecordBase            uint16
	// Desk is memory to write effects on; nil is memory of its own.
	Desk *turn.Memory
}

// request is decode's own view of a request; prefill has another.
type request struct {
	room         wire.Room
	state        state
	prompt       []wire.Token
	maxNewTokens int
	truncated    bool
	refusal      wire.Refused // prefill's refusal, if it came before Submit: it has a status then
	aborted      bool         // an abort came before Submit
	deadline     wire.Tick

	pages      []wire.Page
	slot       int
	generation uint32
	sent       wire.Sent
	proof      proof

	writer       wire.Addr // which prefill knows the pages
	writing      bool      // as far as decode knows, it may still write to them
	abortRetries int
	output       []wire.Token
	ops          int // outstanding
	stepping     bool
	scrub        wire.Ticket
}

// Worker is the decode worker as a port.Worker.
type Worker struct {
	config     Config
	desk       turn.Desk
	requests   map[wire.Room]*request // tombstones included
	queue      []*request             // every submitted request that is not over, in order of arrival
	operations tickets.Map[*request]
	step       []*request // the decode step in flight: one operation each
	stepWaits  int
	generation uint32
	// What the writer never let go of: out of circulation for good.
	quarantinedPages, quarantinedSlots int

	prefill    turn.Peer
	peerKnown  bool
	peerLimit  int // prefill's limit, once announced; 0 if it refuses none
	introduced bool
}

// New returns a decode worker that has seen nothing yet.
func New(c Config) *Worker {
	return &Worker{
		config: c, desk: turn.New(c.Addr, c.Desk), requests: map[wire.Room]*request{},
		prefill: turn.Peer{Addr: c.Prefill},
	}
}

// Addr is the worker's address.
func (w *Worker) Addr() wire.Addr { return w.config.Addr }

// Held says what the worker still holds.
func (w *Worker) Held() event.Holdings {
	return event.Holdings{
		PagesFree: w.config.Allocator.Free(), PagesCapacity: w.config.Allocator.Capacity(),
		PagesQuarantined: w.quarantinedPages,
		SlotsFree:        w.config.Slots.Free(), SlotsCapacity: w.config.Slots.Capacity(),
		SlotsQuarantined: w.quarantinedSlots,
		Requests:         len(w.queue), Outstanding: w.operations.Len(),
	}
}

// Step takes what arrived, moves every request as far as it can go, and returns what is to be done.
func (w *Worker) Step(t port.Turn) port.Effects {
	w.desk.Begin(t.Now)
	w.introduce()
	for _, m := range t.Messages {
		w.receive(m)
	}
	for _, d := range t.Ops {
		w.opDone(d)
	}
	w.sweep() // first: pages that come free in this turn may be what a waiting request needs
	w.preallocate()
	w.startStep()
	w.desk.ForgetWake() // a request that moved on waits for something else, or for nothing
	w.sweep()
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
		w.desk.Event(&event.Event{Kind: event.PeerRegistered, Peer: m.From, Tokens: body.MaxInputTokens})
		w.peerKnown, w.peerLimit = true, body.MaxInputTokens
	default:
		w.receiveOf(w.find(m.Room), m)
	}
}

// receiveOf takes what is said of one request.
func (w *Worker) receiveOf(r *request, m wire.Message) {
	switch body := m.Body.(type) {
	case wire.Submit:
		w.submit(r, body)
	case wire.Sent:
		w.transferDone(r, body)
	case wire.Refused:
		w.peerRefused(r, body)
	case wire.Abort:
		w.desk.Event(&event.Event{Kind: event.AbortReceived, Room: r.room, Peer: m.From})
		if r.state == announced {
			r.aborted = true
		} else if r.state < draining {
			w.finish(r, 499, "aborted by the client")
		}
	case wire.AbortAck:
		if body.Drained && m.From == r.writer { // nobody else knows what that one does
			r.writing = false
		}
	}
}

// find returns the room's request, made on first mention: any message may come before Submit.
func (w *Worker) find(room wire.Room) *request {
	r := w.requests[room]
	if r == nil {
		r = &request{room: room, slot: -1}
		w.requests[room] = r
	}
	return r
}

func (w *Worker) submit(r *request, body wire.Submit) {
	w.desk.Received(r.room, body)
	if r.state != announced {
		return
	}
	r.state, r.prompt = preallocating, body.Prompt
	// The router refuses what is below; what is above fits no pool.
	r.maxNewTokens = min(max(body.MaxNewTokens, 1), config.TokensMax)
	r.deadline = w.desk.Now() + wire.Tick(w.config.Worker.BootstrapTimeoutTicks)
	w.queue = append(w.queue, r)
	switch {
	case r.aborted:
		w.finish(r, 499, "aborted by the client")
	case r.refusal.Status != 0:
		w.finishRefused(r, r.refusal)
	case !w.withinPeerLimit(r, wire.AtIntake):
	default:
		if w.admit(r, wire.AtHTTP) {
			w.admit(r, wire.AtIntake)
		}
	}
}

// admit asks admission at a hand-over and reports whether the request may go on. Decode's answer is the client's and it
// looks at the verdict before each answer, so a refusal of its own is never lost here, guards or not.
func (w *Worker) admit(r *request, stage wire.Stage) bool {
	asked := port.Request{Room: r.room, Tokens: len(r.prompt), MaxNewTokens: r.maxNewTokens}
	v := w.config.Admission.At(stage, asked, port.Verdict{})
	if v.Refused {
		w.desk.Event(&event.Event{
			Kind: event.RefusalRecorded, Room: r.room, Stage: v.Stage, Tokens: len(r.prompt), Reason: v.Reason,
		})
		w.reject(r, v.Stage, v.Reason)
		return false
	}
	if v.TruncateTo > 0 && v.TruncateTo < len(r.prompt) {
		w.desk.Event(&event.Event{
			Kind: event.RequestTruncated, Room: r.room, Tokens: v.TruncateTo, Count: len(r.prompt),
		})
		r.prompt, r.truncated = r.prompt[:v.TruncateTo], true
	}
	return true
}

// reject ends a request that decode itself refuses; prefill hears of it only from a worker that tells its peer.
func (w *Worker) reject(r *request, stage wire.Stage, reason string) {
	w.desk.Event(&event.Event{
		Kind: event.RequestRejected, Room: r.room, Stage: stage, Tokens: len(r.prompt), Reason: reason,
	})
	if w.config.Guards.Has(guard.TellPeer) && !w.prefill.Gone {
		w.desk.Send(w.prefill.Addr, r.room, wire.Refused{Stage: stage, Reason: reason, Status: 400})
	}
	w.finish(r, 400, reason)
}

// peerRefused ends a request that prefill will not deliver.
func (w *Worker) peerRefused(r *request, body wire.Refused) {
	switch {
	case r.state == announced:
		r.refusal = body
	case r.state < running:
		w.finishRefused(r, body)
	}
}

func (w *Worker) finishRefused(r *request, body wire.Refused) {
	if body.Stage == wire.AtTransfer {
		w.finish(r, body.Status, "transfer failed: "+body.Reason)
		return
	}
	w.finish(r, body.Status, "prefill refused: "+body.Reason)
}

// finish answers the client and moves the request to draining. If prefill may still write, it is told to stop.
func (w *Worker) finish(r *request, status int, reason string) {
	w.desk.Answer(w.config.Router, r.room, wire.Finished{
		Status: status, PromptTokens: len(r.prompt), Tokens: r.output, Truncated: r.truncated, Reason: reason,
	})
	r.state = draining
	if r.writing {
		w.askToStop(r)
	}
}

func (w *Worker) trip(r *request, g guard.Set, reason string, ordinal int) {
	w.desk.Event(&event.Event{
		Kind: event.GuardTripped, Room: r.room, Guard: g.String(), Reason: reason, First: ordinal,
	})
}
