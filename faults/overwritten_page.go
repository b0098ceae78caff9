package faults

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// OverwrittenPage overwrites one page after it has landed, before decode commits.
type OverwrittenPage struct {
	Target
	When
	// Page is the ordinal of the page within its request.
	Page int `json:"page"`
	// SourcePage is the page of the prefill pool whose bytes are written over it; 0 or absent, a page that another room
	// holds there, else the lowest that is not the request's own.
	SourcePage int `json:"source_page,omitempty"`
}

// Name is its name in a plan.
func (*OverwrittenPage) Name() string { return "overwritten-page" }

// Doc describes it.
func (*OverwrittenPage) Doc() string {
	return "After a write of the page has landed, and before its completion reaches prefill, another page of the " +
		"prefill pool is written over it, buffer by buffer; its stamp is left alone, and digests were taken of " +
		"what was first read. Public: sglang 24527 and vllm 45357 seen from the victim (a second writer between " +
		"landing and use), 38961. Stopped by coverage at commit, which reads the destination itself; page stamps " +
		"and claimed length are satisfied. Seen by the coverage check, then by canary and exact answer."
}

// Validate judges its own fields.
func (f *OverwrittenPage) Validate() error {
	if f.Page < 0 || f.Page > PagesMax {
		return fmt.Errorf("page %d: want an ordinal, 0 to %d", f.Page, PagesMax)
	}
	if f.SourcePage < 0 || f.SourcePage > PagesMax {
		return fmt.Errorf("source_page %d: want a page of the prefill pool, 1 to %d", f.SourcePage, PagesMax)
	}
	return nil
}

func (*OverwrittenPage) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *OverwrittenPage) install(i *instance, seams *port.Seams) {
	o := &overwrite{fault: f, ledger: i.injector.holdings(), pool: seams.Pool, worker: seams.Addr}
	o.chosen = map[wire.Room]wire.Page{}
	installWriteTap(i, seams, moves[port.Write, port.WriteDone]{match: o.match, replay: o.replay})
}

// overwrite is one run's choice of what each room's page is overwritten with: the same page for all buffers.
type overwrite struct {
	fault  *OverwrittenPage
	ledger *ledger
	pool   port.Layout
	worker wire.Addr
	chosen map[wire.Room]wire.Page
}

func (o *overwrite) match(w port.Write) bool {
	at := o.fault.Page - int(w.First)
	return w.Buffer <= wire.V1 && at >= 0 && at < len(w.Dst)
}

// replay is the write of the foreign page. It waits for nothing: the page it overwrites has landed.
func (o *overwrite) replay(w port.Write) (extra port.Write, before, after string, ok bool) {
	at := o.fault.Page - int(w.First)
	own, ok := o.pool.PageAt(w.Buffer, w.Src[at])
	if !ok {
		return w, "", "", false
	}
	from, ok := o.source(w.Room, own)
	if !ok {
		return w, "", "", false
	}
	extra = port.Write{
		Room: w.Room, Buffer: w.Buffer, First: wire.Ordinal(o.fault.Page),
		Src: []wire.Span{moved(w.Src[at], own, from)}, Dst: []wire.Span{w.Dst[at]},
	}
	name := fmt.Sprintf("%s of ordinal %d from page ", w.Buffer, o.fault.Page)
	return extra, name + fmt.Sprint(own), name + fmt.Sprint(from), true
}

func (o *overwrite) source(room wire.Room, own wire.Page) (wire.Page, bool) {
	if o.fault.SourcePage > 0 {
		page := wire.Page(o.fault.SourcePage)
		return page, page != own && int(page) < o.pool.Pages
	}
	if page, ok := o.chosen[room]; ok {
		return page, true
	}
	page, ok := o.ledger.otherPage(o.worker, room)
	if !ok {
		page, ok = o.lowestOther(room)
	}
	if ok {
		o.chosen[room] = page
	}
	return page, ok
}

// lowestOther is the lowest page of the pool that is not the room's own: it holds whatever a former owner left.
func (o *overwrite) lowestOther(room wire.Room) (wire.Page, bool) {
	mine := o.ledger.pagesOf(wire.Prefill, room)
	for page := wire.Page(1); int(page) < o.pool.Pages; page++ {
		if !slices.Contains(mine, page) {
			return page, true
		}
	}
	return 0, false
}
