// Package after keeps the rules of a port (port.Port) that do not depend on what the port does: which operations are
// pending, which wait for others, how the ended ones ended, and that each submission is answered exactly once. The
// in-process transport and the host device share it; so may any later one.
//
// The rules, in full:
//   - A dependency is satisfied once it ended OK. One that ended otherwise cancels its dependents, at once and in
//     turn. One that is not known is waited for, for ever if need be.
//   - A ticket names one operation. A second submission under a ticket that is pending or has ended is Rejected; if
//     the first is pending, only after the first's answer, so that an answer still means that no byte lands any more.
//   - Ticket zero names nothing and is Rejected.
package after

import (
	"github.com/stalepage/stalepage/engine/kv/tickets"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Handle names a pending operation: the index of its payload. It is valid from Admit to End.
type Handle int32

// State is what Admit made of a submission.
type State uint8

// The states. Duplicate asks for nothing: its answer is owed by End. The others but Ready and Waiting ask for an answer now.
const (
	Ready     State = iota // may run
	Waiting                // some dependency is not yet satisfied
	Doomed                 // some dependency ended other than OK: answer Cancelled
	Repeated               // the ticket has ended before: answer Rejected
	Duplicate              // the ticket is pending: answered by its End
	Nameless               // ticket zero: answer Rejected
)

// Tracker follows the operations of one port; P is what the port keeps of each while it is pending. The zero value is
// ready. Payloads are reused, so slices in them keep their memory. Not for concurrent use.
type Tracker[P any] struct {
	operations []operation[P]
	unused     []Handle
	pending    tickets.Map[Handle]
	// waiters lists, per ticket that somebody waits for, who does, in order of submission.
	waiters  tickets.Map[waitList]
	links    []link
	freeLink int32 // 1 + index of the first unused link, 0 for none
	settled  []settlement
	read     int
	ended    endings
}

type operation[P any] struct {
	payload    P
	ticket     wire.Ticket
	after      []wire.Ticket
	waits      int // dependencies not yet satisfied
	duplicates int
}

type waitList struct{ first, last int32 } // 1 + index of a link

type link struct {
	waiter wire.Ticket
	next   int32 // 1 + index, 0 at the end
}

type settlement struct {
	ticket wire.Ticket
	doomed bool
}

// Reset forgets everything, as if nothing had ever been admitted, and keeps the memory. Handles are invalid after it.
func (t *Tracker[P]) Reset() {
	t.unused = t.unused[:0]
	for h := len(t.operations) - 1; h >= 0; h-- {
		t.unused = append(t.unused, Handle(h))
	}
	t.pending.Reset()
	t.waiters.Reset()
	t.links, t.freeLink = t.links[:0], 0
	t.settled, t.read = t.settled[:0], 0
	t.ended = endings{owners: t.ended.owners[:0]}
}

// Admit takes a submission in. Handle and payload are given for Ready and Waiting only; the payload holds whatever an
// earlier operation left there. The slice after is copied.
func (t *Tracker[P]) Admit(ticket wire.Ticket, after []wire.Ticket) (Handle, *P, State) {
	if ticket == 0 {
		return 0, nil, Nameless
	}
	if h, ok := t.pending.Get(ticket); ok {
		t.operations[h].duplicates++
		return 0, nil, Duplicate
	}
	if t.ended.of(ticket) != endingUnknown {
		return 0, nil, Repeated
	}
	for _, dependency := range after {
		if t.ended.of(dependency) == endingOther {
			return 0, nil, Doomed
		}
	}
	h := t.allocate()
	o := &t.operations[h]
	o.ticket, o.after, o.waits, o.duplicates = ticket, append(o.after[:0], after...), 0, 0
	for _, dependency := range after {
		if t.ended.of(dependency) == endingUnknown {
			t.wait(dependency, ticket)
			o.waits++
		}
	}
	t.pending.Put(ticket, h)
	if o.waits > 0 {
		return h, &o.payload, Waiting
	}
	return h, &o.payload, Ready
}

// Find is the pending operation of a ticket.
func (t *Tracker[P]) Find(ticket wire.Ticket) (Handle, bool) {
	return t.pending.Get(ticket)
}

// Payload is what the port keeps of h; the pointer is valid until the next Admit.
func (t *Tracker[P]) Payload(h Handle) *P { return &t.operations[h].payload }

// IsReady tells whether all that h waits for is satisfied.
func (t *Tracker[P]) IsReady(h Handle) bool { return t.operations[h].waits == 0 }

// Pending counts the operations admitted and not yet ended.
func (t *Tracker[P]) Pending() int { return t.pending.Len() }

// End notes that the operation of ticket, pending or never admitted, has been answered with status. It returns how
// many duplicates of it are to be answered Rejected now, and makes what follows for dependents ready for Settle.
func (t *Tracker[P]) End(ticket wire.Ticket, status port.Status) (duplicates int) {
	if h, ok := t.pending.Get(ticket); ok {
		o := &t.operations[h]
		if o.waits > 0 {
			t.unlinkAll(o)
		}
		duplicates = o.duplicates
		t.pending.Delete(ticket)
		t.unused = append(t.unused, h)
	}
	t.ended.remember(ticket, status)
	list, ok := t.waiters.Get(ticket)
	if !ok {
		return duplicates
	}
	t.waiters.Delete(ticket)
	for at := list.first; at != 0; {
		l := t.links[at-1]
		t.releaseLink(at)
		at = l.next
		waiting, _ := t.pending.Get(l.waiter)
		o := &t.operations[waiting]
		o.waits--
		if status != port.OK || o.waits == 0 {
			t.settled = append(t.settled, settlement{ticket: l.waiter, doomed: status != port.OK})
		}
	}
	return duplicates
}

// Settle returns, one a call and in order of submission, the operations whose wait an End decided: a doomed one is to
// be ended as Cancelled by the caller (which may decide further ones), the others may run.
func (t *Tracker[P]) Settle() (h Handle, ticket wire.Ticket, doomed, ok bool) {
	for t.read < len(t.settled) {
		s := t.settled[t.read]
		t.read++
		if h, ok = t.pending.Get(s.ticket); ok { // else doomed twice, and ended already
			return h, s.ticket, s.doomed, true
		}
	}
	t.settled, t.read = t.settled[:0], 0
	return 0, 0, false, false
}

func (t *Tracker[P]) allocate() Handle {
	if last := len(t.unused) - 1; last >= 0 {
		h := t.unused[last]
		t.unused = t.unused[:last]
		return h
	}
	t.operations = append(t.operations, operation[P]{})
	return Handle(len(t.operations) - 1)
}

func (t *Tracker[P]) wait(dependency, waiter wire.Ticket) {
	at := t.freeLink
	if at != 0 {
		t.freeLink = t.links[at-1].next
		t.links[at-1] = link{waiter: waiter}
	} else {
		t.links = append(t.links, link{waiter: waiter})
		at = int32(len(t.links))
	}
	list, _ := t.waiters.Get(dependency)
	if list.last != 0 {
		t.links[list.last-1].next = at
	} else {
		list.first = at
	}
	list.last = at
	t.waiters.Put(dependency, list)
}

// unlinkAll forgets that o waits: it ended before its dependencies did, some of which may never be heard of.
func (t *Tracker[P]) unlinkAll(o *operation[P]) {
	for _, dependency := range o.after {
		list, ok := t.waiters.Get(dependency)
		if !ok {
			continue
		}
		kept := waitList{}
		for at := list.first; at != 0; {
			l := &t.links[at-1]
			next := l.next
			if l.waiter == o.ticket {
				t.releaseLink(at)
			} else {
				if kept.last != 0 {
					t.links[kept.last-1].next = at
				} else {
					kept.first = at
				}
				kept.last = at
				l.next = 0
			}
			at = next
		}
		if kept.first == 0 {
			t.waiters.Delete(dependency)
		} else {
			t.waiters.Put(dependency, kept)
		}
	}
}

func (t *Tracker[P]) releaseLink(at int32) {
	t.links[at-1] = link{next: t.freeLink}
	t.freeLink = at
}
