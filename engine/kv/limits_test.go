package kv

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// The incident's prefill worker: its limit follows from a pool smaller than the context.
var incident = config.Worker{ContextLength: 1_048_576, MaxTotalNumTokens: 681_280}

// Each limit at its last accepted and its first refused length.
func TestLimitsAtEachStage(t *testing.T) {
	const limit = 681_274 // min(1,048,576, 681,280) - 6
	truncating := incident
	truncating.AllowAutoTruncate = true
	for _, c := range []struct {
		name   string
		worker config.Worker
		stage  wire.Stage
		tokens int
		want   port.Verdict // Reason apart
	}{
		{"context", incident, wire.AtHTTP, 1_048_576, port.Verdict{}},
		{"past the context", incident, wire.AtHTTP, 1_048_577, port.Verdict{Refused: true, Stage: wire.AtHTTP}},
		{"empty", incident, wire.AtHTTP, 0, port.Verdict{Refused: true, Stage: wire.AtHTTP}},
		{"one token", incident, wire.AtHTTP, 1, port.Verdict{}},
		{"below the limit", incident, wire.AtIntake, limit - 1, port.Verdict{}},
		{"the limit", incident, wire.AtIntake, limit, port.Verdict{Refused: true, StandIn: true, Stage: wire.AtIntake}},
		{"empty at intake", incident, wire.AtIntake, 0, port.Verdict{Refused: true, Stage: wire.AtIntake}},
		{"the pool, later", incident, wire.AtBootstrap, 681_280, port.Verdict{}},
		{"past the pool at bootstrap", incident, wire.AtBootstrap, 681_281, port.Verdict{Refused: true, Stage: wire.AtBootstrap}},
		{"past the pool while waiting", incident, wire.AtWaiting, 681_281, port.Verdict{Refused: true, Stage: wire.AtWaiting}},
		{"past the pool at forward", incident, wire.AtForward, 681_281, port.Verdict{Refused: true, Stage: wire.AtForward}},
		{"past the pool at reserve", incident, wire.AtReserve, 681_281, port.Verdict{Refused: true, Stage: wire.AtReserve}},
		{"the placeholder passes", incident, wire.AtBootstrap, 1, port.Verdict{}},
		{"not asked at the edge", incident, wire.AtEdge, 2_000_000, port.Verdict{}},
		{"nor at commit", incident, wire.AtCommit, 2_000_000, port.Verdict{}},
		{"cut at intake", truncating, wire.AtIntake, limit, port.Verdict{TruncateTo: limit - 1}},
		{"short enough", truncating, wire.AtIntake, limit - 1, port.Verdict{}},
		{"cut later, so let in", truncating, wire.AtHTTP, 1_048_577, port.Verdict{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := NewLimits(c.worker).At(c.stage, port.Request{Tokens: c.tokens}, port.Verdict{})
			if c.want.Refused {
				NewWithT(t).Expect(got.Reason).NotTo(BeEmpty())
			}
			got.Reason = ""
			NewWithT(t).Expect(got).To(Equal(c.want))
		})
	}
}

// What an earlier stage decided is handed on: a refusal untouched, a stand-in kept, a truncation until it is done.
func TestLimitsHandOnWhatIsPending(t *testing.T) {
	g := NewWithT(t)
	limits := NewLimits(incident)
	refused := port.Verdict{Refused: true, StandIn: true, Stage: wire.AtIntake, Reason: "too long"}
	for stage := wire.AtEdge; stage <= wire.AtTransfer; stage++ {
		g.Expect(limits.At(stage, port.Request{Tokens: 1}, refused)).To(Equal(refused))
		g.Expect(limits.At(stage, port.Request{Tokens: 1}, port.Verdict{StandIn: true})).To(Equal(port.Verdict{StandIn: true}))
		cut := port.Verdict{TruncateTo: 100}
		g.Expect(limits.At(stage, port.Request{Tokens: 101}, cut)).To(Equal(cut))
		g.Expect(limits.At(stage, port.Request{Tokens: 100}, cut)).To(Equal(port.Verdict{}))
	}
	again := limits.At(wire.AtWaiting, port.Request{Tokens: 700_000}, port.Verdict{StandIn: true})
	g.Expect(again.Refused && again.StandIn && again.Stage == wire.AtWaiting).To(BeTrue())
}

// A limit that leaves no token to keep refuses even with auto_truncate.
func TestLimitsCannotCutToNothing(t *testing.T) {
	tiny := config.Worker{ContextLength: 7, MaxTotalNumTokens: 100, AllowAutoTruncate: true}
	got := NewLimits(tiny).At(wire.AtIntake, port.Request{Tokens: 1}, port.Verdict{})
	NewWithT(t).Expect(got.Refused && got.TruncateTo == 0).To(BeTrue())
}
