package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
)

// faultFired verifies that each fault that was armed acted: it fired, what was delivered then differs from what had been
// submitted, and its holds were released by the event that they waited for and not because nothing else could move. What
// it finds is unknown, not fail: the run shows nothing about the fault. It needs the events of faults.
//
// It does not verify that the fault did harm; the undefended cell of a matrix does.
type faultFired struct {
	tally
	faults []firing
}

type firing struct {
	fault                            string
	armed, fired, changed, idleHolds int
	armedAt, firedAt, releasedIdlyAt int
}

func (*faultFired) name() string { return "fault-fired" }

func (*faultFired) kinds() []event.Kind {
	return []event.Kind{event.FaultArmed, event.FaultFired, event.HoldReleased}
}

func (c *faultFired) reset() {
	c.tally = tally{blame: Unknown}
	c.faults = c.faults[:0]
}

// idle is the reason of a hold that only quiescence released: its window never opened.
const idle = "idle"

func (c *faultFired) observe(h *history, e *event.Event) {
	f := c.of(e.Fault)
	at := h.events - 1
	switch e.Kind {
	case event.FaultArmed:
		f.armed++
		f.armedAt = at
	case event.FaultFired:
		f.fired++
		f.firedAt = at
		if e.Before != e.After {
			f.changed++
		}
	case event.HoldReleased:
		if e.Reason == idle {
			f.idleHolds++
			f.releasedIdlyAt = at
		}
	}
}

func (c *faultFired) of(fault string) *firing {
	for i := range c.faults {
		if c.faults[i].fault == fault {
			return &c.faults[i]
		}
	}
	c.faults = append(c.faults, firing{fault: fault})
	return &c.faults[len(c.faults)-1]
}

func (c *faultFired) finish(*history) {
	for _, f := range c.faults {
		c.due = true
		c.Looked++
		switch {
		case f.armed == 0:
			c.report(f.fault, "acted without having been armed", max(f.firedAt, f.releasedIdlyAt))
		case f.fired == 0:
			c.report(f.fault, "was armed and did not fire", f.armedAt)
		case f.changed == 0:
			c.report(f.fault, "fired and delivered what had been submitted", f.firedAt)
		}
		if f.idleHolds > 0 {
			c.report(f.fault, "held something until nothing else could move: its window never opened", f.releasedIdlyAt)
		}
	}
}

func (c *faultFired) report(fault, what string, at int) {
	c.Findings.add(&Finding{
		Tenant: None, Request: None, Ordinal: None, Position: None, Event: at, say: sayFault,
		detail: detail{words: [2]string{fault, what}},
	})
}

func sayFault(_ *history, f *Finding) string {
	return fmt.Sprintf("fault %s %s", f.detail.words[0], f.detail.words[1])
}
