package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that the ledger follows reservations per worker and room, keeps its own copy, and tells held from left.
func TestLedgerFollowsReservations(t *testing.T) {
	g := NewWithT(t)
	l := &ledger{}
	pages := []wire.Page{3, 1, 2}
	l.observe(&event.Event{Kind: event.PagesReserved, Source: decode, Room: 7, Pages: pages})
	pages[0] = 9
	l.observe(&event.Event{Kind: event.PagesReserved, Source: prefill, Room: 7, Pages: []wire.Page{5}})
	g.Expect(l.pagesOf(wire.Decode, 7)).To(Equal([]wire.Page{3, 1, 2}))
	g.Expect(l.pagesOf(wire.Prefill, 7)).To(Equal([]wire.Page{5}))
	g.Expect(l.pagesOf(wire.Decode, 8)).To(BeNil())
	page, ok := l.unheldPage(decode, 4)
	g.Expect([]any{page, ok}).To(Equal([]any{wire.Page(4), true}))
	_, ok = l.unheldPage(decode, 3)
	g.Expect(ok).To(BeFalse(), "every page is held")
	other, ok := l.heldByOther(decode, 8)
	g.Expect([]any{other, ok}).To(Equal([]any{foreign{page: 3, room: 7}, true}))
	_, ok = l.heldByOther(decode, 7)
	g.Expect(ok).To(BeFalse(), "its own page is not another's")
	_, ok = l.leftByOther(decode, 8)
	g.Expect(ok).To(BeFalse(), "nothing was left yet")

	l.observe(&event.Event{Kind: event.PagesReleased, Source: decode, Room: 7})
	l.observe(&event.Event{Kind: event.PagesReserved, Source: decode, Room: 8, Pages: []wire.Page{3}})
	g.Expect(l.pagesOf(wire.Decode, 7)).To(BeNil())
	g.Expect(l.pagesOf(wire.Prefill, 7)).To(Equal([]wire.Page{5}), "the other worker still holds its own")
	other, ok = l.leftByOther(decode, 8)
	g.Expect([]any{other, ok}).To(Equal([]any{foreign{page: 1, room: 7, ordinal: 1}, true}), "page 3 is its own now")
	page, ok = l.unheldPage(decode, 4)
	g.Expect([]any{page, ok}).To(Equal([]any{wire.Page(1), true}))
}

// It proves that a room which reserves again holds the new pages only.
func TestLedgerReplacesAReservation(t *testing.T) {
	g := NewWithT(t)
	l := &ledger{}
	l.observe(&event.Event{Kind: event.PagesReserved, Source: decode, Room: 7, Pages: []wire.Page{1}})
	l.observe(&event.Event{Kind: event.PagesReserved, Source: decode, Room: 7, Pages: []wire.Page{2}})
	g.Expect(l.pagesOf(wire.Decode, 7)).To(Equal([]wire.Page{2}))
}

// It proves that the past is forgotten, oldest first, and what is held is not.
func TestLedgerForgets(t *testing.T) {
	g := NewWithT(t)
	l := &ledger{}
	l.observe(&event.Event{Kind: event.PagesReserved, Source: decode, Room: 1, Pages: []wire.Page{1}})
	for n := range wire.Page(3 * formerMax) {
		room := wire.Room(2 + n)
		l.observe(&event.Event{Kind: event.PagesReserved, Source: decode, Room: room, Pages: []wire.Page{2 + n}})
		l.observe(&event.Event{Kind: event.PagesReleased, Source: decode, Room: room})
	}
	g.Expect(l.holdings).To(HaveLen(1 + formerMax))
	g.Expect(l.pagesOf(wire.Decode, 1)).To(Equal([]wire.Page{1}))
	latest, ok := l.leftByOther(decode, 1)
	g.Expect(ok).To(BeTrue())
	g.Expect(latest.page).To(Equal(wire.Page(2 + 3*formerMax - 1)))
}
