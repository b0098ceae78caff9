package prefill

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
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
		r.Expect(r.Wake).To(BeNumerically(">", 0), "who waits for pages has a deadline")
		for !r.Has(event.PagesReleased) {
			r.answerNext(port.OK)
		}
		r.Expect(r.rooms()).To(Equal([]wire.Room{2, 3}))
		r.settle(port.OK)
		r.ExpectIdle()
	}
}

func (r *rig) rooms() (rooms []wire.Room) {
	seen := map[wire.Room]bool{}
	for _, o := range r.Ops {
		if !seen[o.Room] {
			rooms = append(rooms, o.Room)
		}
		seen[o.Room] = true
	}
	return rooms
}

func (r *rig) answerNext(status port.Status) {
	if len(r.Ops) > 0 {
		r.AnswerOp(status)
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
		r.Events = nil
		for !r.Has(event.PagesReleased) {
			r.answerNext(port.OK)
		}
	}
	r.ExpectIdle()
}

// A request without its other half, or without pages, ends at its deadline: decode and router hear of a transfer that
// was not begun in time, with or without tell-peer, and so does a decode whose reservation comes too late.
func TestDeadlineOfTheHandshake(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All} {
		r := newRig(t, guards)
		r.Receive(routerAddr, 7, wire.Submit{Prompt: turntest.Prompt(5)})
		deadline := r.Now + timeoutTicks
		r.Expect(r.Wake).To(Equal(deadline))
		r.Now = deadline - 2
		r.Turn(port.Turn{})
		r.Expect(r.Has(event.RequestExpired)).To(BeFalse())
		r.Turn(port.Turn{})
		r.Expect(r.Has(event.RequestExpired)).To(BeTrue())
		refused := wire.Refused{Stage: wire.AtTransfer, Reason: "timed out before the transfer began", Status: 504}
		r.Expect(r.Told(decodeAddr)).To(Equal([]wire.Body{refused}))
		r.Expect(r.Told(routerAddr)).To(Equal([]wire.Body{refused}))
		r.Sent = nil
		r.Receive(decodeAddr, 7, reservation(1))
		r.Expect(r.Told(decodeAddr)).To(Equal([]wire.Body{refused}))
		r.ExpectIdle()
	}
}

// A reservation whose Submit never comes ends at its deadline too.
func TestDeadlineOfAnEarlyReservation(t *testing.T) {
	r := newRig(t, guard.All)
	r.Receive(decodeAddr, 7, reservation(1))
	r.Now = r.Wake
	r.Turn(port.Turn{})
	r.Expect(r.Told(decodeAddr)).To(HaveLen(1))
	r.ExpectIdle()
}

// What can never fit is refused at once and holds nobody back.
func TestNeverFits(t *testing.T) {
	r := newRig(t, guard.All, func(c *Config) {
		c.Allocator = kv.NewAllocator(c.Worker.AllocatorOrder, 4) // a pool that shrank after the limits were set
	})
	r.submit(1, 4*pageSize, 4)
	r.submit(2, 3*pageSize, 3)
	r.Expect(r.Has(event.RequestRejected)).To(BeTrue())
	refused := wire.Refused{Stage: wire.AtWaiting, Reason: "the prompt needs 4 pages of a pool of 3", Status: 400}
	r.Expect(r.Told(decodeAddr)).To(Equal([]wire.Body{refused}))
	r.Expect(r.rooms()).To(Equal([]wire.Room{2}))
	r.settle(port.OK)
	r.ExpectIdle()
}

// Without decode's registration there is nowhere to write: the request fails at once, and no write is submitted.
func TestUnknownPeer(t *testing.T) {
	r := bareRig(t, guard.None)
	r.submit(7, 5, 1)
	r.Expect(r.Writes).To(BeEmpty())
	r.Expect(r.Told(decodeAddr)).To(HaveLen(2))
	refused := r.Told(decodeAddr)[1].(wire.Refused)
	r.Expect(refused.Stage).To(Equal(wire.AtTransfer))
	r.Expect(refused.Status).To(Equal(500))
	r.ExpectIdle()
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
				if len(r.Told(decodeAddr)) > 0 {
					break // sent: the whole way was tried
				}
				outstanding := len(r.Ops) + len(r.Writes) - 1
				r.answerNext(status)
				r.Expect(r.Told(decodeAddr)).To(HaveLen(1))
				r.Expect(r.Told(decodeAddr)[0]).To(And(
					HaveField("Stage", wire.AtTransfer), HaveField("Status", 500),
					HaveField("Reason", ContainSubstring(status.String()))), "point %d", point)
				r.Expect(len(r.CancelOps) + len(r.CancelWrites)).To(Equal(outstanding))
				r.settleEnding()
				r.Expect(r.Told(decodeAddr)).To(HaveLen(1))
				r.ExpectIdle()
			}
		}
	}
}

// settleEnding answers what was cancelled as cancelled, and what came after it, such as a scrub, as done.
func (r *rig) settleEnding() {
	for len(r.Ops)+len(r.Writes) > 0 {
		if len(r.Ops) > 0 && r.Ops[0].Kind == port.OpScrub {
			r.AnswerOp(port.OK)
			continue
		}
		r.answerNext(port.Cancelled)
	}
}
