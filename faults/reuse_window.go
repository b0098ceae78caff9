package faults

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// reuseWindow releases what a fault holds at the commit of a room that owns a decode page which a held operation aims
// at. A late write lands with full effect then: decode has proved the page's content and will not look again. At the
// new owner's reservation it would be overwritten by that owner's own transfer.
type reuseWindow struct {
	fault   *instance
	ledger  *ledger
	targets []aimedAt
}

type aimedAt struct {
	room  wire.Room
	pages []wire.Page
}

func newReuseWindow(i *instance) *reuseWindow {
	return &reuseWindow{fault: i, ledger: i.injector.holdings()}
}

// aim notes which of the room's pages a held operation will touch: now, because the room is about to lose them.
func (r *reuseWindow) aim(room wire.Room, first, count int) {
	pages := r.ledger.pagesOf(wire.Decode, room)
	first = min(first, len(pages))
	r.targets = append(r.targets, aimedAt{room: room, pages: slices.Clone(pages[first:min(first+count, len(pages))])})
}

// open begins to watch for commits.
func (r *reuseWindow) open() {
	done := false
	r.fault.on(event.TransferCommitted, func(e *event.Event) {
		if done || r.fault.held() == 0 {
			return
		}
		if page, from, hit := r.hit(e.Room); hit {
			done = true
			why := fmt.Sprintf("room %d committed page %d, once room %d's", e.Room, page, from)
			r.fault.later(func() { r.fault.release(why) })
		}
	})
}

// hit finds a page that the room holds and that a held operation of another room aims at.
func (r *reuseWindow) hit(room wire.Room) (page wire.Page, from wire.Room, hit bool) {
	owned := map[wire.Page]bool{}
	for _, p := range r.ledger.pagesOf(wire.Decode, room) {
		owned[p] = true
	}
	for _, target := range r.targets {
		for _, p := range target.pages {
			if target.room != room && owned[p] {
				return p, target.room, true
			}
		}
	}
	return 0, 0, false
}
