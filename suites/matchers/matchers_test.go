package matchers_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/matchers"
)

// leakText is a finding as the check of ownership spells it.
const leakText = "room 204 (tenant 1 request 31) read page 17 at ordinal 4, written by tenant 2 request 12"

// healthy is the report of a run in which both requests were answered with what their prompts have.
func healthy() *check.Report {
	return &check.Report{
		Verdict: check.Pass,
		Results: []check.Result{{Check: "ownership", Looked: 9}, {Check: "quiesce", Looked: 3}},
		Requests: []check.RequestResult{
			{Room: 203, Tenant: 2, Request: 12, Outcome: check.Correct, Status: 200},
			{Room: 204, Tenant: 1, Request: 31, Outcome: check.Correct, Status: 200},
		},
		Outcomes: [check.Outcomes]int{check.Correct: 2},
	}
}

// bad is the report of a run in which request 31 came to an outcome, as ownership found, and pages stayed behind.
func bad(outcome check.Outcome) *check.Report {
	r := healthy()
	finding := check.Finding{Check: "ownership", Outcome: outcome, Room: 204, Tenant: 1, Request: 31, Text: leakText}
	held := check.Finding{Check: "quiesce", Text: "decode/0#1 still holds 3 of 16 pages"}
	r.Verdict = check.Fail
	r.Results = []check.Result{
		{Check: "ownership", Verdict: check.Fail, Findings: check.Findings{Count: 1, First: finding, Worst: finding, Last: finding}},
		{Check: "quiesce", Verdict: check.Fail, Findings: check.Findings{Count: 1, First: held, Worst: held, Last: held}},
	}
	r.Requests[1].Outcome = outcome
	r.Outcomes = [check.Outcomes]int{}
	r.Outcomes[check.Correct]++
	r.Outcomes[outcome]++
	return r
}

// fired is a run whose plan has these faults.
func fired(statuses ...faults.FaultStatus) harness.Result { return harness.Result{Faults: statuses} }

// row is one matcher, and what it is green and red on.
type row struct {
	matcher          types.GomegaMatcher
	green, red       any
	wanted, unwanted string
}

func rows() map[string]row {
	unknown := healthy()
	unknown.Verdict = check.Unknown
	late := func(count int, releasedBy string) harness.Result {
		return fired(faults.FaultStatus{Name: "late-write", Fired: count, ReleasedBy: releasedBy})
	}
	return map[string]row{
		"a leak": {
			matchers.LeakAcrossTenants(), bad(check.Leak), bad(check.Stale),
			"expected a leak across tenants, and found none", "expected no leak across tenants",
		},
		"a wrong answer": {
			matchers.AnswerWrongly(), bad(check.Garbage), bad(check.Lost),
			"an answer that its prompt does not have, and found none", "every answer to be what its prompt has",
		},
		"an outcome": {
			matchers.HaveOutcome(31, check.TimedOut), bad(check.TimedOut), bad(check.Leak),
			"expected request 31 to come to timed-out", "expected request 31 to come to anything but timed-out",
		},
		"the outcome of one, not of another": {
			matchers.HaveOutcome(12, check.Correct), bad(check.Leak), bad12(), "request 12 to come to correct", "anything but correct",
		},
		"a verdict": {
			matchers.HaveVerdict(check.Pass), healthy(), unknown, "expected verdict pass", "expected any verdict but pass",
		},
		"a check": {
			matchers.HaveCheck("ownership", check.Fail), bad(check.Leak), healthy(),
			"expected check ownership to say fail", "expected check ownership to say anything but fail",
		},
		"pages": {
			matchers.ConservePages(), healthy(), bad(check.Correct),
			"every page, slot and request to be given back at rest", "expected something to be held at rest",
		},
		"a fault that fired": {
			matchers.HaveFired("late-write"), late(2, "request-finished"), late(0, ""),
			"expected fault late-write to have fired", "expected fault late-write not to have fired",
		},
		"a fault whose window never opened": {
			matchers.HaveFired("late-write"), late(2, ""), late(2, faults.ReasonIdle),
			"and its window to have opened", "not to have fired",
		},
		"the second of a name": {
			matchers.HaveFired("late-write"),
			fired(faults.FaultStatus{Name: "late-write"}, faults.FaultStatus{Name: "late-write", Fired: 1}),
			fired(faults.FaultStatus{Name: "late-write"}, faults.FaultStatus{Name: "held-abort", Fired: 1}),
			"late-write to have fired", "late-write not to have fired",
		},
	}
}

// bad12 is a run in which request 12 is the one that timed out.
func bad12() *check.Report {
	r := healthy()
	r.Requests[0].Outcome = check.TimedOut
	return r
}

// Each matcher is green and red, neither is an error, and it says which of the two disappointed.
func TestMatchersAreGreenAndRed(t *testing.T) {
	for name, c := range rows() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for want, actual := range map[bool]any{true: c.green, false: c.red} {
				matched, err := c.matcher.Match(actual)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(matched).To(Equal(want), "%+v", actual)
			}
			g.Expect(c.matcher.FailureMessage(c.red)).To(ContainSubstring(c.wanted))
			g.Expect(c.matcher.NegatedFailureMessage(c.green)).To(ContainSubstring(c.unwanted))
		})
	}
}

// Whatever disappointed, the message goes on with what the checks found, in their words: who read which page of whom, and
// what is still held; and a fault's with how it stood.
func TestMessagesSpeakTheDomain(t *testing.T) {
	g := NewWithT(t)
	for _, matcher := range []types.GomegaMatcher{
		matchers.LeakAcrossTenants(), matchers.AnswerWrongly(), matchers.HaveOutcome(31, check.Correct),
		matchers.HaveVerdict(check.Pass), matchers.HaveCheck("ownership", check.Pass), matchers.ConservePages(),
	} {
		for _, message := range []string{
			matcher.FailureMessage(bad(check.Leak)), matcher.NegatedFailureMessage(bad(check.Leak)),
		} {
			g.Expect(message).To(ContainSubstring(leakText))
			g.Expect(message).To(ContainSubstring("decode/0#1 still holds 3 of 16 pages"))
		}
	}
	held := fired(faults.FaultStatus{Name: "late-write", Fired: 2, ReleasedBy: faults.ReasonIdle})
	g.Expect(matchers.HaveFired("late-write").FailureMessage(held)).To(ContainSubstring("Fired:2"))
	g.Expect(matchers.HaveFired("late-write").FailureMessage(held)).To(ContainSubstring("ReleasedBy:" + faults.ReasonIdle))
}

// A report is taken from whatever holds one, and each says the same.
func TestReportsAreFoundInWhatHoldsThem(t *testing.T) {
	g := NewWithT(t)
	for _, r := range []*check.Report{healthy(), bad(check.Leak)} {
		for _, holder := range []any{r, harness.Result{Report: r}, harness.Judgement{Report: r}} {
			matched, err := matchers.HaveVerdict(check.Fail).Match(holder)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(matched).To(Equal(r.Verdict == check.Fail), "%T", holder)
		}
	}
}

// A mistake in a spec is an error: a mismatch would make its negation pass.
func TestMisuseIsAnErrorAndNotAMismatch(t *testing.T) {
	overReports := map[string]types.GomegaMatcher{
		"a leak": matchers.LeakAcrossTenants(), "a wrong answer": matchers.AnswerWrongly(),
		"an outcome": matchers.HaveOutcome(31, check.Leak), "a verdict": matchers.HaveVerdict(check.Pass),
		"a check": matchers.HaveCheck("quiesce", check.Pass), "pages": matchers.ConservePages(),
	}
	type misuse struct {
		matcher types.GomegaMatcher
		actual  any
		reason  string
	}
	misuses := map[string]misuse{
		"a request that was never sent": {matchers.HaveOutcome(99, check.Leak), bad(check.Leak), "request 99 was never sent"},
		"a check that does not exist":   {matchers.HaveCheck("cheque", check.Pass), healthy(), `no check "cheque"`},
		"a run without that check":      {matchers.ConservePages(), &check.Report{}, `no check "quiesce"`},
		"a fault that is not planned":   {matchers.HaveFired("late-write"), fired(), `"late-write" is not in the run's plan`},
		"a fault of a bare report":      {matchers.HaveFired("late-write"), healthy(), "want a harness.Result, not *check.Report"},
		"a fault of nothing":            {matchers.HaveFired("late-write"), nil, "want a harness.Result"},
	}
	for name, actual := range map[string]any{
		"nothing": nil, "no report": (*check.Report)(nil), "a run without a report": harness.Result{},
		"a judgement without a report": harness.Judgement{}, "a report by value": *healthy(), "a number": 204,
	} {
		for sought, matcher := range overReports {
			misuses[sought+" in "+name] = misuse{matcher, actual, "want a *check.Report"}
		}
	}
	for name, c := range misuses {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			matched, err := c.matcher.Match(c.actual)
			g.Expect(matched).To(BeFalse())
			g.Expect(err).To(MatchError(ContainSubstring(c.reason)))
			_, err = Not(c.matcher).Match(c.actual)
			g.Expect(err).To(HaveOccurred(), "nor is it a match of the negation")
		})
	}
}
