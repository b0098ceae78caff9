package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// coverage verifies, at each commit, that every page of the prompt is the room's own: it landed whole in every KV buffer
// since it was reserved, nothing else landed there after it, its rows are the prompt's, and the sums that sender and
// receiver took over it agree, group by group. And it proves per answer that pages crossed at all: an answer of a
// disaggregated model without one is no evidence of disaggregation. It needs landings; digests add what no event shows.
//
// It does not verify anything after commit, nor stamps, nor the metadata record.
type coverage struct {
	tally
	digests, noDigests int
}

func (*coverage) name() string        { return "coverage" }
func (*coverage) kinds() []event.Kind { return []event.Kind{event.TransferCommitted} }

func (c *coverage) reset() { *c = coverage{} }

func (c *coverage) observe(h *history, e *event.Event) {
	r, p := h.find(e.Room), h.pool(e.Source)
	q := &h.requests[r]
	if p == None {
		c.skip("a worker committed that the cluster does not have")
		return
	}
	c.compareDigests(h, r, q)
	if h.run.Missing.Has(Landings) {
		if len(q.takenDigests[0]) == 0 {
			c.skip("neither landings nor digests were recorded")
		}
		return
	}
	c.arrived(h, r, p, q.table(p), e.Tokens)
}

// arrived looks at each page of the prompt as it lies in decode's pool, and makes one finding of all that are wrong.
func (c *coverage) arrived(h *history, r, p int32, t *table, tokens int) {
	pool := &h.pools[p]
	if t == nil || tokens < 0 || tokens > len(t.pages)*pool.pageSize {
		c.skip("decode committed more pages than it had reserved")
		return
	}
	all := pages(tokens, pool.pageSize)
	c.Looked += all
	wrong, first := 0, Finding{}
	for ordinal := range all {
		f, ok := c.page(pool, t, r, ordinal, min(pool.pageSize, tokens-ordinal*pool.pageSize))
		if ok {
			continue
		}
		if wrong == 0 {
			first = f
			first.detail.pool = p
		}
		wrong++
	}
	if wrong > 0 {
		first.detail.numbers = [3]int{wrong, all}
		c.find(h, r, Garbage, first)
	}
}

// page looks at one page, of which so many slots are the prompt's.
func (c *coverage) page(pool *pool, t *table, r int32, ordinal, slots int) (Finding, bool) {
	page, first := t.pages[ordinal], ordinal*pool.pageSize
	if page == 0 {
		return Finding{Ordinal: ordinal, Position: first, say: sayAbsent}, false
	}
	if buffer, missing := absent(pool, t, r, ordinal); missing {
		return Finding{
			Page: page, Ordinal: ordinal, Position: first, say: sayAbsent,
			detail: detail{buffer: buffer, row: pool.row(page, 0)},
		}, false
	}
	slot, wrong := pool.wrongRow(page, slots, row{request: r, position: int32(first)})
	if wrong {
		return Finding{
			Page: page, Ordinal: ordinal, Position: first + slot, say: sayWrongRow,
			detail: detail{row: pool.row(page, slot)},
		}, false
	}
	return Finding{}, true
}

// absent finds the first buffer in which the page at ordinal is not what last landed there.
func absent(pool *pool, t *table, r int32, ordinal int) (wire.Buffer, bool) {
	page := t.pages[ordinal]
	for b := wire.K0; b < wire.KVBuffers; b++ {
		landed := pool.landed[b]
		if len(landed) == 0 {
			return b, true
		}
		if l := landed[page]; l.request != r || int(l.ordinal) != ordinal || l.event < t.reserved {
			return b, true
		}
	}
	return 0, false
}

// wrongRow finds the first of so many slots of a page that does not hold the row which follows from want.
func (p *pool) wrongRow(page wire.Page, slots int, want row) (int, bool) {
	c := &p.content[page]
	if c.overlay == 0 && c.run.request == want.request && c.run.position == want.position {
		return int(c.count), int(c.count) < slots
	}
	for slot := range slots {
		got := p.row(page, slot)
		if got.request != want.request || got.position != want.position+int32(slot) {
			return slot, true
		}
	}
	return 0, false
}

// compareDigests compares what the sender summed, as it arrived, with what lies in decode's pages.
func (c *coverage) compareDigests(h *history, r int32, q *request) {
	m := h.model(q)
	if m == nil || len(q.takenDigests[0]) == 0 {
		c.noDigests++
		if m != nil && m.RecordDigests && !h.run.Missing.Has(Digests) {
			c.skip("digests were asked for and not recorded")
		}
		return
	}
	c.digests++
	for b := range q.takenDigests {
		sent, taken := q.sentDigests[b], q.takenDigests[b]
		for g := range max(len(sent), len(taken)) {
			if g >= len(sent) || g >= len(taken) || sent[g] != taken[g] {
				c.find(h, r, Garbage, Finding{
					Ordinal: g * wire.DigestGroupPages, Position: None, say: sayDigest,
					detail: detail{buffer: wire.Buffer(b)},
				})
			}
		}
	}
}

func (c *coverage) finish(h *history) {
	for i := 1; i < len(h.requests); i++ {
		q := &h.requests[i]
		if q.submitted == 0 || q.status != 200 || q.promptTokens == 0 {
			continue
		}
		switch {
		case h.model(q) == nil:
			c.skip("an answered request was mentioned by no worker")
		case !h.disaggregated(q):
		case q.committedTokens == None:
			c.due = true
			c.conclude(h, int32(i), Finding{Ordinal: None, Position: None, say: sayNothingCrossed})
		case h.run.Missing.Has(Landings):
			c.due = true
			if len(q.takenDigests[0]) == 0 {
				c.skip("no evidence that any page crossed for an answered request")
			}
		case q.pagesLanded == 0:
			c.due = true
			c.conclude(h, int32(i), Finding{Ordinal: None, Position: None, say: sayNothingCrossed})
		default:
			c.due = true
		}
	}
	if c.NotChecked == "" && c.noDigests > 0 {
		c.NotChecked = fmt.Sprintf("digests: %d of %d commits had none", c.noDigests, c.noDigests+c.digests)
	}
	if c.NotChecked == "" && h.run.Missing.Has(Landings) {
		c.NotChecked = "landings: this target does not show them"
	}
	if h.run.Missing.Has(Landings) {
		c.Looked += c.digests
	}
}

func sayNothingCrossed(_ *history, f *Finding) string {
	return fmt.Sprintf("%s was answered by a disaggregated model though no page of its prompt crossed", subject(f))
}

func sayAbsent(h *history, f *Finding) string {
	d := &f.detail
	return fmt.Sprintf("%s was committed though %d of its %d prompt pages are not its own, the first at ordinal %d: "+
		"%s did not land in page %d of %s, which holds %s", subject(f), d.numbers[0], d.numbers[1], f.Ordinal, d.buffer,
		f.Page, h.pools[d.pool].addr, h.describe(d.row, d.pool))
}

func sayWrongRow(h *history, f *Finding) string {
	d := &f.detail
	return fmt.Sprintf("%s was committed though %d of its %d prompt pages are not its own, the first at ordinal %d: "+
		"where page %d of %s should hold position %d there is %s", subject(f), d.numbers[0], d.numbers[1], f.Ordinal,
		f.Page, h.pools[d.pool].addr, f.Position, h.describe(d.row, d.pool))
}

func sayDigest(_ *history, f *Finding) string {
	return fmt.Sprintf("%s: sender and receiver have different sums of %s over ordinals %d to %d", subject(f),
		f.detail.buffer, f.Ordinal, f.Ordinal+wire.DigestGroupPages-1)
}
