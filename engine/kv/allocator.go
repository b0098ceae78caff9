package kv

import (
	"fmt"
	"math/bits"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/kv/fifo"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Allocator hands out the pages 1 to poolPages-1 of one pool; page 0 is padding. It implements port.Allocator.
//
// A page released twice, or never handed out, is an impossible state of the worker that released it. The release is
// then ignored, so that the pool stays whole, and Err keeps the first such case for the runner to report.
type Allocator struct {
	free     freeList
	held     pageSet
	capacity int
	err      error
}

var _ port.Allocator = (*Allocator)(nil)

// freeList is one order of handing out: it is asked for at most as many pages as it has, and given each page once.
type freeList interface {
	// prepare is told that n pages are wanted before it is known whether there are so many.
	prepare(n int)
	take(dst []wire.Page)
	put(page wire.Page)
	len() int
}

// NewAllocator returns an allocator for a pool of poolPages pages, page 0 included. Fresh pages are handed out
// ascending in every order. An order that config.Validate would not let pass is treated as SGLang's.
func NewAllocator(order config.Order, poolPages int) *Allocator {
	a := &Allocator{capacity: max(poolPages-1, 0), held: newPageSet(poolPages)}
	switch order {
	case config.OrderFIFO:
		a.free = &queueOrder{}
		for page := 1; page <= a.capacity; page++ {
			a.free.put(wire.Page(page))
		}
	case config.OrderLIFO:
		a.free = &stackOrder{pages: make([]wire.Page, 0, a.capacity)}
		for page := a.capacity; page >= 1; page-- {
			a.free.put(wire.Page(page))
		}
	case config.OrderSGLang:
		fallthrough
	default:
		a.free = newSortedOrder(poolPages)
	}
	return a
}

// Reserve hands out n pages, in ordinal order, or nil when so many are not free now. The slice is the caller's.
func (a *Allocator) Reserve(n int) []wire.Page {
	if n < 0 {
		return nil
	}
	a.free.prepare(n)
	if n > a.free.len() {
		return nil
	}
	pages := make([]wire.Page, n)
	a.free.take(pages)
	for _, page := range pages {
		a.held.add(page)
	}
	return pages
}

// Release takes pages back. They may be handed out again at once, with all that they hold.
func (a *Allocator) Release(pages []wire.Page) {
	for _, page := range pages {
		if page < 1 || int(page) > a.capacity || !a.held.has(page) {
			a.complain(page)
			continue
		}
		a.held.remove(page)
		a.free.put(page)
	}
}

func (a *Allocator) complain(page wire.Page) {
	if a.err != nil {
		return
	}
	if page < 1 || int(page) > a.capacity {
		a.err = fmt.Errorf("page %d was released, but the allocator hands out pages 1 to %d only", page, a.capacity)
		return
	}
	a.err = fmt.Errorf("page %d was released while it was free: released twice, or never reserved", page)
}

// Err is the first impossible release, or nil. A run in which it is not nil proves nothing else.
func (a *Allocator) Err() error { return a.err }

// Free is how many pages could be reserved now.
func (a *Allocator) Free() int { return a.free.len() }

// Capacity is how many pages there are to hand out.
func (a *Allocator) Capacity() int { return a.capacity }

// sortedOrder is SGLang's order: pages are taken from the head of the free list; released pages wait in a list of their
// own until the free list runs short, and are then merged in and the whole sorted ascending.
//
// The free list starts ascending and only ever loses its head, so it is always the ascending listing of a set. It is
// kept as that set, a bit a page: merging is an OR over pages/64 words in place of a sort, which matters when a full
// pool is asked again at every step.
type sortedOrder struct {
	free, released           pageSet
	freeCount, releasedCount int
	// head is the first word of free that may hold a page.
	head int
}

func newSortedOrder(poolPages int) *sortedOrder {
	o := &sortedOrder{free: newPageSet(poolPages), released: newPageSet(poolPages)}
	for page := 1; page < poolPages; page++ {
		o.free.add(wire.Page(page))
		o.freeCount++
	}
	return o
}

// prepare merges when the free list is short of n, whether or not the merge will be enough: so does SGLang, and it
// decides which pages the next, smaller request gets.
func (o *sortedOrder) prepare(n int) {
	if n <= o.freeCount || o.releasedCount == 0 {
		return
	}
	for i, word := range o.released {
		o.free[i] |= word
	}
	clear(o.released)
	o.freeCount += o.releasedCount
	o.releasedCount, o.head = 0, 0
}

// take is only called for as many pages as prepare has made ready in the free list.
func (o *sortedOrder) take(dst []wire.Page) {
	for i := range dst {
		for o.free[o.head] == 0 {
			o.head++
		}
		word := o.free[o.head]
		dst[i] = wire.Page(o.head<<6 + bits.TrailingZeros64(word))
		o.free[o.head] = word & (word - 1)
	}
	o.freeCount -= len(dst)
}

func (o *sortedOrder) put(page wire.Page) {
	o.released.add(page)
	o.releasedCount++
}

func (o *sortedOrder) len() int { return o.freeCount + o.releasedCount }

// queueOrder hands out the page that has been free longest.
type queueOrder struct{ pages fifo.Queue[wire.Page] }

func (o *queueOrder) prepare(int)          {}
func (o *queueOrder) take(dst []wire.Page) { o.pages.PopInto(dst) }
func (o *queueOrder) put(page wire.Page)   { o.pages.Push(page) }
func (o *queueOrder) len() int             { return o.pages.Len() }

// stackOrder hands out the page that was released last: the warmest one, and the one an earlier owner is likeliest to
// be still writing.
type stackOrder struct{ pages []wire.Page }

func (o *stackOrder) prepare(int) {}

func (o *stackOrder) take(dst []wire.Page) {
	for i := range dst {
		last := len(o.pages) - 1
		dst[i], o.pages = o.pages[last], o.pages[:last]
	}
}

func (o *stackOrder) put(page wire.Page) { o.pages = append(o.pages, page) }
func (o *stackOrder) len() int           { return len(o.pages) }

// pageSet is a set of pages, a bit each.
type pageSet []uint64

func newPageSet(poolPages int) pageSet { return make(pageSet, (max(poolPages, 0)+63)/64) }

func (s pageSet) has(page wire.Page) bool { return s[page>>6]&(1<<(page&63)) != 0 }
func (s pageSet) add(page wire.Page)      { s[page>>6] |= 1 << (page & 63) }
func (s pageSet) remove(page wire.Page)   { s[page>>6] &^= 1 << (page & 63) }
