package faults

import (
	"testing"

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
			newBench(t, &c.fault).expectCompletions(func(w port.Write) int {
				if c.twice(w) {
					return 2
				}
				return 1
			}, c.fired)
		})
	}
}
