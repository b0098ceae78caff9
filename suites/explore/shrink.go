package explore

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/suites/harness"
)

// Shrunk is what is left of a case, and what it came to.
type Shrunk struct {
	Result Result
	// Runs is how many runs it took; Complete says that the bound on them did not end the search.
	Runs     int
	Complete bool
	// Requests counts those that are still sent.
	Requests int
}

// String says what is left.
func (s Shrunk) String() string {
	return fmt.Sprintf("%d requests, %d deviations, after %d runs: %s", s.Requests,
		len(s.Result.Case.Schedule.Deviations), s.Runs, &s.Result)
}

// Shrink makes a case smaller while keep says that what came of it is still the same. It tries, in this order and again
// until nothing more goes: to drop deviations, by halves down to single ones (they name steps, so the fewer there are, the
// less it matters that leaving out a request moves them), to leave out requests, and to keep clients from giving up. At
// most runsMax runs are made.
func (x *Explorer) Shrink(c harness.Case, runsMax int, keep func(*Result) bool) (Shrunk, error) {
	first, err := x.Replay(c)
	if err != nil {
		return Shrunk{}, err
	}
	s := &shrinking{explorer: x, best: first, keep: keep, left: runsMax - 1, runs: 1}
	if !keep(&first) {
		return Shrunk{}, fmt.Errorf("%s, seed %d: the case does not come to what is to be kept", c.Variant, c.Seed)
	}
	for changed := true; changed && s.left > 0; {
		changed = s.deviations()
		changed = s.requests() || changed
	}
	schedule := s.best.Case.Schedule
	return Shrunk{
		Result: s.best, Runs: s.runs, Complete: s.left > 0, Requests: len(schedule.Trace.Requests) - len(schedule.Omit),
	}, nil
}

// shrinking is a search: the smallest case so far.
type shrinking struct {
	explorer   *Explorer
	best       Result
	keep       func(*Result) bool
	left, runs int
}

// try makes a smaller case the best if what is to be kept still comes of it. A case that cannot be run is no smaller one.
func (s *shrinking) try(c harness.Case) bool {
	return s.judge(func() (Result, error) { return s.explorer.Replay(c) })
}

// retry is try with other schedules: a race that another request kept in step is seldom met with the old one.
func (s *shrinking) retry(c harness.Case) bool {
	for n := range retries {
		if s.judge(func() (Result, error) { return s.explorer.run(c, c.Seed+uint64(n)) }) {
			return true
		}
	}
	return false
}

// retries is how many schedules are tried when a request is left out.
const retries = 12

func (s *shrinking) judge(run func() (Result, error)) bool {
	if s.left <= 0 {
		return false
	}
	s.left--
	s.runs++
	r, err := run()
	if err != nil || !s.keep(&r) {
		return false
	}
	s.best = r
	return true
}

func (s *shrinking) requests() (changed bool) {
	for i := range s.best.Case.Schedule.Trace.Requests {
		switch c := s.best.Case; {
		case slices.Contains(c.Schedule.Omit, i):
		case s.try(without(c, i)), s.retry(without(c, i)), c.Schedule.Trace.Requests[i].AbortAt != "" && s.try(patient(c, i)):
			changed = true
		}
	}
	return changed
}

// deviations drops ever smaller stretches of them.
func (s *shrinking) deviations() (changed bool) {
	for size := len(s.best.Case.Schedule.Deviations); size > 0; size /= 2 {
		for start := 0; start < len(s.best.Case.Schedule.Deviations); {
			c := s.best.Case
			end := min(start+size, len(c.Schedule.Deviations))
			c.Schedule.Deviations = slices.Delete(slices.Clone(c.Schedule.Deviations), start, end)
			if s.try(c) {
				changed = true
			} else {
				start = end
			}
		}
	}
	return changed
}

// without is the case with the request of that index not sent.
func without(c harness.Case, request int) harness.Case {
	c.Schedule.Omit = append(slices.Clone(c.Schedule.Omit), request)
	slices.Sort(c.Schedule.Omit)
	return c
}

// patient is the case with a client that waits in place of the i-th.
func patient(c harness.Case, i int) harness.Case {
	c.Schedule.Trace.Requests = slices.Clone(c.Schedule.Trace.Requests)
	c.Schedule.Trace.Requests[i].AbortAt, c.Schedule.Trace.Requests[i].AbortCount = "", 0
	return c
}
