package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/wire"
)

// It proves the whole transition table: every pair not listed is an error.
func TestLifecycleRefusesIllegalTransitions(t *testing.T) {
	g := NewWithT(t)
	legal := map[[2]State]bool{
		{Planned, Armed}: true, {Armed, Fired}: true, {Fired, Fired}: true, {Armed, Recovered}: true,
		{Fired, Recovered}: true,
	}
	for from := Planned; from <= Recovered; from++ {
		for to := Planned; to <= Recovered; to++ {
			if err := from.next(to); legal[[2]State{from, to}] {
				g.Expect(err).NotTo(HaveOccurred(), "%s to %s", from, to)
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(from.String()+" to "+to.String())), "%s to %s", from, to)
			}
		}
	}
}

// It proves that a fault that misbehaves is found out: firing unarmed, or without a difference, spoils the run.
func TestAMisbehavingFaultIsAnError(t *testing.T) {
	for name, act := range map[string]func(*instance){
		"fired before it was armed": func(i *instance) { i.fire(prefill, 1, "a", "b") },
		"fired without a change":    func(i *instance) { i.arm("start"); i.fire(prefill, 1, "a", "a") },
		"fired after it recovered": func(i *instance) {
			i.arm("start")
			i.recovered("count")
			i.fire(prefill, 1, "a", "b")
		},
		"armed twice": func(i *instance) { i.arm("start"); i.arm("start") },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			j, err := New(Plan{Faults: []Spec{{Fault: &LateWrite{}}}},
				func(int) (wire.Room, bool) { return 0, false }, discard)
			g.Expect(err).NotTo(HaveOccurred())
			act(j.instances[0])
			g.Expect(j.Err()).To(MatchError(ContainSubstring("late-write")))
			g.Expect(j.Fired()).To(BeZero())
		})
	}
}
