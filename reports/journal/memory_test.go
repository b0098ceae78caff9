package journal

import (
	"crypto/sha256"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// Memory keeps copies: what the giver does to its lists afterwards changes nothing, over growth and reuse.
func TestMemoryOwnsItsEvents(t *testing.T) {
	g := NewWithT(t)
	var m Memory
	for seed := range uint64(4) {
		m.Reset()
		want := randomEvents(30+seed, 700)
		var reused event.Event
		for _, e := range want {
			reused = event.Event{Pages: append(reused.Pages[:0], e.Pages...), Output: append(reused.Output[:0], e.Output...)}
			given := e
			if e.Pages != nil {
				given.Pages = reused.Pages
			}
			if e.Output != nil {
				given.Output = reused.Output
			}
			m.Record(&given)
		}
		g.Expect(cmp.Diff(want, m.Events())).To(BeEmpty())
	}
	m.Events()[0].Pages = append(m.Events()[0].Pages, 1)
	g.Expect(m.Events()[699]).To(Equal(randomEvents(33, 700)[699]))
}

// Hash is the hash of AppendLines, and tells any two different runs apart.
func TestMemoryHash(t *testing.T) {
	g := NewWithT(t)
	var m Memory
	g.Expect(m.Hash()).To(Equal(sha256.Sum256(nil)))
	events := randomEvents(34, 300)
	for i := range events {
		m.Record(&events[i])
	}
	g.Expect(m.Hash()).To(Equal(sha256.Sum256(m.AppendLines(nil))))
	before := m.Hash()
	m.Events()[299].Count++
	g.Expect(m.Hash()).NotTo(Equal(before))
}

// Difference names the first event that differs, a missing one included.
func TestDifference(t *testing.T) {
	g := NewWithT(t)
	a := []event.Event{{Kind: event.PagesScrubbed, Pages: []wire.Page{1}}, {Kind: event.AbortSent, Room: 4}}
	b := []event.Event{{Kind: event.PagesScrubbed, Pages: []wire.Page{1}}, {Kind: event.AbortSent, Room: 5}}
	g.Expect(Difference(a, a)).To(BeEmpty())
	g.Expect(Difference(a, b)).To(ContainSubstring("event 1 differs"))
	g.Expect(Difference(a, b)).To(And(ContainSubstring(`"room":4`), ContainSubstring(`"room":5`)))
	g.Expect(Difference(a, a[:1])).To(ContainSubstring("(no event)"))
	g.Expect(Difference(nil, a)).To(ContainSubstring("event 0 differs"))
}
