package guard

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"
)

// Every set is read back from its spelling and from its JSON.
func TestSetRoundTrip(t *testing.T) {
	g := NewWithT(t)
	for s := None; s <= All; s++ {
		back, err := Parse(s.String())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(back).To(Equal(s))
		text, err := json.Marshal(s)
		g.Expect(err).NotTo(HaveOccurred())
		back = All ^ s
		g.Expect(json.Unmarshal(text, &back)).To(Succeed())
		g.Expect(back).To(Equal(s))
	}
}

// There is a name for each guard, and each is a switch of its own.
func TestEachGuardHasAName(t *testing.T) {
	g := NewWithT(t)
	g.Expect(All.Each()).To(HaveLen(len(names)))
	union := None
	for i, one := range All.Each() {
		g.Expect(one.String()).To(Equal(names[i]))
		g.Expect(union & one).To(Equal(None))
		union |= one
	}
	g.Expect(union).To(Equal(All))
	g.Expect(AddressGeneration.String()).To(Equal("address-generation"), "names and guards are listed in one order")
}

// Has asks for all of the guards named.
func TestHas(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		s, asked := Set(random.Uint32())&All, Set(random.Uint32())&All
		want := true
		for _, one := range asked.Each() {
			want = want && s&one != 0
		}
		g.Expect(s.Has(asked)).To(Equal(want))
		g.Expect(s.Has(None)).To(BeTrue())
	}
}

// What is no list of guards is refused, and the message lists what would be one.
func TestBadSets(t *testing.T) {
	for _, text := range []string{"All", "scrubbing", "scrub+", "+scrub", "scrub+all", "scrub,coverage", " scrub", "none+scrub"} {
		t.Run(text, func(t *testing.T) {
			got, err := Parse(text)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("edge-refusal, limit-exchange")))
			NewWithT(t).Expect(got).To(Equal(None))
		})
	}
	for _, text := range []string{`["scrub", "coverige"]`, `7`, `{"scrub": true}`, `[1]`, `"most"`} {
		t.Run(text, func(t *testing.T) {
			var s Set
			NewWithT(t).Expect(json.Unmarshal([]byte(text), &s)).NotTo(Succeed())
		})
	}
}

// A set may also be given as one string.
func TestSetFromOneString(t *testing.T) {
	g := NewWithT(t)
	var s Set
	g.Expect(json.Unmarshal([]byte(`"all"`), &s)).To(Succeed())
	g.Expect(s).To(Equal(All))
	g.Expect(json.Unmarshal([]byte(`"scrub+coverage"`), &s)).To(Succeed())
	g.Expect(s).To(Equal(Scrub | Coverage))
	g.Expect(json.Unmarshal([]byte(`""`), &s)).To(Succeed())
	g.Expect(s).To(Equal(None))
}
