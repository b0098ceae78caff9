package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
)

// It proves the lie: every Cancel is answered at once, once, and the bytes land at the new owner's commit all the same.
func TestDrainedLieAnswersTheCancelAndLandsLater(t *testing.T) {
	b := newBench(t, &DrainedLie{Target: Request(target)})
	b.reserve(decode, target, 30, 31, 32, 33)
	writes := b.transfer(target, 4)
	pages := writes[:len(writes)-1]
	for _, w := range writes {
		b.prefill.Transport.Cancel(w.Ticket)
	}
	b.settle()
	b.expectOneAnswerEach(writes, port.Cancelled)
	b.Expect(b.landed(target)).To(BeEmpty())
	b.expectFired(len(pages)) // as many false answers
	abortAndReuse(b, writes)
	b.Expect(b.landed(target)).To(Equal(names(pages)))
	b.expectOneAnswerEach(writes, port.Cancelled)
	b.expectFired(2 * len(pages))
	b.Expect(b.events(event.HoldReleased)).To(ConsistOf(HaveField("Reason", ContainSubstring("committed page 31"))))
}

// It proves that a bounded lie is over when its write has landed, not when it was told.
func TestABoundedLieEndsWithItsLanding(t *testing.T) {
	b := newBench(t, &DrainedLie{Target: Request(target), When: When{Count: 1}})
	b.reserve(decode, target, 30, 31)
	writes := b.transfer(target, 2)
	b.prefill.Transport.Cancel(writes[0].Ticket)
	b.Expect(b.injector.Status()[0].State).To(Equal(Fired))
	b.injector.Idle()
	b.settle()
	b.expectFired(2)
	b.Expect(b.injector.Status()[0].State).To(Equal(Recovered))
	b.expectOneAnswerEach(writes[:1], port.Cancelled)
	b.expectOneAnswerEach(writes[1:4], port.OK)
	b.expectOneAnswerEach(writes[4:5], port.Cancelled) // the stamp, ordered behind what the worker believes cancelled
}

// It proves that without a Cancel there is no lie, only a late write.
func TestDrainedLieNeedsACancel(t *testing.T) {
	b := newBench(t, &DrainedLie{Target: Request(target)})
	b.reserve(decode, target, 30, 31)
	writes := b.transfer(target, 2)
	b.settle()
	b.Expect(b.answers).To(BeEmpty())
	b.injector.Idle()
	b.settle()
	b.expectOneAnswerEach(writes, port.OK)
}
