package explore

import (
	"encoding/json"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/suites/harness"
)

// Every scenario has a name of its own, and every fault of the catalogue a scenario.
func TestScenarios(t *testing.T) {
	g := NewWithT(t)
	names, broken := map[string]bool{}, map[string]bool{}
	for _, s := range Scenarios() {
		g.Expect(names[s.Name]).To(BeFalse(), s.Name)
		names[s.Name], broken[s.FaultName()] = true, true
	}
	for _, name := range faults.Names() {
		g.Expect(broken[name]).To(BeTrue(), "no scenario for fault %s", name)
	}
}

// A drawn case depends on its seed and choice alone, can be run, fills decode's pool with a stranger's text first, and
// leaves nothing out of its journal's header.
func TestDraw(t *testing.T) {
	g := NewWithT(t)
	for _, s := range Scenarios() {
		for seed := range uint64(30) {
			choice := Choice{Scenario: s, Guards: guard.All, Shapes: seed%2 == 0}
			c, err := Draw(seed, choice)
			g.Expect(err).NotTo(HaveOccurred(), s.Name)
			again, err := Draw(seed, choice)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again).To(Equal(c))
			header, err := c.Header()
			g.Expect(err).NotTo(HaveOccurred())
			back, err := harness.CaseOf(header)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(back).To(Equal(c))

			m, pages := c.Cluster.Models[0], 0
			for _, r := range c.Schedule.Trace.Requests {
				if r.Phase == 0 {
					g.Expect(r.Tenant).To(Equal(warmTenant))
					pages += (r.PromptTokens + r.MaxNewTokens + m.Decode.PageSize - 1) / m.Decode.PageSize
				} else {
					g.Expect(r.Tenant).NotTo(Equal(warmTenant))
				}
			}
			g.Expect(pages).To(Equal(m.Decode.PoolPages() - 1))
		}
	}
}

// The victim of a scenario about refusals is refused by prefill alone, and that of one about endings gives up.
func TestVictims(t *testing.T) {
	g := NewWithT(t)
	for _, s := range Scenarios() {
		if s.Fault == nil {
			continue
		}
		c, err := Draw(3, Choice{Scenario: s})
		g.Expect(err).NotTo(HaveOccurred())
		var plan struct{ Faults []struct{ Request *int } }
		g.Expect(json.Unmarshal(c.Plan, &plan)).To(Succeed())
		victim := c.Schedule.Trace.Requests[*plan.Faults[0].Request]
		m := c.Cluster.Models[0]
		if s.Oversized {
			g.Expect(victim.PromptTokens).To(And(BeNumerically(">=", m.Prefill.MaxInputTokens()),
				BeNumerically("<", m.Decode.MaxInputTokens())), s.Name)
		}
		if len(s.Abort) > 0 {
			g.Expect(victim.AbortAt).NotTo(BeEmpty(), s.Name)
		}
	}
}

// A run is recorded so that its case alone makes it again, event for event, and another seed gives another run.
func TestReplay(t *testing.T) {
	g := NewWithT(t)
	x := NewExplorer(harness.NewKit())
	x.Hash = true
	seen := map[[32]byte]bool{}
	for seed := range uint64(10) {
		r, err := x.Draw(seed, Choice{Scenario: Scenarios()[1]})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(seen[r.Hash]).To(BeFalse())
		seen[r.Hash] = true
		again, err := x.Replay(r.Case)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again).To(Equal(r))
	}
}

// A used explorer, with all the memory that former runs have grown, makes the run that a new one makes.
func TestReuse(t *testing.T) {
	g := NewWithT(t)
	kit := harness.NewKit()
	used := NewExplorer(kit)
	used.Hash = true
	for seed, s := range Scenarios() {
		choice := Choice{Scenario: s, Guards: guard.All &^ guard.Set(seed), Shapes: true}
		fresh := NewExplorer(kit)
		fresh.Hash = true
		want, err := fresh.Draw(uint64(seed), choice)
		g.Expect(err).NotTo(HaveOccurred())
		got, err := used.Draw(uint64(seed), choice)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want), s.Name)
	}
}

// Results come in the order of the seeds, whoever computed them, and an error is the first by seed.
func TestMany(t *testing.T) {
	g := NewWithT(t)
	for workers := range 4 {
		var seen []uint64
		g.Expect(Many((*harness.Kit)(nil), 5, 100, workers, func(_ *Explorer, seed uint64) (uint64, error) { return seed, nil },
			func(seed uint64) { seen = append(seen, seed) })).To(Succeed())
		g.Expect(seen).To(HaveLen(100))
		for i, seed := range seen {
			g.Expect(seed).To(Equal(uint64(5 + i)))
		}
	}
	third, seventh := errors.New("third"), errors.New("seventh")
	err := Many((*harness.Kit)(nil), 0, 10, 3, func(_ *Explorer, seed uint64) (int, error) {
		switch seed {
		case 3:
			return 0, third
		case 7:
			return 0, seventh
		}
		return 0, nil
	}, func(int) {})
	g.Expect(err).To(MatchError(third))
}

// A leak is shrunk to fewer requests and fewer deviations and is a leak still; the search keeps its bound.
func TestShrink(t *testing.T) {
	g := NewWithT(t)
	x := NewExplorer(harness.NewKit())
	leaks := func(r *Result) bool { return r.Outcomes[check.Leak] > 0 }
	for seed := range uint64(200) {
		r, err := x.Draw(seed, Choice{Scenario: scenarioNamed("late write")})
		g.Expect(err).NotTo(HaveOccurred())
		if !leaks(&r) {
			continue
		}
		s, err := x.Shrink(r.Case, 600, leaks)
		g.Expect(err).NotTo(HaveOccurred())
		t.Log(s)
		before := r.Case.Schedule
		g.Expect(leaks(&s.Result)).To(BeTrue())
		g.Expect(s.Runs).To(BeNumerically("<=", 600))
		g.Expect(s.Requests).To(BeNumerically("<", len(before.Trace.Requests)))

		g.Expect(len(s.Result.Case.Schedule.Deviations)).To(BeNumerically("<", len(before.Deviations)/2))
		again, err := x.Replay(s.Result.Case)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again).To(Equal(s.Result))

		bounded, err := x.Shrink(r.Case, 5, leaks)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(bounded.Runs).To(Equal(5))
		g.Expect(bounded.Complete).To(BeFalse())
		g.Expect(r.Case.Schedule).To(Equal(before), "the case given is left as it was")
		_, err = x.Shrink(r.Case, 5, func(*Result) bool { return false })
		g.Expect(err).To(MatchError(ContainSubstring("does not come to what is to be kept")))
		return
	}
	t.Fatal("no seed of 200 leaks: nothing was shrunk")
}

func scenarioNamed(name string) Scenario {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s
		}
	}
	panic(name)
}
