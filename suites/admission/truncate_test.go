package admission_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/reports/check"
)

// truncating is a worker that shortens what it would refuse to one token below its limit.
func truncating(context, pool int) config.Worker {
	w := worker(context, pool)
	w.AllowAutoTruncate = true
	return w
}

// A truncating worker refuses nothing, so it announces no limit, and no guard that knows limits can help: two workers
// with unequal limits then shorten one prompt to two lengths. The guards that compare what was owed, claimed or landed
// with what was reserved stop it. Without them decode attends over rows that nobody wrote for it, or over a prompt
// that lost its end: what its client gets depends on which row wins, and may by chance be what the shortened prompt has.
// It is never called correct, and the run never passes.
var _ = DescribeTable("with allow_auto_truncate",
	func(prefill, decode config.Worker, prompt int, without, guarded check.Outcome, words string) {
		got, report := ask(caseOf(model(config.Disaggregated, guard.None, prefill, decode), prompt))
		Expect(got.Outcome).To(Equal(without))
		verdict := check.Pass
		if guarded == check.Failed {
			verdict = check.Fail
		}
		Expect(report.Verdict).To(Equal(verdict), "unequal lengths are found, whatever the answer")

		got, report = ask(caseOf(model(config.Disaggregated, guard.All&^guard.EdgeRefusal, prefill, decode), prompt))
		Expect(got.Outcome).To(Equal(guarded))
		Expect(got.Reason).To(ContainSubstring(words))
		Expect(report.Verdict).To(Equal(check.Pass))

		m := model(config.Disaggregated, guard.All, prefill, decode)
		got, report = ask(caseOf(m, prompt))
		Expect(report.Verdict).To(Equal(check.Pass))
		if prompt >= m.Router.EdgeLimitTokens {
			Expect(got.Outcome).To(Equal(check.Rejected), "the edge has a limit of its own, which truncates nothing")
			Expect(got.Reason).To(Equal("prompt reaches the edge limit"))
		} else {
			Expect(got.Outcome).To(Equal(guarded))
		}
	},
	Entry("on prefill: one below its limit of 122", truncating(512, 128), worker(512, 256), 121,
		check.Correct, check.Correct, "length"),
	Entry("on prefill: its limit, the same number of pages", truncating(512, 128), worker(512, 256), 122,
		check.Garbage, check.Failed, "prefill claims 121 tokens, 8 pages"),
	Entry("on prefill: its pool, the same number of pages", truncating(512, 128), worker(512, 256), 128,
		check.Shortened, check.Failed, "prefill claims 121 tokens, 8 pages"),
	Entry("on prefill: one page more", truncating(512, 128), worker(512, 256), 129,
		check.Garbage, check.Failed, "owes a different number of pages than the peer reserved"),
	Entry("on prefill: five pages more", truncating(512, 128), worker(512, 256), 200,
		check.Leak, check.Failed, "owes a different number of pages than the peer reserved"),
	Entry("on decode: one below its limit of 122", worker(512, 256), truncating(512, 128), 121,
		check.Correct, check.Correct, "length"),
	Entry("on decode: its limit, the same number of pages", worker(512, 256), truncating(512, 128), 122,
		check.Garbage, check.Failed, "prefill claims 122 tokens, 8 pages"),
	Entry("on decode: prefill owes one page more than decode reserved", worker(512, 256), truncating(512, 128), 129,
		check.Garbage, check.Failed, "owes a different number of pages than the peer reserved"),
	Entry("on decode: prefill owes five pages more", worker(512, 256), truncating(512, 128), 200,
		check.Garbage, check.Failed, "owes a different number of pages than the peer reserved"),
	Entry("on both, equal limits: the limit", truncating(512, 128), truncating(512, 128), 122,
		check.Shortened, check.Shortened, "length"),
	Entry("on both, equal limits: far above", truncating(512, 128), truncating(512, 128), 200,
		check.Shortened, check.Shortened, "length"),
	Entry("on both, above the context too", truncating(128, 256), truncating(128, 256), 200,
		check.Shortened, check.Shortened, "length"),
	Entry("on both, prefill's limit lower: the limit", truncating(512, 128), truncating(512, 192), 122,
		check.Garbage, check.Failed, "prefill claims 121 tokens, 8 pages"),
	Entry("on both, prefill's limit lower: far above", truncating(512, 128), truncating(512, 192), 200,
		check.Garbage, check.Failed, "owes a different number of pages than the peer reserved"),
	Entry("on both, decode's limit lower: the limit", truncating(512, 192), truncating(512, 128), 122,
		check.Garbage, check.Failed, "prefill claims 122 tokens, 8 pages"),
	Entry("on both, decode's limit lower: far above", truncating(512, 192), truncating(512, 128), 200,
		check.Garbage, check.Failed, "owes a different number of pages than the peer reserved"),
)

var _ = DescribeTable("with allow_auto_truncate, one worker in place of two",
	func(context, pool, prompt int, outcome check.Outcome) {
		for _, guards := range []guard.Set{guard.None, guard.All &^ guard.EdgeRefusal} {
			got, report := ask(caseOf(model(config.Colocated, guards, truncating(context, pool), truncating(context, pool)), prompt))
			Expect(got.Outcome).To(Equal(outcome))
			Expect(got.Status).To(Equal(200))
			Expect(report.Verdict).To(Equal(check.Pass))
		}
	},
	Entry("one below the limit", 512, 128, 121, check.Correct),
	Entry("the limit", 512, 128, 122, check.Shortened),
	Entry("one above the pool", 512, 128, 129, check.Shortened),
	Entry("far above", 512, 128, 400, check.Shortened),
	Entry("above the context", 128, 256, 200, check.Shortened),
)
