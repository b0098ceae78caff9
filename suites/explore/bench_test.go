package explore

import (
	"testing"

	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/suites/harness"
)

// BenchmarkSchedules reports how many schedules one core makes and judges in a second of its time, over all scenarios.
func BenchmarkSchedules(b *testing.B) {
	kit := harness.NewKit()
	scenarios := Scenarios()
	const batch = 2000 // an iteration, so that one alone says something
	for name, guards := range map[string]guard.Set{"none": guard.None, "all": guard.All} {
		b.Run("guards="+name, func(b *testing.B) {
			x := NewExplorer(kit)
			b.ReportAllocs()
			start, steps, events, seed := harness.CoreSeconds(), 0, 0, 0
			for b.Loop() {
				for range batch {
					c, err := Draw(uint64(seed), Choice{Scenario: scenarios[seed%len(scenarios)], Guards: guards})
					if err != nil {
						b.Fatal(err)
					}
					r, err := x.Run(c)
					if err != nil {
						b.Fatal(err)
					}
					seed++
					steps += r.Steps
					events += r.Events
				}
			}
			b.ReportMetric(float64(seed)/(harness.CoreSeconds()-start), "schedules/core-s")
			b.ReportMetric(float64(steps)/(harness.CoreSeconds()-start)/1e6, "Msteps/core-s")
			b.ReportMetric(float64(steps)/float64(seed), "steps/schedule")
			b.ReportMetric(float64(events)/float64(seed), "events/schedule")
		})
	}
}
