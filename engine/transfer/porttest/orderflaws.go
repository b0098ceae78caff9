package porttest

import (
	"slices"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// bend changes one dependency of a submission, or leaves it out, knowing how the answers so far ended.
type bend func(dependency wire.Ticket, ended map[wire.Ticket]port.Status) (changed wire.Ticket, keep bool)

// bendAfter is a port that submits with bent dependencies.
func bendAfter[O Operation, D Answer](forge Forge[O, D], bend bend) func(*broken[O, D], *Subject[O, D]) {
	return func(b *broken[O, D], s *Subject[O, D]) {
		ended := map[wire.Ticket]port.Status{}
		b.poll = filter(b, func(d D) bool { ended[d.ID()] = s.Status(d); return true })
		b.submit = func(o O) {
			var after []wire.Ticket
			for _, dependency := range o.Dependencies() {
				if changed, keep := bend(dependency, ended); keep {
					after = append(after, changed)
				}
			}
			b.inner.Submit(forge.WithAfter(o, after))
		}
	}
}

// orderFlaws are the ports that get dependencies and duplicates wrong.
func orderFlaws[O Operation, D Answer](
	forge Forge[O, D], flaw func(string, string, func(*broken[O, D], *Subject[O, D])) Flaw[*Subject[O, D]],
) []Flaw[*Subject[O, D]] {
	type subject = *Subject[O, D]
	ignore := bendAfter(forge, func(d wire.Ticket, _ map[wire.Ticket]port.Status) (wire.Ticket, bool) { return d, false })
	const never = unheard + 1
	return []Flaw[subject]{
		flaw("takes an unknown dependency for done", "an unknown dependency is waited for", ignore),
		flaw("ignores dependencies", "a dependent is answered after what it waits for", ignore),
		flaw("ignores dependencies in a circle", "a circle of dependencies waits and can be cancelled", ignore),
		flaw("forgets what ended", "what ended OK satisfies later submissions",
			bendAfter(forge, func(d wire.Ticket, ended map[wire.Ticket]port.Status) (wire.Ticket, bool) {
				if _, ok := ended[d]; ok {
					return never, true
				}
				return d, true
			})),
		flaw("runs what was to be cancelled", "a dependency that did not end OK cancels its dependents",
			bendAfter(forge, func(d wire.Ticket, ended map[wire.Ticket]port.Status) (wire.Ticket, bool) {
				status, ok := ended[d]
				return d, !ok || status == port.OK
			})),
		flaw("leaves the dependents of a refused operation waiting", "a refused dependency cancels its dependents",
			func(b *broken[O, D], s subject) {
				b.submit = func(o O) {
					if len(o.Dependencies()) > 0 {
						o = forge.WithAfter(o, []wire.Ticket{never})
					}
					b.inner.Submit(o)
				}
			}),
		flaw("refuses a pending duplicate at once", "a pending duplicate is refused after the first is answered",
			func(b *broken[O, D], _ subject) {
				known := map[wire.Ticket]bool{}
				b.submit = func(o O) {
					if known[o.ID()] {
						b.answers = append(b.answers, forge.Answer(o.ID(), port.Rejected))
						return
					}
					known[o.ID()] = true
					b.inner.Submit(o)
				}
			}),
		flaw("swallows duplicates", "a duplicate of an ended ticket is refused", func(b *broken[O, D], _ subject) {
			var known []wire.Ticket
			b.submit = func(o O) {
				if slices.Contains(known, o.ID()) {
					return
				}
				known = append(known, o.ID())
				b.inner.Submit(o)
			}
		}),
		flaw("keeps the submitter's slices", "submit copies the dependencies", func(b *broken[O, D], s subject) {
			var kept []O
			advance := s.Advance
			b.submit = func(o O) { kept = append(kept, o) }
			s.Advance = func() bool {
				moved := len(kept) > 0
				for _, o := range kept {
					b.inner.Submit(o)
				}
				kept = nil
				return advance() || moved
			}
		}),
	}
}
