package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// latencyFloor verifies that no answer is faster than its prompt can be computed and moved. Every row of the prompt must
// have been computed; the first token takes at least a tick a chunk; and the answer of a disaggregated model at least a
// tick a page, since a step lands one page of one buffer at most. It needs rows.computed and ticks that advance.
//
// It does not verify that an answer was not too slow, nor, until an engine runs live, any duration in seconds.
type latencyFloor struct{ tally }

func (*latencyFloor) name() string                   { return "latency-floor" }
func (*latencyFloor) kinds() []event.Kind            { return nil }
func (*latencyFloor) observe(*history, *event.Event) {}

func (c *latencyFloor) finish(h *history) {
	for i := 1; i < len(h.requests); i++ {
		q := &h.requests[i]
		if q.submitted == 0 || q.status != 200 {
			continue
		}
		c.due = true
		worker, ok := h.served(q)
		if !ok || worker.ChunkedPrefillSize <= 0 {
			c.skip("an answered request was mentioned by no worker")
			continue
		}
		c.Looked++
		tokens := q.answeredTokens()
		if !h.run.Missing.Has(Landings) && q.computedRows < tokens {
			c.report(h, int32(i), sayFewRows, "", q.computedRows, tokens)
			continue
		}
		if q.firstTokenTick > 0 {
			c.atLeast(h, int32(i), "the first token", q.firstTokenTick, pages(tokens, worker.ChunkedPrefillSize))
		}
		if h.disaggregated(q) {
			c.atLeast(h, int32(i), "the answer", q.answeredTick, pages(tokens, worker.PageSize))
		}
	}
}

func (c *latencyFloor) atLeast(h *history, r int32, what string, at wire.Tick, floor int) {
	if took := at - h.requests[r].submittedTick; took < wire.Tick(floor) {
		c.report(h, r, sayTooFast, what, int(took), floor)
	}
}

func (c *latencyFloor) report(h *history, r int32, say sentence, what string, got, want int) {
	c.conclude(h, r, Finding{
		Ordinal: None, Position: None, say: say,
		detail: detail{numbers: [3]int{got, want}, words: [2]string{what}},
	})
}

func sayFewRows(_ *history, f *Finding) string {
	return fmt.Sprintf("%s was answered though only %d rows of its prompt of %d tokens were computed", subject(f),
		f.detail.numbers[0], f.detail.numbers[1])
}

func sayTooFast(_ *history, f *Finding) string {
	return fmt.Sprintf("%s: %s came after %d ticks, and its prompt takes %d at least", subject(f), f.detail.words[0],
		f.detail.numbers[0], f.detail.numbers[1])
}
