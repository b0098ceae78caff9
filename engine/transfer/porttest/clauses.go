package porttest

import (
	"math/rand/v2"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// unheard is a ticket that no clause submits unless it says so.
const unheard wire.Ticket = 9_999

// Clauses returns the contract of a port, whatever its operations do.
func Clauses[O Operation, D Answer]() []Clause[*Subject[O, D]] {
	return []Clause[*Subject[O, D]]{
		{"every submission has one answer", oneAnswer[O, D]},
		{"a refusal is an answer", refusal[O, D]},
		{"cancel is answered once", cancelOnce[O, D]},
		{"cancel of an unknown or answered ticket does nothing", cancelUnknown[O, D]},
		{"an unknown dependency is waited for", unknownDependency[O, D]},
		{"a dependent is answered after what it waits for", dependentLater[O, D]},
		{"what ended OK satisfies later submissions", satisfiedLater[O, D]},
		{"a dependency that did not end OK cancels its dependents", cascade[O, D]},
		{"a refused dependency cancels its dependents", refusedDependency[O, D]},
		{"a pending duplicate is refused after the first is answered", pendingDuplicate[O, D]},
		{"a duplicate of an ended ticket is refused", endedDuplicate[O, D]},
		{"a circle of dependencies waits and can be cancelled", circle[O, D]},
		{"submit copies the dependencies", copiesDependencies[O, D]},
		{"poll hands out in pieces", pollInPieces[O, D]},
		{"one answer each in a storm", storm[O, D]},
	}
}

func oneAnswer[O Operation, D Answer](t T, s *Subject[O, D]) {
	for ticket := wire.Ticket(1); ticket <= 5; ticket++ {
		s.Port.Submit(s.Good(ticket))
	}
	s.Expect(t, End{1, port.OK}, End{2, port.OK}, End{3, port.OK}, End{4, port.OK}, End{5, port.OK})
	s.Expect(t)
}

func refusal[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Bad(1))
	s.Port.Submit(s.Good(0))
	s.Port.Submit(s.Bad(0))
	s.Port.Submit(s.Good(2))
	s.Expect(t, End{1, port.Rejected}, End{0, port.Rejected}, End{0, port.Rejected}, End{2, port.OK})
}

func cancelOnce[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Good(1, unheard))
	s.Expect(t)
	s.Port.Cancel(1)
	s.Port.Cancel(1)
	s.Expect(t, End{1, port.Cancelled})
	s.Port.Cancel(1)
	s.Port.Submit(s.Good(unheard))
	s.Expect(t, End{unheard, port.OK})
}

func cancelUnknown[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Cancel(0)
	s.Port.Cancel(1)
	s.Expect(t)
	s.Port.Submit(s.Good(1))
	s.Expect(t, End{1, port.OK})
	s.Port.Cancel(1)
	s.Expect(t)
	s.Port.Submit(s.Good(2, 1))
	s.Expect(t, End{2, port.OK})
}

func unknownDependency[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Good(1, unheard))
	s.Expect(t)
	s.Port.Cancel(unheard)
	s.Expect(t)
	s.Port.Cancel(1)
	s.Expect(t, End{1, port.Cancelled})
}

func dependentLater[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Good(3, 1, 2, 2))
	s.Port.Submit(s.Good(1))
	s.Port.Submit(s.Good(2, 1))
	s.Port.Submit(s.Good(4, 3))
	answers := s.Expect(t, End{1, port.OK}, End{2, port.OK}, End{3, port.OK}, End{4, port.OK})
	for i, answer := range answers {
		if answer.ID() != wire.Ticket(i+1) {
			t.Errorf("answers came as %v, each should follow what it waits for: 1, 2, 3, 4", s.ends(answers))
			return
		}
	}
}

func satisfiedLater[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Good(1))
	s.Expect(t, End{1, port.OK})
	s.Port.Submit(s.Good(2, 1))
	s.Expect(t, End{2, port.OK})
}

func cascade[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Good(1, unheard))
	s.Port.Submit(s.Good(2, 1))
	s.Port.Submit(s.Good(3, 2, 1))
	s.Port.Submit(s.Good(4, 3))
	s.Port.Cancel(1)
	s.Expect(t, End{1, port.Cancelled}, End{2, port.Cancelled}, End{3, port.Cancelled}, End{4, port.Cancelled})
	s.Port.Submit(s.Good(5, 4))
	s.Port.Submit(s.Good(6, 5))
	s.Port.Submit(s.Good(7))
	s.Expect(t, End{5, port.Cancelled}, End{6, port.Cancelled}, End{7, port.OK})
}

func refusedDependency[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Good(2, 1))
	s.Port.Submit(s.Bad(1))
	s.Port.Submit(s.Good(3, 1))
	s.Expect(t, End{1, port.Rejected}, End{2, port.Cancelled}, End{3, port.Cancelled})
}

func pendingDuplicate[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Good(1, unheard))
	s.Port.Submit(s.Good(1))
	s.Port.Submit(s.Bad(1))
	s.Expect(t)
	s.Port.Submit(s.Good(unheard))
	answers := s.Expect(t, End{unheard, port.OK}, End{1, port.OK}, End{1, port.Rejected}, End{1, port.Rejected})
	for _, answer := range answers {
		if answer.ID() == 1 {
			if s.Status(answer) != port.OK {
				t.Errorf("answers came as %v: the first submission of ticket 1 is to be answered first", s.ends(answers))
			}
			break
		}
	}
	s.Port.Submit(s.Good(2, 1))
	s.Expect(t, End{2, port.OK})
}

func endedDuplicate[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Good(1))
	s.Expect(t, End{1, port.OK})
	s.Port.Submit(s.Good(1))
	s.Expect(t, End{1, port.Rejected})
	s.Port.Submit(s.Good(2, 1))
	s.Expect(t, End{2, port.OK})
}

func circle[O Operation, D Answer](t T, s *Subject[O, D]) {
	s.Port.Submit(s.Good(1, 2))
	s.Port.Submit(s.Good(2, 1))
	s.Port.Submit(s.Good(3, 3))
	s.Expect(t)
	s.Port.Cancel(2)
	s.Port.Cancel(3)
	s.Expect(t, End{1, port.Cancelled}, End{2, port.Cancelled}, End{3, port.Cancelled})
}

func copiesDependencies[O Operation, D Answer](t T, s *Subject[O, D]) {
	operation := s.Good(1, unheard, 2)
	s.Port.Submit(operation)
	clear(operation.Dependencies())
	s.Port.Submit(s.Good(2))
	s.Expect(t, End{2, port.OK})
	s.Port.Submit(s.Good(unheard))
	s.Expect(t, End{unheard, port.OK}, End{1, port.OK})
}

func pollInPieces[O Operation, D Answer](t T, s *Subject[O, D]) {
	for ticket := wire.Ticket(1); ticket <= 5; ticket++ {
		s.Port.Submit(s.Bad(ticket))
	}
	for range advancesMax {
		if !s.Advance() {
			break
		}
	}
	seen := 0
	for _, size := range []int{0, 1, 3, 0, 3} {
		buffer := make([]D, size)
		seen += s.Port.Poll(buffer)
	}
	if seen != 5 {
		t.Errorf("polled in pieces of 0, 1, 3, 0, 3: %d answers, want all 5", seen)
	}
	s.Expect(t)
}

// storm submits, repeats, cancels and advances at random; at the end everything still pending is cancelled.
func storm[O Operation, D Answer](t T, s *Subject[O, D]) {
	for seed := range uint64(20) {
		draw := rand.New(rand.NewPCG(seed, 1))
		first := wire.Ticket(10_000 + 1_000*seed)
		pick := func() wire.Ticket { return first + wire.Ticket(draw.IntN(60)) }
		submissions := map[wire.Ticket]int{}
		answered := map[wire.Ticket]int{}
		var answers []D
		for range 200 {
			switch ticket := pick(); draw.IntN(6) {
			case 0:
				s.Port.Submit(s.Good(ticket))
				submissions[ticket]++
			case 1:
				s.Port.Submit(s.Good(ticket, pick(), pick()))
				submissions[ticket]++
			case 2:
				s.Port.Submit(s.Bad(ticket))
				submissions[ticket]++
			case 3:
				s.Port.Cancel(ticket)
			case 4:
				s.Advance()
			case 5:
				answers = s.poll(answers)
			}
		}
		answers = append(answers, s.Drain(t)...)
		for ticket := first; ticket < first+60; ticket++ {
			s.Port.Cancel(ticket)
		}
		answers = append(answers, s.Drain(t)...)
		for _, answer := range answers {
			answered[answer.ID()]++
		}
		for ticket := first; ticket < first+60; ticket++ {
			if answered[ticket] != submissions[ticket] {
				t.Fatalf("storm %d, ticket %d: %d submissions, %d answers", seed, ticket, submissions[ticket], answered[ticket])
			}
		}
	}
}
