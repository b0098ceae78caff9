package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that the target's completions come twice, one buffer's or all, and nobody else's do; the bytes land once.
func TestCompletionsComeTwice(t *testing.T) {
	record := wire.Record
	for name, c := range map[string]struct {
		fault DuplicateCompletion
		twice func(port.Write) bool
		fired int
	}{
		"all":          {DuplicateCompletion{}, func(port.Write) bool { return true }, 11},
		"the record's": {DuplicateCompletion{Buffer: &record}, func(w port.Write) bool { return w.Buffer == wire.Record }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.fault.Aim(Request(target))
			b := newBench(t, &c.fault)
			writes := b.transfer(target, 4)
			theirs := b.transfer(other, 4)
			b.settle()
			b.Expect(b.landed(target)).To(Equal(names(writes)))
			b.expectOneAnswerEach(theirs, port.OK)
			for _, w := range writes {
				want := []port.Status{port.OK}
				if c.twice(w) {
					want = append(want, port.OK)
				}
				b.Expect(b.answers[w.Ticket]).To(Equal(want), writeName(w))
			}
			b.expectFired(c.fired)
		})
	}
}
