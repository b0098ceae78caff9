package model

import (
	"testing"

	. "github.com/onsi/gomega"
)

// The three definitions that fast path and formulae share, so that comparing those two cannot see them: rounding, the
// softmax and saturation, pinned by hand. A device in another language is held to the same values.
func TestRoundingIsPinned(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		sum, total int64
		want       int8
	}{
		{0, 1, 0},
		{7, 1, 7},
		{-7, 1, -7},
		{127, 1, 127},
		{-128, 1, -128},
		{1, 2, 1},
		{-1, 2, 0},
		{3, 2, 2},
		{-3, 2, -1},
		{-5, 2, -2}, // ties go up
		{1, 3, 0},
		{2, 3, 1},
		{-1, 3, 0},
		{-2, 3, -1},
		{-4, 3, -1},
		{-5, 3, -2},
		{1<<30 - 1, 1 << 31, 0},
		{1 << 30, 1 << 31, 1},
		{-1 << 30, 1 << 31, 0},
		{-1<<30 - 1, 1 << 31, -1},
		{-128 * 33 << 30, 33 << 30, -128},
		{127 * 33 << 30, 33 << 30, 127}, // a full window of the largest weights
	} {
		g.Expect(roundedMean(c.sum, c.total)).To(Equal(c.want), "%d / %d", c.sum, c.total)
	}
}

func TestSoftmaxIsPinned(t *testing.T) {
	g := NewWithT(t)
	g.Expect(weight(0)).To(Equal(int64(1) << 30))
	g.Expect(weight(8)).To(Equal(int64(1) << 22))
	g.Expect(weight(30)).To(Equal(int64(1)))
	g.Expect(weight(31)).To(BeZero())
	g.Expect(weight(1 << 40)).To(BeZero())
}

func TestSaturationIsPinned(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		value int32
		want  int8
	}{{0, 0}, {126, 126}, {127, 127}, {128, 127}, {12 * 127, 127}, {-127, -127}, {-128, -127}, {12 * -128, -127}} {
		g.Expect(saturate(c.value)).To(Equal(c.want), "%d", c.value)
	}
}

// A worse match has no weight at the longest sequence, and would have some one token later.
func TestMaximumTokensIsTheLimit(t *testing.T) {
	g := NewWithT(t)
	// The worst case: the best match is the oldest row, one a point worse the newest.
	distance := func(rows int64) int64 { return 1<<matchShift - ageStep*(rows-1) }
	g.Expect(weight(distance(MaximumTokens))).To(BeZero())
	g.Expect(weight(distance(MaximumTokens + 1))).NotTo(BeZero())
}
