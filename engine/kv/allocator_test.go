package kv

import (
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/wire"
)

var orders = []config.Order{config.OrderSGLang, config.OrderFIFO, config.OrderLIFO}

// listOrder is SGLang's allocator as it is described: two lists, merged and sorted when the first runs short.
type listOrder struct{ free, released []wire.Page }

func (o *listOrder) reserve(n int) []wire.Page {
	if n > len(o.free) {
		o.free = append(o.free, o.released...)
		o.released = nil
		slices.Sort(o.free)
	}
	if n > len(o.free) {
		return nil
	}
	out := slices.Clone(o.free[:n])
	o.free = o.free[n:]
	return out
}

// The bit sets hand out the very pages that the two lists would, over random reservations (failing ones included, which
// merge too) and releases in any order.
func TestSGLangOrderEqualsTheTwoLists(t *testing.T) {
	g := NewWithT(t)
	draw := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		pages := 2 + draw.IntN(300)
		a, want := NewAllocator(config.OrderSGLang, pages), &listOrder{}
		for page := 1; page < pages; page++ {
			want.free = append(want.free, wire.Page(page))
		}
		var held []wire.Page
		for range 200 {
			if draw.IntN(2) == 0 {
				n := draw.IntN(pages)
				got := a.Reserve(n)
				expected := want.reserve(n)
				if expected == nil {
					g.Expect(got).To(BeNil())
				} else {
					g.Expect(got).To(Equal(append([]wire.Page{}, expected...)))
				}
				held = append(held, got...)
			} else {
				draw.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
				n := draw.IntN(len(held) + 1)
				a.Release(held[:n])
				want.released = append(want.released, held[:n]...)
				held = slices.Clone(held[n:])
			}
			g.Expect(a.Free()).To(Equal(len(want.free) + len(want.released)))
		}
		g.Expect(a.Err()).NotTo(HaveOccurred())
	}
}

// Which freed page comes next is what tells the orders apart.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		order config.Order
		next  []wire.Page
	}{
		{config.OrderSGLang, []wire.Page{5, 6, 7}}, // the released ones wait
		{config.OrderFIFO, []wire.Page{5, 6, 7}},
		{config.OrderLIFO, []wire.Page{2, 3, 5}},
	} {
		t.Run(string(c.order), func(t *testing.T) {
			g := NewWithT(t)
			a := NewAllocator(c.order, 8)
			g.Expect(a.Reserve(4)).To(Equal([]wire.Page{1, 2, 3, 4}))
			a.Release([]wire.Page{3, 2})
			g.Expect(a.Reserve(3)).To(Equal(c.next))
		})
	}
	g := NewWithT(t)
	sglang, fifo := NewAllocator(config.OrderSGLang, 6), NewAllocator(config.OrderFIFO, 6)
	for _, a := range []*Allocator{sglang, fifo} {
		a.Reserve(4)
		a.Release([]wire.Page{3, 2})
	}
	g.Expect(sglang.Reserve(2)).To(Equal([]wire.Page{2, 3}), "short of two: merged and sorted")
	g.Expect(fifo.Reserve(3)).To(Equal([]wire.Page{5, 3, 2}), "in the order they became free")
}

// In every order: pages are unique, never page 0, never more than there are, and all come back.
func TestAllocatorConservesPages(t *testing.T) {
	for _, order := range orders {
		t.Run(string(order), func(t *testing.T) {
			g := NewWithT(t)
			draw := rand.New(rand.NewPCG(5, 6))
			a := NewAllocator(order, 65)
			g.Expect(a.Capacity()).To(Equal(64))
			var held [][]wire.Page
			owned := map[wire.Page]bool{}
			for range 5_000 {
				if n := draw.IntN(20); draw.IntN(2) == 0 {
					free := a.Free()
					pages := a.Reserve(n)
					g.Expect(pages != nil).To(Equal(n <= free))
					g.Expect(pages == nil || len(pages) == n).To(BeTrue())
					for _, page := range pages {
						g.Expect(page).To(And(BeNumerically(">=", 1), BeNumerically("<=", 64)))
						g.Expect(owned[page]).To(BeFalse(), "page %d has two owners", page)
						owned[page] = true
					}
					held = append(held, pages)
				} else if len(held) > 0 {
					i := draw.IntN(len(held))
					a.Release(held[i])
					for _, page := range held[i] {
						delete(owned, page)
					}
					held = slices.Delete(held, i, i+1)
				}
				g.Expect(a.Free() + len(owned)).To(Equal(64))
			}
			g.Expect(a.Err()).NotTo(HaveOccurred())
		})
	}
}

// An impossible release is kept for the runner, named, and leaves the pool whole.
func TestAllocatorKeepsAnImpossibleRelease(t *testing.T) {
	for _, order := range orders {
		t.Run(string(order), func(t *testing.T) {
			g := NewWithT(t)
			a := NewAllocator(order, 4)
			pages := a.Reserve(2)
			a.Release(pages)
			g.Expect(a.Err()).NotTo(HaveOccurred())
			a.Release(pages[:1])
			g.Expect(a.Err()).To(MatchError(ContainSubstring("page 1 was released while it was free")))
			g.Expect(a.Free()).To(Equal(3))
			seen := a.Reserve(3)
			slices.Sort(seen)
			g.Expect(seen).To(Equal([]wire.Page{1, 2, 3}))
			for _, foreign := range []wire.Page{-1, 0, 4} {
				b := NewAllocator(order, 4)
				b.Release([]wire.Page{foreign})
				g.Expect(b.Err()).To(MatchError(ContainSubstring("pages 1 to 3 only")))
				g.Expect(b.Free()).To(Equal(3))
			}
			g.Expect(a.Reserve(-1)).To(BeNil())
			g.Expect(a.Reserve(0)).To(And(Not(BeNil()), BeEmpty()))
		})
	}
}

// A pool of nothing but padding hands out nothing.
func TestAllocatorOfAnEmptyPool(t *testing.T) {
	for _, order := range orders {
		for _, pages := range []int{0, 1} {
			a := NewAllocator(order, pages)
			NewWithT(t).Expect([]any{a.Capacity(), a.Free(), a.Reserve(1)}).To(Equal([]any{0, 0, []wire.Page(nil)}))
		}
	}
}

// At true scale: a long prompt's pages, and then small reservations from a pool that is nearly full and is asked again
// after each release of one page, which is when a sort of the free list would be paid every time.
func BenchmarkAllocator(b *testing.B) {
	const poolPages = 32_769
	for _, order := range orders {
		b.Run(string(order)+"/reserve-release-16384", func(b *testing.B) {
			a := NewAllocator(order, poolPages)
			for b.Loop() {
				a.Release(a.Reserve(16_384))
			}
		})
		b.Run(string(order)+"/one-page-while-short", func(b *testing.B) {
			a := NewAllocator(order, poolPages)
			held := a.Reserve(poolPages - 1)
			a.Release(held[10_000:])
			b.ReportAllocs()
			for b.Loop() {
				a.Reserve(poolPages) // too many: merges
				a.Release(a.Reserve(1))
			}
		})
	}
}
