package teeth_test

import (
	"encoding/json"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/harness"
)

// kit is read-only once built: every spec may share it.
var kit = sync.OnceValue(harness.NewKit)

// The numbers of every run of this suite. A page holds 16 tokens; with 16 pages, a pool holds two requests and a half.
const (
	seed         = 41
	pageTokens   = 16
	poolTokens   = 16 * pageTokens
	stepsMax     = 60_000
	timeoutTicks = 4000
)

// pair is one prefill and one decode worker with such pools, no guard on, and digests recorded.
func pair(prefillTokens, decodeTokens int) config.Model {
	worker := config.Worker{
		ContextLength: 4 * poolTokens, PageSize: pageTokens, ChunkedPrefillSize: 2 * pageTokens, MaxRunningRequests: 4,
		MetadataSlots: 4, AllocatorOrder: config.OrderSGLang, BootstrapTimeoutTicks: timeoutTicks,
		AbortRetryTicks: timeoutTicks / 4, AbortRetriesMax: 3,
	}
	m := config.Model{
		Name: "small", Mode: config.Disaggregated, Router: config.Router{Mode: config.DecodeOnly},
		Prefill: worker, Decode: worker, RecordDigests: true,
	}
	m.Prefill.MaxTotalNumTokens, m.Decode.MaxTotalNumTokens = prefillTokens, decodeTokens
	m.Router.EdgeLimitTokens = min(m.Prefill.MaxInputTokens(), m.Decode.MaxInputTokens())
	return m
}

// ask is one request of a run's traffic.
type ask struct {
	tenant, promptTokens, answerTokens, phase int
	// abortAt is the event of its room, and abortCount which occurrence of it, upon which its client gives up.
	abortAt    string
	abortCount int
}

func trace(concurrency int, asks ...ask) traffic.Trace {
	GinkgoHelper()
	t := traffic.Trace{Concurrency: concurrency}
	for i, a := range asks {
		spans, err := traffic.Prompt(a.tenant, traffic.Draw(seed, "teeth", 0, i), a.promptTokens, a.answerTokens)
		Expect(err).NotTo(HaveOccurred())
		t.Requests = append(t.Requests, traffic.Request{
			Index: i, Model: "small", Kind: "ordinary", Tenant: a.tenant, Spans: spans, PromptTokens: a.promptTokens,
			MaxNewTokens: a.answerTokens, Phase: a.phase, AbortAt: a.abortAt, AbortCount: a.abortCount,
		})
	}
	return t
}

// caseOf is a case of this suite: one model, one trace, at most one fault.
func caseOf(m config.Model, guards guard.Set, t traffic.Trace, list ...faults.Fault) harness.Case {
	GinkgoHelper()
	m.Guards = guards
	c := harness.Case{
		Seed: seed, Cluster: config.Cluster{Models: []config.Model{m}}, Command: "go test ./suites/teeth",
		Schedule: harness.Schedule{Trace: t, StepsMax: stepsMax},
	}
	var plan faults.Plan
	for _, f := range list {
		plan.Faults = append(plan.Faults, faults.Spec{Fault: f})
	}
	if len(list) > 0 {
		var err error
		c.Plan, err = json.Marshal(plan)
		Expect(err).NotTo(HaveOccurred())
	}
	return c
}

// run makes the run and keeps its events as the journal has them.
func run(c harness.Case) (harness.Result, *journal.Memory) {
	GinkgoHelper()
	memory := &journal.Memory{}
	result, err := kit().Run(c, harness.Options{Sinks: []journal.Sink{memory.Record}})
	Expect(err).NotTo(HaveOccurred())
	return result, memory
}
