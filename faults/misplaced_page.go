package faults

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Destination says where a misplaced page goes.
type Destination string

// The destinations.
const (
	ToSwapped   Destination = "swapped"    // it and another page of the same request change places
	ToOtherRoom Destination = "other-room" // into a page that another room holds at that moment
	ToUnheld    Destination = "unheld"     // into a page of decode's pool that nobody holds
)

// MisplacedPage lets one page of a request land in the place of another.
type MisplacedPage struct {
	Target
	When
	// Page is the ordinal of the page within its request.
	Page int `json:"page"`
	// To says where it goes.
	To Destination `json:"to"`
	// SwapWith is the ordinal of the page that it changes places with; read only if To is "swapped".
	SwapWith int `json:"swap_with"`
	// WithStamps moves the stamps along with the keys and values; without, every page keeps its own stamp.
	WithStamps bool `json:"with_stamps,omitempty"`
}

// Name is its name in a plan.
func (*MisplacedPage) Name() string { return "misplaced-page" }

// Doc describes it.
func (*MisplacedPage) Doc() string {
	return "One page of the request lands in the wrong place: it changes places with another page of the same " +
		"request (swapped), overwrites a page that another room holds (other-room), or goes to a page that nobody " +
		"holds (unheld); in the latter two its own place keeps former content. All four buffers of keys and " +
		"values move alike, the stamps only with with_stamps. Public: vllm 30358 and 42895, sglang 22145, " +
		"TensorRT-LLM 6507 (layouts that two sides read differently). Stopped by coverage, whose terms name the " +
		"ordinal; by page stamps only if they moved along; never by counting. Seen by the coverage and ownership " +
		"checks, then by exact answer; with other-room, by the other's canary."
}

// Validate judges its own fields.
func (f *MisplacedPage) Validate() error {
	if f.Page < 0 || f.Page > PagesMax {
		return fmt.Errorf("page %d: want an ordinal, 0 to %d", f.Page, PagesMax)
	}
	switch f.To {
	case ToSwapped:
		if f.SwapWith < 0 || f.SwapWith > PagesMax || f.SwapWith == f.Page {
			return fmt.Errorf("swap_with %d: want the ordinal of another page than %d", f.SwapWith, f.Page)
		}
	case ToOtherRoom, ToUnheld:
	default:
		return fmt.Errorf("to %q: want %q, %q or %q", f.To, ToSwapped, ToOtherRoom, ToUnheld)
	}
	return nil
}

func (*MisplacedPage) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *MisplacedPage) install(i *instance, seams *port.Seams) {
	m := &misplacement{
		fault: f, ledger: i.injector.holdings(), pools: i.injector.pools, chosen: map[wire.Room]wire.Page{},
	}
	installWriteTap(i, seams, moves[port.Write, port.WriteDone]{
		match: func(w port.Write) bool { return w.Buffer <= wire.V1 || f.WithStamps && w.Buffer == wire.Stamp },
		edit:  m.edit,
	})
}

// misplacement is one run's choice of where each room's page goes: the same for all of its buffers.
type misplacement struct {
	fault  *MisplacedPage
	ledger *ledger
	pools  map[wire.Addr]port.Layout
	chosen map[wire.Room]wire.Page
}

func (m *misplacement) edit(w port.Write) edited[port.Write, port.WriteDone] {
	out := edited[port.Write, port.WriteDone]{op: w}
	pages := m.ledger.pagesOf(wire.Decode, w.Room)
	m.move(&out, w, pages, m.fault.Page)
	if m.fault.To == ToSwapped {
		m.move(&out, w, pages, m.fault.SwapWith)
	}
	return out
}

// move changes the destination of one ordinal, if the write carries it.
func (m *misplacement) move(out *edited[port.Write, port.WriteDone], w port.Write, pages []wire.Page, ordinal int) {
	at := ordinal - int(w.First)
	if at < 0 || at >= len(w.Dst) || ordinal >= len(pages) {
		return
	}
	to, ok := m.destination(w.Room, pages, ordinal)
	if !ok {
		return
	}
	if out.before == "" {
		out.op.Dst = slices.Clone(w.Dst) // the worker's own slice stays as it is
	}
	out.op.Dst[at] = moved(w.Dst[at], pages[ordinal], to)
	out.before += fmt.Sprintf("%s of ordinal %d to page %d; ", w.Buffer, ordinal, pages[ordinal])
	out.after += fmt.Sprintf("%s of ordinal %d to page %d; ", w.Buffer, ordinal, to)
}

func (m *misplacement) destination(room wire.Room, pages []wire.Page, ordinal int) (wire.Page, bool) {
	if m.fault.To == ToSwapped {
		other := m.fault.SwapWith
		if ordinal == other {
			other = m.fault.Page
		}
		if other >= len(pages) {
			return 0, false
		}
		return pages[other], true
	}
	if page, ok := m.chosen[room]; ok {
		return page, true
	}
	page, ok := m.choose(m.ledger.held(wire.Decode, room).worker, room)
	if ok {
		m.chosen[room] = page
	}
	return page, ok
}

func (m *misplacement) choose(worker wire.Addr, room wire.Room) (wire.Page, bool) {
	if m.fault.To == ToOtherRoom {
		other, ok := m.ledger.heldByOther(worker, room)
		return other.page, ok
	}
	return m.ledger.unheldPage(worker, wire.Page(m.pools[worker].Pages-1))
}
