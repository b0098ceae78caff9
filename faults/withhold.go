package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// withholding is an allocator that keeps pages of the inner one back. It takes real pages, so that the ones left to the
// worker are reused as fast as in a pool that is truly so small.
type withholding struct {
	inner  port.Allocator
	fault  *instance
	source wire.Addr
	want   int // pages to keep back; fewer while fewer are free
	pages  []wire.Page
	// smaller: the pages count as not being part of the pool. Otherwise they look as if another request held them.
	smaller bool
	refused int  // pages asked for by the last refusal that was recorded
	told    bool // that Free differs has been recorded
}

// keep takes as many pages as are wanted and free now.
func (a *withholding) keep() {
	if n := min(a.want-len(a.pages), a.inner.Free()); n > 0 {
		a.pages = append(a.pages, a.inner.Reserve(n)...)
	}
}

// Reserve is the inner allocator's. A refusal that only the withheld pages explain is the fault's doing; a worker that
// asks for the same again is refused again, which is no news.
func (a *withholding) Reserve(n int) []wire.Page {
	pages := a.inner.Reserve(n)
	switch {
	case pages != nil:
		a.refused = 0
	case len(a.pages) > 0 && n != a.refused && a.inner.Free()+len(a.pages) >= n:
		a.refused = n
		a.fire(fmt.Sprintf("%d pages reserved of %d free", n, a.inner.Free()+len(a.pages)),
			fmt.Sprintf("no page reserved of %d free: %d are withheld", a.inner.Free(), len(a.pages)))
	}
	return pages
}

// Release gives pages back; those still wanted are taken at once, before the worker can ask again.
func (a *withholding) Release(pages []wire.Page) {
	a.inner.Release(pages)
	a.keep()
}

// Free is what the worker may reserve. That it is less than without the fault is recorded once, and only while the
// worker holds pages: of a pool at rest nothing is missed until a reservation is refused.
func (a *withholding) Free() int {
	free := a.inner.Free()
	if len(a.pages) > 0 && !a.told && free+len(a.pages) < a.inner.Capacity() {
		a.told = true
		a.fire(fmt.Sprintf("%d pages free", free+len(a.pages)), fmt.Sprintf("%d pages free", free))
	}
	return free
}

// Capacity leaves the withheld pages out if the pool is to look smaller.
func (a *withholding) Capacity() int {
	if a.smaller {
		return a.inner.Capacity() - len(a.pages)
	}
	return a.inner.Capacity()
}

func (a *withholding) fire(before, after string) {
	a.fault.take()
	a.fault.fire(a.source, 0, before, after)
}

// giveBack ends the withholding.
func (a *withholding) giveBack() {
	pages := a.pages
	a.want, a.pages = 0, nil
	if len(pages) > 0 {
		a.inner.Release(pages)
	}
}

// squat is the holder's view of a withholding that ends.
type squat struct{ *withholding }

func (s squat) heldCount() int { return len(s.pages) }
func (s squat) release(string) { s.giveBack() }

// poolRoles are the workers that have a pool.
func poolRoles() []wire.Role { return []wire.Role{wire.Decode, wire.Prefill, wire.Colocated} }

func validatePages(hold int) error {
	if hold < 1 || hold > PagesMax {
		return fmt.Errorf("hold_pages %d: want 1 to %d", hold, PagesMax)
	}
	return nil
}
