package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/stalepage/stalepage/reports/check"
)

// Report writes the judgement of one run: its verdict first, then the requests by outcome, every check, what each one
// found as count, first, worst and last, and what was not checked.
func Report(out io.Writer, r *check.Report) error {
	return write(out, report(styleOf(out), r))
}

func write(out io.Writer, words string) error {
	if _, err := io.WriteString(out, words); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func report(s style, r *check.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "verdict: %s\n", s.verdict(r.Verdict))
	fmt.Fprintf(&b, "requests: %d", len(r.Requests))
	separator := " ("
	for o, count := range r.Outcomes {
		if count == 0 {
			continue
		}
		words := fmt.Sprintf("%d %s", count, check.Outcome(o))
		if check.Outcome(o).Bad() {
			words = s.paint(red, words)
		}
		b.WriteString(separator + words)
		separator = ", "
	}
	if separator == ", " {
		b.WriteByte(')')
	}
	fmt.Fprintf(&b, "\nevents: %d, %d of faults; pages transferred: %d, quarantined: %d\n\n",
		r.Events, r.FaultEvents, r.PagesTransferred, r.PagesQuarantined)
	b.WriteString(s.checks(r.Results))
	for i := range r.Results {
		b.WriteString(s.findings(&r.Results[i]))
	}
	b.WriteString(notChecked(r.Results))
	return b.String()
}

func (s style) checks(results []check.Result) string {
	rows := make([][]string, len(results))
	for i, r := range results {
		rows[i] = []string{
			printable(r.Check), s.verdict(r.Verdict), strconv.Itoa(r.Looked), strconv.Itoa(r.Skipped),
			strconv.Itoa(r.Findings.Count),
		}
	}
	return columns([]string{"check", "verdict", "looked at", "skipped", "findings"}, []int{2, 3, 4}, rows)
}

// findings spells what one check found. A finding that is first and worst, or worst and last, is spelled once.
func (s style) findings(r *check.Result) string {
	f := &r.Findings
	if f.Count == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s: %s\n", s.paint(bold, printable(r.Check)), plural(f.Count, "finding"))
	for _, group := range grouped(f) {
		fmt.Fprintf(&b, "  %-12s event %d, %s: %s\n", group.names, group.Event, group.Outcome, printable(group.Text))
	}
	return b.String()
}

// named is one finding and what it is among those of its check: "first", "first, worst", ...
type named struct {
	names string
	check.Finding
}

func grouped(f *check.Findings) []named {
	out := []named{{"first", f.First}}
	for _, next := range []named{{"worst", f.Worst}, {"last", f.Last}} {
		if last := &out[len(out)-1]; last.Text == next.Text && last.Event == next.Event {
			last.names += ", " + next.names
			continue
		}
		out = append(out, next)
	}
	if f.Count == 1 {
		return []named{{"only", f.First}}
	}
	return out
}

func notChecked(results []check.Result) string {
	var b strings.Builder
	for _, r := range results {
		if r.NotChecked == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\nnot checked\n")
		}
		fmt.Fprintf(&b, "  %s: %s", printable(r.Check), printable(r.NotChecked))
		if r.Skipped > 1 {
			fmt.Fprintf(&b, " (the first of %d reasons)", r.Skipped)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func plural(count int, noun string) string {
	if count != 1 {
		noun += "s"
	}
	return strconv.Itoa(count) + " " + noun
}
