package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
)

// liveness verifies that every request was answered, whatever the answer, and no more than once. It needs the client's
// events.
//
// Of a run whose events end too early, a missing answer is skipped: it may have come later.
//
// It does not verify that the answer came in time (a stepped run has no time) nor that it was the right one.
type liveness struct{ tally }

func (*liveness) name() string                   { return "liveness" }
func (*liveness) kinds() []event.Kind            { return nil }
func (*liveness) observe(*history, *event.Event) {}

func (c *liveness) finish(h *history) {
	c.due = true // a run without requests shows nothing
	for i := 1; i < len(h.requests); i++ {
		q := &h.requests[i]
		if q.submitted == 0 {
			continue
		}
		if q.answers == 0 && h.run.Incomplete != "" {
			c.skip("the events end before the run did: an answer that is missing may have come later")
			continue
		}
		c.Looked++
		if q.answers != 1 {
			c.conclude(h, int32(i), Finding{
				Ordinal: None, Position: None, say: sayAnswers, detail: detail{numbers: [3]int{q.answers}},
			})
		}
	}
}

func sayAnswers(h *history, f *Finding) string {
	return fmt.Sprintf("%s was answered %s", subject(f), times(f.detail.numbers[0]))
}

// subject names whose finding it is.
func subject(f *Finding) string {
	return fmt.Sprintf("room %d (tenant %d request %d)", f.Room, f.Tenant, f.Request)
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
