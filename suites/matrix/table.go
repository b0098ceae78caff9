// Package matrix computes the table of faults and guards: what each guard stops, what it misses, and what it turns into
// something else, counted over random schedules.
//
//	table.go    the table as one literal: its rows, its columns, and what each row must show
//	compute.go  a cell: the same seeds for every one of them
//	render.go   the golden form and the page for readers
//
// A row's undefended cell must be red, or its row proves nothing about any guard; its defended cell must be quiet.
package matrix

import (
	"errors"
	"fmt"

	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/suites/explore"
)

// Row is one fault on one sort of traffic, named as the explorer's scenario.
type Row struct {
	Scenario string
	// Red is what shows the fault in its undefended cell.
	Red Oracle
	// Undefended is the column of that cell: no guard, but for faults of a guard's own messages.
	Undefended guard.Set
	// Defended is the column whose cell must be quiet: all guards, or all but those that keep the fault from ever acting.
	Defended guard.Set
}

// Oracle is what shows a fault.
type Oracle string

// The oracles. Where an answer is bad, nothing else need be; the others are for faults of availability, and for those
// that this model's answers do not depend on.
const (
	Answers    Oracle = "answers"     // a client got what is not its prompt's
	Rejections Oracle = "rejections"  // refused, though its worker has the room by its own limits
	Timeouts   Oracle = "timeouts"    // a deadline had to end it
	Failures   Oracle = "failures"    // answered with an error of the engine
	HeldPages  Oracle = "held pages"  // a worker never gives its pages back
	GivenUp    Oracle = "given up"    // a worker quarantines pages, for good and by its own word
	Coverage   Oracle = "coverage"    // what was committed is not what was sent
	Ownership  Oracle = "ownership"   // pages were written by who does not own them
	Delay      Oracle = "delay alone" // nothing but that somebody waited: a correct engine shows no more
	Nothing    Oracle = "nothing"     // a correct engine shows nothing at all
)

// Sets that recur: what refuses before a prefill worker is asked, and what makes it refuse and say so.
const (
	outside = guard.EdgeRefusal | guard.LimitExchange
	inside  = guard.All &^ outside
	telling = guard.DoorRefusal | guard.TellPeer
)

// Columns lists the guard sets, in the order of the table.
func Columns() []guard.Set {
	return append(append([]guard.Set{guard.None}, guard.All.Each()...),
		telling,
		guard.HonourRefusal|guard.TellPeer,
		guard.LimitExchange|guard.EdgeRefusal,
		inside,
		inside&^guard.DoorRefusal,
		guard.All&^(guard.Coverage|guard.PageStamp),
		guard.All&^guard.Coverage,
		guard.All&^guard.DeferredRelease,
		guard.All&^guard.AddressGeneration,
		guard.All,
	)
}

// Table lists the rows.
func Table() []Row {
	return []Row{
		{"none, equal pools", Nothing, guard.None, guard.All},
		{"none, unequal pools (the incident)", Answers, guard.None, guard.All},
		{"refusal dropped at intake", Answers, guard.None, inside},
		{"refusal dropped at bootstrap", Answers, guard.None, inside &^ guard.DoorRefusal},
		{"refusal dropped at waiting", Answers, guard.None, inside &^ guard.DoorRefusal},
		{"refusal dropped at forward", Answers, guard.None, inside &^ guard.DoorRefusal},
		{"refusal lost at the hand-off", Timeouts, telling, inside},
		{"registration of prefill lost", Answers, guard.None, guard.All},
		{"registration of decode lost", Failures, guard.None, guard.All},
		{"truncated, claims what it kept", Answers, guard.None, guard.All},
		{"truncated, claims what it owed", Answers, guard.None, guard.All},
		{"truncated, claims what it owed, stamps whole", Answers, guard.None, guard.All},
		{"pages swapped", Coverage, guard.None, guard.All},
		{"pages swapped, stamps too", Coverage, guard.None, guard.All},
		{"page to another room", Answers, guard.None, guard.All},
		{"page to nobody", Answers, guard.None, guard.All},
		{"page overwritten before commit", Answers, guard.None, guard.All},
		{"stale slot, nothing new", Failures, guard.None, guard.All},
		{"stale slot, new room", Answers, guard.None, guard.All},
		{"stale slot, new room and length", Answers, guard.None, guard.All},
		{"completion early", Answers, guard.None, guard.All},
		{"completion lost", HeldPages, guard.None, guard.All},
		{"completion twice", Nothing, guard.None, guard.All},
		{"abort held", Ownership, guard.None, guard.All},
		{"abort answer lost once", Nothing, guard.None, guard.All},
		{"abort answer always lost", GivenUp, guard.DeferredRelease, guard.All},
		{"late write", Answers, guard.None, guard.All},
		{"late write, drain falsely confirmed", Answers, guard.None, guard.All},
		{"late operation", Ownership, guard.None, guard.All},
		{"decode pool shrunken", Rejections, guard.None, guard.All},
		{"prefill pool shrunken", Timeouts, guard.None, guard.All},
		{"squatter in decode's pool", Delay, guard.None, guard.All},
	}
}

// Complete says which scenario or fault has no row, and which row has no scenario.
func Complete(rows []Row) error {
	var errs []error
	scenarios, faulty := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		s, err := r.scenario()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		scenarios[s.Name], faulty[s.FaultName()] = true, true
	}
	for _, s := range explore.Scenarios() {
		if !scenarios[s.Name] {
			errs = append(errs, fmt.Errorf("scenario %q has no row in the matrix", s.Name))
		}
	}
	for _, name := range faults.Names() {
		if !faulty[name] {
			errs = append(errs, fmt.Errorf("fault %q has no row in the matrix", name))
		}
	}
	return errors.Join(errs...)
}

func (r Row) scenario() (explore.Scenario, error) {
	for _, s := range explore.Scenarios() {
		if s.Name == r.Scenario {
			return s, nil
		}
	}
	return explore.Scenario{}, fmt.Errorf("row %q: no such scenario", r.Scenario)
}
