package kv

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Prefetch keeps to the slice it is given, whatever is asked for: it takes any length, none included.
func TestPrefetchOfAnyLength(t *testing.T) {
	g := NewWithT(t)
	for _, size := range []int{0, 1, 63, 64, 65, 8192} {
		for _, lines := range []int{-1, 0, 1, 1 << 40} {
			g.Expect(func() { Prefetch(make([]byte, size), lines) }).NotTo(Panic())
		}
	}
	g.Expect(testing.AllocsPerRun(10, func() { Prefetch(nil, 5) })).To(BeZero())
}
