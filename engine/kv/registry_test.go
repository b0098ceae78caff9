package kv

import (
	"math"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

var decodeAddr = wire.Addr{Role: wire.Decode, Incarnation: 1}

// A span resolves to the registered bytes themselves, of exactly its length.
func TestRegistryResolves(t *testing.T) {
	g := NewWithT(t)
	var r Registry
	bytes := []byte{0, 1, 2, 3, 4}
	g.Expect(r.Register(3, decodeAddr, bytes)).To(Succeed())
	got, err := r.Resolve(wire.Span{Region: wire.Region{Base: 3}, Offset: 1, Length: 3})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal([]byte{1, 2, 3}))
	g.Expect(got).To(HaveCap(3), "an append must not reach beyond the span")
	got[0] = 9
	g.Expect(bytes[1]).To(Equal(byte(9)))
	owner, layout, ok := r.Owner(3)
	g.Expect([]any{owner, layout.Pages, ok}).To(Equal([]any{decodeAddr, 0, true}))
}

func TestRegistryRefusesWhatLeavesTheBytes(t *testing.T) {
	g := NewWithT(t)
	var r Registry
	g.Expect(r.Register(0, decodeAddr, make([]byte, 10))).To(Succeed())
	for _, s := range []wire.Span{
		{Offset: -1, Length: 1},
		{Offset: 0, Length: 11},
		{Offset: 10, Length: 1},
		{Offset: 11, Length: 0},
		{Offset: 5, Length: -1},
		{Offset: 1, Length: math.MaxInt64},
		{Offset: math.MaxInt64, Length: math.MaxInt64},
	} {
		_, err := r.Resolve(s)
		g.Expect(err).To(MatchError(ErrOutOfRange), "%+v", s)
	}
	_, err := r.Resolve(wire.Span{Offset: 10})
	g.Expect(err).NotTo(HaveOccurred(), "nothing, at the end")
}

// A generation is valid from its grant to its revocation, generation 0 always, and errors name the region.
func TestRegistryGenerations(t *testing.T) {
	g := NewWithT(t)
	var r Registry
	g.Expect(r.Register(2, decodeAddr, make([]byte, 10))).To(Succeed())
	resolve := func(generation uint32) error {
		_, err := r.Resolve(wire.Span{Region: wire.Region{Base: 2, Generation: generation}, Offset: 4, Length: 1})
		return err
	}
	g.Expect(resolve(7)).To(MatchError(ErrRevoked), "never granted")
	r.Grant(wire.Region{Base: 2, Generation: 7})
	r.Grant(wire.Region{Base: 2, Generation: 8})
	g.Expect(resolve(7)).To(Succeed())
	r.Revoke(wire.Region{Base: 2, Generation: 7})
	r.Revoke(wire.Region{Base: 2, Generation: 7})
	g.Expect(resolve(7)).To(And(MatchError(ErrRevoked), MatchError(ContainSubstring("base 2, generation 7, offset 4"))))
	g.Expect(resolve(8)).To(Succeed(), "another generation of the base")
	r.Revoke(wire.Region{Base: 2})
	g.Expect(resolve(0)).To(Succeed(), "the standing registration")
	r.Unregister(2)
	g.Expect(resolve(0)).To(MatchError(ErrUnknownBase))
	g.Expect(r.Register(2, decodeAddr, make([]byte, 10))).To(Succeed(), "the base is free again")
	g.Expect(resolve(8)).To(MatchError(ErrRevoked), "and knows none of the old generations")
}

func TestRegistryKnowsNoOtherBase(t *testing.T) {
	g := NewWithT(t)
	var r Registry
	g.Expect(r.Register(1, decodeAddr, nil)).To(Succeed())
	g.Expect(r.Register(1, decodeAddr, nil)).To(MatchError(ContainSubstring("belongs to decode/0#1")))
	for _, base := range []uint16{0, 2, math.MaxUint16} {
		r.Grant(wire.Region{Base: base, Generation: 1})
		r.Revoke(wire.Region{Base: base, Generation: 1})
		r.Unregister(base)
		_, err := r.Resolve(wire.Span{Region: wire.Region{Base: base}})
		g.Expect(err).To(MatchError(ErrUnknownBase))
		_, _, ok := r.Owner(base)
		g.Expect(ok).To(BeFalse())
	}
}

// A pool's page and its span are the same bytes.
func TestRegistryOfAPool(t *testing.T) {
	g := NewWithT(t)
	layout := port.Layout{Base: 5, Pages: 3, PageSize: 16, RowBytes: 128}
	pool, err := NewPoolOver(layout, make([]byte, layout.Bytes()))
	g.Expect(err).NotTo(HaveOccurred())
	var r Registry
	g.Expect(r.RegisterPool(decodeAddr, pool)).To(Succeed())
	for b := wire.K0; b <= wire.Stamp; b++ {
		pool.Page(b, 2)[0] = byte(b) + 1
		got, err := r.Resolve(layout.Span(b, 2, 0))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(pool.Page(b, 2)))
		g.Expect(got[0]).To(Equal(byte(b) + 1))
	}
	_, known, _ := r.Owner(5)
	g.Expect(known).To(Equal(layout))
}

// Resolving is on the path of every page that lands.
func BenchmarkResolve(b *testing.B) {
	var r Registry
	if err := r.Register(1, decodeAddr, make([]byte, 1<<20)); err != nil {
		b.Fatal(err)
	}
	for generation := range uint32(64) {
		r.Grant(wire.Region{Base: 1, Generation: generation})
	}
	span := wire.Span{Region: wire.Region{Base: 1, Generation: 9}, Offset: 8192, Length: 8192}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Resolve(span); err != nil {
			b.Fatal(err)
		}
	}
}
