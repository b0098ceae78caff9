package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// This file is the tap's other half: what comes back from the inner port, and what a release lets go.

func (t *tap[O, D]) heldCount() int { return len(t.held) }

func (t *tap[O, D]) release(why string) {
	held := t.held
	t.held = nil
	for _, h := range held {
		late := h.answered || h.deaf || h.seen != t.fault.injector.events || h.moved != t.passed
		if h.picked && late {
			t.fire(h.op, fmt.Sprintf("%s submitted at tick %d", t.shape.name(h.op), h.at),
				fmt.Sprintf("%s delivered at tick %d, after %s", t.shape.name(h.op), t.fault.injector.now, why))
		}
		t.inner.Submit(h.op)
	}
	t.passed += len(held)
}

// Poll gives the worker its answers, the fault's own first.
func (t *tap[O, D]) Poll(out []D) int {
	if len(t.tracked) == 0 && len(t.replays) == 0 && len(t.ready) == 0 {
		return t.inner.Poll(out)
	}
	n := t.drain(out)
	for n < len(out) {
		polled := t.inner.Poll(out[n:])
		if polled == 0 {
			break
		}
		for _, d := range out[n : n+polled] {
			t.answer(d)
		}
		n += t.drain(out[n:])
	}
	return n
}

func (t *tap[O, D]) drain(out []D) int {
	n := copy(out, t.ready)
	t.ready = t.ready[:copy(t.ready, t.ready[n:])]
	return n
}

// answer turns one answer of the inner port into what the worker is to hear.
func (t *tap[O, D]) answer(d D) {
	id := d.ID()
	if r := t.replays[id]; r != nil {
		t.replayDone(id, r, d)
		return
	}
	e := t.tracked[id]
	if e == nil {
		t.ready = append(t.ready, d)
		return
	}
	delete(t.tracked, id)
	switch {
	case e.mute:
	case t.moves.editDone != nil:
		t.ready = append(t.ready, t.editAnswer(e, d))
	case !t.fault.active():
		t.ready = append(t.ready, d)
	case t.moves.swallow:
		t.fault.take()
		t.fire(e.op, t.shape.says(d), "no answer")
	case t.moves.duplicate:
		t.fault.take()
		t.fire(e.op, t.shape.says(d), t.shape.says(d)+", twice")
		t.ready = append(t.ready, d, d)
	case t.moves.replay != nil && t.shape.status(d) == port.OK:
		t.replay(e.op, d)
	default:
		t.ready = append(t.ready, d)
	}
}

func (t *tap[O, D]) editAnswer(e *tracked[O], d D) D {
	if t.moves.edit != nil && !e.edited {
		return d
	}
	told, before, after := t.moves.editDone(e.op, d)
	if e.edited {
		t.fault.end()
	} else if !t.fault.active() {
		return d
	}
	if before != after {
		if !e.edited {
			t.fault.take()
		}
		t.fire(e.op, before, after)
		return told
	}
	return d
}

func (t *tap[O, D]) replay(o O, d D) {
	extra, before, after, ok := t.moves.replay(o)
	if !ok {
		t.ready = append(t.ready, d)
		return
	}
	t.fault.take()
	t.fault.begin()
	extra = t.shape.ticketed(extra, t.fault.injector.tickets.Next())
	t.replays[extra.ID()] = &replayed[O, D]{op: o, done: d, before: before, after: after}
	t.deliver(extra)
}

func (t *tap[O, D]) replayDone(id wire.Ticket, r *replayed[O, D], d D) {
	delete(t.replays, id)
	t.fault.end()
	if t.shape.status(d) == port.OK { // refused by the inner port, it changed nothing
		t.fire(r.op, r.before, r.after)
	}
	t.ready = append(t.ready, r.done)
}

func (t *tap[O, D]) fire(o O, before, after string) {
	t.fault.fire(t.source, t.shape.room(o), before, after)
}
