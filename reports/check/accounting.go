package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
)

// accounting verifies that every observer counts the same tokens. Of the prompt: what the client sent (with its hash),
// what router and workers received, what prefill computed, claimed and finished with, what decode received the claim
// of, committed and finished with, what usage says. Of the answer: what the client asked for, got, and decode counted.
// Received prompts are compared for every request, the rest for requests that were answered with 200.
//
// It does not verify that the right tokens were counted, nor that the pages they are in were moved.
type accounting struct{ tally }

func (*accounting) name() string        { return "token-accounting" }
func (*accounting) kinds() []event.Kind { return []event.Kind{event.RequestReceived} }

func (c *accounting) observe(h *history, e *event.Event) {
	r := h.find(e.Room)
	q := &h.requests[r]
	if q.submitted == 0 {
		c.skip("a request was received that no client submitted")
		return
	}
	c.Looked++
	if e.Tokens != q.promptTokens || e.MaxNewTokens != q.maxNewTokens || e.Hash != q.hash {
		c.find(h, r, Garbage, miscount(e.Source.String()+" received", e.Tokens, q.promptTokens, "prompt"))
	}
}

func (c *accounting) finish(h *history) {
	for i := 1; i < len(h.requests); i++ {
		q := &h.requests[i]
		if q.submitted == 0 || q.status != 200 {
			continue
		}
		c.due = true
		c.prompt(h, int32(i), q)
		c.answer(h, int32(i), q)
	}
}

func (c *accounting) prompt(h *history, r int32, q *request) {
	want := q.answeredTokens()
	counts := [...]struct {
		who    string
		tokens int
		needed bool
	}{
		{"the client was billed for", q.usageTokens, true},
		{"prefill computed rows for", q.computedRows, !h.run.Missing.Has(Landings)},
		{"prefill finished with", q.prefillTokens, h.disaggregated(q)},
		{"prefill claimed", q.sentTokens, h.disaggregated(q)},
		{"decode was told of", q.receivedTokens, h.disaggregated(q)},
		{"decode committed", q.committedTokens, h.disaggregated(q)},
		{"the answering worker finished with", q.finishedTokens, true},
	}
	for _, count := range counts {
		switch {
		case !count.needed:
		case count.tokens == None:
			c.skip("an observer of an answered request said no count: " + count.who + " …")
		default:
			c.Looked++
			if count.tokens != want {
				c.report(h, r, count.who, count.tokens, want, "prompt")
			}
		}
	}
}

func (c *accounting) answer(h *history, r int32, q *request) {
	c.Looked += 2
	if len(q.output) != q.maxNewTokens {
		c.report(h, r, "the client got", len(q.output), q.maxNewTokens, "answer")
	}
	if q.finishedCount != None && q.finishedCount != len(q.output) {
		c.report(h, r, "the answering worker generated", q.finishedCount, len(q.output), "answer")
	}
}

func (c *accounting) report(h *history, r int32, who string, got, want int, of string) {
	c.conclude(h, r, miscount(who, got, want, of))
}

func miscount(who string, got, want int, of string) Finding {
	return Finding{
		Ordinal: None, Position: None, say: sayCount,
		detail: detail{numbers: [3]int{got, want}, words: [2]string{who, of}},
	}
}

func sayCount(_ *history, f *Finding) string {
	d := &f.detail
	if d.numbers[0] == d.numbers[1] {
		return fmt.Sprintf("%s: %s another %s of %d tokens", subject(f), d.words[0], d.words[1], d.numbers[0])
	}
	return fmt.Sprintf("%s: %s %d tokens of the %s, not %d", subject(f), d.words[0], d.numbers[0], d.words[1],
		d.numbers[1])
}
