package faults

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// It proves that names are unique and spelt alike, that every entry makes a fresh fault, and that each says of itself
// where it was seen, what stops it and what sees it.
func TestTheCatalogueIsInOrder(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for _, e := range Catalog() {
		g.Expect(e.Name).To(MatchRegexp(`^[a-z]+(-[a-z]+)*$`))
		g.Expect(seen).NotTo(HaveKey(e.Name), "a name may stand once")
		seen[e.Name] = true
		g.Expect(e.New()).NotTo(BeIdenticalTo(e.New()), "%s: plans must not share a fault", e.Name)
		g.Expect(e.New().Name()).To(Equal(e.Name))
		doc := e.Doc()
		g.Expect(doc).NotTo(ContainSubstring("\n"), "one paragraph")
		g.Expect(doc).NotTo(MatchRegexp(`\S  +\S`), "%s: doubled space", e.Name)
		for _, part := range []string{"Public: ", "topped ", "Seen by "} {
			g.Expect(strings.Contains(doc, part)).To(BeTrue(), "%s: its Doc must say %q", e.Name, part)
		}
		g.Expect(regexp.MustCompile(`[a-z] \d{3,5}`).MatchString(doc)).To(BeTrue(), "%s: no public case", e.Name)
		g.Expect(e.New().home()).NotTo(BeEmpty())
	}
	g.Expect(len(seen)).To(BeNumerically(">=", 17))
	_, err := Find("late-write")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = Find("late")
	g.Expect(err).To(MatchError(ContainSubstring("late-write")))
}

// It proves that the defaults of every fault can be armed as they are; a squatter alone needs to be told when.
func TestDefaultsAreValid(t *testing.T) {
	for _, e := range Catalog() {
		err := Plan{Faults: []Spec{{Fault: e.New()}}}.Validate()
		if e.Name == "squatter" {
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("arm_on: needed")))
			continue
		}
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), e.Name)
	}
}
