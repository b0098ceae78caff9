package teeth_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/incidents"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/incident"
)

// command is the path of the stalepage command, built once for the suite.
var command string

var _ = BeforeSuite(func() {
	command = filepath.Join(GinkgoT().TempDir(), "stalepage")
	output, err := exec.Command("go", "build", "-o", command, "github.com/stalepage/stalepage").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", output)
})

// stalepage runs the command in a process of its own.
func stalepage(arguments ...string) (output string, exit int) {
	GinkgoHelper()
	var out, problems bytes.Buffer
	c := exec.Command(command, arguments...)
	c.Stdout, c.Stderr = &out, &problems
	err := c.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(problems.String()).To(BeEmpty())
	return out.String(), c.ProcessState.ExitCode()
}

var _ = Describe("the journal alone, in a fresh process", func() {
	DescribeTable("gives every owner that the run gave", func(c func() harness.Case, leaks int, exit int) {
		result, path := written(c())
		Expect(result.Report.Outcomes[check.Leak]).To(Equal(leaks))
		output, code := stalepage("check", "--json", path)
		Expect(code).To(Equal(exit))
		var alone check.Report
		Expect(json.Unmarshal([]byte(output), &alone)).To(Succeed())

		// Through JSON too, so that fields which are not told are not compared.
		text, err := json.Marshal(result.Report)
		Expect(err).NotTo(HaveOccurred())
		var told check.Report
		Expect(json.Unmarshal(text, &told)).To(Succeed())
		Expect(alone).To(Equal(told))

		owners := 0
		for _, q := range alone.Requests {
			if q.Outcome == check.Leak {
				Expect(q.Attribution.Owners).NotTo(BeEmpty(), "request %d", q.Request)
				owners += len(q.Attribution.Owners)
			}
		}
		Expect(owners).To(BeNumerically(">=", leaks))
	},
		Entry("155 leaks", func() harness.Case { return incidentCase("as-shipped") }, 155, 1),
		Entry("none: all guards on", func() harness.Case { return incidentCase("guarded") }, 0, 0),
		Entry("a leak by a fault", func() harness.Case {
			c := cells()["late-write"]
			return c.caseOf(c.fault(faults.Request(victim)))
		}, 1, 1),
		Entry("no request wronged, a fault that did not fire", func() harness.Case {
			c := cells()["late-write"]
			at := faults.Request(victim)
			at.MisAimed = true
			return c.caseOf(c.fault(at))
		}, 0, 2),
	)
})

// eightPages is the walk-through as shipped: what request 4 is answered with is tenants 1 to 4's.
func eightPages() *plant {
	GinkgoHelper()
	i, err := incidents.Load("eight-pages")
	Expect(err).NotTo(HaveOccurred())
	c, err := i.Case("full", "as-shipped")
	Expect(err).NotTo(HaveOccurred())
	Expect(c.Cluster.Models[0].Guards).To(Equal(guard.None))
	made := incident.CaseOf(c, incident.DefaultSeed)
	_, memory := run(made)
	return &plant{run: kit().Judged(made), events: memory.Events()}
}

// wronged is the walk-through's request.
const wronged = 4

func attributionOf(p *plant) check.Attribution {
	GinkgoHelper()
	report := p.judge()
	Expect(report.Requests[wronged].Outcome).To(Equal(check.Leak))
	return report.Requests[wronged].Attribution
}

var _ = Describe("an owner", func() {
	It("is derived from who wrote the page: the row that won says only where to look", func() {
		p := eightPages()
		before := attributionOf(p)
		Expect(before.Attributed()).To(BeTrue())
		owner := before.Owners[0]

		// Another tenant's page that decode had reserved for it; all else stays, the token included.
		page, other := stalePage(p, owner.Request)
		at, sample := p.draw(wronged, p.find(event.RequestSubmitted, p.of(wronged)).Tokens+owner.Output)
		Expect(at).To(Equal(owner.Read))
		Expect(sample.Page).To(Equal(owner.Page))
		sample.Page, sample.Slot = page, 0

		after := attributionOf(p)
		Expect(after.Attributed()).To(BeFalse(), "the token is not what that page holds")
		Expect(after.Derived).To(Equal(before.Derived - 1))
		Expect(after.Foreign).To(Equal(before.Foreign))
		Expect(after.Owners).To(ContainElement(And(
			HaveField("Tenant", other), HaveField("Page", sample.Page), HaveField("Read", at), HaveField("Count", 1))))
		Expect(after.Owners).NotTo(ContainElement(owner), "its stretch is one token shorter now")
	})

	It("changes with the tenant of the request that wrote it", func() {
		p := eightPages()
		owner := attributionOf(p).Owners[0]
		e := p.find(event.RequestSubmitted, func(e *event.Event) bool { return e.Request == owner.Request })
		e.Tenant = 77
		after := attributionOf(p).Owners[0]
		Expect(after.Tenant).To(Equal(77))
		after.Tenant = owner.Tenant
		Expect(after).To(Equal(owner), "nothing else changes")
	})

	It("is nobody, and no leak, where the writer is the tenant who asked", func() {
		p := eightPages()
		asker := p.find(event.RequestSubmitted, p.of(wronged)).Tenant
		for i := range p.events {
			if p.events[i].Kind == event.RequestSubmitted {
				p.events[i].Tenant = asker
			}
		}
		report := p.judge()
		a := report.Requests[wronged].Attribution
		Expect(a.Foreign).To(BeZero())
		Expect(a.Stale).To(BeNumerically(">", 0))
		Expect(a.ForeignByContent).To(BeNumerically(">", 0), "the text alone says otherwise: no event is asked for it")
	})
})

// stalePage is a page that the walk-through's request was given and never filled, and the tenant whose prompt it holds:
// not the tenant of the request named.
func stalePage(p *plant, not int) (page wire.Page, tenant int) {
	GinkgoHelper()
	given := p.find(event.PagesReserved, p.of(wronged), by(wire.Decode)).Pages[1:8] // the ninth is for the answer
	for n := range wronged {
		for _, page := range p.find(event.PagesReserved, p.of(n), by(wire.Decode)).Pages[:3] {
			if n != not && slices.Contains(given, page) {
				return page, p.find(event.RequestSubmitted, p.of(n)).Tenant
			}
		}
	}
	Fail("all stale pages are of one request")
	return 0, 0
}
