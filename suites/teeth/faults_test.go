package teeth_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/matchers"
)

// run makes the cell's run with the fault aimed at somebody, or at nobody.
func (c cell) run(misAimed bool) (harness.Result, *journal.Memory) {
	GinkgoHelper()
	at := faults.Request(victim)
	at.MisAimed = misAimed
	return run(c.caseOf(c.fault(at)))
}

func (c cell) caseOf(list ...faults.Fault) harness.Case {
	GinkgoHelper()
	m := pair(poolTokens, poolTokens)
	if c.unequal {
		m = pair(6*pageTokens, poolTokens)
	}
	m.Decode.AllocatorOrder = config.OrderLIFO // what was freed last is handed out next
	if c.change != nil {
		c.change(&m)
	}
	return caseOf(m, c.guards, c.traffic(), list...)
}

func (c cell) traffic() traffic.Trace {
	GinkgoHelper()
	if c.asks != nil {
		return trace(2, c.asks...)
	}
	gives := ask{tenant: 3, promptTokens: 130, answerTokens: 24, phase: 1}
	if c.abortCount > 0 {
		gives.abortAt, gives.abortCount = c.abortAt.String(), c.abortCount
	}
	beside := ask{tenant: 4, promptTokens: 80, answerTokens: 24, phase: 1}
	if !c.unequal {
		beside.promptTokens = 96
	}
	return trace(2,
		ask{tenant: 1, promptTokens: 80, answerTokens: 8}, ask{tenant: 2, promptTokens: 80, answerTokens: 8}, gives,
		beside, ask{tenant: 5, promptTokens: 80, answerTokens: 24, phase: 2})
}

var _ = Describe("every fault", func() {
	for _, entry := range faults.Catalog() {
		biteAndRest(entry.Name, cellOf(entry.Name))
	}
})

// biteAndRest makes the two specs of a fault.
func biteAndRest(fault string, c cell) {
	It(fault+" is red where nothing stops it", func() {
		result, _ := c.run(false)
		Expect(result).To(matchers.HaveFired(fault))
		Expect(outcomesOf(result.Report)).To(Equal(c.outcomes))
		Expect(result.Report.PagesQuarantined).To(Equal(c.quarantined))
		expectRed(result.Report, c.red)
		if c.unseen == "" {
			Expect(len(c.red) > 0 || c.outcomes != c.quiet).To(BeTrue(), "a cell that shows nothing proves nothing")
		}
	})
	It(fault+" is quiet when it is aimed at nobody", func() {
		result, events := c.run(true)
		Expect(result).NotTo(matchers.HaveFired(fault))
		Expect(outcomesOf(result.Report)).To(Equal(c.quiet))
		for _, r := range result.Report.Results {
			if r.Check == "fault-fired" {
				Expect(r.Verdict).To(Equal(check.Unknown))
				Expect(r.Findings.First.Text).To(Equal("fault " + fault + " was armed and did not fire"))
				continue
			}
			Expect(r.Verdict).To(Equal(check.Pass), "%s: %s %s", r.Check, r.Findings.First.Text, r.NotChecked)
		}
		_, without := run(c.caseOf())
		Expect(journal.Difference(withoutFaults(without.Events()), withoutFaults(events.Events()))).To(BeEmpty())
	})
}

// expectRed holds each check of the report to red: those in it fail with these words, all others pass.
func expectRed(report *check.Report, red map[string]string) {
	GinkgoHelper()
	rooms := map[int]wire.Room{}
	for _, q := range report.Requests {
		rooms[q.Request] = q.Room
	}
	for _, r := range report.Results {
		want, isRed := red[r.Check]
		if !isRed {
			Expect(r.Verdict).To(Equal(check.Pass), "%s: %s %s", r.Check, r.Findings.First.Text, r.NotChecked)
			continue
		}
		for request, room := range rooms {
			want = strings.ReplaceAll(want, fmt.Sprintf("{room %d}", request), fmt.Sprint(room))
		}
		Expect(r.Verdict).To(Equal(check.Fail), r.Check)
		Expect(findingsOf(r)).To(ContainElement(ContainSubstring(want)), r.Check)
	}
}

// findingsOf is the text of the findings that a check keeps.
func findingsOf(r check.Result) []string {
	return []string{r.Findings.First.Text, r.Findings.Worst.Text, r.Findings.Last.Text}
}

func outcomesOf(report *check.Report) (list [5]check.Outcome) {
	GinkgoHelper()
	Expect(report.Requests).To(HaveLen(len(list)))
	for i := range report.Requests {
		list[report.Requests[i].Request] = report.Requests[i].Outcome
	}
	return list
}

// withoutFaults is what happened but for the faults' own events. A squatter that is armed in mid-run gives the workers
// one more turn, so steps are not counted.
func withoutFaults(events []event.Event) (rest []event.Event) {
	for _, e := range events {
		if e.Fault == "" {
			e.Tick = 0
			rest = append(rest, e)
		}
	}
	return rest
}
