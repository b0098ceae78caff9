package render

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/reports/check"
)

// tracer follows the pages of one room on one pool.
type tracer struct {
	finding  check.Finding
	pool     wire.Addr
	pageSize int
	pages    []wire.Page       // of the room, in ordinal order
	at       int               // the ordinal of the finding, None if it names none
	ordinals []int             // those shown
	rows     map[wire.Page]int // index into ordinals
	now      []Cell            // state of the ordinals shown after the last event; Owner is a tenant, or below 0
	tables   map[wire.Room][]wire.Page
	tenants  map[wire.Room]int
	columns  []Column
	states   [][]Cell
	after    int
}

// aim finds the pool and the pages that the room had when the finding was found.
func (t *tracer) aim(events []event.Event, cluster config.Cluster) bool {
	var held bool
	for i := range events {
		e := &events[i]
		if e.Kind == event.RequestSubmitted {
			t.tenants[e.Room] = e.Tenant
		}
		if i > t.finding.Event || e.Room != t.finding.Room {
			continue
		}
		if e.Kind == event.PagesReserved && (e.Source.Role == wire.Decode || e.Source.Role == wire.Colocated) {
			if !held {
				t.pages = t.pages[:0]
			}
			held, t.pool = true, e.Source
			t.pages = append(t.pages, e.Pages...)
		}
		if e.Kind == event.PagesReleased && e.Source == t.pool {
			held = false
		}
	}
	if len(t.pages) == 0 || int(t.pool.Index) >= len(cluster.Models) {
		return false
	}
	model := cluster.Models[t.pool.Index]
	t.pageSize = model.Decode.PageSize
	if t.pool.Role == wire.Colocated {
		t.pageSize = model.Prefill.PageSize
	}
	t.show()
	return t.pageSize > 0
}

// show picks the pages that are shown: the first few, and those around the finding's.
func (t *tracer) show() {
	t.at = slices.Index(t.pages, t.finding.Page)
	if t.at < 0 && t.finding.Ordinal < len(t.pages) {
		t.at = t.finding.Ordinal
	}
	t.ordinals = shown(len(t.pages), t.at)
	t.rows = make(map[wire.Page]int, len(t.ordinals))
	t.now = make([]Cell, len(t.ordinals))
	for i, ordinal := range t.ordinals {
		t.rows[t.pages[ordinal]] = i
		t.now[i].Owner = Unwritten
	}
}

func ofFault(k event.Kind) bool {
	return k == event.FaultArmed || k == event.FaultFired || k == event.FaultRecovered || k == event.HoldReleased
}

// apply follows one event and reports whether it changed a page that is shown.
func (t *tracer) apply(e *event.Event) bool {
	switch e.Kind {
	case event.PagesReserved:
		if e.Source == t.pool {
			t.tables[e.Room] = append(t.tables[e.Room], e.Pages...)
			return t.hold(e, true)
		}
	case event.PagesReleased:
		if e.Source == t.pool {
			changed := t.hold(e, false)
			delete(t.tables, e.Room)
			return changed
		}
	case event.PagesScrubbed:
		if e.Source == t.pool {
			return t.each(e.Pages, Zeroed)
		}
	case event.WriteLanded:
		// The rows of a tenant's text are those of the last value buffer.
		if e.Peer == t.pool && e.Buffer == wire.V1 {
			pages := e.Pages
			if pages == nil {
				pages = t.table(e.Room, e.First, e.Count)
			}
			return t.each(pages, t.tenant(e.Room))
		}
	case event.RowsComputed:
		if e.Source == t.pool && e.Count > 0 {
			first := e.First / t.pageSize
			return t.each(t.table(e.Room, first, (e.First+e.Count-1)/t.pageSize-first+1), t.tenant(e.Room))
		}
	case event.TokenSampled:
		if e.Source != t.pool {
			return false
		}
		changed := false
		for _, s := range e.Samples {
			changed = t.each(t.table(s.Room, s.Position/t.pageSize, 1), t.tenant(s.Room)) || changed
		}
		return changed
	default:
	}
	return false
}

// table is the pages that a room holds at so many ordinals, as far as it does.
func (t *tracer) table(room wire.Room, first, count int) []wire.Page {
	pages := t.tables[room]
	if first < 0 || count < 0 || first > len(pages) {
		return nil
	}
	return pages[first : first+min(count, len(pages)-first)]
}

// tenant is whose request a room is; Others for one that nobody submitted.
func (t *tracer) tenant(room wire.Room) int {
	if tenant, ok := t.tenants[room]; ok && tenant >= 0 {
		return tenant
	}
	return Others
}

func (t *tracer) each(pages []wire.Page, owner int) bool {
	changed := false
	for _, page := range pages {
		if i, ok := t.rows[page]; ok && t.now[i].Owner != owner {
			t.now[i].Owner, changed = owner, true
		}
	}
	return changed
}

func (t *tracer) hold(e *event.Event, held bool) bool {
	if e.Room != t.finding.Room {
		return false
	}
	for _, page := range t.tables[e.Room] {
		if i, ok := t.rows[page]; ok {
			t.now[i].Held = held
		}
	}
	return true
}

// snapshot adds a column, and forgets the oldest when there are more than fit before the finding.
func (t *tracer) snapshot(i int, e *event.Event) {
	if i > t.finding.Event {
		t.after++
	} else if len(t.columns) > columnsBefore {
		t.columns = slices.Delete(t.columns, 0, 1)
		t.states = slices.Delete(t.states, 0, 1)
	}
	t.columns = append(t.columns, Column{
		Event: i, What: t.what(e), Fault: ofFault(e.Kind), Finding: i == t.finding.Event,
	})
	t.states = append(t.states, slices.Clone(t.now))
}

// what says an event in a line.
func (t *tracer) what(e *event.Event) string {
	words := e.Kind.String()
	if e.Source != (wire.Addr{}) {
		words += ", " + e.Source.String()
	}
	if e.Room != 0 {
		words += fmt.Sprintf(", room %d", e.Room)
		if tenant, ok := t.tenants[e.Room]; ok {
			words += fmt.Sprintf(" of tenant %d", tenant)
		}
	}
	switch {
	case ofFault(e.Kind):
		words += ", " + e.Fault
	case e.Kind == event.WriteLanded, e.Kind == event.RowsComputed:
		words += fmt.Sprintf(", %s", countFrom(e.Kind, e.First, e.Count))
	}
	return words
}

func countFrom(k event.Kind, first, count int) string {
	noun := "page"
	if k == event.RowsComputed {
		noun = "row"
	}
	return fmt.Sprintf("%s from %d", plural(count, noun), first)
}
