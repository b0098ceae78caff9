package turntest

import (
	"slices"
	"testing"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Rig drives one worker, a turn at a time.
type Rig struct {
	T      testing.TB
	Worker port.Worker
	// Client is who gets the answers.
	Client wire.Addr
	// Answer is what a device with healthy memory says of an operation that ended with the status.
	Answer func(port.Op, port.Status) port.OpDone
	// Check, if set, looks at what each turn came to.
	Check func(port.Effects)

	// Now is the tick of the last turn; Wake is when the worker asked for its next, 0 if it waits for nothing.
	Now, Wake wire.Tick
	// Not answered yet, in order of submission.
	Ops    []port.Op
	Writes []port.Write
	// What happened since the test last emptied them.
	Sent                    []wire.Message
	Events                  []event.Event
	CancelOps, CancelWrites []wire.Ticket
}

// Turn gives the worker one turn, a tick after the last.
func (r *Rig) Turn(t port.Turn) {
	r.T.Helper()
	r.Now++
	t.Now = r.Now
	e := r.Worker.Step(t)
	r.Wake = e.Wake
	r.Events = append(r.Events, e.Events...)
	r.CancelOps = append(r.CancelOps, e.CancelOps...)
	r.CancelWrites = append(r.CancelWrites, e.CancelWrites...)
	r.Ops = append(r.Ops, e.Ops...)
	for _, w := range e.Writes { // who takes a write copies its spans: they are the worker's, for a turn
		w.Src, w.Dst = slices.Clone(w.Src), slices.Clone(w.Dst)
		r.Writes = append(r.Writes, w)
	}
	r.Sent = append(r.Sent, e.Send...)
	if r.Check != nil {
		r.Check(e)
	}
}

// Receive gives the worker messages of one sender about one room, in one turn.
func (r *Rig) Receive(from wire.Addr, room wire.Room, bodies ...wire.Body) {
	r.T.Helper()
	var t port.Turn
	for _, body := range bodies {
		t.Messages = append(t.Messages, wire.Message{From: from, To: r.Worker.Addr(), Room: room, Body: body})
	}
	r.Turn(t)
}

// SkipToWake lets time pass up to the tick before the one that the worker waits for, if it waits for any.
func (r *Rig) SkipToWake() {
	if r.Wake > r.Now {
		r.Now = r.Wake - 1
	}
}

// AnswerOp answers the oldest operation.
func (r *Rig) AnswerOp(status port.Status) {
	r.T.Helper()
	if len(r.Ops) == 0 {
		r.T.Fatal("no operation waits for an answer")
	}
	o := r.Ops[0]
	r.Ops = r.Ops[1:]
	r.Turn(port.Turn{Ops: []port.OpDone{r.Answer(o, status)}})
}

// SettleOps answers operations until none is outstanding.
func (r *Rig) SettleOps(status port.Status) {
	r.T.Helper()
	for len(r.Ops) > 0 {
		r.AnswerOp(status)
	}
}

// Told lists what was sent to one party.
func (r *Rig) Told(to wire.Addr) (bodies []wire.Body) {
	for _, m := range r.Sent {
		if m.To == to {
			bodies = append(bodies, m.Body)
		}
	}
	return bodies
}

// Answers lists the answers of one room. Nobody but the client may have been given one.
func (r *Rig) Answers(room wire.Room) (answers []wire.Finished) {
	r.T.Helper()
	for _, m := range r.Sent {
		if body, ok := m.Body.(wire.Finished); ok && m.Room == room {
			if m.To != r.Client {
				r.T.Fatalf("room %d was answered to %s, not to %s", room, m.To, r.Client)
			}
			answers = append(answers, body)
		}
	}
	return answers
}

// ExpectStatus asserts that the room had exactly one answer, of this status, and no part of an answer with an error.
func (r *Rig) ExpectStatus(room wire.Room, status int) {
	r.T.Helper()
	answers := r.Answers(room)
	switch {
	case len(answers) != 1:
		r.T.Fatalf("room %d has %d answers, not one: %+v", room, len(answers), answers)
	case answers[0].Status != status:
		r.T.Fatalf("room %d was answered %d (%s), not %d", room, answers[0].Status, answers[0].Reason, status)
	case status != 200 && len(answers[0].Tokens) > 0:
		r.T.Fatalf("room %d was answered %d with %d tokens", room, status, len(answers[0].Tokens))
	}
}

// Count is how many events of the kind there were.
func (r *Rig) Count(kind event.Kind) (n int) {
	for _, e := range r.Events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// CountOf is how many events of the kind there were of one room.
func (r *Rig) CountOf(room wire.Room, kind event.Kind) (n int) {
	for _, e := range r.Events {
		if e.Kind == kind && e.Room == room {
			n++
		}
	}
	return n
}

// Has tells whether there was an event of the kind.
func (r *Rig) Has(kind event.Kind) bool { return r.Count(kind) > 0 }

// Tripped lists the guards that tripped, in order.
func (r *Rig) Tripped() (guards []string) {
	for _, e := range r.Events {
		if e.Kind == event.GuardTripped {
			guards = append(guards, e.Guard)
		}
	}
	return guards
}

// Lost lists the peers whose loss was recorded, in order.
func (r *Rig) Lost() (peers []wire.Addr) {
	for _, e := range r.Events {
		if e.Kind == event.PeerLost {
			peers = append(peers, e.Peer)
		}
	}
	return peers
}

// ExpectUntouched asserts that nothing which works on the room's pages is outstanding.
func (r *Rig) ExpectUntouched(room wire.Room) {
	r.T.Helper()
	for _, o := range r.Ops {
		if o.Room == room {
			r.T.Fatalf("%s is under way on pages that room %d gave back", o.Kind, room)
		}
	}
	for _, w := range r.Writes {
		if w.Room == room {
			r.T.Fatalf("a write is under way from pages that room %d gave back", room)
		}
	}
}

// ExpectIdle asserts that the worker holds nothing and waits for nothing.
func (r *Rig) ExpectIdle() {
	r.T.Helper()
	if held := r.Worker.Held(); !held.Idle() {
		r.T.Fatalf("the worker still holds something: %+v", held)
	}
	if r.Wake != 0 {
		r.T.Fatalf("the worker waits until tick %d for nothing", r.Wake)
	}
}
