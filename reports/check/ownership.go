package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// ownership verifies, at each access as it happens, that the room holds the page: a page is given to one room at a
// time, rows are computed in it and buffers land in it (all of them) while the room holds it, it is read for a transfer
// while the room holds it, and tokens are drawn from it while the room holds it; and that a committed metadata slot has
// the room's own record. It needs landings and draws.
//
// It does not verify what a held page contains: a page that is the room's by reservation and another's by content is
// coverage's and attribution's to find.
type ownership struct{ tally }

func (*ownership) name() string { return "ownership" }

func (*ownership) kinds() []event.Kind {
	return []event.Kind{
		event.PagesReserved, event.RowsComputed, event.TokenSampled, event.WriteLanded, event.TransferCommitted,
	}
}

func (c *ownership) observe(h *history, e *event.Event) {
	r := h.find(e.Room)
	switch e.Kind {
	case event.PagesReserved:
		c.Looked += len(e.Pages)
		for _, d := range h.doubly {
			c.find(h, r, h.harm(r, d.other), Finding{
				Page: d.page, Ordinal: None, Position: None, say: sayDoubly, detail: detail{pool: h.pool(e.Source), other: d.other},
			})
		}
	case event.RowsComputed:
		if p := h.pool(e.Source); p != None {
			c.rows(h, e, r, p)
		}
	case event.TokenSampled:
		c.draws(h, e)
	case event.WriteLanded:
		c.landed(h, e, r)
	case event.TransferCommitted:
		c.Looked++
		if h.foreignSlot != 0 {
			c.find(h, r, h.harm(r, h.foreignSlot), Finding{
				Ordinal: None, Position: None, say: sayRecord,
				detail: detail{other: h.foreignSlot, numbers: [3]int{e.Slot}},
			})
		}
	}
}

func (c *ownership) finish(h *history) {
	for i := range h.requests {
		if q := &h.requests[i]; q.submitted != 0 && q.status == 200 {
			c.due = true
		}
	}
	if missing := h.run.Missing & (Landings | Draws); missing != 0 && c.due {
		c.skip("this target does not show where bytes land or tokens are drawn from")
	}
}

// harm is the worst that an access to another's page can lead to.
func (h *history) harm(r, holder int32) Outcome {
	switch {
	case holder == 0 || holder == r:
		return Garbage
	case h.sameTenant(r, holder):
		return Stale
	}
	return Leak
}

// rows looks at the pages that a chunk of a prompt was computed into.
func (c *ownership) rows(h *history, e *event.Event, r, p int32) {
	pool, t := &h.pools[p], h.requests[r].table(p)
	if t == nil || e.First < 0 || e.Count <= 0 {
		return // malformed
	}
	last := min((e.First+e.Count-1)/pool.pageSize, len(t.pages)-1)
	for ordinal := e.First / pool.pageSize; ordinal <= last; ordinal++ {
		c.Looked++
		c.held(h, r, p, t.pages[ordinal], Finding{
			Ordinal: ordinal, Position: ordinal * pool.pageSize, detail: detail{words: [2]string{"a row was computed"}},
		})
	}
}

// draws looks at the pages that decode steps wrote to and drew from.
func (c *ownership) draws(h *history, e *event.Event) {
	for i := range h.drawn {
		d := &h.drawn[i]
		c.Looked++
		if e.Source.Role != wire.Prefill {
			position := int(d.position)
			ordinal := position / h.pools[d.draw.pool].pageSize
			page := h.requests[d.request].table(d.draw.pool).page(ordinal)
			c.held(h, d.request, d.draw.pool, page, Finding{
				Ordinal: ordinal, Position: position, detail: detail{words: [2]string{"a row was written"}},
			})
		}
		if !h.pools[d.draw.pool].holds(d.draw.page, d.request) {
			c.held(h, d.request, d.draw.pool, d.draw.page, Finding{
				Ordinal: None, Position: int(d.position) + 1, detail: detail{words: [2]string{"a token was drawn"}},
			})
		}
	}
}

// landed looks at both ends of each page that moved.
func (c *ownership) landed(h *history, e *event.Event, r int32) {
	from, to := h.pool(e.Source), h.pool(e.Peer)
	if e.Buffer >= wire.KVBuffers || from == None || to == None {
		return
	}
	src, dst := &h.pools[from], &h.pools[to]
	source, target := h.requests[r].table(from), h.requests[r].table(to)
	if source == nil || e.First < 0 || e.Count < 0 || e.Pages != nil && len(e.Pages) != e.Count {
		return // malformed
	}
	for ordinal := e.First; ordinal < min(e.First+e.Count, len(source.pages)); ordinal++ {
		c.Looked++
		page := target.page(ordinal)
		if e.Pages != nil {
			page = e.Pages[ordinal-e.First]
		}
		if dst.has(page) && !dst.holds(page, r) {
			c.held(h, r, to, page, Finding{
				Ordinal: ordinal, Position: None,
				detail: detail{words: [2]string{"its page of " + e.Buffer.String() + " landed"}},
			})
		}
		if at := source.pages[ordinal]; at > 0 && !src.holds(at, r) {
			c.held(h, r, from, at, Finding{
				Ordinal: ordinal, Position: None,
				detail: detail{words: [2]string{"its page of " + e.Buffer.String() + " was read"}},
			})
		}
	}
}

// held makes f a finding if r does not hold the page.
func (c *ownership) held(h *history, r, p int32, page wire.Page, f Finding) {
	if page <= 0 || h.pools[p].holds(page, r) {
		return
	}
	f.Page, f.say, f.detail.pool = page, sayNotHeld, p
	f.detail.words[1] = h.holder(p, page)
	c.find(h, r, h.harm(r, h.pools[p].holders[page]), f)
}

func sayNotHeld(h *history, f *Finding) string {
	at := ""
	if f.Ordinal != None {
		at = fmt.Sprintf(", ordinal %d", f.Ordinal)
	}
	return fmt.Sprintf("%s at event %d%s: %s in page %d of %s, %s", subject(f), f.Event, at, f.detail.words[0], f.Page,
		h.pools[f.detail.pool].addr, f.detail.words[1])
}

func sayDoubly(h *history, f *Finding) string {
	other := &h.requests[f.detail.other]
	return fmt.Sprintf("page %d of %s was given to %s at event %d while room %d (tenant %d request %d) held it", f.Page,
		h.pools[f.detail.pool].addr, subject(f), f.Event, other.room, other.tenant, other.number)
}

func sayRecord(h *history, f *Finding) string {
	other := &h.requests[f.detail.other]
	return fmt.Sprintf("%s was committed at event %d with the record of room %d (tenant %d request %d) in metadata slot %d",
		subject(f), f.Event, other.room, other.tenant, other.number, f.detail.numbers[0])
}
