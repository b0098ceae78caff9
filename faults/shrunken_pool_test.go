package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that the pool looks smaller from the start, hands out only what is left, balances at rest, and that the
// fault fires when a reservation fails for want of the withheld pages, once for the same question.
func TestShrunkenPoolIsSmallerFromTheStart(t *testing.T) {
	b := newBench(t, &ShrunkenPool{Target: Target{Role: "decode"}, HoldPages: 12})
	pool := b.decode.Allocator
	b.Expect(pool.Capacity()).To(Equal(8))
	b.Expect(pool.Free()).To(Equal(8))
	b.expectFired(0) // of an idle pool nothing is missed yet
	got := pool.Reserve(8)
	b.Expect(got).To(HaveLen(8))
	b.Expect(pool.Reserve(20)).To(BeNil()) // more than was ever free: not the fault's doing
	b.expectFired(0)
	b.Expect(pool.Reserve(5)).To(BeNil())
	b.Expect(pool.Reserve(5)).To(BeNil())
	b.expectFired(1)
	pool.Release(got)
	b.Expect(pool.Free()).To(Equal(pool.Capacity()), "at rest nothing is missing")
	b.Expect(b.injector.Idle()).To(BeFalse(), "it is no hold")
}

// It proves that a worker which looks at the free count before it asks is seen to be misled, once.
func TestShrunkenPoolFiresOnTheFreeCount(t *testing.T) {
	b := newBench(t, &ShrunkenPool{Target: Target{Role: "decode"}, HoldPages: 12})
	b.decode.Allocator.Reserve(6)
	for range 3 {
		b.Expect(b.decode.Allocator.Free()).To(Equal(2))
	}
	b.expectFired(1)
}

// It proves that a pool which cannot be shrunk so far is an error of the run, and stays whole.
func TestShrunkenPoolMustLeaveAPage(t *testing.T) {
	g := NewWithT(t)
	j, err := New(Plan{Faults: []Spec{{Fault: &ShrunkenPool{HoldPages: 8}}}}, noRooms, discard)
	g.Expect(err).NotTo(HaveOccurred())
	pool := newPages(8)
	seams := port.Seams{Addr: decode, Allocator: pool}
	j.Wrap(&seams)
	g.Expect(j.Err()).To(MatchError(ContainSubstring("hold_pages 8 at decode/0#1: only 8 pages are free")))
	g.Expect(seams.Allocator).To(BeIdenticalTo(pool))
	g.Expect(pool.Reserve(1)).To(Equal([]wire.Page{1}))
}
