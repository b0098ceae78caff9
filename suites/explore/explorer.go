package explore

import (
	"fmt"
	"strings"

	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/harness"
)

// DeviationPeriod: one step in so many does not simply take the next thing that can move. With every step random,
// nothing waits long for anything, and the races that need a long delay are met less often, not more.
const DeviationPeriod = 8

// Result is what one run came to.
type Result struct {
	// Case makes the run again: its schedule holds the deviations that were drawn.
	Case harness.Case
	// Outcomes counts the requests by outcome.
	Outcomes [check.Outcomes]int
	Verdict  check.Verdict
	// Broken lists the checks that failed, Unknown those that could not judge.
	Broken, Unknown []string
	// Fired says that the fault acted, and not only because nothing else could move any more.
	Fired bool
	// Stuck says that the run did not come to rest; Quiet that no worker held anything at its end.
	Stuck, Quiet     bool
	PagesQuarantined int
	Steps, Events    int
	// Hash is that of the journal's events, as they are spelled there; only where it was asked for.
	Hash [32]byte
}

// Bad reports whether some client was answered, and not with what its prompt has.
func (r *Result) Bad() bool { return r.Worst().Bad() }

// Worst is the worst outcome of any request.
func (r *Result) Worst() check.Outcome { return check.WorstOf(r.Outcomes) }

// String says it in one line.
func (r *Result) String() string {
	var words []string
	for o, n := range r.Outcomes {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, check.Outcome(o)))
		}
	}
	text := fmt.Sprintf("%s, seed %d: %s; %s", r.Case.Variant, r.Case.Seed, strings.Join(words, ", "), r.Verdict)
	if len(r.Broken) > 0 {
		text += " (" + strings.Join(r.Broken, ", ") + ")"
	}
	if r.Stuck {
		text += fmt.Sprintf("; stuck after %d steps", r.Steps)
	}
	return text
}

// Explorer makes runs one after another and reuses its memory. It serves one goroutine.
type Explorer struct {
	session *harness.Session
	memory  journal.Memory
	// Hash asks for the hash of each run's journal.
	Hash bool

	seed       uint64
	deviations []harness.Deviation
}

// NewExplorer returns an explorer over a kit.
func NewExplorer(kit *harness.Kit) *Explorer { return &Explorer{session: harness.NewSession(kit)} }

// Run makes the case's run with a random schedule in place of its own, and records it in the result's case.
func (x *Explorer) Run(c harness.Case) (Result, error) { return x.run(c, c.Seed) }

// run draws the schedule from a seed of its own.
func (x *Explorer) run(c harness.Case, seed uint64) (Result, error) {
	x.seed, x.deviations = seed, x.deviations[:0]
	result, err := x.make(c, harness.Options{Deviates: x.deviates, Choose: x.choose})
	result.Case.Schedule.Deviations = append([]harness.Deviation(nil), x.deviations...)
	return result, err
}

// Replay makes the case's run with the schedule that it holds.
func (x *Explorer) Replay(c harness.Case) (Result, error) { return x.make(c, harness.Options{}) }

// deviates draws whether this step is one of the few.
func (x *Explorer) deviates(step int) bool {
	return traffic.DrawBelow(x.seed, "deviates", 0, step, DeviationPeriod) == 0
}

// choose draws one of the enabled steps and records it, the first included: how much is polled at a step is part of
// the run.
func (x *Explorer) choose(step, total int) int {
	choice := traffic.DrawBelow(x.seed, "choice", 0, step, total)
	x.deviations = append(x.deviations, harness.Deviation{Step: step, Choice: choice})
	return choice
}

func (x *Explorer) make(c harness.Case, o harness.Options) (Result, error) {
	if x.Hash {
		x.memory.Reset()
		o.Sinks = append(o.Sinks, x.memory.Record)
	}
	made, err := x.session.Run(c, o)
	if err != nil {
		return Result{Case: c}, fmt.Errorf("%s, seed %d: %w", c.Variant, c.Seed, err)
	}
	r := Result{
		Case: c, Outcomes: made.Report.Outcomes, Verdict: made.Report.Verdict, Fired: fired(made.Faults),
		Stuck: made.Rest.Stuck, PagesQuarantined: made.Report.PagesQuarantined, Steps: made.Rest.Steps,
		Events: made.Report.Events,
	}
	for _, result := range made.Report.Results {
		switch result.Verdict {
		case check.Fail:
			r.Broken = append(r.Broken, result.Check)
		case check.Unknown:
			r.Unknown = append(r.Unknown, result.Check)
		case check.Pass:
		}
		if result.Check == "quiesce" {
			r.Quiet = result.Verdict == check.Pass
		}
	}
	if x.Hash {
		r.Hash = x.memory.Hash()
	}
	return r, nil
}

// fired says that the plan's first fault acted in its window.
func fired(list []faults.FaultStatus) bool {
	return len(list) > 0 && list[0].Fired > 0 && list[0].ReleasedBy != faults.ReasonIdle
}

// Draw draws the seed's case and makes its run.
func (x *Explorer) Draw(seed uint64, choice Choice) (Result, error) {
	c, err := Draw(seed, choice)
	if err != nil {
		return Result{}, err
	}
	return x.Run(c)
}
