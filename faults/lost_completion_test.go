package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that the writes land and that the named completions, all or one buffer's or the first few, never come.
func TestCompletionsAreLost(t *testing.T) {
	v1 := wire.V1
	firstOfAll := func(w port.Write) bool { return w.Buffer == wire.K0 && w.First == 0 }
	for name, c := range map[string]struct {
		fault LostCompletion
		lost  func(port.Write) bool
		fired int
	}{
		"all":           {LostCompletion{}, func(port.Write) bool { return true }, 11},
		"one buffer's":  {LostCompletion{Buffer: &v1}, func(w port.Write) bool { return w.Buffer == wire.V1 }, 2},
		"the first one": {LostCompletion{When: When{Count: 1}}, firstOfAll, 1},
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
				want := 1
				if c.lost(w) {
					want = 0
				}
				b.Expect(b.answers[w.Ticket]).To(HaveLen(want), writeName(w))
			}
			b.expectFired(c.fired)
		})
	}
}
