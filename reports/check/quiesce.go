package check

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// quiesce verifies that every worker with a pool said at the end what it holds, and that it holds nothing: pages, metadata
// slots, requests, operations. It needs worker.quiesced.
//
// Quarantined pages and slots are held by design and for ever; they are reported and are no finding. It does not
// verify that a worker counts rightly, nor what lies in its free pages.
type quiesce struct {
	tally
	heard       []wire.Addr
	quarantined int
}

func (*quiesce) name() string        { return "quiesce" }
func (*quiesce) kinds() []event.Kind { return []event.Kind{event.WorkerQuiesced} }

func (c *quiesce) reset() {
	c.tally, c.heard, c.quarantined = tally{}, c.heard[:0], 0
}

func (c *quiesce) observe(h *history, e *event.Event) {
	c.Looked++
	c.heard = append(c.heard, e.Source)
	c.quarantined += e.Holdings.PagesQuarantined
	if !e.Holdings.Idle() {
		c.Findings.add(&Finding{
			Tenant: None, Request: None, Ordinal: None, Position: None, Event: h.events - 1, Outcome: Failed,
			Text: stillHolds(e.Source, e.Holdings),
		})
	}
}

func stillHolds(who wire.Addr, held event.Holdings) string {
	return fmt.Sprintf("%s still holds %d of %d pages, %d of %d metadata slots, %d requests and %d operations at the end",
		who, held.PagesCapacity-held.PagesFree-held.PagesQuarantined, held.PagesCapacity,
		held.SlotsCapacity-held.SlotsFree-held.SlotsQuarantined, held.SlotsCapacity, held.Requests, held.Outstanding)
}

func (c *quiesce) finish(h *history) {
	c.due = true
	if h.run.Missing.Has(Residue) {
		c.skip("this target does not say what its workers hold")
		return
	}
	for i := range h.run.Cluster.Models {
		roles := []wire.Role{wire.Prefill, wire.Decode}
		if h.run.Cluster.Models[i].Mode == config.Colocated {
			roles = []wire.Role{wire.Colocated}
		}
		for _, role := range roles {
			if !c.hasHeard(role, i) {
				c.skip(fmt.Sprintf("%s/%d did not say what it holds at the end", role, i))
			}
		}
	}
	for i := range h.pools { // also of an incarnation that is gone
		if p := &h.pools[i]; p.used && !slices.Contains(c.heard, p.addr) {
			c.skip(fmt.Sprintf("%s did not say what it holds at the end", p.addr))
		}
	}
	if c.NotChecked == "" && c.quarantined > 0 {
		c.NotChecked = fmt.Sprintf("%d quarantined pages: held by design, for ever", c.quarantined)
	}
}

func (c *quiesce) hasHeard(role wire.Role, index int) bool {
	for _, a := range c.heard {
		if a.Role == role && int(a.Index) == index {
			return true
		}
	}
	return false
}
