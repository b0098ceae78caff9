package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// linkProbe is a fault made of bare moves on prefill's link.
type linkProbe struct {
	Target
	When
	moves linkMoves
}

func (*linkProbe) Name() string      { return "link-probe" }
func (*linkProbe) Doc() string       { return "" }
func (*linkProbe) Validate() error   { return nil }
func (*linkProbe) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *linkProbe) install(i *instance, seams *port.Seams) { installLinkTap(i, seams, f.moves) }

func isSent(m wire.Message) bool { _, is := m.Body.(wire.Sent); return is }

// It proves that a held message holds everything behind it on its channel, and nothing on another, and that order is
// kept on release.
func TestHeldMessageHoldsItsChannel(t *testing.T) {
	b := newBench(t, &linkProbe{Target: Request(target), moves: linkMoves{match: isSent, hold: true}})
	before := message(prefill, decode, target, wire.AbortAck{})
	held := message(prefill, decode, target, wire.Sent{Pages: 2})
	behind := message(prefill, decode, other, wire.Sent{Pages: 5})
	elsewhere := message(prefill, router, target, wire.Refused{})
	for _, m := range []wire.Message{before, held, behind, elsewhere} {
		b.prefill.Link.Send(m)
	}
	b.Expect(b.link.sent).To(Equal([]wire.Message{before, elsewhere}))
	b.Expect(b.injector.Status()[0].Held).To(Equal(2))
	b.expectFired(0)
	b.Expect(b.injector.Idle()).To(BeTrue())
	b.Expect(b.link.sent).To(Equal([]wire.Message{before, elsewhere, held, behind}))
	b.expectFired(1)
	b.Expect(b.events(event.HoldReleased)).To(ConsistOf(HaveField("Reason", ReasonIdle)))
	b.prefill.Link.Send(held)
	b.Expect(b.injector.Status()[0].Held).To(BeZero(), "a released fault holds nothing more")
}

// It proves that swallowing, doubling and editing touch the target's message and no other.
func TestMessagesAreSwallowedDoubledEdited(t *testing.T) {
	ours := message(prefill, decode, target, wire.Sent{Pages: 2})
	theirs := message(prefill, decode, other, wire.Sent{Pages: 5})
	lie := func(m wire.Message) (wire.Message, string, string) {
		m.Body = wire.Sent{Pages: 3}
		return m, "2 pages", "3 pages"
	}
	for _, c := range []struct {
		name  string
		moves linkMoves
		sent  []wire.Message
	}{
		{"swallow", linkMoves{match: isSent, swallow: true}, []wire.Message{theirs}},
		{"duplicate", linkMoves{match: isSent, duplicate: true}, []wire.Message{ours, ours, theirs}},
		{
			"edit",
			linkMoves{match: isSent, edit: lie},
			[]wire.Message{message(prefill, decode, target, wire.Sent{Pages: 3}), theirs},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, &linkProbe{Target: Request(target), moves: c.moves})
			b.prefill.Link.Send(ours)
			b.prefill.Link.Send(theirs)
			b.Expect(b.link.sent).To(Equal(c.sent))
			b.expectFired(1)
		})
	}
}
