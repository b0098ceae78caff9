// Package prefill is the worker that computes a prompt's keys and values and writes them into decode's pool.
//
// A request passes these queues, in this order:
//
//	bootstrapping  until both its Submit and decode's reservation are here      (admission asked: intake, bootstrap)
//	waiting        until a record slot and enough pages are free, in order      (admission asked: waiting)
//	forwarding     its chunks are computed; whole pages are posted per chunk,
//	               the remainder with the last                                  (admission asked: forward)
//	inflight       all is posted; the metadata record last; "done" when landed
//	draining       ended early: waits until nothing of it is outstanding
//	scrubbing      its pages are zeroed before they go back
//	over           a tombstone that answers late messages
//
// Prefill works out the pages it owes from its own prompt. It never reads decode's request object.
package prefill

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
	bootstrapping state = iota
	waiting
	forwarding
	inflight
	draining
	scrubbing
	over
)

// Placeholder is the token that stands in for a refused prompt.
const Placeholder wire.Token = 0

// Config is what one prefill worker is built from.
type Config struct {
	Addr, Decode, Router wire.Addr
	Worker               config.Worker
	Guards               guard.Set
	RecordDigests        bool
	Admission            port.Admission
	Allocator            port.Allocator
	Slots                port.Slots
	Pool                 port.Layout
	RecordBase           uint16
	// Desk is memory to write effects on; nil is memory of its own.
	Desk *turn.Memory
}

// request is prefill's own view of a request; decode has another.
type request struct {
	room      wire.Room
	state     state
	submitted bool
	prompt    []wire.Token // a placeholder after a refusal with a stand-in
	asked     int          // the prompt's length as it came
	pending   port.Verdict // the refusal still to be acted on, if any (SGLang's to_finish)
	ending    wire.Refused // what decode is told if it asks for a room that was refused or failed
	deadline  wire.Tick

	reserved bool // decode's reservation is here
	target   wire.Reserved

	pages    []wire.Page
	slot     int
	computed int // positions computed
	posted   int // pages posted
	first    wire.Token
	stored   bool // the metadata record lies in local memory, ready to be written

	ops, writes   []wire.Ticket // outstanding
	scrub         wire.Ticket
	claimedBytes  int64
	digests       [wire.KVBuffers][]uint64
	acknowledgeTo []wire.Addr // who waits to hear that the room has drained
	cancelRetries int
	abandoned     bool // some of it was never answered, so it never drained
}

// outgoing remembers what a ticket was for.
type outgoing struct {
	request      *request
	buffer       wire.Buffer
	first, count int
}

// Worker is the prefill worker as a port.Worker.
type Worker struct {
	config     Config
	desk       turn.Desk
	requests   map[wire.Room]*request // tombstones included
	queue      []*request             // every request that is not over, in order of arrival
	operations tickets.Map[*request]
	transfers  tickets.Map[outgoing]
	decode     turn.Peer
	peer       wire.PeerUp // decode, once it has introduced itself
	peerKnown  bool
	introduced bool
	// What an operation without an answer may still read: out of circulation for good.
	quarantinedPages, quarantinedSlots int
}

// New returns a prefill worker that has seen nothing yet.
func New(c Config) *Worker {
	return &Worker{
		config: c, decode: turn.Peer{Addr: c.Decode}, desk: turn.New(c.Addr, c.Desk), requests: map[wire.Room]*request{},
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
		Requests:         len(w.queue), Outstanding: w.operations.Len() + w.transfers.Len(),
	}
}

// Step takes what arrived, moves every request as far as it can go, and returns what is to be done.
func (w *Worker) Step(t port.Turn) port.Effects {
	w.desk.Begin(t.Now)
	w.introduce()
	for _, m := range t.Messages {
		w.receive(m)
	}
	for _, d := range t.Writes {
		w.writeDone(d)
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

func (w *Worker) receive(m wire.Message) {
	if !w.hears(m.From) {
		return
	}
	switch body := m.Body.(type) {
	case wire.PeerDown:
		w.peerDown(body.Peer)
	case wire.PeerUp:
		w.desk.Event(&event.Event{Kind: event.PeerRegistered, Peer: m.From, Tokens: body.MaxInputTokens})
		w.peer, w.peerKnown = body, true
	case wire.Submit:
		w.submit(w.find(m.Room), body)
	case wire.Reserved:
		w.bootstrap(w.find(m.Room), m.From, body)
	case wire.Abort:
		r := w.find(m.Room)
		w.desk.Event(&event.Event{Kind: event.AbortReceived, Room: r.room, Peer: m.From})
		w.abort(r, m.From)
	case wire.Refused: // by decode, which will not answer this room any more
		w.abort(w.find(m.Room), wire.Addr{})
	}
}

// find returns the room's request, made on first mention: any message may come before Submit.
func (w *Worker) find(room wire.Room) *request {
	r := w.requests[room]
	if r == nil {
		r = &request{room: room, slot: -1, deadline: w.desk.Now() + wire.Tick(w.config.Worker.BootstrapTimeoutTicks)}
		w.requests[room] = r
		w.queue = append(w.queue, r)
	}
	return r
}

func (w *Worker) submit(r *request, body wire.Submit) {
	w.desk.Received(r.room, body)
	if r.state >= draining || r.submitted {
		return
	}
	r.submitted, r.prompt, r.asked = true, body.Prompt, len(body.Prompt)
	if !w.admit(r, wire.AtHTTP) || !w.admit(r, wire.AtIntake) {
		return
	}
	if r.pending.TruncateTo > 0 && r.pending.TruncateTo < len(r.prompt) {
		r.prompt = r.prompt[:r.pending.TruncateTo]
		w.desk.Event(&event.Event{Kind: event.RequestTruncated, Room: r.room, Tokens: len(r.prompt), Count: r.asked})
	}
	if r.pending.StandIn {
		r.prompt = []wire.Token{Placeholder}
	}
	if r.pending.Refused && w.config.Guards.Has(guard.DoorRefusal) {
		w.reject(r)
	}
}

func (w *Worker) bootstrap(r *request, from wire.Addr, body wire.Reserved) {
	if r.state >= draining { // the tombstone answers: decode must not wait for a request that is over
		failed := r.ending.Stage == wire.AtTransfer
		if failed || r.ending.Status != 0 && w.config.Guards.Has(guard.TellPeer) {
			w.desk.Send(from, r.room, r.ending)
		}
		return
	}
	if r.reserved {
		return
	}
	r.reserved, r.target = true, body
	if !w.peerKnown { // a channel is first in, first out: the introduction was lost
		w.failTransfer(r, 500, "decode never introduced itself: where to write is not known")
	}
}

// admit asks admission at a hand-over and reports whether the request may go on; turn.ActsOn has the rule.
func (w *Worker) admit(r *request, stage wire.Stage) bool {
	asked := port.Request{Room: r.room, Tokens: len(r.prompt)}
	r.pending = w.desk.Ask(w.config.Admission, stage, asked, r.pending, r.asked)
	if turn.ActsOn(r.pending, stage, w.config.Guards) {
		w.reject(r)
		return false
	}
	return true
}

// reject ends a refused request: the router always hears, decode only from a worker that tells its peer.
func (w *Worker) reject(r *request) {
	w.desk.Event(&event.Event{
		Kind: event.RequestRejected, Room: r.room, Stage: r.pending.Stage, Tokens: r.asked, Reason: r.pending.Reason,
	})
	r.ending = wire.Refused{Stage: r.pending.Stage, Reason: r.pending.Reason, Status: 400}
	w.desk.Send(w.config.Router, r.room, r.ending)
	if w.config.Guards.Has(guard.TellPeer) {
		w.tellDecode(r)
	}
	w.finish(r, 400, r.pending.Reason)
}

// failTransfer ends a request that cannot be delivered. Its status reaches decode with or without the tell-peer guard:
// it is the transfer's own, not admission's.
func (w *Worker) failTransfer(r *request, status int, reason string) {
	if r.state >= draining {
		return
	}
	r.ending = wire.Refused{Stage: wire.AtTransfer, Reason: reason, Status: status}
	w.desk.Send(w.config.Router, r.room, r.ending)
	w.tellDecode(r)
	w.finish(r, status, reason)
}

// abort ends a request that nobody waits for. The zero address asks for no acknowledgement.
func (w *Worker) abort(r *request, from wire.Addr) {
	if from == w.decode.Addr {
		if r.state == over {
			w.acknowledge(r, from)
			return
		}
		r.acknowledgeTo = append(r.acknowledgeTo, from)
	}
	if r.state < draining {
		w.finish(r, 499, "aborted")
	}
}

// finish moves a request to draining and cancels what it has outstanding.
func (w *Worker) finish(r *request, status int, reason string) {
	w.desk.Event(&event.Event{
		Kind: event.RequestFinished, Room: r.room, Status: status, Tokens: len(r.prompt), Reason: reason,
	})
	r.state = draining
	w.cancel(r)
}
