package prefill

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Requests get pages in the order of arrival: a long one that waits is not overtaken, and starts in the very turn in
// which pages come free, since no other turn may follow.
func TestPagesAreGivenInOrder(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All} {
		r := newRig(t, guards)
		r.submit(1, 5*pageSize, 5)
		r.submit(2, 4*pageSize, 4)
		r.submit(3, pageSize, 1)
		r.Expect(r.rooms()).To(Equal([]wire.Room{1}))
		r.Expect(r.wake).To(BeNumerically(">", 0), "who waits for pages has a deadline")
		for !r.has(event.PagesReleased) {
			r.answerNext(port.OK)
		}
		r.Expect(r.rooms()).To(Equal([]wire.Room{2, 3}))
		r.settle(port.OK)
		r.expectIdle()
	}
}

func (r *rig) rooms() (rooms []wire.Room) {
	seen := map[wire.Room]bool{}
	for _, o := range r.ops {
		if !seen[o.Room] {
			rooms = append(rooms, o.Room)
		}
		seen[o.Room] = true
	}
	return rooms
}

func (r *rig) answerNext(status port.Status) {
	if len(r.ops) > 0 {
		r.answerOp(status)
		return
	}
	r.answerWrite(status)
}

// A record slot is as scarce as pages, and is used again.
func TestSlotsAreReused(t *testing.T) {
	r := newRig(t, guard.All, func(c *Config) { c.Slots = kv.NewSlots(1) })
	for room := wire.Room(1); room <= 3; room++ {
		r.submit(room, 5, 1)
	}
	for room := wire.Room(1); room <= 3; room++ {
		r.Expect(r.rooms()).To(Equal([]wire.Room{room}))
		r.events = nil
		for !r.has(event.PagesReleased) {
			r.answerNext(port.OK)
		}
	}
	r.expectIdle()
}

// A request without its other half, or without pages, ends at its deadline: decode and router hear of a transfer that
// was not begun in time, with or without tell-peer, and so does a decode whose reservation comes too late.
func TestDeadlineOfTheHandshake(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All} {
		r := newRig(t, guards)
		r.receive(routerAddr, 7, wire.Submit{Prompt: promptOf(5)})
		deadline := r.now + timeoutTicks
		r.Expect(r.wake).To(Equal(deadline))
		r.now = deadline - 2
		r.turn(port.Turn{})
		r.Expect(r.has(event.RequestExpired)).To(BeFalse())
		r.turn(port.Turn{})
		r.Expect(r.has(event.RequestExpired)).To(BeTrue())
		refused := wire.Refused{Stage: wire.AtTransfer, Reason: "timed out before the transfer began", Status: 504}
		r.Expect(r.take(decodeAddr)).To(Equal([]wire.Body{refused}))
		r.Expect(r.take(routerAddr)).To(Equal([]wire.Body{refused}))
		r.sent = nil
		r.receive(decodeAddr, 7, reservation(1))
		r.Expect(r.take(decodeAddr)).To(Equal([]wire.Body{refused}))
		r.expectIdle()
	}
}

// A reservation whose Submit never comes ends at its deadline too.
func TestDeadlineOfAnEarlyReservation(t *testing.T) {
	r := newRig(t, guard.All)
	r.receive(decodeAddr, 7, reservation(1))
	r.now = r.wake
	r.turn(port.Turn{})
	r.Expect(r.take(decodeAddr)).To(HaveLen(1))
	r.expectIdle()
}

// What can never fit is refused at once and holds nobody back.
func TestNeverFits(t *testing.T) {
	r := newRig(t, guard.All, func(c *Config) {
		c.Allocator = kv.NewAllocator(c.Worker.AllocatorOrder, 4) // a pool that shrank after the limits were set
	})
	r.submit(1, 4*pageSize, 4)
	r.submit(2, 3*pageSize, 3)
	r.Expect(r.has(event.RequestRejected)).To(BeTrue())
	refused := wire.Refused{Stage: wire.AtWaiting, Reason: "the prompt needs 4 pages of a pool of 3", Status: 400}
	r.Expect(r.take(decodeAddr)).To(Equal([]wire.Body{refused}))
	r.Expect(r.rooms()).To(Equal([]wire.Room{2}))
	r.settle(port.OK)
	r.expectIdle()
}

// Without decode's registration there is nowhere to write: the request fails at once, and no write is submitted.
func TestUnknownPeer(t *testing.T) {
	r := bareRig(t, guard.None)
	r.submit(7, 5, 1)
	r.Expect(r.writes).To(BeEmpty())
	r.Expect(r.take(decodeAddr)).To(HaveLen(2))
	refused := r.take(decodeAddr)[1].(wire.Refused)
	r.Expect(refused.Stage).To(Equal(wire.AtTransfer))
	r.Expect(refused.Status).To(Equal(500))
	r.expectIdle()
}

// An operation or write that fails at any point ends the request: what else is outstanding is cancelled, decode hears of
// it, nothing is said to be done, and all comes back.
func TestFailureAtEveryPoint(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All} {
		for _, status := range []port.Status{port.Cancelled, port.Failed, port.Rejected} {
			for point := 0; ; point++ {
				r := newRig(t, guards)
				r.submit(7, 2*pageSize+5, 3)
				for range point {
					r.answerNext(port.OK)
				}
				if len(r.take(decodeAddr)) > 0 {
					break // sent: the whole way was tried
				}
				outstanding := len(r.ops) + len(r.writes) - 1
				r.answerNext(status)
				r.Expect(r.take(decodeAddr)).To(HaveLen(1))
				r.Expect(r.take(decodeAddr)[0]).To(And(
					HaveField("Stage", wire.AtTransfer), HaveField("Status", 500),
					HaveField("Reason", ContainSubstring(status.String()))), "point %d", point)
				r.Expect(len(r.cancelOps) + len(r.cancelWrites)).To(Equal(outstanding))
				r.settleEnding()
				r.Expect(r.take(decodeAddr)).To(HaveLen(1))
				r.expectIdle()
			}
		}
	}
}

// settleEnding answers what was cancelled as cancelled, and what came after it, such as a scrub, as done.
func (r *rig) settleEnding() {
	for len(r.ops)+len(r.writes) > 0 {
		if len(r.ops) > 0 && r.ops[0].Kind == port.OpScrub {
			r.answerOp(port.OK)
			continue
		}
		r.answerNext(port.Cancelled)
	}
}
