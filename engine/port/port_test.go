package port

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/wire"
)

// layouts are pools of the smallest and the largest page, and of one page beside the padding.
var layouts = []Layout{
	{Base: 0, Pages: 2, PageSize: 16, RowBytes: 128},
	{Base: 4, Pages: 9, PageSize: 64, RowBytes: 128},
	{Base: 65535, Pages: 130, PageSize: 128, RowBytes: 128},
}

// The spans of a pool tile its slab: every byte lies in exactly one buffer of one page, and PageAt says which page.
func TestLayoutSpansTileTheSlab(t *testing.T) {
	for _, l := range layouts {
		g := NewWithT(t)
		next := int64(0)
		for b := wire.K0; b <= wire.Stamp; b++ {
			for page := range wire.Page(l.Pages) {
				s := l.Span(b, page, 7)
				g.Expect(s).To(Equal(wire.Span{
					Region: wire.Region{Base: l.Base, Generation: 7}, Offset: next, Length: l.BufferBytes(b),
				}))
				next += s.Length
				for _, inside := range []int64{0, s.Length - 1} {
					at := s
					at.Offset += inside
					got, ok := l.PageAt(b, at)
					g.Expect(ok).To(BeTrue())
					g.Expect(got).To(Equal(page))
				}
			}
		}
		g.Expect(next).To(Equal(l.Bytes()))
		g.Expect(l.PageBytes(true) - l.PageBytes(false)).To(Equal(int64(StampBytes)))
	}
}

// A span of another region, of another buffer, or past the pool lies in no page.
func TestPageAtRefusesWhatLiesElsewhere(t *testing.T) {
	for _, l := range layouts {
		for b := wire.K0; b <= wire.Stamp; b++ {
			g := NewWithT(t)
			first, last := l.Span(b, 0, 0), l.Span(b, wire.Page(l.Pages-1), 0)
			elsewhere := first
			elsewhere.Region.Base++
			before, behind := first, last
			before.Offset--
			behind.Offset += behind.Length
			for _, s := range []wire.Span{elsewhere, before, behind, {Region: first.Region, Offset: -1 << 62}} {
				_, ok := l.PageAt(b, s)
				g.Expect(ok).To(BeFalse(), "%s at %+v", b, s)
			}
		}
	}
}

// PagesFor is the least number of pages that hold so many tokens.
func TestPagesFor(t *testing.T) {
	g := NewWithT(t)
	for _, l := range layouts {
		for tokens := range 3*l.PageSize + 2 {
			pages := l.PagesFor(tokens)
			g.Expect(pages * l.PageSize).To(BeNumerically(">=", tokens))
			g.Expect((pages - 1) * l.PageSize).To(BeNumerically("<", max(tokens, 1)))
		}
	}
}

// A record is read back as it was written, extremes included, and only at its length.
func TestRecordRoundTrip(t *testing.T) {
	g := NewWithT(t)
	for _, r := range []Record{
		{},
		{Room: 1, Tokens: 2, Cached: 3, First: 4},
		{Room: 1<<64 - 1, Tokens: 1<<63 - 1, Cached: 1<<63 - 1, First: 65535},
		{Room: 5, Tokens: -1},
	} {
		b := r.Bytes()
		g.Expect(b).To(HaveLen(RecordBytes))
		back, ok := ParseRecord(b)
		g.Expect(ok).To(BeTrue())
		g.Expect(back).To(Equal(r))
		for _, short := range [][]byte{nil, b[1:], append([]byte{0}, b...)} {
			_, ok := ParseRecord(short)
			g.Expect(ok).To(BeFalse())
		}
	}
}

// Records that differ in any field have different sums, also where their fields' bytes are the same in another place.
func TestRecordSum(t *testing.T) {
	g := NewWithT(t)
	sums := map[uint64]Record{}
	for _, r := range []Record{
		{},
		{Room: 1},
		{Tokens: 1},
		{Cached: 1},
		{First: 1},
		{Room: 256},
		{Room: 1, Tokens: 1},
		{Room: 257},
		{Tokens: -1},
		{Room: 7, Tokens: 40, First: 42},
		{Room: 7, Tokens: 40, First: 43},
		{Room: 7, Tokens: 41, First: 42},
	} {
		g.Expect(sums).NotTo(HaveKey(r.Sum()), "%+v", r)
		g.Expect(r.Sum()).NotTo(BeZero())
		sums[r.Sum()] = r
	}
}

// Metadata slots lie one after the other.
func TestRecordSpans(t *testing.T) {
	g := NewWithT(t)
	for slot := range 5 {
		g.Expect(RecordSpan(3, slot, 2)).To(Equal(wire.Span{
			Region: wire.Region{Base: 3, Generation: 2}, Offset: int64(slot) * RecordBytes, Length: RecordBytes,
		}))
	}
}

// Every kind of operation and every status has a name of its own.
func TestNames(t *testing.T) {
	g := NewWithT(t)
	names := map[string]bool{}
	for k := OpPrefill; k <= OpStore; k++ {
		names[k.String()] = true
	}
	for s := OK; s <= Rejected; s++ {
		names[s.String()] = true
	}
	g.Expect(names).To(HaveLen(int(OpStore) + 1 + int(Rejected) + 1))
}
