package architecture

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/guard"
)

// TestGuardsAreDocumented holds the table of guards in docs/architecture.md to the engine's: every guard, in the order
// in which a request meets them.
func TestGuardsAreDocumented(t *testing.T) {
	g := NewWithT(t)
	var want []string
	for _, single := range guard.All.Each() {
		want = append(want, single.String())
	}
	for _, s := range readSources(t, repository(t)) {
		if s.name == "docs/architecture.md" {
			g.Expect(rowsUnder("Guards", string(s.text))).To(Equal(want))
			return
		}
	}
	t.Fatal("docs/architecture.md does not exist")
}

// TestRowsUnder proves that the test above sees a row that is missing or out of place: it reads one section only, and
// keeps its order.
func TestRowsUnder(t *testing.T) {
	g := NewWithT(t)
	document := "## Seams\n\n| seam | b |\n|---|---|\n| link | x |\n\n## Guards\n\nText.\n\n" +
		"| guard | b |\n|---|---|\n| two | x |\n| one | y |\n\n## The journal\n\n| three | z |\n"
	g.Expect(rowsUnder("Guards", document)).To(Equal([]string{"two", "one"}))
	g.Expect(rowsUnder("Faults", document)).To(BeEmpty())
}

// rowsUnder lists the first cells of the table in one section of a document, its head left out.
func rowsUnder(heading, document string) []string {
	_, section, found := strings.Cut(document, "\n## "+heading+"\n")
	if !found {
		return nil
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var cells []string
	for _, match := range regexp.MustCompile(`(?m)^\| ([a-z-]+) \|`).FindAllStringSubmatch(section, -1) {
		cells = append(cells, match[1])
	}
	if len(cells) == 0 {
		return nil
	}
	return cells[1:]
}
