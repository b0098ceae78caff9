package teeth_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/incidents"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/incident"
	"github.com/stalepage/stalepage/suites/matchers"
)

// written makes the run with a journal on disk.
func written(c harness.Case) (harness.Result, string) {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "run"+journal.Extension)
	result, err := kit().Run(c, harness.Options{Journal: path})
	Expect(err).NotTo(HaveOccurred())
	Expect(result.JournalError).NotTo(HaveOccurred())
	return result, path
}

// cut shortens a file to so many hundredths of its length.
func cut(path string, hundredths int) {
	GinkgoHelper()
	data, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(path, data[:len(data)*hundredths/100], 0o600)).To(Succeed())
}

var _ = Describe("a run that proves nothing", func() {
	It("is unknown where the fault did not fire: here, nobody's client gave up, so no abort could be held", func() {
		c := cells()["held-abort"]
		c.abortCount = 0
		result, _ := c.run(false)
		Expect(result).NotTo(matchers.HaveFired("held-abort"))
		Expect(outcomesOf(result.Report)).To(Equal(allCorrect))
		Expect(result).To(matchers.HaveVerdict(check.Unknown))
	})

	It("is unknown where only idleness released what was held: the window never opened", func() {
		c := cells()["late-write"]
		c.abortCount = 0
		result, _ := c.run(false)
		Expect(result.Faults[0].Fired).To(BeNumerically(">", 0))
		Expect(result.Faults[0].ReleasedBy).To(Equal(faults.ReasonIdle))
		Expect(outcomesOf(result.Report)).To(Equal(allCorrect))
		Expect(result).To(matchers.HaveVerdict(check.Unknown))
	})

	// That a check which panics is unknown is proved in reports/check, where one can be made to: no event does.
	It("is unknown where a check had nothing to compare with", func() {
		p := clean()
		p.run.Reference = nil
		report := p.judge()
		Expect(report).To(matchers.HaveVerdict(check.Unknown))
		Expect(report).To(matchers.HaveCheck("exact-answer", check.Unknown))
	})

	It("is unknown where the journal is cut, however clean it is so far", func() {
		result, path := written(incidentCase("resized"))
		Expect(result).To(matchers.HaveVerdict(check.Pass))
		for _, hundredths := range []int{99, 50} {
			cut(path, hundredths)
			judgement, err := kit().Judge(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(judgement.Incomplete).To(MatchError(journal.ErrTruncated))
			Expect(judgement).To(matchers.HaveCheck("well-formed", check.Unknown))
			Expect(judgement).NotTo(matchers.HaveVerdict(check.Pass))
		}
	})

	It("has no verdict at all where not even the journal's header is left", func() {
		_, path := written(cleanCase())
		cut(path, 99) // so small a journal is one frame
		_, err := kit().Judge(path)
		Expect(err).To(MatchError(journal.ErrTruncated))
	})

	It("is no verdict at all where the journal was altered", func() {
		_, path := written(cleanCase())
		data, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		data[len(data)/2] ^= 1
		Expect(os.WriteFile(path, data, 0o600)).To(Succeed())
		_, err = kit().Judge(path)
		Expect(err).To(HaveOccurred())
	})

	It("stays a failure where something was found before the journal was cut", func() {
		_, path := written(incidentCase("as-shipped"))
		cut(path, 50)
		judgement, err := kit().Judge(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(judgement.Incomplete).To(MatchError(journal.ErrTruncated))
		Expect(judgement).To(matchers.HaveVerdict(check.Fail))
		Expect(judgement).To(matchers.LeakAcrossTenants())
	})
})

// incidentCase is a variant of incident 155 at small scale: a journal of several frames.
func incidentCase(variant string) harness.Case {
	GinkgoHelper()
	i, err := incidents.Load("155")
	Expect(err).NotTo(HaveOccurred())
	c, err := i.Case("1/256", variant)
	Expect(err).NotTo(HaveOccurred())
	return incident.CaseOf(c, seed)
}
