package faults

import (
	"testing"

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
			newBench(t, &c.fault).expectCompletions(func(w port.Write) int {
				if c.lost(w) {
					return 0
				}
				return 1
			}, c.fired)
		})
	}
}
