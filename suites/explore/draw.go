package explore

import (
	"encoding/json"
	"fmt"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/topologies"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/suites/harness"
)

// Bounds on a drawn run. A stuck run is one that takes StepsMax steps; the longest that comes to rest takes a tenth.
const (
	StepsMax = 60_000
	// promptPagesMax keeps prompts short, so that many fit side by side and a thousand runs take a second.
	promptPagesMax = 7
	// answerTokens is as long as answers of the traffic's shapes are.
	answerTokens = 6
	// warmTenant owns what lies in the pools before the run proper. The shapes' tenants are small numbers.
	warmTenant = 99
)

// Die draws for one run: every draw depends on the seed and its purpose alone.
type Die struct{ Seed uint64 }

// Below draws from 0 to n-1.
func (d Die) Below(purpose string, n int) int {
	return traffic.DrawBelow(d.Seed, "explore-"+purpose, 0, 0, n)
}

// Choice says what a run is drawn for.
type Choice struct {
	Scenario Scenario
	Guards   guard.Set
	// MisAimed puts the fault in place and aims it at nobody.
	MisAimed bool
	// Unarmed leaves the fault out and everything else as it is: the control of a mis-aimed one.
	Unarmed bool
	// Shapes draws among all shapes of traffic; without, all runs have the mixed one.
	Shapes bool
}

// Draw makes the case of a seed. Its schedule has no deviations yet: Explorer.Run draws and records them. The corpus is
// that of corpusSeed for all runs, so that tenants' texts need not be made anew for each.
func Draw(seed uint64, c Choice) (harness.Case, error) {
	d := Die{seed}
	cluster := topologies.Small(seed, c.Scenario.Family)
	m := &cluster.Models[0]
	m.Guards = c.Guards
	if d.Below("router", 2) == 0 {
		m.Router.Mode = config.CancelOnPrefillError
	}
	if c.Scenario.Reuse {
		m.Decode.AllocatorOrder = config.OrderLIFO
	}
	trace, warm, err := drawTraffic(seed, *m, c.Shapes)
	if err != nil {
		return harness.Case{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	victim := warm + d.Below("victim", max(len(trace.Requests)-warm-1, 1))
	if err := suffer(d, c.Scenario, *m, &trace.Requests[victim]); err != nil {
		return harness.Case{}, fmt.Errorf("seed %d: %w", seed, err)
	}
	made := harness.Case{
		Variant: c.Scenario.Name, Seed: seed, Cluster: cluster,
		Schedule: harness.Schedule{Trace: trace, StepsMax: StepsMax},
		Command:  fmt.Sprintf("make schedules SEED=%d COUNT=1", seed),
	}
	if c.Scenario.Fault == nil || c.Unarmed {
		return made, nil
	}
	fault := c.Scenario.Fault(faults.Target{Request: &victim, MisAimed: c.MisAimed}, d)
	made.Plan, err = json.Marshal(faults.Plan{Faults: []faults.Spec{{Fault: fault}}})
	return made, err
}

// suffer makes a request what the scenario needs its victim to be.
func suffer(d Die, s Scenario, m config.Model, r *traffic.Request) (err error) {
	if s.Oversized {
		low, high := m.Prefill.MaxInputTokens(), m.Decode.MaxInputTokens()-1-answerTokens
		if low > high {
			return fmt.Errorf("prefill accepts %d tokens and decode has room for %d: no prompt is refused by prefill alone",
				low, high)
		}
		r.PromptTokens = low + d.Below("oversize", high-low+1)
		place := traffic.Draw(d.Seed, "oversized", 0, r.Index)
		if r.Spans, err = traffic.Prompt(r.Tenant, place, r.PromptTokens, answerTokens); err != nil {
			return err
		}
	}
	if len(s.Abort) > 0 {
		r.AbortAt, r.AbortCount = s.Abort[d.Below("abort-event", len(s.Abort))].String(), 1
		if r.AbortAt == event.WritePosted.String() {
			r.AbortCount += d.Below("abort-count", 4)
		}
	}
	return nil
}

// drawTraffic is a shape's traffic behind requests that fill decode's pool with another tenant's text; warm counts those.
func drawTraffic(seed uint64, m config.Model, shapes bool) (t traffic.Trace, warm int, err error) {
	bounds := traffic.BoundsOf(m)
	if m.Decode.MaxTotalNumTokens > m.Prefill.MaxTotalNumTokens {
		equal := m
		equal.Prefill = m.Decode // what only prefill refuses is what an incident is made of
		bounds = traffic.BoundsOf(equal)
	}
	bounds.PromptTokensMax = min(bounds.PromptTokensMax, promptPagesMax*bounds.PageTokens)
	shape, err := drawShape(seed, bounds, shapes)
	if err != nil {
		return t, 0, err
	}
	if t, err = warmUp(seed, m); err != nil {
		return t, 0, err
	}
	warm = len(t.Requests)
	t.Concurrency = max(t.Concurrency, shape.Concurrency)
	for _, r := range shape.Requests {
		r.Index += warm
		r.Phase++
		t.Requests = append(t.Requests, r)
	}
	return t, warm, nil
}

func drawShape(seed uint64, bounds traffic.Bounds, any bool) (traffic.Trace, error) {
	list := traffic.Shapes()
	mixed := list[len(list)-1]
	if at := (Die{seed}).Below("shape", 2*len(list)); any && at < len(list) {
		if t, err := list[at].Build(seed, bounds); err == nil {
			return t, nil
		} // some shapes need more room than some pools have
	}
	return mixed.Build(seed, bounds)
}

// warmUp fills every page of decode's pool: requests whose pages, answers included, are the whole pool between them.
func warmUp(seed uint64, m config.Model) (traffic.Trace, error) {
	left := m.Decode.PoolPages() - 1
	longest := (min(m.Prefill.MaxInputTokens(), m.Decode.MaxInputTokens()) - 1 + answerTokens) / m.Decode.PageSize
	parts := (left + longest - 1) / longest
	t := traffic.Trace{Concurrency: parts}
	for i := range parts {
		pages := (left + parts - i - 1) / (parts - i)
		left -= pages
		tokens := pages*m.Decode.PageSize - answerTokens
		spans, err := traffic.Prompt(warmTenant, traffic.Draw(seed, "warm", 0, i), tokens, answerTokens)
		if err != nil {
			return t, fmt.Errorf("warming %d pages: %w", pages, err)
		}
		t.Requests = append(t.Requests, traffic.Request{
			Index: i, Model: m.Name, Kind: "warm-up", Tenant: warmTenant, Spans: spans, PromptTokens: tokens,
			MaxNewTokens: 1,
		})
	}
	return t, nil
}
