package render

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/reports/check"
)

// Timeline shows who owned the pages of one request, page by page, at each event that changed it around a finding.
//
// It knows pages, not rows: a page is its last writer's, by the last value buffer that landed or the last row computed. A
// page that arrived half full holds older rows too; the findings of attribution go down to rows.
type Timeline struct {
	Title string
	// Columns are the events shown, in order.
	Columns []Column
	// Rows are the pages shown, by ordinal. Elided counts pages left out before a row.
	Rows []Row
	// PagesTotal is how many pages the request had.
	PagesTotal int
	// Owners are the tenants shown, by letter from 'a'.
	Owners []int
}

// Column is one event.
type Column struct {
	// Event is its index, from 0; What says it in a line.
	Event int
	What  string
	// Fault and Finding mark events of faults, and the one at which the finding was found.
	Fault, Finding bool
}

// Row is one page of the request's reservation.
type Row struct {
	Ordinal int
	Page    wire.Page
	Elided  int
	// Finding marks the page that the finding names.
	Finding bool
	Cells   []Cell
}

// Cell is what one page was after one event.
type Cell struct {
	// Owner is an index of Owners, or one of the values below.
	Owner int
	// Held says that the request held the page.
	Held bool
}

// Owners that are nobody: a page never written, one that was zeroed, and one whose writer is past the last letter.
const (
	Unwritten = -1
	Zeroed    = -2
	Others    = -3
)

// Bounds of what is shown, so that it fits a terminal.
const (
	columnsBefore = 20
	columnsAfter  = 8
	rowsMax       = 16
	rowsFirst     = 4
	lettersMax    = 26
)

// NewTimeline follows the events of a run and returns the timeline around f; false if f names no request whose answer
// had pages. The cluster is the run's; an address of index i is of its i-th model.
func NewTimeline(cluster config.Cluster, events []event.Event, f check.Finding) (Timeline, bool) {
	if f.Room == 0 || f.Event < 0 || f.Event >= len(events) {
		return Timeline{}, false
	}
	tracer := tracer{finding: f, tables: map[wire.Room][]wire.Page{}, tenants: map[wire.Room]int{}}
	if !tracer.aim(events, cluster) {
		return Timeline{}, false
	}
	for i := range events {
		if changed := tracer.apply(&events[i]); !changed && i != f.Event && !ofFault(events[i].Kind) {
			continue
		}
		if i > f.Event && tracer.after == columnsAfter {
			break
		}
		tracer.snapshot(i, &events[i])
	}
	return tracer.timeline(), true
}

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

// timeline puts together what was seen.
func (t *tracer) timeline() Timeline {
	out := Timeline{
		Title: fmt.Sprintf("pages of tenant %d request %d (room %d) on %s around event %d",
			t.finding.Tenant, t.finding.Request, t.finding.Room, t.pool, t.finding.Event),
		Columns: t.columns, PagesTotal: len(t.pages),
	}
	previous := -1
	for row, ordinal := range t.ordinals {
		r := Row{Ordinal: ordinal, Page: t.pages[ordinal], Elided: ordinal - previous - 1, Finding: ordinal == t.at}
		previous = ordinal
		for i := range t.states {
			cell := t.states[i][row]
			cell.Owner = out.letter(cell.Owner)
			r.Cells = append(r.Cells, cell)
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// shown picks at most rowsMax of count ordinals.
func shown(count, at int) []int {
	var out []int
	start := max(0, min(at-(rowsMax-rowsFirst)/2, count-(rowsMax-rowsFirst)))
	for ordinal := range count {
		near := ordinal >= start && ordinal < start+rowsMax-rowsFirst
		if count <= rowsMax || near || ordinal < rowsFirst {
			out = append(out, ordinal)
		}
	}
	return out
}

// letter is the index of a tenant in Owners.
func (t *Timeline) letter(tenant int) int {
	if tenant < 0 {
		return tenant
	}
	i := slices.Index(t.Owners, tenant)
	if i < 0 && len(t.Owners) < lettersMax {
		t.Owners = append(t.Owners, tenant)
		i = len(t.Owners) - 1
	}
	if i < 0 {
		return Others
	}
	return i
}
