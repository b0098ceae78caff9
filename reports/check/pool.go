package check

import (
	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/wire"
)

// pool is what the events say about one worker's pages: who holds each, whose rows it carries, what landed in it.
//
// Rows are followed in the last buffer, V1, which is what a token is drawn from. A page's rows are usually one run of
// one request, and are kept as such. Only a page that carries more, such as a last page whose tail is what it carried
// before, gets a row-by-row overlay.
type pool struct {
	addr     wire.Addr
	used     bool // in this run
	pageSize int
	// holders is who holds each page: an index of history.requests, 0 for nobody. shared has the further holders of a
	// page that more than one holds.
	holders []int32
	shared  map[wire.Page][]int32
	content []content
	// landed is what last arrived whole in each page, for each KV buffer; empty until something lands.
	landed   [wire.KVBuffers][]landing
	overlays [][]row
	spare    []int32 // overlays that no page uses
	records  []record
}

// content is the V1 rows of one page: the first count slots hold run's request at run's position and onwards, and the
// others were never written; or, if overlay is not 0, each slot is as overlays[overlay-1] says.
type content struct {
	run     row
	count   int32
	overlay int32
}

// landing is one whole page that arrived in one buffer.
type landing struct{ request, ordinal, event int32 }

// record is what lies in a metadata slot: whose record, and the draw of its first token.
type record struct {
	request int32
	first   draw
}

func (p *pool) prepare(addr wire.Addr, worker config.Worker) {
	p.addr, p.used, p.pageSize = addr, true, worker.PageSize
	pages := worker.PoolPages()
	p.holders = zeroed(p.holders, pages)
	p.content = zeroed(p.content, pages)
	p.records = zeroed(p.records, worker.MetadataSlots)
	for b := range p.landed {
		p.landed[b] = p.landed[b][:0]
	}
	clear(p.shared)
	p.spare = p.spare[:0]
	for i := range p.overlays {
		p.spare = append(p.spare, int32(i)+1)
		if len(p.overlays[i]) != p.pageSize {
			p.overlays[i] = make([]row, p.pageSize)
		}
	}
}

// zeroed returns a slice of n zero values, s if it is large enough.
func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// has reports whether page can be one of this pool's: page 0 is padding.
func (p *pool) has(page wire.Page) bool { return page > 0 && int(page) < len(p.holders) }

// hold adds request to the holders of page and returns another holder, 0 if there is none.
func (p *pool) hold(page wire.Page, request int32) int32 {
	switch before := p.holders[page]; before {
	case 0, request:
		p.holders[page] = request
		return 0
	default:
		if p.shared == nil {
			p.shared = map[wire.Page][]int32{}
		}
		p.shared[page] = append(p.shared[page], request)
		return before
	}
}

// drop takes request from the holders of page.
func (p *pool) drop(page wire.Page, request int32) {
	others := p.shared[page]
	if p.holders[page] == request {
		p.holders[page] = 0
		if len(others) > 0 {
			p.holders[page], p.shared[page] = others[0], others[1:]
		}
		return
	}
	for i, other := range others {
		if other == request {
			p.shared[page] = append(others[:i], others[i+1:]...)
			return
		}
	}
}

// holds reports whether request is among the holders of page.
func (p *pool) holds(page wire.Page, request int32) bool {
	if p.holders[page] == request {
		return true
	}
	if len(p.shared) > 0 {
		for _, other := range p.shared[page] {
			if other == request {
				return true
			}
		}
	}
	return false
}

// row is who wrote a row; the zero row if nobody did.
func (p *pool) row(page wire.Page, slot int) row {
	c := &p.content[page]
	switch {
	case c.overlay != 0:
		return p.overlays[c.overlay-1][slot]
	case slot < int(c.count):
		return c.run.after(slot)
	}
	return row{}
}

// write records that slots first to first+count-1 of page were written with start and the rows after it.
func (p *pool) write(page wire.Page, first, count int, start row) {
	c := &p.content[page]
	switch {
	case count == p.pageSize, first == 0 && c.overlay == 0 && count >= int(c.count):
		p.release(c)
		c.run, c.count = start, int32(count)
		return
	case c.overlay == 0 && c.count > 0 && first == int(c.count) && c.run.continues(first, start):
		c.count += int32(count)
		return
	}
	rows := p.mixed(c)
	for i := range count {
		rows[first+i] = start.after(i)
	}
}

// mixed makes the page one that is kept row by row, with the rows that it has.
func (p *pool) mixed(c *content) []row {
	if c.overlay == 0 {
		rows := p.overlay(c)
		for slot := range rows {
			rows[slot] = row{}
			if slot < int(c.count) {
				rows[slot] = c.run.after(slot)
			}
		}
	}
	return p.overlays[c.overlay-1]
}

// overlay gives the page an overlay, its rows still to be set.
func (p *pool) overlay(c *content) []row {
	if c.overlay == 0 {
		if len(p.spare) == 0 {
			p.overlays = append(p.overlays, make([]row, p.pageSize))
			p.spare = append(p.spare, int32(len(p.overlays)))
		}
		last := len(p.spare) - 1
		c.overlay, p.spare = p.spare[last], p.spare[:last]
	}
	return p.overlays[c.overlay-1]
}

func (p *pool) release(c *content) {
	if c.overlay != 0 {
		p.spare = append(p.spare, c.overlay)
		c.overlay = 0
	}
}

// land records that a whole page arrived from another pool: every slot, also those that its writer never filled in
// and that hold what the source page held before.
func (p *pool) land(page wire.Page, from *pool, source wire.Page, event int32) {
	c, s := &p.content[page], &from.content[source]
	if s.overlay == 0 {
		p.release(c)
		c.run, c.count = s.run, s.count
		c.run.event = event
		return
	}
	// from may be p itself, whose overlays may move when one is added.
	rows := p.overlay(c)
	copy(rows, from.overlays[s.overlay-1])
	for i := range rows {
		if rows[i].request != 0 {
			rows[i].event = event
		}
	}
}

// scrub records that every buffer of page was zeroed.
func (p *pool) scrub(page wire.Page) {
	p.release(&p.content[page])
	p.content[page] = content{}
	for b := range p.landed {
		if len(p.landed[b]) > 0 {
			p.landed[b][page] = landing{}
		}
	}
}

// arrivals is the landings of one buffer, by page.
func (p *pool) arrivals(b wire.Buffer) []landing {
	if len(p.landed[b]) == 0 {
		p.landed[b] = zeroed(p.landed[b], len(p.holders))
	}
	return p.landed[b]
}
