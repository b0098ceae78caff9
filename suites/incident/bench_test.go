package incident_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stalepage/stalepage/fixtures/incidents"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/incident"
)

// BenchmarkFaultLayer compares the whole engine, checks included, without any fault layer and with one that stands at
// every seam it has a fault for and matches nothing. Interleaved, best of ten of each.
func BenchmarkFaultLayer(b *testing.B) {
	i, err := incidents.Load("155")
	if err != nil {
		b.Fatal(err)
	}
	c, err := i.Case("small", "resized")
	if err != nil {
		b.Fatal(err)
	}
	session := harness.NewSession(harness.NewKit())
	bare := incident.CaseOf(c, incident.DefaultSeed)
	disarmed := bare
	disarmed.Plan = json.RawMessage(`{"faults": [
		{"fault": "truncated-transfer", "mis_aimed": true, "keep_pages": 1, "claim": "owed"},
		{"fault": "late-operation", "mis_aimed": true},
		{"fault": "dropped-rejection-flag", "mis_aimed": true, "stage": "intake"},
		{"fault": "held-abort", "mis_aimed": true}]}`)
	best := func(c harness.Case, sofar time.Duration) time.Duration {
		start := time.Now()
		if _, err := session.Run(c, harness.Options{}); err != nil {
			b.Fatal(err)
		}
		if took := time.Since(start); sofar == 0 || took < sofar {
			return took
		}
		return sofar
	}
	for range b.N {
		var without, with time.Duration
		for range 10 {
			without, with = best(bare, without), best(disarmed, with)
		}
		b.ReportMetric(float64(without)/float64(with), "of-bare-engine")
		b.ReportMetric(with.Seconds()*1e3, "ms/run")
	}
}
