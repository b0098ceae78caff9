// Package schedules runs seeded schedules of small clusters, with faults and with clients that give up, and says what
// each must come to: the same again, byte for byte; with every guard on, no answer that is not its prompt's; nobody
// stuck; every page accounted for.
package schedules

import (
	"fmt"
	"path/filepath"

	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/explore"
	"github.com/stalepage/stalepage/suites/harness"
)

// Schedule is what one seed came to, without guards and with all of them.
type Schedule struct {
	Seed uint64
	// Lossy: a completion or an acknowledgement is lost for good, so pages may be held or given up.
	Lossy         bool
	Bare, Guarded explore.Result
	// BareAgain and GuardedAgain are their replays, from nothing but the recorded case.
	BareAgain, GuardedAgain explore.Result
}

// Case draws the seed's case: one of the explorer's scenarios, and any shape of traffic.
func Case(seed uint64, guards guard.Set) (harness.Case, explore.Scenario, error) {
	list := explore.Scenarios()
	s := list[explore.Die{Seed: seed}.Below("scenario", len(list))]
	c, err := explore.Draw(seed, explore.Choice{Scenario: s, Guards: guards, Shapes: true})
	c.Command = Command(seed)
	return c, s, err
}

// Command is the command line that runs this seed alone.
func Command(seed uint64) string { return fmt.Sprintf("make schedules SEED=%d COUNT=1", seed) }

// Run makes the seed's four runs.
func Run(x *explore.Explorer, seed uint64) (Schedule, error) {
	out := Schedule{Seed: seed}
	for _, side := range []struct {
		guards       guard.Set
		first, again *explore.Result
	}{{guard.None, &out.Bare, &out.BareAgain}, {guard.All, &out.Guarded, &out.GuardedAgain}} {
		c, scenario, err := Case(seed, side.guards)
		if err != nil {
			return out, err
		}
		out.Lossy = scenario.Lossy
		if *side.first, err = x.Run(c); err != nil {
			return out, err
		}
		if *side.again, err = x.Replay(side.first.Case); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Problem is what is wrong with a run of a schedule.
type Problem struct {
	Result explore.Result
	What   string
}

// Problems says in which of its runs the schedule did not come to what it must; none is a good schedule.
func (s Schedule) Problems() (list []Problem) {
	wrong := func(r explore.Result, format string, arguments ...any) {
		list = append(list, Problem{Result: r, What: fmt.Sprintf(format, arguments...)})
	}
	for _, pair := range []struct{ first, again explore.Result }{{s.Bare, s.BareAgain}, {s.Guarded, s.GuardedAgain}} {
		if pair.first.Hash != pair.again.Hash {
			wrong(pair.first, "its replay differs: %s", &pair.again)
		}
		if pair.first.Stuck {
			wrong(pair.first, "it did not come to rest in %d steps", pair.first.Steps)
		}
	}
	if s.Guarded.Bad() {
		wrong(s.Guarded, "with every guard on, the worst answer is %s", s.Guarded.Worst())
	}
	if !s.Guarded.Quiet {
		wrong(s.Guarded, "with every guard on, something is still held at the end")
	}
	if s.Guarded.PagesQuarantined > 0 && !s.Lossy {
		wrong(s.Guarded, "%d pages were given up though nothing was lost", s.Guarded.PagesQuarantined)
	}
	return list
}

// Keep makes the problem's run once more and writes its journal into a folder.
func (p Problem) Keep(kit *harness.Kit, folder string) (path string, err error) {
	name := fmt.Sprintf("schedule-%d-%s%s", p.Result.Case.Seed, p.Result.Case.Cluster.Models[0].Guards, journal.Extension)
	path = filepath.Join(folder, name)
	result, err := kit.Run(p.Result.Case, harness.Options{Journal: path})
	if err == nil {
		err = result.JournalError
	}
	return path, err
}

// String says the problem, and how to see it again.
func (p Problem) String() string {
	return fmt.Sprintf("seed %d: %s\n  %s\n  again: %s", p.Result.Case.Seed, p.What, &p.Result, p.Result.Case.Command)
}
