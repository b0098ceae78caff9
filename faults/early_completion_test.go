package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
)

// It proves that prefill hears OK for every page write, with the bytes it asked for, before one has landed; that the
// record goes ahead; and that the pages land only when decode, not prefill, has finished the request.
func TestEarlyCompletionGoesAheadOfItsPages(t *testing.T) {
	b := newBench(t, &EarlyCompletion{Target: Request(target)})
	writes := b.transfer(target, 4)
	pages := writes[:len(writes)-1]
	var out [32]port.WriteDone
	n := b.prefill.Transport.Poll(out[:])
	b.Expect(n).To(Equal(len(pages)), "before anything moved")
	for k, d := range out[:n] {
		b.Expect(d).To(Equal(port.WriteDone{Ticket: pages[k].Ticket, Status: port.OK, ClaimedBytes: writeBytes(pages[k])}))
		b.answers[d.Ticket] = append(b.answers[d.Ticket], d.Status)
	}
	b.settle()
	b.Expect(b.landed(target)).To(Equal([]string{"record"}))
	b.say(event.Event{Kind: event.RequestFinished, Source: prefill, Room: roomOf(target)})
	b.settle()
	b.Expect(b.landed(target)).To(HaveLen(1))
	b.say(event.Event{Kind: event.RequestFinished, Source: decode, Room: roomOf(target)})
	b.settle()
	b.Expect(b.landed(target)[1:]).To(Equal(names(pages)))
	b.expectOneAnswerEach(writes, port.OK)
	b.expectFired(len(pages) + 1 + len(pages)) // false answers, the record's lost order, late landings
}

// It proves that another request's writes keep their order and their answers.
func TestEarlyCompletionLeavesOthersAlone(t *testing.T) {
	b := newBench(t, &EarlyCompletion{Target: Request(target)})
	b.transfer(target, 4)
	writes := b.transfer(other, 4)
	b.settle()
	b.expectOneAnswerEach(writes, port.OK)
	b.Expect(b.landed(other)).To(Equal(names(writes)))
}
