package admission_test

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/reports/check"
)

// shape is a pair of workers. Contexts and pools are in tokens.
type shape struct {
	name            string
	prefill, decode config.Worker
}

func shapes() []shape {
	return []shape{
		{"prefill smaller", worker(512, 128), worker(512, 256)},
		{"decode smaller", worker(512, 256), worker(512, 128)},
		{"equal", worker(512, 256), worker(512, 256)},
		{"prefill smaller, not page-aligned", worker(512, 139), worker(512, 250)},
		{"decode smaller, not page-aligned", worker(512, 250), worker(512, 139)},
		{"pools larger than contexts", worker(128, 256), worker(128, 256)},
		{"prefill's context shorter", worker(100, 256), worker(512, 256)},
		{"decode's context shorter", worker(512, 256), worker(100, 256)},
	}
}

// lengths are the edges of both workers: limit and context as far as one token to each side, pool likewise.
func (s shape) lengths() (list []int) {
	for _, w := range []config.Worker{s.prefill, s.decode} {
		limit := w.MaxInputTokens()
		list = append(list, limit-1, limit, limit+1, w.MaxTotalNumTokens, w.MaxTotalNumTokens+1)
		if w.ContextLength <= w.MaxTotalNumTokens {
			list = append(list, w.ContextLength, w.ContextLength+1)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// want is what must come of a prompt, and words of the reason that its client is told.
type want struct {
	outcome check.Outcome
	words   string
}

var served = want{check.Correct, "length"}

// refusal says why a worker would refuse a prompt that it is asked for, "" if it would not: SGLang's stages in order.
func refusal(w config.Worker, prompt int) string {
	limit := min(w.ContextLength, w.MaxTotalNumTokens) - 6
	switch {
	case prompt > w.ContextLength:
		return fmt.Sprintf("the prompt has %d tokens, more than the model's context length of %d", prompt, w.ContextLength)
	case prompt >= limit:
		return fmt.Sprintf("the prompt has %d tokens; this worker takes fewer than %d (max_req_input_len)", prompt, limit)
	}
	return ""
}

// tooLong says that prompt and answer, or the prompt alone, take more pages than a pool has: with a pool that is not made
// of whole pages, a prompt below the limit may.
func tooLong(w config.Worker, what string, tokens int) string {
	if have := w.MaxTotalNumTokens / pageTokens; pages(tokens) > have {
		return fmt.Sprintf("%s %d pages of a pool of %d", what, pages(tokens), have)
	}
	return ""
}

// derive says what must come of a prompt: from limits, guards and its length alone.
func derive(m config.Model, prompt int) want {
	answering, smallest := m.Decode, min(m.Prefill.MaxInputTokens(), m.Decode.MaxInputTokens())
	if m.Mode == config.Colocated {
		answering, smallest = m.Prefill, m.Prefill.MaxInputTokens()
	}
	if m.Guards.Has(guard.EdgeRefusal) && prompt >= m.Router.EdgeLimitTokens {
		return want{check.Rejected, "prompt reaches the edge limit"}
	}
	if m.Guards.Has(guard.LimitExchange) && prompt >= smallest {
		return want{check.Rejected, "prompt reaches the smallest limit that a worker announced"}
	}
	// Who answers the client never loses a refusal of its own.
	for _, words := range []string{
		refusal(answering, prompt), tooLong(answering, "prompt and answer need", prompt+answerTokens),
	} {
		if words != "" {
			return want{check.Rejected, words}
		}
	}
	if m.Mode == config.Colocated {
		return served
	}
	// From here on only prefill refuses. Nobody tells decode, which waits until its deadline; and where prefill only
	// remembers the refusal, it sends a placeholder.
	switch words := tooLong(m.Prefill, "the prompt needs", prompt); {
	case prompt > m.Prefill.ContextLength:
		return want{check.TimedOut, "timed out waiting for prefill"}
	case refusal(m.Prefill, prompt) != "":
		return want{check.Leak, "length"}
	case words != "" && m.Guards.Has(guard.TellPeer):
		return want{check.Rejected, "prefill refused: " + words}
	case words != "":
		return want{check.TimedOut, "timed out waiting for prefill"}
	}
	return served
}

var _ = Describe("a prompt at the limits", func() {
	for _, s := range shapes() {
		for _, mode := range []config.Mode{config.Disaggregated, config.Colocated} {
			for _, guards := range []guard.Set{guard.None, guard.All, guard.All &^ guard.EdgeRefusal} {
				for _, prompt := range s.lengths() {
					m := model(mode, guards, s.prefill, s.decode)
					if mode == config.Colocated {
						m.Router.EdgeLimitTokens = m.Prefill.MaxInputTokens()
					}
					expected := derive(m, prompt)
					It(fmt.Sprintf("%s, %s, guards %s: %d tokens, %s", s.name, mode, brief(guards), prompt, expected.outcome), func() {
						got, report := ask(caseOf(m, prompt))
						Expect(got.Outcome).To(Equal(expected.outcome))
						Expect(got.Reason).To(ContainSubstring(expected.words))
						cause, _ := report.Result("outcome-fits-cause")
						if got.Outcome == check.Leak {
							Expect(cause.Findings.First.Text).To(ContainSubstring("but a worker had refused it"))
							return
						}
						Expect(report.Verdict).To(Equal(check.Pass))
						Expect(got.Status).To(Equal(status[got.Outcome]))
					})
				}
			}
		}
	}
})

// status is what each outcome comes with.
var status = map[check.Outcome]int{check.Correct: 200, check.Rejected: 400, check.TimedOut: 504}

func brief(s guard.Set) string {
	if s == guard.All&^guard.EdgeRefusal {
		return "all but edge-refusal"
	}
	return s.String()
}

// The derivation is held to numbers that were worked out by hand, so that an error in it cannot hide in both.
var _ = DescribeTable("by hand", func(prefill, decode, prompt int, guards guard.Set, outcome check.Outcome) {
	m := model(config.Disaggregated, guards, worker(512, prefill), worker(512, decode))
	Expect(derive(m, prompt).outcome).To(Equal(outcome))
	got, _ := ask(caseOf(m, prompt))
	Expect(got.Outcome).To(Equal(outcome))
},
	Entry("one below prefill's limit of 122", 128, 256, 121, guard.None, check.Correct),
	Entry("prefill's limit", 128, 256, 122, guard.None, check.Leak),
	Entry("prefill's pool", 128, 256, 128, guard.None, check.Leak),
	Entry("one above prefill's pool", 128, 256, 129, guard.None, check.Leak),
	Entry("one below decode's limit of 250", 128, 256, 249, guard.None, check.Leak),
	Entry("decode's limit", 128, 256, 250, guard.None, check.Rejected),
	Entry("one above decode's pool", 128, 256, 257, guard.None, check.Rejected),
	Entry("the first three, guarded", 128, 256, 121, guard.All, check.Correct),
	Entry("prefill's limit, guarded", 128, 256, 122, guard.All, check.Rejected),
	Entry("one below decode's limit, guarded", 128, 256, 249, guard.All, check.Rejected),
	Entry("one below the limit of equal pools", 256, 256, 249, guard.None, check.Correct),
	Entry("the limit of equal pools", 256, 256, 250, guard.None, check.Rejected),
	Entry("decode smaller: one below its limit", 256, 128, 121, guard.None, check.Correct),
	Entry("decode smaller: its limit", 256, 128, 122, guard.None, check.Rejected),
	Entry("decode smaller: between the limits", 256, 128, 200, guard.None, check.Rejected),
	Entry("below the limit of 133, and nine pages of eight", 139, 256, 132, guard.None, check.TimedOut),
	Entry("the same, guarded", 139, 256, 132, guard.All, check.Rejected),
	Entry("eight pages of eight", 139, 256, 128, guard.None, check.Correct),
)

// A router that cancels on prefill's error takes prefill's word and does not wait for decode's: then a refusal that is
// acted on reaches the client, told to the peer or not. One that is only remembered reaches nobody.
var _ = DescribeTable("where the router cancels on prefill's error",
	func(prefill config.Worker, prompt int, guards guard.Set, outcome check.Outcome, words string) {
		m := model(config.Disaggregated, guards, prefill, worker(512, 256))
		m.Router.Mode = config.CancelOnPrefillError
		got, _ := ask(caseOf(m, prompt))
		Expect(got.Outcome).To(Equal(outcome))
		Expect(got.Reason).To(ContainSubstring(words))
	},
	Entry("acted on at the door", worker(512, 128), 122, guard.DoorRefusal, check.Rejected,
		"the prompt has 122 tokens; this worker takes fewer than 122 (max_req_input_len)"),
	Entry("acted on at a queue", worker(512, 128), 122, guard.HonourRefusal, check.Rejected,
		"the prompt has 122 tokens; this worker takes fewer than 122 (max_req_input_len)"),
	Entry("above the context", worker(100, 256), 101, guard.None, check.Rejected,
		"the prompt has 101 tokens, more than the model's context length of 100"),
	Entry("more pages than the pool has", worker(512, 139), 132, guard.None, check.Rejected,
		"the prompt needs 9 pages of a pool of 8"),
	Entry("remembered, and acted on by nobody", worker(512, 128), 122, guard.None, check.Leak, "length"),
)
