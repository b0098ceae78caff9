package admission_test

import (
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/suites/harness"
)

// kit is read-only once built: every spec may share it.
var kit = sync.OnceValue(harness.NewKit)

const (
	seed         = 6
	pageTokens   = 16
	answerTokens = 6
	asker        = 900 // the tenant of the prompt in question; those before it are of tenants 1, 2, ...
)

func worker(context, pool int) config.Worker {
	return config.Worker{
		ContextLength: context, MaxTotalNumTokens: pool, PageSize: pageTokens, ChunkedPrefillSize: 2 * pageTokens,
		MaxRunningRequests: 8, MetadataSlots: 8, AllocatorOrder: config.OrderSGLang, BootstrapTimeoutTicks: 4000,
		AbortRetryTicks: 1000, AbortRetriesMax: 3,
	}
}

func model(mode config.Mode, guards guard.Set, prefill, decode config.Worker) config.Model {
	m := config.Model{
		Name: "m", Mode: mode, Router: config.Router{Mode: config.DecodeOnly}, Prefill: prefill, Decode: decode,
		Guards: guards, RecordDigests: true,
	}
	m.Router.EdgeLimitTokens = min(prefill.MaxInputTokens(), decode.MaxInputTokens())
	return m
}

func pages(tokens int) int { return (tokens + pageTokens - 1) / pageTokens }

// caseOf asks for one prompt, on pools in which every page holds another tenant's text.
func caseOf(m config.Model, promptTokens int) harness.Case {
	GinkgoHelper()
	t := traffic.Trace{Concurrency: 8}
	add := func(tenant, promptTokens, phase int) {
		i := len(t.Requests)
		spans := []corpus.Span{{Tenant: tenant, First: 1000 * i, Count: promptTokens}}
		if promptTokens >= traffic.PromptTokensMin(answerTokens) {
			var err error
			spans, err = traffic.Prompt(tenant, traffic.Draw(seed, "admission", 0, i), promptTokens, answerTokens)
			Expect(err).NotTo(HaveOccurred())
		}
		t.Requests = append(t.Requests, traffic.Request{
			Index: i, Model: m.Name, Kind: "ordinary", Tenant: tenant, Spans: spans, PromptTokens: promptTokens,
			MaxNewTokens: answerTokens, Phase: phase,
		})
	}
	for tenant, pages := range warmUp(m) {
		add(tenant+1, pages*pageTokens-answerTokens, 0)
	}
	add(asker, promptTokens, 1)
	return harness.Case{
		Seed: seed, Cluster: config.Cluster{Models: []config.Model{m}}, Command: "go test ./suites/admission",
		Schedule: harness.Schedule{Trace: t, StepsMax: 60_000},
	}
}

// warmUp cuts the pool that answers into requests which are let in, and which fill it between them.
func warmUp(m config.Model) (sizes []int) {
	w := m.Decode
	if m.Mode == config.Colocated {
		w = m.Prefill
	}
	left := w.PoolPages() - 1
	longest := (min(m.Prefill.MaxInputTokens(), w.MaxInputTokens()) - 1 + answerTokens) / pageTokens
	for parts := (left + longest - 1) / longest; parts > 0; parts-- {
		size := (left + parts - 1) / parts
		left -= size
		sizes = append(sizes, size)
	}
	return sizes
}

// ask makes the run and returns what became of the prompt in question. Whatever that is, nothing may be lost: everybody is
// answered once, the pools are whole again, and those who came before were answered exactly.
func ask(c harness.Case) (check.RequestResult, *check.Report) {
	GinkgoHelper()
	result, err := kit().Run(c, harness.Options{})
	Expect(err).NotTo(HaveOccurred())
	r := result.Report
	Expect(r.Requests).To(HaveLen(len(c.Schedule.Trace.Requests)))
	for _, name := range []string{"well-formed", "liveness", "quiesce"} {
		found, _ := r.Result(name)
		Expect(found.Verdict).To(Equal(check.Pass), "%s: %s %s", name, found.Findings.First.Text, found.NotChecked)
	}
	last := len(r.Requests) - 1
	for _, q := range r.Requests[:last] {
		Expect(q.Outcome).To(Equal(check.Correct), "request %d, of %d tokens", q.Request, q.PromptTokens)
	}
	Expect(r.Requests[last].Tenant).To(Equal(asker))
	return r.Requests[last], r
}
