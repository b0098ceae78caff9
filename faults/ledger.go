package faults

import (
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// ledger knows who holds which pages, and who held them lately, from the workers' own events. It serves only to aim: no
// verdict leans on it.
type ledger struct {
	holdings []holding // in the order of their reservations
	former   int       // how many of them are over
}

type holding struct {
	worker wire.Addr
	room   wire.Room
	pages  []wire.Page // in ordinal order
	former bool        // given back
}

// formerMax bounds how many past holdings are remembered.
const formerMax = 64

func (l *ledger) observe(e *event.Event) {
	switch e.Kind {
	case event.PagesReserved:
		l.release(e.Source, e.Room)
		// An event's slices belong to the worker: they may be overwritten by its next step.
		l.holdings = append(l.holdings, holding{worker: e.Source, room: e.Room, pages: slices.Clone(e.Pages)})
	case event.PagesReleased:
		l.release(e.Source, e.Room)
	default:
	}
}

// release marks what the room holds at the worker as given back, and forgets the oldest of too many such.
func (l *ledger) release(worker wire.Addr, room wire.Room) {
	for n := range l.holdings {
		if h := &l.holdings[n]; !h.former && h.worker == worker && h.room == room {
			h.former = true
			l.former++
		}
	}
	if l.former > formerMax {
		oldest := slices.IndexFunc(l.holdings, func(h holding) bool { return h.former })
		l.holdings = slices.Delete(l.holdings, oldest, oldest+1)
		l.former--
	}
}

// held is what the room holds at a worker of the role; nil if nothing.
func (l *ledger) held(role wire.Role, room wire.Room) *holding {
	for n := range l.holdings {
		if h := &l.holdings[n]; !h.former && h.worker.Role == role && h.room == room {
			return h
		}
	}
	return nil
}

// pagesOf is the pages of held, in ordinal order.
func (l *ledger) pagesOf(role wire.Role, room wire.Room) []wire.Page {
	if h := l.held(role, room); h != nil {
		return h.pages
	}
	return nil
}

// foreign is a page whose content is another room's, and which ordinal of that room it is.
type foreign struct {
	page    wire.Page
	room    wire.Room
	ordinal int
}

// heldByOther is a page that another room holds at the worker now: of the oldest reservation, whose content is the
// likeliest to be complete.
func (l *ledger) heldByOther(worker wire.Addr, room wire.Room) (foreign, bool) {
	for _, h := range l.holdings {
		if !h.former && h.worker == worker && h.room != room && len(h.pages) > 0 {
			return foreign{page: h.pages[0], room: h.room}, true
		}
	}
	return foreign{}, false
}

// leftByOther is a page at the worker that another room gave back, the latest one that does so and is not this room's
// now.
func (l *ledger) leftByOther(worker wire.Addr, room wire.Room) (foreign, bool) {
	mine := l.pagesOf(worker.Role, room)
	for n := len(l.holdings) - 1; n >= 0; n-- {
		h := l.holdings[n]
		if !h.former || h.worker != worker || h.room == room {
			continue
		}
		for ordinal, page := range h.pages {
			if !slices.Contains(mine, page) {
				return foreign{page: page, room: h.room, ordinal: ordinal}, true
			}
		}
	}
	return foreign{}, false
}

// unheldPage is the lowest page of the worker's pool that nobody holds, of pages 1 to last.
func (l *ledger) unheldPage(worker wire.Addr, last wire.Page) (wire.Page, bool) {
	held := map[wire.Page]bool{}
	for _, h := range l.holdings {
		if !h.former && h.worker == worker {
			for _, p := range h.pages {
				held[p] = true
			}
		}
	}
	for p := wire.Page(1); p <= last; p++ {
		if !held[p] {
			return p, true
		}
	}
	return 0, false
}
