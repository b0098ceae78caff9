package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that the page is written over after it has landed and before the worker has its answer, in all four
// buffers, from the same foreign page; that nothing else is written; and that the worker sees one answer each, its own.
func TestALandedPageIsOverwritten(t *testing.T) {
	for name, c := range map[string]struct {
		released bool // the other room has given its pages back, and the first of them is the target's now
		from     wire.Page
		ordinal  wire.Ordinal
	}{
		"with a page that another room holds": {false, 40, 0},
		"with a page that it left":            {true, 41, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, &OverwrittenPage{Target: Request(target), Page: 1})
			b.reserve(prefill, other, 40, 41)
			if c.released {
				b.say(event.Event{Kind: event.PagesReleased, Source: prefill, Room: roomOf(other)})
			}
			b.reserve(prefill, target, 10, 11, 12, 40)
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
				b.Expect(w.Room).To(Equal(roomOf(other)), "the landing can be followed to whose rows these are")
				b.Expect(w.First).To(Equal(c.ordinal))
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
	b.reserve(prefill, other, 40)
	b.reserve(prefill, target, 10, 11)
	writes := b.transfer(target, 2)
	b.settle()
	b.expectFired(2)
	b.expectOneAnswerEach(writes, port.OK)
	b.Expect(b.injector.Status()[0].State).To(Equal(Recovered))
}

// It proves that in a pool that was never anyone else's there is nothing foreign to write, and that this is no firing.
func TestNothingForeignNothingOverwritten(t *testing.T) {
	b := newBench(t, &OverwrittenPage{Target: Request(target), Page: 1})
	b.reserve(prefill, target, 10, 11)
	writes := b.transfer(target, 2)
	b.settle()
	b.Expect(b.transport.landed).To(Equal(writes))
	b.expectOneAnswerEach(writes, port.OK)
	b.expectFired(0)
}

// It proves that a write that did not land is not written over, and that one page serves for all buffers.
func TestOnlyWhatLandedIsOverwritten(t *testing.T) {
	b := newBench(t, &OverwrittenPage{Target: Request(target)})
	b.reserve(prefill, other, 40)
	b.reserve(prefill, target, 10)
	gone := b.page(target, wire.K0, 0, 1)
	b.prefill.Transport.Submit(gone)
	b.prefill.Transport.Cancel(gone.Ticket)
	b.settle()
	b.expectOneAnswerEach([]port.Write{gone}, port.Cancelled)
	b.Expect(b.transport.landed).To(BeEmpty())
	for buffer := wire.V0; buffer <= wire.V1; buffer++ {
		b.prefill.Transport.Submit(b.page(target, buffer, 0, 1))
		b.settle()
		b.reserve(prefill, other, 50+wire.Page(buffer))
	}
	b.Expect(b.transport.landed).To(HaveLen(6))
	for n, w := range b.transport.landed {
		if n%2 == 1 {
			b.Expect(w.Src).To(Equal([]wire.Span{prefillPool.Span(w.Buffer, 40, 0)}))
		}
	}
	b.expectFired(3)
}
