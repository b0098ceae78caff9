package matrix_test

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/suites/explore"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/matrix"
)

// The scenarios that the facts below name, as the table names them.
const (
	healthy        = "none, equal pools"
	incident       = "none, unequal pools (the incident)"
	droppedIntake  = "refusal dropped at intake"
	droppedWaiting = "refusal dropped at waiting"
	droppedQueue   = "refusal dropped at bootstrap"
	lostRefusal    = "refusal lost at the hand-off"
	lostPeer       = "registration of prefill lost"
	cutKept        = "truncated, claims what it kept"
	cutOwed        = "truncated, claims what it owed"
	cutStamped     = "truncated, claims what it owed, stamps whole"
	overwritten    = "page overwritten before commit"
	staleRoom      = "stale slot, new room"
	staleLength    = "stale slot, new room and length"
	early          = "completion early"
	lostDone       = "completion lost"
	lateWrite      = "late write"
	drainedLie     = "late write, drain falsely confirmed"
	shrunken       = "prefill pool shrunken"
)

func cell(scenario string, guards guard.Set) matrix.Cell {
	GinkgoHelper()
	c, ok := computed().Cell(scenario, guards)
	Expect(ok).To(BeTrue(), "the table has no cell %q under %q", scenario, guards)
	return c
}

// effect is what a guard set does to the bad answers of a scenario.
type effect string

const (
	stops     effect = "stops it"
	misses    effect = "misses it: about as many bad answers as without any guard"
	toGarbage effect = "turns leaks into garbage"
	lessens   effect = "lessens it, and bad answers remain"
)

var _ = Describe("A table", func() {
	It("without a row for a fault is not run", func() {
		rows := matrix.Table()
		for i, left := range rows {
			short := append(append([]matrix.Row{}, rows[:i]...), rows[i+1:]...)
			Expect(matrix.Complete(short)).To(MatchError(ContainSubstring(left.Scenario)))
		}
		var others []matrix.Row
		for _, r := range rows {
			if r.Scenario != early {
				others = append(others, r)
			}
		}
		Expect(matrix.Complete(others)).To(MatchError(ContainSubstring(`fault "early-completion" has no row`)))
		Expect(matrix.Complete(append(rows, matrix.Row{Scenario: "unheard of"}))).To(MatchError(ContainSubstring("unheard of")))
		Expect(matrix.Complete(rows)).To(Succeed())
	})

	It("does not depend on how many goroutines compute it", func() {
		rows, columns := matrix.Table()[:3], matrix.Columns()[:2]
		one, err := matrix.Compute(harness.NewKit(), rows, columns, 5, 1)
		Expect(err).NotTo(HaveOccurred())
		three, err := matrix.Compute(harness.NewKit(), rows, columns, 5, 3)
		Expect(err).NotTo(HaveOccurred())
		Expect(three).To(Equal(one))
	})
})

var _ = Describe("The table of faults and guards", func() {
	BeforeEach(func() {
		if testing.Short() {
			Skip("the table takes half a minute of one core; run without -short")
		}
	})

	It("is as recorded", func() {
		golden, err := os.ReadFile(goldenPath)
		Expect(err).NotTo(HaveOccurred())
		Expect(computed().Golden()).To(Equal(string(golden)), "if this is meant, run `make matrix` and review the difference")
	})

	It("is quiet where nothing is broken and no limit is unequal, whatever the guards", func() {
		for _, guards := range matrix.Columns() {
			c := cell(healthy, guards)
			Expect(c.Safe()).To(BeTrue(), "%s: %s", guards, c)
			Expect(c.Outcomes[check.TimedOut]+c.Outcomes[check.Rejected]).To(BeZero(), "%s: %s", guards, c)
		}
	})

	DescribeTable("has a red undefended cell and a quiet defended one", func(r matrix.Row) {
		undefended := cell(r.Scenario, r.Undefended)
		if r.Scenario != healthy && r.Scenario != incident {
			Expect(undefended.Fired).To(BeNumerically(">", undefended.Runs/4), "the fault hardly fires: %s", undefended)
		}
		if r.Red != matrix.Nothing && r.Red != matrix.Delay {
			Expect(undefended.Shows(r.Red, cell(healthy, r.Undefended))).To(BeTrue(), "not red by %s: %s", r.Red, undefended)
		}
		defended := cell(r.Scenario, r.Defended)
		Expect(defended.Safe()).To(BeTrue(), "%s", defended)
	}, func() (entries []TableEntry) {
		for _, r := range matrix.Table() {
			entries = append(entries, Entry(r.Scenario, r))
		}
		return entries
	}())

	DescribeTable("shows what a guard does to the answers", func(scenario string, guards guard.Set, want effect) {
		bare, c := cell(scenario, guard.None), cell(scenario, guards)
		Expect(bare.Bad).To(BeNumerically(">", 3), "without guards: %s", bare)
		switch want {
		case stops:
			Expect(c.Bad).To(BeZero(), "%s", c)
		case misses:
			Expect(c.Bad).To(BeNumerically(">=", bare.Bad*2/3), "%s", c)
			Expect(c.Leak).To(BeNumerically(">=", bare.Leak*2/3), "%s", c)
		case toGarbage:
			Expect(c.Leak+c.Stale).To(BeZero(), "%s", c)
			Expect(c.Garbage).To(BeNumerically(">=", bare.Bad*2/3), "%s", c)
		case lessens:
			Expect(c.Bad).To(And(BeNumerically(">", 0), BeNumerically("<", bare.Bad)), "%s", c)
		}
	},
		Entry("the edge stops the incident", incident, guard.EdgeRefusal, stops),
		Entry("limits that travel stop it", incident, guard.LimitExchange, stops),
		Entry("refusing at the door stops it", incident, guard.DoorRefusal, stops),
		Entry("a refusal honoured later stops it", incident, guard.HonourRefusal, stops),
		Entry("telling the peer alone does not: nobody acted on the refusal", incident, guard.TellPeer, misses),
		Entry("the sender's own check stops it", incident, guard.SenderCheck, stops),
		Entry("a claimed length stops it", incident, guard.ClaimedLength, stops),
		Entry("coverage stops it", incident, guard.Coverage, stops),
		Entry("stamps stop it", incident, guard.PageStamp, stops),
		Entry("scrubbing hides whose text it was", incident, guard.Scrub, toGarbage),
		Entry("deferring releases has nothing to do with it", incident, guard.DeferredRelease, misses),
		Entry("nor have address generations", incident, guard.AddressGeneration, misses),

		Entry("a refusal lost at intake passes the door", droppedIntake, guard.DoorRefusal, misses),
		Entry("and every later queue", droppedIntake, guard.HonourRefusal, misses),
		Entry("and is not told to the peer", droppedIntake, guard.DoorRefusal|guard.TellPeer, misses),
		Entry("the sender's check does not need the refusal", droppedIntake, guard.SenderCheck, stops),
		Entry("one lost behind the door was acted on before", droppedQueue, guard.DoorRefusal, stops),
		Entry("one lost in the first queue passes the others", droppedQueue, guard.HonourRefusal, misses),
		Entry("one lost in the second does not", droppedWaiting, guard.HonourRefusal, stops),

		Entry("a claimed length stops a short claim", cutKept, guard.ClaimedLength, stops),
		Entry("and believes a false one", cutOwed, guard.ClaimedLength, misses),
		Entry("the sender's check looks at its prompt, not at what moved", cutKept, guard.SenderCheck, misses),
		Entry("stamps stop what they were not written with", cutOwed, guard.PageStamp, stops),
		Entry("and believe themselves", cutStamped, guard.PageStamp, misses),
		Entry("coverage reads the bytes", cutStamped, guard.Coverage, stops),
		Entry("scrubbing hides whose they were", cutStamped, guard.Scrub, toGarbage),
		Entry("all guards but coverage are not enough", cutStamped, guard.All&^guard.Coverage, toGarbage),
		Entry("coverage sees what was overwritten before commit", overwritten, guard.Coverage, stops),
		Entry("stamps do not", overwritten, guard.PageStamp, misses),
		Entry("coverage stops an early completion", early, guard.Coverage, stops),
		Entry("a claimed length believes it", early, guard.ClaimedLength, misses),

		Entry("a claimed length notices a record that kept its room alone", staleRoom, guard.ClaimedLength, stops),
		Entry("and not one that has its length too", staleLength, guard.ClaimedLength, misses),
		Entry("coverage reads the record", staleLength, guard.Coverage, stops),

		Entry("coverage sees nothing after commit", lateWrite, guard.Coverage, lessens),
		Entry("deferred release waits for a truthful transport", lateWrite, guard.DeferredRelease, stops),
		Entry("a revoked address takes no write", lateWrite, guard.AddressGeneration, stops),
		Entry("deferred release believes a transport that lies", drainedLie, guard.DeferredRelease, lessens),
		Entry("a revoked address needs nobody's word", drainedLie, guard.AddressGeneration, stops),
		Entry("everything but address generations is not enough", drainedLie, guard.All&^guard.AddressGeneration, lessens),
		Entry("with them it is", drainedLie, guard.All, stops),
	)

	DescribeTable("shows what a guard does to those who are not answered",
		func(scenario string, guards guard.Set, oracle matrix.Oracle, red bool) {
			c := cell(scenario, guards)
			Expect(c.Shows(oracle, cell(healthy, guards))).To(Equal(red), "%s", c)
		},
		Entry("refused at the door, and decode waits for its deadline", incident, guard.DoorRefusal, matrix.Timeouts, true),
		Entry("told, it does not", incident, guard.DoorRefusal|guard.TellPeer, matrix.Timeouts, false),
		Entry("unless the message is lost", lostRefusal, guard.DoorRefusal|guard.TellPeer, matrix.Timeouts, true),
		Entry("a peer that never introduced itself is not served with", lostPeer, guard.LimitExchange, matrix.Timeouts, true),
		Entry("the edge needs no introduction", lostPeer, guard.EdgeRefusal, matrix.Timeouts, false),
		Entry("a pool too small for a prompt: decode hears of it", shrunken, guard.TellPeer, matrix.Timeouts, false),
		Entry("or waits", shrunken, guard.None, matrix.Timeouts, true),
		Entry("a lost completion holds pages for ever", lostDone, guard.None, matrix.HeldPages, true),
		Entry("or they are given up, and counted", lostDone, guard.DeferredRelease, matrix.HeldPages, false),
		Entry("a late operation writes to a page given away", "late operation", guard.None, matrix.Ownership, true),
		Entry("address generations guard transfers alone", "late operation", guard.AddressGeneration, matrix.Ownership, true),
		Entry("deferred release waits for the device too", "late operation", guard.DeferredRelease, matrix.Ownership, false),
		Entry("an abort that is late is a write that is late", "abort held", guard.DeferredRelease, matrix.Ownership, false),
		Entry("swapped pages are committed", "pages swapped", guard.None, matrix.Coverage, true),
		Entry("their stamps did not move", "pages swapped", guard.PageStamp, matrix.Coverage, true),
		Entry("or did, and tell", "pages swapped, stamps too", guard.PageStamp, matrix.Coverage, false),
		Entry("coverage tells both ways", "pages swapped", guard.Coverage, matrix.Coverage, false),
	)

	It("tells every two guards apart by some cell", func() {
		singles := guard.All.Each()
		for i, a := range singles {
			for _, b := range singles[:i] {
				Expect(signature(a)).NotTo(Equal(signature(b)), "%s and %s look alike in every row", a, b)
			}
			Expect(signature(a)).NotTo(Equal(signature(guard.None)), "%s does nothing in any row", a)
		}
	})

	DescribeTable("a fault aimed at nobody leaves everything as it was, and says that it did not fire",
		func(r matrix.Row) {
			s := scenario(r)
			x := explore.NewExplorer(harness.NewKit())
			for seed := range uint64(4) {
				control, err := x.Draw(seed, explore.Choice{Scenario: s, Unarmed: true})
				Expect(err).NotTo(HaveOccurred())
				missed, err := x.Draw(seed, explore.Choice{Scenario: s, MisAimed: true})
				Expect(err).NotTo(HaveOccurred())
				Expect(missed.Fired).To(BeFalse())
				Expect(missed.Outcomes).To(Equal(control.Outcomes))
				Expect(missed.Broken).To(Equal(control.Broken))
				Expect(missed.Unknown).To(ContainElement("fault-fired"))
			}
		}, func() (entries []TableEntry) {
			for _, r := range matrix.Table() {
				if scenario(r).Fault != nil {
					entries = append(entries, Entry(r.Scenario, r))
				}
			}
			return entries
		}())
})

// signature is what a guard does, row by row, in yes and no: numbers differ by another order of steps alone.
func signature(guards guard.Set) (out []bool) {
	for _, r := range matrix.Table() {
		c, control := cell(r.Scenario, guards), cell(healthy, guards)
		out = append(out, c.Leak > 0, c.Quarantined > 0)
		for _, o := range []matrix.Oracle{
			matrix.Answers, matrix.Rejections, matrix.Timeouts, matrix.Failures, matrix.HeldPages, matrix.Coverage,
			matrix.Ownership,
		} {
			out = append(out, c.Shows(o, control))
		}
	}
	return out
}

func scenario(r matrix.Row) explore.Scenario {
	for _, s := range explore.Scenarios() {
		if s.Name == r.Scenario {
			return s
		}
	}
	return explore.Scenario{}
}
