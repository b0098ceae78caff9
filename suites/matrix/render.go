package matrix

import (
	"fmt"
	"strings"

	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/reports/check"
)

// Name spells a guard set as the table does: by what is on, or by what is off if that is shorter.
func Name(s guard.Set) string {
	if off := guard.All &^ s; off != guard.None && len(off.Each()) < len(s.Each()) {
		return "all but " + strings.ReplaceAll(off.String(), "+", ", ")
	}
	return strings.ReplaceAll(s.String(), "+", ", ")
}

// Golden is the whole table as text, one cell a line.
func (m Matrix) Golden() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Of %d schedules a cell. Written by `make matrix`.\n", m.runs())
	for i, r := range m.Rows {
		fmt.Fprintf(&b, "\n%s\n", r.Scenario)
		for j, set := range m.Columns {
			fmt.Fprintf(&b, "  %-32s %s\n", Name(set), m.Cells[i][j])
		}
	}
	return b.String()
}

func (m Matrix) runs() int {
	if len(m.Cells) == 0 || len(m.Cells[0]) == 0 {
		return 0
	}
	return m.Cells[0][0].Runs
}

// String spells a cell in full.
func (c Cell) String() string {
	text := fmt.Sprintf("leak/stale/garbage %d/%d/%d", c.Leak, c.Stale, c.Garbage)
	for _, n := range []struct {
		name  string
		count int
	}{
		{"fired", c.Fired},
		{"coverage", c.Coverage},
		{"ownership", c.Ownership},
		{"held", c.Held},
		{"quarantined", c.Quarantined},
		{"stuck", c.Stuck},
	} {
		if n.count > 0 {
			text += fmt.Sprintf(" %s %d", n.name, n.count)
		}
	}
	text += ";"
	for o := range check.Garbage {
		if n := c.Outcomes[o]; n > 0 {
			text += fmt.Sprintf(" %d %s", n, o)
		}
	}
	return text
}

// short is a cell in the page's table: bad runs by kind, and what became of requests instead of an answer.
func (c Cell) short() string {
	text := "0"
	if c.Bad > 0 {
		text = fmt.Sprintf("**%d/%d/%d**", c.Leak, c.Stale, c.Garbage)
	}
	for _, n := range []struct {
		letter string
		count  int
	}{
		{"r", c.Outcomes[check.Rejected]},
		{"t", c.Outcomes[check.TimedOut]},
		{"f", c.Outcomes[check.Failed]},
		{"l", c.Outcomes[check.Lost]},
		{"h", c.Held},
		{"q", c.Quarantined},
	} {
		if n.count > 0 {
			text += fmt.Sprintf(" %d%s", n.count, n.letter)
		}
	}
	return text
}

// Markdown is the page for readers.
func (m Matrix) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What each guard stops

Computed by %[1]s; do not edit. Each cell is %[2]d random schedules of a small cluster with pages of 16 tokens, the same
%[2]d seeds in every cell. Decode's pool is full of another tenant's text before the first request.

A cell is runs with at least one leaked, one stale and one garbage answer (**leak/stale/garbage**), or 0. Behind it, what
requests came to instead of an answer: r refused, t timed out, f failed, l lost, counted over all runs; then runs in which
a worker still held pages at the end (h), or had given some up for good and said so (q). "Fired" is how many of the
undefended runs the fault acted in. "Seen by" is what shows the fault when nothing is there to stop it.

`, "`make matrix`", m.runs())
	b.WriteString(reading)
	half := 1 + len(guard.All.Each())
	fmt.Fprintf(&b, "## One guard alone\n\n")
	m.table(&b, 0, half)
	fmt.Fprintf(&b, "\n## Several\n\n")
	m.table(&b, half, len(m.Columns))
	return b.String()
}

// reading is what the table shows; matrix_test.go holds each of it.
const reading = `## What it shows

- A claimed length stops the incident, and believes a truncated transfer that claims what it owed.
- Page stamps stop that one, and believe themselves: not the same with its stamps written whole, and not a page that is
  overwritten after it has landed.
- Coverage stops everything that is wrong when decode commits, the metadata record included. It sees nothing after that:
  a late write that lands when the new owner has committed gets past it.
- Scrubbing turns leaks into garbage. It hides whose text it was; it gives nobody the right answer.
- Deferred release stops the late write of a truthful transport, and a late operation of the device. It believes a
  transport that says that it has drained and has not: only address generations stop that one, and they guard nothing but
  transfers.
- Acting on a refusal without telling the peer leaves decode to its deadline. Refusing by limits that travel depends on
  their arriving: with a lost registration nothing is served at all. The edge needs nobody's word.
- The sender's check knows what a prompt owes, not what has moved.
- A lost completion is no matter of isolation: pages stay held, or are given up for good after a bounded wait and counted.
- Three faults show nothing in a correct engine: a completion that comes twice, an answer to an abort that is lost and
  asked for again, and pages squatted on for a while.

`

func (m Matrix) table(b *strings.Builder, first, end int) {
	b.WriteString("| fault | seen by | fired |")
	rule := "|---|---|---|"
	for _, set := range m.Columns[first:end] {
		fmt.Fprintf(b, " %s |", Name(set))
		rule += "---|"
	}
	b.WriteString("\n" + rule + "\n")
	for i, r := range m.Rows {
		undefended, _ := m.Cell(r.Scenario, r.Undefended)
		fmt.Fprintf(b, "| %s | %s | %d |", r.Scenario, r.Red, undefended.Fired)
		for j := first; j < end; j++ {
			fmt.Fprintf(b, " %s |", m.Cells[i][j].short())
		}
		b.WriteString("\n")
	}
}
