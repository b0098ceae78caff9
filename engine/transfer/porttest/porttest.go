// Package porttest holds the clauses of the contract of port.Port that do not depend on what the operations do. The
// contract tests of transports (transfertest) and devices (devicetest) run them beside their own.
//
// A clause is a function of a fresh subject. It speaks to a small T, so that a test can also let it judge an
// implementation that is broken on purpose: a clause that never failed proves nothing (see flaws.go).
package porttest

import (
	"fmt"
	"testing"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// T is what a clause needs of a *testing.T.
type T interface {
	Helper()
	Errorf(format string, values ...any)
	Fatalf(format string, values ...any)
}

// Operation is what the clauses need of an operation.
type Operation interface {
	ID() wire.Ticket
	Dependencies() []wire.Ticket
}

// Answer is what they need of a Done.
type Answer interface{ ID() wire.Ticket }

// Subject is one idle port under test.
type Subject[O Operation, D Answer] struct {
	Port port.Port[O, D]
	// Advance lets the port make progress: one step of a stepped port, a wait for something to happen of a live one. It
	// returns false when nothing will happen without a further call.
	Advance func() bool
	// Good is an operation that ends OK once what it waits for has; Bad one that is Rejected at once.
	Good func(ticket wire.Ticket, after ...wire.Ticket) O
	Bad  func(ticket wire.Ticket) O
	// Status reads an answer.
	Status func(D) port.Status
}

// Clause is one promise of the contract.
type Clause[S any] struct {
	Name  string
	Check func(t T, subject S)
}

// Run checks each clause on a subject of its own.
func Run[S any](t *testing.T, clauses []Clause[S], build func(testing.TB) S) {
	t.Helper()
	for _, clause := range clauses {
		t.Run(clause.Name, func(t *testing.T) { clause.Check(t, build(t)) })
	}
}

// Judge lets one clause check one subject and returns what it complained of.
func Judge[S any](clause Clause[S], subject S) (complaints []string) {
	j := &judge{}
	defer func() {
		if stopped := recover(); stopped != nil && stopped != any(j) {
			panic(stopped)
		}
		complaints = j.complaints
	}()
	clause.Check(j, subject)
	return nil
}

// judge is a T that keeps the complaints. Fatalf unwinds to Judge.
type judge struct{ complaints []string }

func (j *judge) Helper() {}

func (j *judge) Errorf(format string, values ...any) {
	j.complaints = append(j.complaints, fmt.Sprintf(format, values...))
}

func (j *judge) Fatalf(format string, values ...any) {
	j.Errorf(format, values...)
	panic(j)
}

// advancesMax bounds a drain: no clause needs nearly as many steps.
const advancesMax = 1_000_000

// Drain advances the port until it is idle and returns all answers in the order they came.
func (s *Subject[O, D]) Drain(t T) []D {
	t.Helper()
	var answers []D
	for range advancesMax {
		answers = s.poll(answers)
		if !s.Advance() {
			return s.poll(answers)
		}
	}
	t.Fatalf("the port still moves after %d advances", advancesMax)
	return nil
}

// poll takes what is there, and asks again, so that an answer handed out twice is seen twice.
func (s *Subject[O, D]) poll(answers []D) []D {
	var buffer [3]D
	for {
		n := s.Port.Poll(buffer[:])
		if n == 0 {
			return answers
		}
		answers = append(answers, buffer[:n]...)
	}
}

// End is one expected answer.
type End struct {
	Ticket wire.Ticket
	Status port.Status
}

// Expect drains the port and compares its answers, in any order, with those expected. It returns them.
func (s *Subject[O, D]) Expect(t T, want ...End) []D {
	t.Helper()
	answers := s.Drain(t)
	count := map[End]int{}
	for _, answer := range answers {
		count[End{answer.ID(), s.Status(answer)}]++
	}
	for _, end := range want {
		if count[end] == 0 {
			t.Errorf("ticket %d: want an answer %s, got none (all answers: %v)", end.Ticket, end.Status, s.ends(answers))
		}
		count[end]--
	}
	if len(answers) > len(want) {
		t.Errorf("%d answers, want %d: one for each submission (all answers: %v)", len(answers), len(want), s.ends(answers))
	}
	return answers
}

func (s *Subject[O, D]) ends(answers []D) []string {
	var out []string
	for _, answer := range answers {
		out = append(out, fmt.Sprintf("%d %s", answer.ID(), s.Status(answer)))
	}
	return out
}
