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
// It knows pages, not rows: a page is its last writer's, by the last value buffer that landed or the last row
// computed. A page that arrived half full holds older rows too; the findings of attribution go down to rows.
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
