package check

import (
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// applyPages takes an event that hands out, writes or reads pages.
func (h *history) applyPages(e *event.Event, r int32) {
	if e.Kind == event.WriteLanded {
		h.land(e, r)
		return
	}
	pi := h.pool(e.Source)
	if pi == None {
		h.bad(e, "comes from a worker that the cluster does not have")
		return
	}
	p := &h.pools[pi]
	if e.Kind == event.PagesScrubbed {
		for _, page := range e.Pages {
			if !p.has(page) {
				h.bad(e, "names page %d of a pool of %d", page, len(p.holders))
				continue
			}
			p.scrub(page)
		}
		return
	}
	if e.Kind == event.TokenSampled {
		h.sample(e, pi)
		return
	}
	if r == 0 {
		h.bad(e, "names no room")
		return
	}
	q := &h.requests[r]
	switch e.Kind {
	case event.PagesReserved:
		h.reserve(e, pi, r, q)
	case event.PagesReleased:
		t := q.table(pi)
		if t == nil || !t.held {
			h.bad(e, "releases pages that the room does not hold")
			return
		}
		t.held = false
		for _, page := range t.pages {
			if page > 0 {
				p.drop(page, r)
			}
		}
	case event.PagesQuarantined:
		h.quarantined += e.Count // and the room holds them for ever
	case event.RowsComputed:
		h.compute(e, pi, r, q)
	}
}

// reserve gives pages to a room. Pages for a room that still holds some are further ordinals; else they begin anew.
func (h *history) reserve(e *event.Event, pi int32, r int32, q *request) {
	p, t := &h.pools[pi], q.addTable(pi)
	if !t.held {
		t.pages, t.held, t.reserved = t.pages[:0], true, int32(h.events)
	}
	t.pages = slices.Grow(t.pages, len(e.Pages))
	for _, page := range e.Pages {
		if !p.has(page) {
			h.bad(e, "names page %d of a pool of %d", page, len(p.holders))
			page = 0
		} else if other := p.hold(page, r); other != 0 {
			h.doubly = append(h.doubly, doublyHeld{page, other})
		}
		t.pages = append(t.pages, page)
	}
}

// compute writes rows of a prompt.
func (h *history) compute(e *event.Event, pi int32, r int32, q *request) {
	p, t := &h.pools[pi], q.table(pi)
	if t == nil || e.First < 0 || e.Count < 0 || e.First > len(t.pages)*p.pageSize ||
		e.Count > len(t.pages)*p.pageSize-e.First {
		h.bad(e, "computes rows %d to %d outside the room's pages", e.First, e.First+e.Count-1)
		return
	}
	for position := e.First; position < e.First+e.Count; {
		slot := position % p.pageSize
		count := min(p.pageSize-slot, e.First+e.Count-position)
		if page := t.page(position / p.pageSize); page > 0 {
			start := row{request: r, position: int32(position), event: int32(h.events)}
			if q.standIn {
				start.position |= standIn
			}
			p.write(page, slot, count, start)
		}
		position += count
	}
	if e.First <= q.computedRows {
		q.computedRows = max(q.computedRows, e.First+e.Count)
	}
}

// land copies pages from one pool to another.
func (h *history) land(e *event.Event, r int32) {
	from, to := h.pool(e.Source), h.pool(e.Peer)
	if r == 0 || from == None || to == None {
		h.bad(e, "lands for no room, or between workers that the cluster does not have")
		return
	}
	q := &h.requests[r]
	if e.Buffer == wire.Record {
		h.landRecord(e, &h.pools[to], r, q)
		return
	}
	if e.Buffer >= wire.KVBuffers {
		return // stamps prove themselves and nothing else
	}
	src, dst := &h.pools[from], &h.pools[to]
	source, target := q.table(from), q.table(to)
	arrivals := dst.arrivals(e.Buffer)
	for i := range h.landings(e, source) {
		page, at := target.page(e.First+i), source.page(e.First+i)
		if e.Pages != nil {
			page = e.Pages[i]
		}
		if !dst.has(page) || at == 0 {
			h.bad(e, "lands ordinal %d where or from where no page is", e.First+i)
			continue
		}
		arrivals[page] = landing{r, int32(e.First + i), int32(h.events)}
		if e.Buffer == wire.V1 {
			dst.land(page, src, at, int32(h.events))
			q.pagesLanded++
		}
	}
}

// landings is how many pages of a landing can be followed.
func (h *history) landings(e *event.Event, source *table) int {
	if source == nil || e.First < 0 || e.Count < 0 || e.First > len(source.pages) ||
		e.Count > len(source.pages)-e.First || e.Pages != nil && len(e.Pages) != e.Count {
		h.bad(e, "lands %d pages from ordinal %d that the sender never had", e.Count, e.First)
		return 0
	}
	return e.Count
}

// landRecord notes whose record lies in a metadata slot, and which token it brings.
func (h *history) landRecord(e *event.Event, p *pool, r int32, q *request) {
	if e.Slot < 0 || e.Slot >= len(p.records) {
		h.bad(e, "lands in metadata slot %d of %d", e.Slot, len(p.records))
		return
	}
	held := &p.records[e.Slot]
	*held = record{request: r}
	if len(q.draws) > 0 {
		held.first = q.draws[0]
	}
}

// sample takes a decode step: for each room the row of its last token is written, then the next token drawn.
func (h *history) sample(e *event.Event, pi int32) {
	for i := range e.Samples {
		s := &e.Samples[i]
		r := h.find(s.Room)
		p, q := &h.pools[pi], &h.requests[r]
		if r == 0 || !p.has(s.Page) || s.Slot < 0 || int(s.Slot) >= p.pageSize || s.Position < 0 {
			h.bad(e, "draws for room %d at position %d from page %d slot %d, which cannot be", s.Room, s.Position,
				s.Page, s.Slot)
			continue
		}
		output := 0
		if e.Source.Role != wire.Prefill {
			if output = h.writeRow(e, pi, r, s.Position); output < 0 {
				continue
			}
		}
		won := p.row(s.Page, int(s.Slot))
		text := h.origin(won)
		d := draw{
			token: s.Token, relation: h.relate(r, won, text), pool: pi, page: s.Page, slot: s.Slot,
			event: int32(h.events), row: won, origin: text,
		}
		q.setDraw(output, d)
		if output == 0 {
			q.firstTokenTick = e.Tick
		}
		h.drawn = append(h.drawn, drawn{request: r, position: int32(s.Position), output: int32(output), draw: d})
	}
}

// writeRow writes the row that a decode step writes before it draws, and says which token of the answer that step
// draws; None if that cannot be. The first step of decode writes the answer's first token, which prefill drew; a
// co-located worker draws that one itself, from the prompt's last row.
func (h *history) writeRow(e *event.Event, pi int32, r int32, position int) int {
	p, q := &h.pools[pi], &h.requests[r]
	base := q.base
	if base == None {
		base = position
		if e.Source.Role == wire.Colocated {
			base++
		}
	}
	output := position + 1 - base
	page := q.table(pi).page(position / p.pageSize)
	if page == 0 || output < 0 || output >= max(1, q.maxNewTokens) {
		h.bad(e, "writes position %d of room %d outside the room's pages or answer", position, q.room)
		return None
	}
	q.base = base
	written := row{request: r, position: int32(position), event: int32(h.events)}
	if output == 0 && q.standIn {
		written.position |= standIn
	}
	p.write(page, position%p.pageSize, 1, written)
	return output
}

func (q *request) setDraw(output int, d draw) {
	for len(q.draws) <= output {
		q.draws = append(q.draws, draw{})
	}
	q.draws[output] = d
}
