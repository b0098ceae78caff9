package arena

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Slices of answers are the receiver's: none is ever handed out twice.
func TestArenaHandsOutEachSliceOnce(t *testing.T) {
	g := NewWithT(t)
	var a Arena[int]
	var all [][]int
	for n := range 3 * pieceMax / 8 {
		s := a.Take(n % 700)
		g.Expect([]int{len(s), cap(s)}).To(Equal([]int{n % 700, n % 700}))
		for i := range s {
			g.Expect(s[i]).To(BeZero())
			s[i] = n
		}
		all = append(all, s)
	}
	for n, s := range all {
		for _, v := range s {
			g.Expect(v).To(Equal(n))
		}
	}
}
