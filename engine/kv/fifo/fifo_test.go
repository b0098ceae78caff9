package fifo

import (
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
)

// A queue is compared with the plain slice it replaces, over random pushes, pops and removals: same content, same order.
func TestQueueEqualsSlice(t *testing.T) {
	g := NewWithT(t)
	draw := rand.New(rand.NewPCG(1, 2))
	var q Queue[int]
	var want []int
	for i := range 20_000 {
		switch k := draw.IntN(10); {
		case k < 5:
			q.Push(i)
			want = append(want, i)
		case k < 7 && len(want) > 0:
			g.Expect(q.Pop()).To(Equal(want[0]))
			want = want[1:]
		case k < 8 && len(want) > 0:
			at := draw.IntN(len(want))
			q.Remove(at)
			want = slices.Delete(slices.Clone(want), at, at+1)
		case k < 9:
			out := make([]int, draw.IntN(4))
			n := q.PopInto(out)
			g.Expect(out[:n]).To(Equal(append([]int{}, want[:n]...)))
			g.Expect(n).To(Equal(min(len(out), len(want))))
			want = want[n:]
		}
		g.Expect(q.Len()).To(Equal(len(want)))
		for j := range want {
			g.Expect(*q.At(j)).To(Equal(want[j]))
		}
		if len(want) > 40 {
			for len(want) > 0 {
				g.Expect(q.Pop()).To(Equal(want[0]))
				want = want[1:]
			}
		}
	}
}

// What left the queue is not kept alive by it.
func TestQueueDropsWhatLeft(t *testing.T) {
	g := NewWithT(t)
	var q Queue[*int]
	for range 3 {
		q.Push(new(int))
	}
	q.Remove(1)
	q.Pop()
	q.Pop()
	g.Expect(q.ring).To(HaveEach(BeNil()))
}

// A queue that was used and reset is empty and keeps nothing alive.
func TestQueueReset(t *testing.T) {
	g := NewWithT(t)
	var q Queue[*int]
	for range 3 {
		q.Push(new(int))
	}
	q.Pop()
	q.Reset()
	g.Expect(q.Len()).To(BeZero())
	g.Expect(q.ring).To(HaveEach(BeNil()))
	last := new(int)
	q.Push(last)
	g.Expect(q.Pop()).To(BeIdenticalTo(last))
}

func TestQueueRefusesAnIndexOutOfRange(t *testing.T) {
	g := NewWithT(t)
	var q Queue[int]
	q.Push(1)
	g.Expect(func() { q.At(1) }).To(Panic())
	g.Expect(func() { q.At(-1) }).To(Panic())
	g.Expect(func() { q.Remove(1) }).To(Panic())
}

// In steady state nothing is allocated.
func TestQueueKeepsItsMemory(t *testing.T) {
	var q Queue[[4]int]
	allocations := testing.AllocsPerRun(100, func() {
		for range 100 {
			q.Push([4]int{})
		}
		for range 100 {
			q.Pop()
		}
	})
	NewWithT(t).Expect(allocations).To(BeZero())
}
