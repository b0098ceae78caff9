// Package turn is the desk at which a worker writes its effects: it names tickets, addresses messages and keeps the
// slices of port.Effects from one turn to the next, so that a Step allocates only what outlives it. Beside it are the few
// rules that workers share: what they record of a request, which refusals they act on, whom they still hear.
package turn

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Desk collects the effects of one worker's current turn.
type Desk struct {
	addr    wire.Addr
	tickets wire.Tickets
	now     wire.Tick
	*Memory
}

// Memory is what a desk writes on. It may serve one desk after another: nothing of what was written outlives a turn.
type Memory struct {
	effects port.Effects
	spans   []wire.Span
}

// New returns the desk of the worker at addr, over memory that no other desk uses any more; nil is memory of its own.
func New(addr wire.Addr, memory *Memory) Desk {
	if memory == nil {
		memory = &Memory{}
	}
	return Desk{addr: addr, tickets: wire.NewTickets(addr), Memory: memory}
}

// Addr is the worker's address.
func (d *Desk) Addr() wire.Addr { return d.addr }

// Now is the tick of the current turn.
func (d *Desk) Now() wire.Tick { return d.now }

// Begin empties the desk for a turn at now.
func (d *Desk) Begin(now wire.Tick) {
	e := &d.effects
	d.now = now
	d.spans = d.spans[:0]
	e.Events, e.Revoke, e.Grant = e.Events[:0], e.Revoke[:0], e.Grant[:0]
	e.CancelWrites, e.CancelOps = e.CancelWrites[:0], e.CancelOps[:0]
	e.Ops, e.Writes, e.Send, e.Wake = e.Ops[:0], e.Writes[:0], e.Send[:0], 0
}

// Effects is what the turn has come to. It is overwritten by the next Begin.
func (d *Desk) Effects() port.Effects { return d.effects }

// Event records e as said by this worker. It keeps a copy: an event is large, and one copy is what it should cost.
func (d *Desk) Event(e *event.Event) {
	d.effects.Events = append(d.effects.Events, *e)
	d.effects.Events[len(d.effects.Events)-1].Source = d.addr
}

// Send addresses body to a peer.
func (d *Desk) Send(to wire.Addr, room wire.Room, body wire.Body) {
	d.effects.Send = append(d.effects.Send,
		wire.Message{Ticket: d.tickets.Next(), From: d.addr, To: to, Room: room, Body: body})
}

// Op submits a device operation under a fresh ticket.
func (d *Desk) Op(o port.Op) wire.Ticket {
	o.Ticket = d.tickets.Next()
	d.effects.Ops = append(d.effects.Ops, o)
	return o.Ticket
}

// Write submits a transfer under a fresh ticket.
func (d *Desk) Write(w port.Write) wire.Ticket {
	w.Ticket = d.tickets.Next()
	d.effects.Writes = append(d.effects.Writes, w)
	return w.Ticket
}

// Spans returns n zero spans for a write of this turn: who takes a write copies them, as it copies the rest of Effects.
func (d *Desk) Spans(n int) []wire.Span {
	start := len(d.spans)
	if cap(d.spans)-start < n {
		// What was handed out before stays where it is.
		d.spans, start = make([]wire.Span, 0, max(2*cap(d.spans), n, spansMin)), 0
	}
	d.spans = d.spans[:start+n]
	out := d.spans[start : start+n : start+n]
	clear(out)
	return out
}

// spansMin is the least room for spans: a chunk of some pages, five buffers, both sides.
const spansMin = 64

// CancelOp and CancelWrite ask for an operation to end early; its Done still comes.
func (d *Desk) CancelOp(t wire.Ticket) { d.effects.CancelOps = append(d.effects.CancelOps, t) }

func (d *Desk) CancelWrite(t wire.Ticket) { d.effects.CancelWrites = append(d.effects.CancelWrites, t) }

// Grant and Revoke open and close registered address ranges.
func (d *Desk) Grant(r wire.Region)  { d.effects.Grant = append(d.effects.Grant, r) }
func (d *Desk) Revoke(r wire.Region) { d.effects.Revoke = append(d.effects.Revoke, r) }

// WakeBy asks for a turn at the given tick at the latest; the earliest asked wins.
func (d *Desk) WakeBy(at wire.Tick) {
	if d.effects.Wake == 0 || at < d.effects.Wake {
		d.effects.Wake = at
	}
}

// ForgetWake takes back what WakeBy was asked for so far in this turn, for a worker that is about to ask afresh.
func (d *Desk) ForgetWake() { d.effects.Wake = 0 }
