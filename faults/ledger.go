package faults

import (
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// ledger knows who holds which pages, from the workers' own events. It serves only to aim: no verdict leans on it.
type ledger struct {
	holders []holding // in the order of their reservations
}

type holding struct {
	worker wire.Addr
	room   wire.Room
	pages  []wire.Page // in ordinal order
}

func (l *ledger) observe(e *event.Event) {
	switch e.Kind {
	case event.PagesReserved:
		l.drop(e.Source, e.Room)
		// An event's slices belong to the worker: they may be overwritten by its next step.
		l.holders = append(l.holders, holding{worker: e.Source, room: e.Room, pages: slices.Clone(e.Pages)})
	case event.PagesReleased:
		l.drop(e.Source, e.Room)
	default:
	}
}

func (l *ledger) drop(worker wire.Addr, room wire.Room) {
	l.holders = slices.DeleteFunc(l.holders, func(h holding) bool { return h.worker == worker && h.room == room })
}

// pagesOf is what the room holds at a worker of the role, in ordinal order; nil if nothing.
func (l *ledger) pagesOf(role wire.Role, room wire.Room) []wire.Page {
	for _, h := range l.holders {
		if h.worker.Role == role && h.room == room {
			return h.pages
		}
	}
	return nil
}

// workerOf is the worker of the role at which the room holds pages.
func (l *ledger) workerOf(role wire.Role, room wire.Room) (wire.Addr, bool) {
	for _, h := range l.holders {
		if h.worker.Role == role && h.room == room {
			return h.worker, true
		}
	}
	return wire.Addr{}, false
}

// otherPage is a page that a room other than this one holds at the worker: the first page of the oldest reservation,
// whose content is the likeliest to be complete.
func (l *ledger) otherPage(worker wire.Addr, room wire.Room) (wire.Page, bool) {
	for _, h := range l.holders {
		if h.worker == worker && h.room != room && len(h.pages) > 0 {
			return h.pages[0], true
		}
	}
	return 0, false
}

// unheldPage is the lowest page of the worker's pool that nobody holds, of pages 1 to last.
func (l *ledger) unheldPage(worker wire.Addr, last wire.Page) (wire.Page, bool) {
	held := map[wire.Page]bool{}
	for _, h := range l.holders {
		if h.worker == worker {
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
