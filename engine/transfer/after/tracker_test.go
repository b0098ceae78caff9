package after

import (
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// rules is the After rule word for word, by scanning everything each time.
type rules struct {
	pending []waiting // in order of submission
	ended   map[wire.Ticket]port.Status
}

type waiting struct {
	ticket     wire.Ticket
	after      []wire.Ticket
	duplicates int
}

func (r *rules) find(ticket wire.Ticket) int {
	return slices.IndexFunc(r.pending, func(w waiting) bool { return w.ticket == ticket })
}

func (r *rules) state(w waiting) State {
	state := Ready
	for _, dependency := range w.after {
		status, ended := r.ended[dependency]
		switch {
		case !ended:
			state = max(state, Waiting)
		case status != port.OK:
			state = Doomed
		}
	}
	return state
}

func (r *rules) admit(ticket wire.Ticket, after []wire.Ticket) State {
	if ticket == 0 {
		return Nameless
	}
	if i := r.find(ticket); i >= 0 {
		r.pending[i].duplicates++
		return Duplicate
	}
	if _, ended := r.ended[ticket]; ended {
		return Repeated
	}
	w := waiting{ticket: ticket, after: after}
	if state := r.state(w); state == Doomed {
		return Doomed
	}
	r.pending = append(r.pending, w)
	return r.state(w)
}

// end ends ticket and, in turn, all whom that dooms; it returns who ended, sorted, and the duplicates owed.
func (r *rules) end(ticket wire.Ticket, status port.Status) (ended []wire.Ticket, duplicates int) {
	if i := r.find(ticket); i >= 0 {
		duplicates = r.pending[i].duplicates
		r.pending = slices.Delete(r.pending, i, i+1)
	}
	r.ended[ticket] = status
	for again := true; again; {
		again = false
		for i, w := range r.pending {
			if r.state(w) == Doomed {
				duplicates += w.duplicates
				ended = append(ended, w.ticket)
				r.ended[w.ticket] = port.Cancelled
				r.pending = slices.Delete(r.pending, i, i+1)
				again = true
				break
			}
		}
	}
	slices.Sort(ended)
	return ended, duplicates
}

// The tracker decides as the plain rules do, over random submissions (with unknown, repeated, own and cyclic
// dependencies, duplicates and ticket zero) and random endings, of tickets never admitted too; a tracker that was used and
// reset decides as a new one.
func TestTrackerEqualsTheRules(t *testing.T) {
	g := NewWithT(t)
	draw := rand.New(rand.NewPCG(7, 8))
	var tracker Tracker[wire.Ticket]
	for range 300 {
		tracker.Reset()
		want := &rules{ended: map[wire.Ticket]port.Status{}}
		for range 150 {
			if draw.IntN(3) > 0 {
				ticket := wire.Ticket(draw.IntN(40))
				var after []wire.Ticket
				for range draw.IntN(4) {
					after = append(after, 1+wire.Ticket(draw.IntN(45)))
				}
				_, payload, state := tracker.Admit(ticket, after)
				g.Expect(state).To(Equal(want.admit(ticket, slices.Clone(after))))
				if state <= Waiting {
					*payload = ticket
				}
				clear(after) // the submitter's slice is its own again
				if state == Doomed {
					endBoth(g, &tracker, want, ticket, port.Cancelled)
				}
			} else {
				status := []port.Status{port.OK, port.OK, port.Cancelled, port.Failed}[draw.IntN(4)]
				ticket := 1 + wire.Ticket(draw.IntN(45))
				if _, again := want.ended[ticket]; !again {
					endBoth(g, &tracker, want, ticket, status)
				}
			}
			g.Expect(tracker.Pending()).To(Equal(len(want.pending)))
			for _, w := range want.pending {
				h, ok := tracker.Find(w.ticket)
				g.Expect(ok).To(BeTrue())
				g.Expect(*tracker.Payload(h)).To(Equal(w.ticket))
				g.Expect(tracker.IsReady(h)).To(Equal(want.state(w) == Ready))
			}
		}
		expectNoLooseLinks(g, &tracker)
	}
}

// endBoth ends ticket on both sides and compares who followed.
func endBoth(g *WithT, tracker *Tracker[wire.Ticket], want *rules, ticket wire.Ticket, status port.Status) {
	before := map[wire.Ticket]bool{}
	for _, w := range want.pending {
		before[w.ticket] = want.state(w) == Ready
	}
	wantEnded, wantDuplicates := want.end(ticket, status)
	duplicates := tracker.End(ticket, status)
	var ended, freed []wire.Ticket
	for {
		_, follower, doomed, ok := tracker.Settle()
		if !ok {
			break
		}
		if doomed {
			duplicates += tracker.End(follower, port.Cancelled)
			ended = append(ended, follower)
		} else {
			freed = append(freed, follower)
		}
	}
	slices.Sort(ended)
	g.Expect(ended).To(Equal(wantEnded))
	g.Expect(duplicates).To(Equal(wantDuplicates))
	var wantFreed []wire.Ticket
	for _, w := range want.pending {
		if want.state(w) == Ready && !before[w.ticket] {
			wantFreed = append(wantFreed, w.ticket)
		}
	}
	g.Expect(freed).To(Equal(wantFreed), "in order of submission")
}

// expectNoLooseLinks: every link in use belongs to a pending waiter, so that waits for tickets never heard of do not pile up.
func expectNoLooseLinks(g *WithT, tracker *Tracker[wire.Ticket]) {
	unused, waits := 0, 0
	for at := tracker.freeLink; at != 0; at = tracker.links[at-1].next {
		unused++
	}
	for h, o := range tracker.operations {
		if pending, ok := tracker.pending.Get(o.ticket); ok && pending == Handle(h) {
			waits += o.waits
		}
	}
	g.Expect(len(tracker.links) - unused).To(Equal(waits))
}

// Endings are remembered for as long as promised, per owner, and no longer than memory allows.
func TestEndingsAreRememberedWithinTheWindow(t *testing.T) {
	g := NewWithT(t)
	var e endings
	one, other := wire.Ticket(1)<<sequenceBits, wire.Ticket(2)<<sequenceBits
	e.remember(other|5, port.Failed)
	const total = 5*WindowTickets + 77
	for sequence := wire.Ticket(1); sequence <= total; sequence++ {
		status := port.OK
		if sequence%3 == 0 {
			status = port.Cancelled
		}
		e.remember(one|sequence, status)
	}
	for sequence := wire.Ticket(total - WindowTickets + 1); sequence <= total; sequence++ {
		want := uint64(endingOK)
		if sequence%3 == 0 {
			want = endingOther
		}
		if got := e.of(one | sequence); got != want {
			t.Fatalf("ticket %d ended as %d, remembered as %d", sequence, want, got)
		}
	}
	g.Expect(e.of(one|1)).To(BeEquivalentTo(endingUnknown), "forgotten, so waited for")
	g.Expect(e.of(one|(total+1))).To(BeEquivalentTo(endingUnknown), "not yet")
	g.Expect(e.of(other|5)).To(BeEquivalentTo(endingOther), "another owner's")
	g.Expect(e.of(wire.Ticket(3)<<sequenceBits|1)).To(BeEquivalentTo(endingUnknown), "an owner never heard of")
	g.Expect(cap(e.owners[1].words) * 8).To(BeNumerically("<=", 2*8*windowWords))
}

// Tickets drawn early may end late: a whole window before the first that ended is remembered as well.
func TestEndingsOfLateTickets(t *testing.T) {
	for _, first := range []wire.Ticket{1, 100, WindowTickets, 3*WindowTickets + 5} {
		g := NewWithT(t)
		var e endings
		e.remember(first, port.OK)
		late := first - min(first, WindowTickets)
		e.remember(late, port.Failed)
		e.remember(late, port.OK)
		if late != first && late != 0 {
			g.Expect(e.of(late)).To(BeEquivalentTo(endingOther), "the first ending stands")
		}
		g.Expect(e.of(first)).To(BeEquivalentTo(endingOK))
	}
}

// A ticket from nowhere costs no more memory than a window.
func TestEndingsOfAWildTicket(t *testing.T) {
	g := NewWithT(t)
	var e endings
	for _, sequence := range []wire.Ticket{1, 1<<sequenceBits - 1, 2, 1 << 39} {
		e.remember(sequence, port.OK)
	}
	g.Expect(e.of(1<<sequenceBits - 1)).To(BeEquivalentTo(endingOK))
	g.Expect(e.of(1)).To(BeEquivalentTo(endingUnknown))
	g.Expect(len(e.owners[0].words)).To(BeNumerically("<=", windowWords))
}

// A chain of dependents of any length is cancelled without recursion, and a steady flow allocates nothing.
func TestTrackerAllocations(t *testing.T) {
	g := NewWithT(t)
	var tracker Tracker[int]
	next := wire.Ticket(1)
	after := []wire.Ticket{0}
	round := func() {
		first := next
		for range 50 {
			after[0] = next - 1
			if next == first {
				tracker.Admit(next, nil)
			} else {
				tracker.Admit(next, after)
			}
			next++
		}
		tracker.End(first, port.Failed)
		for {
			_, ticket, _, ok := tracker.Settle()
			if !ok {
				break
			}
			tracker.End(ticket, port.Cancelled)
		}
	}
	for range 1000 {
		round()
	}
	g.Expect(tracker.Pending()).To(BeZero())
	g.Expect(testing.AllocsPerRun(100, round)).To(BeNumerically("<", 1))
}
