package event

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Every kind has a name of its own, of the form noun.past-verb, and is read back from it.
func TestKindsRoundTrip(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for i, k := range Kinds() {
		g.Expect(k).To(Equal(Kind(i)))
		g.Expect(k.String()).To(MatchRegexp(`^[a-z]+\.[a-z]+$`))
		g.Expect(seen).NotTo(HaveKey(k.String()))
		seen[k.String()] = true
		text, err := k.MarshalText()
		g.Expect(err).NotTo(HaveOccurred())
		var back Kind
		g.Expect(back.UnmarshalText(text)).To(Succeed())
		g.Expect(back).To(Equal(k))
	}
	g.Expect(seen).To(HaveLen(int(PeerLost) + 1))
}

// A kind of another version is an error, not the first kind.
func TestUnknownKind(t *testing.T) {
	g := NewWithT(t)
	k := PagesReleased
	g.Expect(k.UnmarshalText([]byte("page.lost"))).To(MatchError(ContainSubstring("page.lost")))
	g.Expect(k).To(Equal(PagesReleased))
	g.Expect((PeerLost + 1).String()).To(Equal("kind(34)"))
}

// A worker is idle when all it ever had is free or quarantined, and nothing waits.
func TestIdle(t *testing.T) {
	rest := Holdings{PagesFree: 6, PagesCapacity: 8, PagesQuarantined: 2, SlotsFree: 3, SlotsCapacity: 4, SlotsQuarantined: 1}
	NewWithT(t).Expect(rest.Idle()).To(BeTrue())
	NewWithT(t).Expect(Holdings{}.Idle()).To(BeTrue())
	for name, change := range map[string]func(*Holdings){
		"a page is missing":    func(h *Holdings) { h.PagesFree-- },
		"a page too many":      func(h *Holdings) { h.PagesFree++ },
		"a slot is missing":    func(h *Holdings) { h.SlotsFree-- },
		"a request waits":      func(h *Holdings) { h.Requests++ },
		"an operation is open": func(h *Holdings) { h.Outstanding++ },
	} {
		t.Run(name, func(t *testing.T) {
			h := rest
			change(&h)
			NewWithT(t).Expect(h.Idle()).To(BeFalse())
		})
	}
}
