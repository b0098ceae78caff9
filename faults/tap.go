package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

type operation interface {
	ID() wire.Ticket
	Dependencies() []wire.Ticket
}

type answer interface{ ID() wire.Ticket }

// shape is what a tap must know of one pair of operation and answer, and cannot learn from its methods.
type shape[O operation, D answer] struct {
	room   func(O) wire.Room
	name   func(O) string // as FaultFired spells it
	says   func(D) string // an answer, likewise
	status func(D) port.Status
	// after returns the operation with other dependencies; ticketed, under another ticket.
	after func(O, []wire.Ticket) O
	// owned is a copy whose slices nobody else writes to: a worker may use its own again once Submit has returned.
	owned    func(O) O
	ticketed func(O, wire.Ticket) O
}

// moves is what a fault does to the operations that match picks. Edit, hold, answer early and swallow are the four
// moves; the other fields complete or combine them. The zero moves changes nothing.
type moves[O operation, D answer] struct {
	match func(O) bool
	// edit says what is delivered in place of the operation.
	edit func(O) edited[O, D]
	// editDone says what the worker is told in place of the answer; after an edit, only if the edit took effect.
	editDone func(O, D) (told D, before, after string)
	// hold keeps the operation back, and whatever names it in After, until the fault's release.
	hold bool
	// early is the answer given at Submit; the true one is dropped.
	early func(O) D
	// onCancel is the answer given at the Cancel of a held operation, which stays held; without it a held operation is
	// deaf to Cancel.
	onCancel func(O) D
	// unordered takes held operations out of the dependencies of those that are not held, so that they go ahead.
	unordered bool
	// swallow drops the answer; duplicate gives it twice.
	swallow, duplicate bool
	// replay names a further operation to be submitted when the answer is OK; the worker has its answer when that has
	// ended. False: none.
	replay func(O) (extra O, before, after string, ok bool)
	// onHold is told of each operation as it is held.
	onHold func(O)
}

// edited is the outcome of an edit: equal before and after mean that nothing was changed.
type edited[O operation, D answer] struct {
	op            O
	before, after string
	// instead, if not nil, is the answer given at once; the operation itself is not delivered.
	instead *D
}

// tap stands on a port and plays one fault's moves. To the worker it is a port like any other.
type tap[O operation, D answer] struct {
	inner  port.Port[O, D]
	fault  *instance
	source wire.Addr // whose seam it stands at
	shape  *shape[O, D]
	moves  moves[O, D]

	held    []heldOperation[O]
	tracked map[wire.Ticket]*tracked[O] // picked operations whose answer matters
	replays map[wire.Ticket]*replayed[O, D]
	settled map[wire.Ticket]settlement
	ready   []D // answers for the next Poll
	passed  int // operations delivered
}

// settlement is the answer that the worker was given for a ticket that the inner port has not seen, or not yet.
type settlement struct {
	status port.Status
	later  bool // held: it is delivered in the end
}

type heldOperation[O operation] struct {
	op          O
	picked      bool // else it waits behind one that is
	answered    bool // early, or its Cancel
	deaf        bool // a Cancel was ignored
	at          wire.Tick
	seen, moved int // events and operations when it was held
}

type tracked[O operation] struct {
	op     O
	edited bool // by this fault, which took effect
	mute   bool // the worker has its answer
}

type replayed[O operation, D answer] struct {
	op            O
	done          D // the answer that the worker still waits for
	before, after string
}

func newTap[O operation, D answer](
	i *instance, source wire.Addr, inner port.Port[O, D], s *shape[O, D], m moves[O, D],
) *tap[O, D] {
	t := &tap[O, D]{
		inner: inner, fault: i, source: source, shape: s, moves: m,
		tracked: map[wire.Ticket]*tracked[O]{}, replays: map[wire.Ticket]*replayed[O, D]{},
		settled: map[wire.Ticket]settlement{},
	}
	i.holders = append(i.holders, t)
	return t
}

// Submit delivers, edits, answers or holds the operation.
func (t *tap[O, D]) Submit(o O) {
	picked := t.fault.active() && t.fault.aims(t.shape.room(o)) && t.moves.match(o)
	if len(t.settled) > 0 {
		var doomed bool
		if o, doomed = t.untie(o, picked); doomed { // it named an operation that was answered as not OK
			t.deliver(o)
			t.inner.Cancel(o.ID())
			return
		}
	}
	switch {
	case picked:
		t.pick(o)
	case t.behind(o):
		t.hold(o, false)
	default:
		t.deliver(o)
	}
}

func (t *tap[O, D]) deliver(o O) {
	t.passed++
	t.inner.Submit(o)
}

// pick plays the moves on an operation that the fault is aimed at.
func (t *tap[O, D]) pick(o O) {
	id, delivered, took := o.ID(), o, false
	if t.moves.edit != nil {
		e := t.moves.edit(o)
		if e.before != e.after {
			took = true
			t.fault.take()
			if e.instead == nil && t.moves.editDone != nil {
				t.fault.begin()
			}
			t.fire(o, e.before, e.after)
			if e.instead != nil {
				t.settle(id, *e.instead)
				return
			}
			delivered = e.op
		}
	}
	if t.moves.editDone != nil || t.moves.early != nil || t.moves.onCancel != nil || t.moves.swallow ||
		t.moves.duplicate || t.moves.replay != nil {
		t.tracked[id] = &tracked[O]{op: t.shape.owned(o), edited: took}
	}
	if t.moves.hold || t.moves.early != nil {
		t.fault.take()
	}
	if t.moves.hold {
		t.hold(delivered, true)
	}
	if t.moves.early != nil {
		t.answerEarly(o, t.moves.early(o))
	}
	if !t.moves.hold {
		t.deliver(delivered)
	}
}

// settle gives the worker its answer for an operation that the inner port does not know.
func (t *tap[O, D]) settle(id wire.Ticket, d D) {
	t.ready = append(t.ready, d)
	t.settled[id] = settlement{status: t.shape.status(d)}
}

func (t *tap[O, D]) answerEarly(o O, d D) {
	id := o.ID()
	if e := t.tracked[id]; e != nil {
		e.mute = true
	}
	t.ready = append(t.ready, d)
	if n := t.heldAt(id); n >= 0 {
		t.held[n].answered = true
		if t.moves.unordered || t.shape.status(d) != port.OK {
			t.settled[id] = settlement{status: t.shape.status(d), later: true}
		}
	}
	t.fire(o, "no answer: nothing has been delivered", t.shape.says(d))
}

func (t *tap[O, D]) hold(o O, picked bool) {
	t.held = append(t.held, heldOperation[O]{
		op: t.shape.owned(o), picked: picked, at: t.fault.injector.now, seen: t.fault.injector.events, moved: t.passed,
	})
	if picked && t.moves.onHold != nil {
		t.moves.onHold(o)
	}
}

// behind says whether the operation names one that is held.
func (t *tap[O, D]) behind(o O) bool {
	if len(t.held) == 0 {
		return false
	}
	for _, after := range o.Dependencies() {
		if t.heldAt(after) >= 0 {
			return true
		}
	}
	return false
}

func (t *tap[O, D]) heldAt(id wire.Ticket) int {
	for n := range t.held {
		if t.held[n].op.ID() == id {
			return n
		}
	}
	return -1
}

// untie takes out of the operation's dependencies what was settled as OK: the inner port would wait for it for ever.
// What is only held stays a dependency of an operation that will be held too. The operation is doomed if it names one
// that was settled otherwise.
func (t *tap[O, D]) untie(o O, picked bool) (freed O, doomed bool) {
	before := o.Dependencies()
	var kept []wire.Ticket
	for _, after := range before {
		known, settled := t.settled[after]
		switch {
		case settled && known.status != port.OK:
			return o, true
		case !settled || known.later && picked:
			kept = append(kept, after)
		}
	}
	if len(kept) == len(before) {
		return o, false
	}
	freed = t.shape.after(o, kept)
	if t.moves.unordered && t.fault.aims(t.shape.room(o)) {
		t.fire(o, fmt.Sprintf("%s after %d operations", t.shape.name(o), len(before)),
			fmt.Sprintf("%s after %d operations", t.shape.name(o), len(kept)))
	}
	return freed, false
}

// Cancel is passed on, except for what is held: that is deaf to it, or lies.
func (t *tap[O, D]) Cancel(id wire.Ticket) {
	n := t.heldAt(id)
	switch {
	case n < 0:
		if e := t.tracked[id]; e == nil || !e.mute { // one that is answered already has nothing to cancel
			t.inner.Cancel(id)
		}
	case !t.held[n].picked:
		t.cancelDependent(n)
	case t.held[n].answered:
	case t.moves.onCancel != nil:
		o := t.tracked[id].op
		t.answerEarly(o, t.moves.onCancel(o))
		t.cancelDependents()
	default:
		t.held[n].deaf = true
	}
}

// cancelDependent lets the inner port answer for an operation that only waited behind a held one.
func (t *tap[O, D]) cancelDependent(n int) {
	o := t.held[n].op
	t.held = append(t.held[:n:n], t.held[n+1:]...)
	t.deliver(o)
	t.inner.Cancel(o.ID())
}

// cancelDependents cancels what waits behind an operation that was just answered as not OK.
func (t *tap[O, D]) cancelDependents() {
	for n := 0; n < len(t.held); n++ {
		if t.held[n].picked {
			continue
		}
		for _, after := range t.held[n].op.Dependencies() {
			if known, ok := t.settled[after]; ok && known.status != port.OK {
				t.settled[t.held[n].op.ID()] = settlement{status: port.Cancelled} // and so on down the chain
				t.cancelDependent(n)
				n = -1
				break
			}
		}
	}
}
