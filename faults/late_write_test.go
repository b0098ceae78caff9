package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// abortAndReuse plays the life that a late write needs: the target is aborted while its writes are held, its pages go
// to the other request, and that commits.
func abortAndReuse(b *bench, writes []port.Write) {
	for _, w := range writes {
		b.prefill.Transport.Cancel(w.Ticket)
	}
	b.settle()
	b.say(event.Event{Kind: event.PagesReleased, Source: decode, Room: roomOf(target)})
	b.reserve(decode, other, 7, 31)
	b.settle()
	b.Expect(b.landed(target)).To(BeEmpty(), "nothing lands at the new owner's reservation")
	b.say(event.Event{Kind: event.TransferCommitted, Source: decode, Room: roomOf(other)})
	b.settle()
}

// It proves that the writes ignore the abort and land at the commit of the room that was given one of their pages, that
// the truthful completions come only then, and that the record, which only waited behind them, was cancelled for real.
func TestLateWriteLandsAtTheNewOwnersCommit(t *testing.T) {
	b := newBench(t, &LateWrite{Target: Request(target)})
	b.reserve(decode, target, 30, 31, 32, 33)
	writes := b.transfer(target, 4)
	pages, record := writes[:len(writes)-1], writes[len(writes)-1:]
	b.settle()
	b.Expect(b.landed(target)).To(BeEmpty())
	abortAndReuse(b, writes)
	b.Expect(b.landed(target)).To(Equal(names(pages)))
	b.expectOneAnswerEach(pages, port.OK)
	b.expectOneAnswerEach(record, port.Cancelled)
	b.expectFired(len(pages))
	b.Expect(b.injector.Status()[0].ReleasedBy).To(Equal("room 104 committed page 31, once room 109's"))
	b.Expect(b.events(event.HoldReleased)).To(HaveLen(1))
	b.Expect(b.events(event.FaultRecovered)).To(HaveLen(1))
}

// It proves that a commit of a room that was given none of the pages does not open the window, and that then only
// quiescing does, which the journal says.
func TestLateWriteWaitsForAPageOfItsOwn(t *testing.T) {
	b := newBench(t, &LateWrite{Target: Request(target)})
	b.reserve(decode, target, 30, 31)
	writes := b.transfer(target, 2)
	b.say(event.Event{Kind: event.PagesReleased, Source: decode, Room: roomOf(target)})
	b.reserve(decode, other, 7, 8)
	b.say(event.Event{Kind: event.TransferCommitted, Source: decode, Room: roomOf(other)})
	b.Expect(b.injector.Status()[0].Held).To(Equal(len(writes)))
	b.Expect(b.injector.Idle()).To(BeTrue())
	b.settle()
	b.expectOneAnswerEach(writes, port.OK)
	b.Expect(b.injector.Status()[0].ReleasedBy).To(Equal(ReasonIdle))
	b.reserve(decode, other, 30)
	b.injector.Observe(&event.Event{Kind: event.TransferCommitted, Source: decode, Room: roomOf(other)})
	b.Expect(b.injector.Between()).To(BeFalse(), "nothing is held that its window could let go")
}

// It proves that the target's own commit is not the window, and that a window of the plan's own takes its place.
func TestLateWriteMayBeGivenAnotherWindow(t *testing.T) {
	own := &LateWrite{Target: Request(target)}
	given := &LateWrite{Target: Request(target), ReleaseOn: &Trigger{Event: event.TransferCommitted}}
	for fault, held := range map[*LateWrite]int{own: 1, given: 0} {
		b := newBench(t, fault)
		b.reserve(decode, target, 30)
		b.prefill.Transport.Submit(b.page(target, wire.K0, 0, 1))
		b.say(event.Event{Kind: event.TransferCommitted, Source: decode, Room: roomOf(target)})
		b.Expect(b.injector.Status()[0].Held).To(Equal(held))
	}
}

// It proves that another request's writes pass a held one.
func TestLateWriteLeavesOthersAlone(t *testing.T) {
	b := newBench(t, &LateWrite{Target: Request(target)})
	b.reserve(decode, target, 30, 31)
	b.transfer(target, 2)
	writes := b.transfer(other, 4)
	b.settle()
	b.expectOneAnswerEach(writes, port.OK)
	b.Expect(b.transport.landed).To(Equal(writes))
	b.expectFired(0)
}
