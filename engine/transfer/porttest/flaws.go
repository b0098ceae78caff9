package porttest

import (
	"slices"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Flaw is a way to be wrong: Break puts a broken implementation in front of a sound one, and the clause named Clause must
// complain of it.
type Flaw[S any] struct {
	Name, Clause string
	Break        func(sound S) S
}

// CheckFlaws runs each flaw past the clause that is to find it, and demands that every clause finds at least one.
func CheckFlaws[S any](t T, clauses []Clause[S], flaws []Flaw[S], build func() S) {
	t.Helper()
	proved := map[string]bool{}
	for _, flaw := range flaws {
		at := slices.IndexFunc(clauses, func(c Clause[S]) bool { return c.Name == flaw.Clause })
		if at < 0 {
			t.Errorf("flaw %q names the clause %q, which does not exist", flaw.Name, flaw.Clause)
			continue
		}
		if complaints := Judge(clauses[at], build()); len(complaints) > 0 {
			t.Errorf("clause %q complains of the sound implementation: %v", flaw.Clause, complaints)
		}
		if len(Judge(clauses[at], flaw.Break(build()))) == 0 {
			t.Errorf("flaw %q passes the clause %q, which was to find it", flaw.Name, flaw.Clause)
		}
		proved[flaw.Clause] = true
	}
	for _, clause := range clauses {
		if !proved[clause.Name] {
			t.Errorf("clause %q was never seen to fail: give it a flaw", clause.Name)
		}
	}
}

// Forge is what the broken ports need to make operations and answers of their own.
type Forge[O Operation, D Answer] struct {
	// WithAfter is the operation with other dependencies.
	WithAfter func(operation O, after []wire.Ticket) O
	Answer    func(ticket wire.Ticket, status port.Status) D
}

// broken is a port whose calls can be bent. A nil hook passes through.
type broken[O Operation, D Answer] struct {
	inner   port.Port[O, D]
	submit  func(O)
	cancel  func(wire.Ticket)
	poll    func([]D) int
	answers []D // handed out before the inner port's
}

func (b *broken[O, D]) Submit(operation O) {
	if b.submit != nil {
		b.submit(operation)
		return
	}
	b.inner.Submit(operation)
}

func (b *broken[O, D]) Cancel(ticket wire.Ticket) {
	if b.cancel != nil {
		b.cancel(ticket)
		return
	}
	b.inner.Cancel(ticket)
}

func (b *broken[O, D]) Poll(dst []D) int {
	n := copy(dst, b.answers)
	b.answers = b.answers[n:]
	if b.poll != nil {
		return n + b.poll(dst[n:])
	}
	return n + b.inner.Poll(dst[n:])
}

// Flaws returns the broken ports that the clauses of Clauses must find.
func Flaws[O Operation, D Answer](forge Forge[O, D]) []Flaw[*Subject[O, D]] {
	type subject = *Subject[O, D]
	flaw := func(name, clause string, bend func(b *broken[O, D], s subject)) Flaw[subject] {
		return Flaw[subject]{Name: name, Clause: clause, Break: func(sound subject) subject {
			b := &broken[O, D]{inner: sound.Port}
			bent := *sound
			bent.Port = b
			bend(b, &bent)
			return &bent
		}}
	}
	flaws := []Flaw[subject]{
		flaw("loses what it answers OK", "every submission has one answer", func(b *broken[O, D], s subject) {
			b.poll = filter(b, func(d D) bool { return s.Status(d) != port.OK })
		}),
		flaw("answers a refusal by silence", "a refusal is an answer", func(b *broken[O, D], s subject) {
			b.poll = filter(b, func(d D) bool { return s.Status(d) != port.Rejected })
		}),
		flaw("is deaf to Cancel", "cancel is answered once", func(b *broken[O, D], _ subject) {
			b.cancel = func(wire.Ticket) {}
		}),
		flaw("answers each Cancel", "cancel is answered once", func(b *broken[O, D], _ subject) {
			b.cancel = func(ticket wire.Ticket) {
				b.answers = append(b.answers, forge.Answer(ticket, port.Cancelled))
				b.inner.Cancel(ticket)
			}
		}),
		flaw("answers a Cancel that names nothing", "cancel of an unknown or answered ticket does nothing",
			func(b *broken[O, D], _ subject) {
				known := map[wire.Ticket]bool{}
				b.submit = func(o O) { known[o.ID()] = true; b.inner.Submit(o) }
				b.cancel = func(ticket wire.Ticket) {
					if !known[ticket] {
						b.answers = append(b.answers, forge.Answer(ticket, port.Cancelled))
					}
					b.inner.Cancel(ticket)
				}
			}),
		flaw("loses answers beyond the buffer", "poll hands out in pieces", func(b *broken[O, D], _ subject) {
			b.poll = func(dst []D) int {
				n := b.inner.Poll(dst)
				b.inner.Poll(make([]D, 100))
				return n
			}
		}),
		flaw("loses a refusal now and then", "one answer each in a storm", func(b *broken[O, D], s subject) {
			refusals := 0
			b.poll = filter(b, func(d D) bool {
				if s.Status(d) == port.Rejected {
					refusals++
				}
				return s.Status(d) != port.Rejected || refusals%100 != 0
			})
		}),
	}
	return append(flaws, orderFlaws(forge, flaw)...)
}

// filter polls one answer at a time and drops those that keep refuses.
func filter[O Operation, D Answer](b *broken[O, D], keep func(D) bool) func([]D) int {
	return func(dst []D) int {
		n := 0
		for n < len(dst) && b.inner.Poll(dst[n:n+1]) == 1 {
			if keep(dst[n]) {
				n++
			}
		}
		return n
	}
}
