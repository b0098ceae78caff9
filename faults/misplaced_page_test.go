package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves where the named page lands, in all four buffers and across chunks, that every other page and, unless asked
// for, every stamp keeps its place, and that pages and answers are as many as before.
func TestAPageLandsInTheWrongPlace(t *testing.T) {
	swap := map[int]wire.Page{0: 31, 1: 30}
	for name, c := range map[string]struct {
		fault  MisplacedPage
		places map[int]wire.Page // by ordinal, where it differs
		stamps bool
		fired  int
	}{
		"swapped within a chunk":   {MisplacedPage{Page: 0, To: ToSwapped, SwapWith: 1}, swap, false, 4},
		"swapped between chunks":   {MisplacedPage{Page: 1, To: ToSwapped, SwapWith: 3}, map[int]wire.Page{1: 33, 3: 31}, false, 8},
		"stamps too":               {MisplacedPage{Page: 0, To: ToSwapped, SwapWith: 1, WithStamps: true}, swap, true, 5},
		"into another room's page": {MisplacedPage{Page: 2, To: ToOtherRoom}, map[int]wire.Page{2: 50}, false, 4},
		"into nobody's page":       {MisplacedPage{Page: 2, To: ToUnheld}, map[int]wire.Page{2: 1}, false, 4},
		"beyond the last page":     {MisplacedPage{Page: 0, To: ToSwapped, SwapWith: 9}, nil, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.fault.Aim(Request(target))
			b := newBench(t, &c.fault)
			b.reserve(prefill, target, 10, 11, 12, 13) // prefill's pages must not be taken for decode's
			b.reserve(decode, other, 50, 51)
			b.reserve(decode, target, 30, 31, 32, 33)
			writes := b.transfer(target, 4)
			var want []string
			for _, w := range writes {
				for n := range w.Dst {
					place := pageOf(w, n)
					to, moves := c.places[int(w.First)+n]
					if moves && (w.Buffer <= wire.V1 || c.stamps && w.Buffer == wire.Stamp) {
						copied := w
						copied.Dst = []wire.Span{decodePool.Span(w.Buffer, to, 0)}
						copied.First += wire.Ordinal(n)
						place = pageOf(copied, 0)
					}
					if w.Buffer != wire.Record {
						want = append(want, place)
					}
				}
			}
			theirs := b.transfer(other, 2)
			b.settle()
			var got []string
			for _, w := range b.transport.landed {
				for n := range w.Dst {
					if w.Room == roomOf(target) && w.Buffer != wire.Record {
						got = append(got, pageOf(w, n))
					}
				}
			}
			b.Expect(got).To(Equal(want))
			b.Expect(b.landed(other)).To(Equal(names(theirs)))
			b.expectOneAnswerEach(append(writes, theirs...), port.OK)
			b.expectFired(c.fired)
		})
	}
}

// It proves that all buffers of the page go to one place, even if that changes hands between them.
func TestAMisplacedPageStaysTogether(t *testing.T) {
	b := newBench(t, &MisplacedPage{Target: Request(target), To: ToOtherRoom})
	b.reserve(decode, other, 50)
	b.reserve(decode, target, 30)
	for buffer := wire.K0; buffer <= wire.V1; buffer++ {
		b.prefill.Transport.Submit(b.page(target, buffer, 0, 1))
		b.say(event.Event{Kind: event.PagesReleased, Source: decode, Room: roomOf(other)})
		b.reserve(decode, other, 60+wire.Page(buffer))
	}
	b.settle()
	var got []string
	for _, w := range b.transport.landed {
		got = append(got, pageOf(w, 0))
	}
	b.Expect(got).To(Equal([]string{"K0 ordinal 0 at 50", "V0 ordinal 0 at 50", "K1 ordinal 0 at 50", "V1 ordinal 0 at 50"}))
}
