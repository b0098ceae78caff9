package incident

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/mitchellh/go-wordwrap"

	"github.com/stalepage/stalepage/reports/render"
)

// Print writes the summary for people: the table, the first leak spelled out, what differs, and how to run it again.
func (s Summary) Print(out io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", s.Title)
	fmt.Fprintf(&b, "scale %s, seed %d, kernel %s, %.1f s on the wall, %.1f core-seconds, peak %d MiB\n\n",
		s.Scale, s.Seed, s.Kernel, s.WallSeconds, s.CoreSeconds, s.MemoryPeakBytes>>20)
	if _, err := out.Write(b.Bytes()); err != nil {
		return err
	}
	if err := render.Variants(out, s.rows()); err != nil {
		return err
	}
	b.Reset()
	b.WriteString("\n")
	for _, v := range s.Variants {
		if v.FirstLeak != nil {
			v.FirstLeak.print(&b, v)
			break
		}
	}
	for _, v := range s.Variants {
		if v.TimedOut > 0 {
			fmt.Fprintf(&b, "%s: decode held a reservation of the incident for up to %d ticks\n", v.Name, v.HoldTicksMax)
		}
		for _, note := range v.Notes {
			fmt.Fprintf(&b, "%s: %s\n", v.Name, note)
		}
	}
	fmt.Fprintf(&b, "As recorded: %s. Huge pages: %s.\n", s.Verdict, s.hugePages())
	for _, v := range s.Variants {
		if v.Journal != "" && v.JournalError == "" {
			fmt.Fprintf(&b, "%s: stalepage check %s; stalepage replay %s\n", v.Name, v.Journal, v.Journal)
		}
	}
	if len(s.Variants) > 0 && s.Variants[0].Journal == "" {
		fmt.Fprintf(&b, "To keep the evidence: %s --out journals\n", s.Variants[0].Command)
	}
	_, err := out.Write(b.Bytes())
	return err
}

func (s Summary) rows() []render.Variant {
	rows := make([]render.Variant, len(s.Variants))
	for i, v := range s.Variants {
		rows[i] = render.Variant{
			Name: v.Name, Responses: v.Responses, Leaked: v.Leaked, Garbage: v.Garbage, Rejected: v.Rejected,
			TimedOut: v.TimedOut, Failed: v.Failed, Exact: v.Exact, Attributed: v.Attributed, Others: v.Others,
			OthersExact: v.OthersExact, Isolation: v.Isolation, Recorded: v.Verdict, WallSeconds: v.WallSeconds,
		}
	}
	return rows
}

func (s Summary) hugePages() string {
	seen := map[string]bool{}
	var list []string
	for _, v := range s.Variants {
		if !seen[v.HugePages] {
			seen[v.HugePages] = true
			list = append(list, v.HugePages)
		}
	}
	return strings.Join(list, ", ")
}

// indented breaks the text of an answer into lines of a width that a terminal has.
func indented(text string) string {
	const columns = 96
	words := strings.Join(strings.Fields(text), " ")
	return strings.ReplaceAll(wordwrap.WrapString(words, columns), "\n", "\n    ")
}

// ownersMax bounds how many stretches of a leak are printed.
const ownersMax = 8

// print spells the leak out, stretch by stretch, with whose text it is.
func (l *Leak) print(b *bytes.Buffer, v Variant) {
	which := "The only leak"
	if v.Leaked > 1 {
		which = fmt.Sprintf("The first of %d leaks", v.Leaked)
	}
	fmt.Fprintf(b, "%s of %s: request %d of tenant %d, %d prompt tokens, was answered\n\n    %s\n\n", which, v.Name, l.Request,
		l.Tenant, l.PromptTokens, indented(l.Text))
	for i, o := range l.Owners {
		if i == ownersMax {
			fmt.Fprintf(b, "    and %d more stretches\n", len(l.Owners)-ownersMax)
			break
		}
		verb := "are"
		if o.Count == 1 {
			verb = "is"
		}
		fmt.Fprintf(b, "    %s %s tenant %d's: request %d, prompt %s, read from page %d (written at event %d, read at event %d)\n",
			stretch(o.Output, o.Count), verb, o.Tenant, o.Request, stretch(o.First, o.Count), o.Page, o.Written, o.Read)
	}
	b.WriteString("\n")
}

// stretch names count tokens from first on.
func stretch(first, count int) string {
	if count == 1 {
		return fmt.Sprintf("token %d", first)
	}
	return fmt.Sprintf("tokens %d to %d", first, first+count-1)
}
