package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
)

// canaries verifies that no answer holds a canary, or sixteen tokens in a row, of another tenant's document. What stands
// in the request's own prompt is its own, and may be quoted. It needs nothing of the engine but answers in clear.
//
// It does not verify text shorter than a canary, nor text that no corpus made; and it does not say how it got there.
type canaries struct{ tally }

func (*canaries) name() string                   { return "foreign-canary" }
func (*canaries) kinds() []event.Kind            { return nil }
func (*canaries) observe(*history, *event.Event) {}

func (c *canaries) finish(h *history) {
	for i := 1; i < len(h.requests); i++ {
		q := &h.requests[i]
		if q.submitted == 0 || q.status != 200 && len(q.output) == 0 {
			continue
		}
		c.due = true
		is := &h.conclusions[i]
		if !is.read {
			c.skip("no corpus, or answers are not in clear")
			continue
		}
		c.Looked++
		if is.attribution.ForeignByContent == 0 {
			continue
		}
		f := Finding{Ordinal: None, Position: None, say: sayForeignText}
		f.detail.numbers[0] = is.attribution.ForeignByContent
		if is.foreignCanary {
			f.say = sayCanary
			f.detail.numbers = [3]int{is.canary.Tenant, is.canary.Place, is.canary.Index}
		}
		c.conclude(h, int32(i), f)
	}
}

func sayCanary(_ *history, f *Finding) string {
	n := f.detail.numbers
	return fmt.Sprintf("%s was answered with the canary of tenant %d at place %d, from token %d of the answer on",
		subject(f), n[0], n[1], n[2])
}

func sayForeignText(_ *history, f *Finding) string {
	return fmt.Sprintf("%s was answered with %d tokens that stand in a row in another tenant's document", subject(f),
		f.detail.numbers[0])
}
