package matrix

import (
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/suites/explore"
	"github.com/stalepage/stalepage/suites/harness"
)

// Cell is what came of one row under one guard set.
type Cell struct {
	// Runs counts the schedules. The counts from Leak to Ownership are of runs in which it happened at least once.
	Runs int
	// Leak, Stale and Garbage are bad answers by kind; Bad is any of them.
	Leak, Stale, Garbage, Bad int
	// Fired: the fault acted in its window.
	Fired int
	// Held: a worker did not give everything back. Quarantined: it gave some pages up for good, as it says.
	Held, Quarantined, Stuck int
	// Coverage and Ownership are runs in which that check failed.
	Coverage, Ownership int
	// Outcomes counts requests, over all runs.
	Outcomes [check.Outcomes]int
}

// Matrix is the table, computed.
type Matrix struct {
	Rows    []Row
	Columns []guard.Set
	// Cells has one list a row, one cell a column.
	Cells [][]Cell
}

// Compute makes so many runs for each cell, with the seeds 1 to runs in every one, on so many goroutines. The result
// depends on neither.
func Compute(kit *harness.Kit, rows []Row, columns []guard.Set, runs, workers int) (Matrix, error) {
	m := Matrix{Rows: rows, Columns: columns, Cells: make([][]Cell, len(rows))}
	scenarios := make([]explore.Scenario, len(rows))
	for i, r := range rows {
		s, err := r.scenario()
		if err != nil {
			return Matrix{}, err
		}
		scenarios[i], m.Cells[i] = s, make([]Cell, len(columns))
	}
	next := 0
	err := explore.Many(kit, 0, len(rows)*len(columns)*runs, workers,
		func(x *explore.Explorer, number uint64) (explore.Result, error) {
			cell, seed := int(number)/runs, 1+number%uint64(runs)
			return x.Draw(seed, explore.Choice{
				Scenario: scenarios[cell/len(columns)], Guards: columns[cell%len(columns)],
			})
		},
		func(r explore.Result) {
			cell := next / runs
			next++
			m.Cells[cell/len(columns)][cell%len(columns)].add(&r)
		})
	return m, err
}

func (c *Cell) add(r *explore.Result) {
	c.Runs++
	count := func(n *int, happened bool) {
		if happened {
			*n++
		}
	}
	count(&c.Leak, r.Outcomes[check.Leak] > 0)
	count(&c.Stale, r.Outcomes[check.Stale] > 0)
	count(&c.Garbage, r.Outcomes[check.Garbage] > 0)
	count(&c.Bad, r.Bad())
	count(&c.Fired, r.Fired)
	count(&c.Held, !r.Quiet)
	count(&c.Quarantined, r.PagesQuarantined > 0)
	count(&c.Stuck, r.Stuck)
	for _, broken := range r.Broken {
		count(&c.Coverage, broken == "coverage")
		count(&c.Ownership, broken == "ownership")
	}
	for o, n := range r.Outcomes {
		c.Outcomes[o] += n
	}
}

// Cell finds the cell of a row and a column by their names; false if the table has no such cell.
func (m Matrix) Cell(scenario string, guards guard.Set) (Cell, bool) {
	for i, r := range m.Rows {
		for j, set := range m.Columns {
			if r.Scenario == scenario && set == guards {
				return m.Cells[i][j], true
			}
		}
	}
	return Cell{}, false
}

// Shows reports whether the oracle is red in the cell. Control is the cell of a run without a fault under the same guards:
// a client that gives up leaves some writes behind in any run.
func (c Cell) Shows(o Oracle, control Cell) bool {
	switch o {
	case Answers:
		return c.Bad > 0
	case Rejections:
		return c.Outcomes[check.Rejected] > control.Outcomes[check.Rejected]
	case Timeouts:
		return c.Outcomes[check.TimedOut] > control.Outcomes[check.TimedOut]
	case Failures:
		return c.Outcomes[check.Failed] > control.Outcomes[check.Failed]+noise
	case HeldPages:
		return c.Held > 0
	case GivenUp:
		return c.Quarantined > 0
	case Coverage:
		return c.Coverage > control.Coverage+noise
	case Ownership:
		return c.Ownership > 2*control.Ownership+noise
	case Delay, Nothing:
	}
	return false
}

// noise is how many runs may differ by nothing but what another order of steps brings about: a client that gives up at
// another moment.
const noise = 5

// Safe reports whether every client got what is its own or a plain refusal, everybody came to rest, and every page is
// accounted for.
func (c Cell) Safe() bool {
	return c.Bad == 0 && c.Held == 0 && c.Stuck == 0 && c.Outcomes[check.Lost] == 0
}
