package incident_test

import (
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/fixtures/incidents"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/incident"
)

// counts are what a variant comes to, of the incident's requests alone. They are pinned here a second time, by hand: the
// first time is the derivation from limits and lengths (incidents.Case.Expect), which Reproduce compares with.
type counts struct {
	Leaked, Garbage, Rejected, TimedOut, Failed, Exact int
	Isolation                                          check.Verdict
}

func of(v incident.Variant) counts {
	return counts{v.Leaked, v.Garbage, v.Rejected, v.TimedOut, v.Failed, v.Exact, v.Isolation}
}

func reproduce(name, scale, variant string) incident.Variant {
	GinkgoHelper()
	summary, err := incident.Reproduce(harness.NewKit(), incident.Options{
		Incident: name, Scale: scale, Variants: []string{variant}, Seed: incident.DefaultSeed, Parallel: 1,
	})
	Expect(err).NotTo(HaveOccurred())
	return summary.Variants[0]
}

var _ = DescribeTable("155 prompts longer than prefill's pool, at scale 1/256",
	func(variant string, want counts) {
		v := reproduce("155", "1/256", variant)
		Expect(v.Notes).To(BeEmpty(), "every request comes to what limits, guards and lengths say")
		Expect(v.Verdict).To(Equal(check.Pass))
		Expect(of(v)).To(Equal(want))
		Expect(v.Responses).To(Equal(155))
		Expect(v.Attributed).To(Equal(v.Leaked), "every leaked token has an owner")
	},
	Entry(nil, "as-shipped", counts{Leaked: 155, Isolation: check.Fail}),
	Entry(nil, "guarded", counts{Rejected: 155}),
	Entry(nil, "upstream-fixed", counts{TimedOut: 155}),
	Entry(nil, "resized", counts{Exact: 155}),
	Entry(nil, "edge", counts{Rejected: 155}),
	Entry(nil, "co-located", counts{Rejected: 155}),
	Entry(nil, "fresh-pool", counts{Garbage: 155, Isolation: check.Fail}),
	Entry(nil, "only-limit-exchange", counts{Rejected: 155}),
	Entry(nil, "only-honour-refusal", counts{TimedOut: 155}),
	Entry(nil, "only-tell-peer", counts{Leaked: 155, Isolation: check.Fail}),
	Entry(nil, "only-sender-check", counts{Failed: 155}),
	Entry(nil, "only-claimed-length", counts{Failed: 155}),
	Entry(nil, "only-coverage", counts{Failed: 155}),
	Entry(nil, "only-page-stamp", counts{Failed: 155}),
	Entry(nil, "only-scrub", counts{Garbage: 155, Isolation: check.Fail}),
	Entry(nil, "only-deferred-release", counts{Leaked: 155, Isolation: check.Fail}),
	Entry(nil, "only-address-generation", counts{Leaked: 155, Isolation: check.Fail}),
	Entry("the same leak by another way: a truncated transfer, equal pools",
		"fault-truncated-transfer", counts{Leaked: 1, Exact: 154, Isolation: check.Fail}),
	Entry("the same, every guard on",
		"fault-truncated-transfer-guarded", counts{Failed: 1, Exact: 154}),
	Entry("the same leak by another way: the refusal's flag is dropped where it is honoured",
		"fault-dropped-rejection-flag", counts{Leaked: 1, TimedOut: 154, Isolation: check.Fail}),
)

var _ = Describe("as shipped", func() {
	It("needs no fault: the journal holds none, and every bad answer says 200 with the right prompt length", func() {
		v := reproduce("155", "1/256", "as-shipped")
		Expect(v.FaultEvents).To(BeZero())
		Expect(v.HTTP200).To(Equal(155))
		Expect(v.MinLeakingPromptTokens).To(BeNumerically(">", 2624), "no prompt that fits prefill's pool leaks")
		Expect(v.AttributedByContent).To(BeNumerically(">=", 140), "most answers give themselves away by their text alone")
	})

	It("leaks to nobody of the ordinary traffic, and not on the second model", func() {
		v := reproduce("155", "1/256", "as-shipped")
		Expect(v.Others).To(Equal(1112), "four more, of the second model, are too long for it")
		Expect(v.OthersExact).To(Equal(v.Others))
	})

	It("gives identical journals, byte for byte, and the journal alone gives the same report", func() {
		folders := []string{GinkgoT().TempDir(), GinkgoT().TempDir()}
		var sums [2][32]byte
		for i, folder := range folders {
			summary, err := incident.Reproduce(harness.NewKit(), incident.Options{
				Incident: "155", Scale: "1/256", Variants: []string{"as-shipped"}, Seed: 7, Parallel: 1, Folder: folder,
			})
			Expect(err).NotTo(HaveOccurred())
			path := summary.Variants[0].Journal
			Expect(path).To(Equal(filepath.Join(folder, "155-small-as-shipped"+journal.Extension)))
			judgement, err := harness.NewKit().Judge(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(judgement.Report.Outcomes[check.Leak]).To(Equal(155))
			Expect(judgement.Report.Verdict).To(Equal(check.Fail))
			sums[i] = judgement.Footer.SHA256
		}
		Expect(sums[0]).To(Equal(sums[1]))
	})
})

var _ = Describe("upstream fixed", func() {
	It("holds each reservation until decode's own timeout, since nobody tells it", func() {
		i, err := incidents.Load("155")
		Expect(err).NotTo(HaveOccurred())
		c, err := i.Case("1/256", "upstream-fixed")
		Expect(err).NotTo(HaveOccurred())
		v := reproduce("155", "1/256", "upstream-fixed")
		Expect(v.HoldTicksMax).To(BeNumerically(">=", c.Cluster.Models[0].Decode.BootstrapTimeoutTicks))
	})
})

var _ = DescribeTable("eight pages: one written, seven stale",
	func(variant string, want counts) {
		v := reproduce("eight-pages", "full", variant)
		Expect(v.Notes).To(BeEmpty())
		Expect(of(v)).To(Equal(want))
	},
	Entry(nil, "as-shipped", counts{Leaked: 1, Isolation: check.Fail}),
	Entry(nil, "guarded", counts{Rejected: 1}),
	Entry(nil, "resized", counts{Exact: 1}),
)

var _ = Describe("eight pages, as shipped", func() {
	It("moves one page of eight, and decode believes that it has them all", func() {
		i, err := incidents.Load("eight-pages")
		Expect(err).NotTo(HaveOccurred())
		c, err := i.Case("full", "as-shipped")
		Expect(err).NotTo(HaveOccurred())
		memory := &journal.Memory{}
		result, err := harness.NewKit().Run(incident.CaseOf(c, 1), harness.Options{Sinks: []journal.Sink{memory.Record}})
		Expect(err).NotTo(HaveOccurred())
		victim := incidents.FirstIncident(c.Traffic)
		room := result.Report.Requests[victim].Room
		claimed, committed := 0, 0
		for _, e := range memory.Events() {
			if e.Room == room && e.Kind == event.TransferSent {
				claimed = e.Count
			}
			if e.Room == room && e.Kind == event.TransferCommitted {
				committed = e.Count
			}
		}
		Expect([]int{claimed, committed}).To(Equal([]int{1, 8}))
	})
})
