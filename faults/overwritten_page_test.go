package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that the page is written over after it has landed and before the worker has its answer, in all four
// buffers, from the same foreign page; that nothing else is written; and that the worker sees one answer each, its own.
func TestALandedPageIsOverwritten(t *testing.T) {
	for name, c := range map[string]struct {
		fault OverwrittenPage
		held  bool // another room holds pages of the prefill pool
		from  wire.Page
	}{
		"with a page of another room":  {OverwrittenPage{Page: 1}, true, 40},
		"with a page that nobody owns": {OverwrittenPage{Page: 1}, false, 1},
		"with a page of the plan's":    {OverwrittenPage{Page: 1, SourcePage: 55}, true, 55},
	} {
		t.Run(name, func(t *testing.T) {
			c.fault.Aim(Request(target))
			b := newBench(t, &c.fault)
			if c.held {
				b.reserve(prefill, other, 40, 41)
			}
			b.reserve(prefill, target, 10, 11, 12, 13)
			writes := b.transfer(target, 4)
			b.transport.land()
			var out [1]port.WriteDone
			for n := b.prefill.Transport.Poll(out[:]); n > 0; n = b.prefill.Transport.Poll(out[:]) {
				b.Expect(out[0].Ticket).NotTo(Equal(writes[0].Ticket), "K0 is to be overwritten before it is answered")
				b.answers[out[0].Ticket] = append(b.answers[out[0].Ticket], out[0].Status)
			}
			b.expectFired(0) // submitted, not landed
			b.settle()
			b.expectOneAnswerEach(writes, port.OK)
			b.Expect(b.answers).To(HaveLen(len(writes)), "no answer of an operation that the worker does not know")
			extra := b.transport.landed[len(writes):]
			b.Expect(extra).To(HaveLen(4))
			for n, w := range extra {
				b.Expect(w.Buffer).To(Equal(wire.Buffer(n)))
				b.Expect(w.Src).To(Equal([]wire.Span{prefillPool.Span(w.Buffer, c.from, 0)}))
				b.Expect(w.Dst).To(Equal([]wire.Span{decodePool.Span(w.Buffer, 31, 0)}))
				b.Expect(w.Ticket>>60).To(Equal(wire.Ticket(faultRole)), "a ticket of no worker")
			}
			b.expectFired(4)
		})
	}
}

// It proves that a bounded overwrite ends with its last landing, not with its last decision.
func TestOverwritesAreCounted(t *testing.T) {
	b := newBench(t, &OverwrittenPage{Target: Request(target), Page: 1, When: When{Count: 2}})
	b.reserve(prefill, target, 10, 11)
	writes := b.transfer(target, 2)
	b.settle()
	b.expectFired(2)
	b.expectOneAnswerEach(writes, port.OK)
	b.Expect(b.injector.Status()[0].State).To(Equal(Recovered))
}
