package kv

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Slots go first in, first out, and all come back.
func TestSlotsFirstInFirstOut(t *testing.T) {
	g := NewWithT(t)
	s := NewSlots(3)
	reserve := func() int {
		slot, ok := s.Reserve()
		g.Expect(ok).To(BeTrue())
		return slot
	}
	g.Expect([]int{reserve(), reserve()}).To(Equal([]int{0, 1}))
	s.Release(1)
	s.Release(0)
	g.Expect([]int{reserve(), reserve(), reserve()}).To(Equal([]int{2, 1, 0}))
	_, ok := s.Reserve()
	g.Expect(ok).To(BeFalse())
	g.Expect([]int{s.Free(), s.Capacity()}).To(Equal([]int{0, 3}))
	g.Expect(s.Err()).NotTo(HaveOccurred())
}

// An impossible release is kept for the runner and hands nothing out twice.
func TestSlotsKeepAnImpossibleRelease(t *testing.T) {
	for _, slot := range []int{-1, 0, 1} {
		g := NewWithT(t)
		s := NewSlots(1)
		s.Release(slot)
		g.Expect(s.Err()).To(MatchError(ContainSubstring("released while it was not held")))
		g.Expect(s.Free()).To(Equal(1))
	}
}
