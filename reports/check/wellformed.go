package check

import "github.com/stalepage/stalepage/engine/event"

// wellFormed verifies that the events can be followed: pages within their pool, ordinals that the room has pages for,
// rooms that were submitted, workers that the cluster has; and that they reach the end of the run. It needs nothing.
//
// It does not verify that the events are true, nor that none is missing.
type wellFormed struct{ tally }

func (*wellFormed) name() string                   { return "well-formed" }
func (*wellFormed) kinds() []event.Kind            { return nil }
func (*wellFormed) observe(*history, *event.Event) {}

func (c *wellFormed) finish(h *history) {
	c.due = true
	c.Looked = h.events
	c.Skipped, c.NotChecked = h.malformed, h.firstMalformed
	if h.run.Incomplete != "" {
		c.skip("the events end before the run did: " + h.run.Incomplete)
	}
}
