package decode

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
	"github.com/stalepage/stalepage/engine/wire"
)

// abortTransfer ends a request whose pages prefill knows and may still write to.
func (r *rig) abortTransfer() {
	r.submit(7, 40, 3)
	r.Sent, r.Events = nil, nil
	r.Receive(routerAddr, 7, wire.Abort{})
}

// Without deferred release pages go back at once, while prefill may still write: it is told to stop, once, and its
// answer is not waited for. With it they wait for the answer.
func TestDeferredRelease(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.DeferredRelease} {
		r := newRig(t, guards)
		r.abortTransfer()
		r.ExpectStatus(7, 499)
		r.Expect(r.told()).To(Equal([]wire.Body{wire.Abort{}}))
		deferred := guards.Has(guard.DeferredRelease)
		r.Expect(r.Count(event.PagesReleased)).To(Equal(map[bool]int{false: 1}[deferred]))
		if deferred {
			r.Expect(r.Wake).To(Equal(r.Now + retryTicks))
		} else {
			r.expectIdle()
		}
		r.Receive(prefillAddr, 7, wire.AbortAck{Drained: true})
		r.Expect(r.Count(event.PagesReleased)).To(Equal(1))
		r.expectIdle()
	}
}

// An abort whose answer is lost is repeated; any answer that says drained will do.
func TestLostAbortAck(t *testing.T) {
	for lost := range retriesMax + 1 {
		r := newRig(t, guard.All)
		r.abortTransfer()
		for range lost {
			r.Now = r.Wake - 2
			r.Turn(port.Turn{})
			r.Expect(r.told()).NotTo(BeEmpty())
			before := len(r.told())
			r.Turn(port.Turn{})
			r.Expect(r.told()).To(HaveLen(before + 1))
		}
		r.Expect(r.Count(event.AbortSent)).To(Equal(lost + 1))
		r.Receive(prefillAddr, 7, wire.AbortAck{Drained: true})
		r.SettleOps(port.OK)
		r.Expect(r.Count(event.PagesReleased)).To(Equal(1))
		r.expectIdle()
	}
}

// If every answer is lost, or none says drained, the repeats end, and pages and slot are never handed out again: not
// even if an answer comes after all.
func TestQuarantine(t *testing.T) {
	for _, answers := range []bool{false, true} {
		r := newRig(t, guard.All)
		r.abortTransfer()
		pages := append([]wire.Page(nil), r.worker.requests[7].pages...)
		for r.Wake > 0 {
			r.Now = r.Wake - 1
			if answers {
				r.Receive(prefillAddr, 7, wire.AbortAck{Drained: false})
				continue
			}
			r.Turn(port.Turn{})
		}
		r.Expect(r.Count(event.AbortSent)).To(Equal(1 + retriesMax))
		r.Expect(r.Tripped()).To(Equal([]string{"deferred-release"}))
		r.Expect(r.worker.Held()).To(And(
			HaveField("PagesQuarantined", len(pages)), HaveField("PagesFree", poolPages-len(pages)),
			HaveField("SlotsQuarantined", 1), HaveField("SlotsFree", 3)))
		r.expectIdle()

		r.Receive(prefillAddr, 7, wire.AbortAck{Drained: true}, r.claim(40))
		r.expectIdle()
		r.submit(8, (poolPages-len(pages))*pageSize-1, 1)
		r.ExpectStatus(8, 400) // past prefill's limit
		r.submit(9, 100, (poolPages-len(pages))*pageSize-100)
		r.Expect(r.worker.requests[9].pages).To(HaveLen(poolPages - len(pages)))
		for _, page := range pages {
			r.Expect(r.worker.requests[9].pages).NotTo(ContainElement(page))
		}
	}
}

// With scrub pages go back only as zeros: behind the device, and never if the zeros did not come about.
func TestScrub(t *testing.T) {
	for _, status := range []port.Status{port.OK, port.Failed, port.Rejected, port.Cancelled} {
		r := newRig(t, guard.Scrub)
		r.commit(7, 40, 2)
		pages := r.worker.requests[7].pages
		r.AnswerOp(port.OK)
		r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpScrub}))
		r.Expect(r.Ops[0].Pages).To(Equal(pages), "those of the answer too")
		r.Expect(r.Count(event.PagesReleased)).To(BeZero())
		r.AnswerOp(status)
		r.Expect(r.Count(event.PagesReleased)).To(Equal(map[bool]int{true: 1}[status == port.OK]))
		r.Expect(r.Count(event.PagesQuarantined)).To(Equal(map[bool]int{false: 1}[status == port.OK]))
		r.expectIdle()
	}
	r := newRig(t, guard.None)
	r.commit(7, 40, 2)
	r.AnswerOp(port.OK)
	r.Expect(r.Ops).To(BeEmpty(), "without the guard they go back as they are")
	r.expectIdle()
}

// An address generation is granted for pool and record with the reservation, named to prefill, never used twice, and
// revoked before the pages can be anybody else's, also when they are quarantined. Without the guard it is 0 throughout.
func TestAddressGenerations(t *testing.T) {
	r := newRig(t, guard.All)
	for room := wire.Room(1); room <= 3; room++ {
		r.submit(room, 20, 2)
		generation := uint32(room)
		r.Expect(r.granted).To(HaveLen(2))
		r.Expect(r.granted).To(And(
			HaveKey(wire.Region{Base: 2, Generation: generation}), HaveKey(wire.Region{Base: recordBase, Generation: generation})))
		r.Expect(r.told()[len(r.told())-1]).To(HaveField("Generation", generation))
		if room == 2 {
			for r.Wake > 0 {
				r.Now = r.Wake - 1
				r.Turn(port.Turn{})
			}
			r.Expect(r.Count(event.PagesQuarantined)).To(Equal(1))
		} else {
			r.Receive(prefillAddr, room, r.claimOf(room, 20))
			r.SettleOps(port.OK)
		}
		r.Expect(r.granted).To(BeEmpty())
	}

	r = newRig(t, guard.All&^guard.AddressGeneration)
	r.submit(1, 20, 2)
	r.Expect(r.granted).To(BeEmpty())
	r.Expect(r.told()[0]).To(HaveField("Generation", uint32(0)))
}
