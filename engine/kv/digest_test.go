package kv

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/wire"
)

// The digest is part of the protocol: another device, or another build, must arrive at the same number. The expected ones
// were computed with the reference implementation of XXH3, seeded with SplitMix64 of ordinal<<8|buffer.
func TestDigestIsFixed(t *testing.T) {
	page := make([]byte, 8192)
	for i := range page {
		page[i] = byte(i * 7)
	}
	g := NewWithT(t)
	g.Expect(Digest(wire.K0, 0, page)).To(Equal(uint64(9477930288775384176)))
	g.Expect(Digest(wire.V1, 16_383, page)).To(Equal(uint64(16385908105823935418)))
}

// The term depends on buffer, ordinal and every byte, so a group's sum sees a swap of two pages, a page in the wrong
// buffer, and one flipped bit anywhere; it does not see the order in which pages were added.
func TestDigestSeesDamageAndNotOrder(t *testing.T) {
	g := NewWithT(t)
	a, b := make([]byte, 2048), make([]byte, 2048)
	a[5], b[6] = 1, 1
	whole := Digest(wire.K0, 0, a) + Digest(wire.K0, 1, b)
	g.Expect(Digest(wire.K0, 1, b) + Digest(wire.K0, 0, a)).To(Equal(whole))
	g.Expect(Digest(wire.K0, 0, b)+Digest(wire.K0, 1, a)).NotTo(Equal(whole), "swapped")
	g.Expect(Digest(wire.K0, 0, a)).NotTo(Equal(Digest(wire.V0, 0, a)), "another buffer")
	g.Expect(Digest(wire.K0, 0, a)).NotTo(Equal(Digest(wire.K0, 256, a)), "another ordinal")
	seen := map[uint64]int{}
	for i := range len(a) * 8 {
		a[i/8] ^= 1 << (i % 8)
		seen[Digest(wire.K0, 0, a)]++
		a[i/8] ^= 1 << (i % 8)
	}
	seen[Digest(wire.K0, 0, a)]++
	g.Expect(seen).To(HaveLen(len(a)*8 + 1))
}

// All-zero pages, the content of a fresh or scrubbed pool, still say which ordinal and buffer they are.
func TestDigestOfZeroPages(t *testing.T) {
	zero := make([]byte, 2048)
	seen := map[uint64]bool{}
	for ordinal := range 2000 {
		for b := wire.K0; b <= wire.V1; b++ {
			seen[Digest(b, ordinal, zero)] = true
		}
	}
	NewWithT(t).Expect(seen).To(HaveLen(8000))
}

func TestDigestGroups(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct{ first, pages, groups int }{
		{0, 0, 0}, {0, 1, 1}, {0, 128, 1}, {0, 129, 2}, {127, 1, 1}, {127, 2, 2}, {128, 128, 1}, {5, 300, 3},
	} {
		g.Expect(DigestGroups(c.first, c.pages)).To(Equal(c.groups), "%+v", c)
		if c.pages > 0 {
			g.Expect(DigestGroup(c.first, c.first)).To(Equal(0))
			g.Expect(DigestGroup(c.first, c.first+c.pages-1)).To(Equal(c.groups - 1))
		}
	}
}

func BenchmarkDigestInCache(b *testing.B) {
	page := make([]byte, 8192)
	b.SetBytes(int64(len(page)))
	for ordinal := 0; b.Loop(); ordinal++ {
		Digest(wire.K0, ordinal, page)
	}
}
