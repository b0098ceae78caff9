package kv

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

var small = port.Layout{Pages: 4, PageSize: 16, RowBytes: 128}

// The buffers tile the slab in the order K0, V0, K1, V1, stamp: no gap, no overlap, pages in order within each.
func TestPoolTilesItsSlab(t *testing.T) {
	g := NewWithT(t)
	pool, err := NewPool(small, Options{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(pool.Close()).To(Succeed()) })
	mark := byte(0)
	var joined []byte
	for b := wire.K0; b <= wire.Stamp; b++ {
		for page := range wire.Page(small.Pages) {
			mark++
			bytes := pool.Page(b, page)
			g.Expect(bytes).To(HaveEach(BeZero()), "fresh memory is zero")
			g.Expect(bytes).To(HaveLen(int(small.BufferBytes(b))))
			for i := range bytes {
				bytes[i] = mark
			}
		}
		joined = append(joined, pool.Buffer(b)...)
	}
	g.Expect(joined).To(Equal(pool.Slab()))
	g.Expect(int64(len(joined))).To(Equal(small.Bytes()))
	g.Expect(strings.Count(string(joined), "\x01")).To(Equal(2048), "the first page of K0 was overwritten by none")
}

// A pool over a caller's slab uses its bytes as they are: nothing is cleared.
func TestPoolOverKeepsTheBytes(t *testing.T) {
	g := NewWithT(t)
	slab := make([]byte, small.Bytes()+100)
	for i := range slab {
		slab[i] = 7
	}
	pool, err := NewPoolOver(small, slab)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pool.Slab()).To(And(HaveLen(int(small.Bytes())), HaveEach(byte(7))))
	pool.Page(wire.K0, 1)[0] = 8
	g.Expect(slab[2048]).To(Equal(byte(8)))
	g.Expect(pool.Close()).To(Succeed())
	g.Expect(slab[2048]).To(Equal(byte(8)), "the slab stays the caller's")
	_, err = NewPoolOver(small, slab[:small.Bytes()-1])
	g.Expect(err).To(MatchError(ContainSubstring("the slab given has")))
}

func TestPoolRefusesAnEmptyLayout(t *testing.T) {
	for _, l := range []port.Layout{{}, {Pages: 1, PageSize: 16}, {Pages: 1, RowBytes: 128}, {Pages: -1, PageSize: 16, RowBytes: 128}} {
		_, err := NewPool(l, Options{})
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("at least 1")))
		_, err = NewPoolOver(l, nil)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("at least 1")))
	}
}

// A mapping that the address space cannot hold is an error, not a crash.
func TestPoolTooLarge(t *testing.T) {
	if _, err := os.Stat("/proc/self/smaps"); err != nil {
		t.Skip("the slab comes from the Go heap here")
	}
	_, err := NewPool(port.Layout{Pages: 1 << 40, PageSize: 128, RowBytes: 128}, Options{})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("map a pool of")))
}

// Huge pages are asked for only on request, and the report agrees with the kernel's own listing.
func TestPoolReportsHugePages(t *testing.T) {
	g := NewWithT(t)
	pool, err := NewPool(small, Options{Touch: true})
	g.Expect(err).NotTo(HaveOccurred())
	asked, got := pool.HugePages()
	g.Expect(asked || got).To(BeFalse())
	g.Expect(pool.Close()).To(Succeed())

	large := port.Layout{Pages: 512, PageSize: 64, RowBytes: 128} // 16 MiB
	pool, err = NewPool(large, Options{HugePages: true, Touch: true})
	g.Expect(err).NotTo(HaveOccurred())
	asked, got = pool.HugePages()
	g.Expect(asked).To(BeTrue())
	setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	t.Logf("huge pages got: %v; kernel setting: %q (%v)", got, setting, err)
	if err != nil || strings.Contains(string(setting), "[never]") {
		g.Expect(got).To(BeFalse())
	}
	g.Expect(pool.Slab()).To(HaveLen(int(large.Bytes())))
	g.Expect(pool.Close()).To(Succeed())
	g.Expect(pool.Close()).To(Succeed(), "twice")
	asked, got = pool.HugePages()
	g.Expect(asked && !got).To(BeTrue(), "nothing is mapped any more")
}
