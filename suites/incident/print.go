package incident

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/stalepage/stalepage/reports/check"
)

// Print writes the summary for people: the table, the first leak spelled out, what differs, and how to run it again.
func (s Summary) Print(out io.Writer, colours bool) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", s.Title)
	fmt.Fprintf(&b, "scale %s, seed %d, kernel %s, %.1f s on the wall, %.1f core-seconds, peak %.1f GiB\n\n",
		s.Scale, s.Seed, s.Kernel, s.WallSeconds, s.CoreSeconds, float64(s.MemoryPeakBytes)/(1<<30))
	b.WriteString(s.table(colours))
	b.WriteString("\n\n")
	for _, v := range s.Variants {
		if v.FirstLeak != nil {
			v.FirstLeak.print(&b, v)
			break
		}
	}
	for _, v := range s.Variants {
		for _, note := range v.Notes {
			fmt.Fprintf(&b, "%s: %s\n", v.Name, note)
		}
	}
	fmt.Fprintf(&b, "As recorded: %s. Huge pages: %s.\n", paint(s.Verdict.String(), s.Verdict, colours), s.hugePages())
	for _, v := range s.Variants {
		if v.Journal != "" {
			fmt.Fprintf(&b, "%s: stalepage check %s; stalepage replay %s\n", v.Name, v.Journal, v.Journal)
		}
	}
	if len(s.Variants) > 0 && s.Variants[0].Journal == "" {
		fmt.Fprintf(&b, "To keep the evidence: %s --out journals\n", s.Variants[0].Command)
	}
	_, err := out.Write(b.Bytes())
	return err
}

func (s Summary) table(colours bool) string {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(table.Row{"variant", "responses", "leaked", "attributed", "garbage", "refused", "timed out", "failed",
		"exact", "others exact", "isolation", "as recorded", "seconds"})
	var columns []table.ColumnConfig
	for i := 2; i <= 13; i++ {
		columns = append(columns, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, v := range s.Variants {
		t.AppendRow(table.Row{v.Name, v.Responses, v.Leaked, v.Attributed, v.Garbage, v.Rejected, v.TimedOut, v.Failed, v.Exact,
			fmt.Sprintf("%d/%d", v.OthersExact, v.Others), paint(v.Isolation.String(), v.Isolation, colours),
			paint(v.Verdict.String(), v.Verdict, colours), fmt.Sprintf("%.1f", v.WallSeconds)})
	}
	return t.Render()
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

// ownersMax bounds how many stretches of a leak are printed.
const ownersMax = 8

// print spells the leak out, stretch by stretch, with whose text it is.
func (l *Leak) print(b *bytes.Buffer, v Variant) {
	fmt.Fprintf(b, "The first of %d leaks of %s: request %d of tenant %d, %d prompt tokens, was answered\n\n    %s\n\n",
		v.Leaked, v.Name, l.Request, l.Tenant, l.PromptTokens, strings.ReplaceAll(l.Text, "\n", " "))
	for i, o := range l.Owners {
		if i == ownersMax {
			fmt.Fprintf(b, "    and %d more stretches\n", len(l.Owners)-ownersMax)
			break
		}
		fmt.Fprintf(b, "    tokens %d to %d are tenant %d's: request %d, prompt tokens %d to %d, read from page %d",
			o.Output, o.Output+o.Count-1, o.Tenant, o.Request, o.First, o.First+o.Count-1, o.Page)
		fmt.Fprintf(b, " (written at event %d, read at event %d)\n", o.Written, o.Read)
	}
	b.WriteString("\n")
}

func paint(word string, v check.Verdict, colours bool) string {
	if !colours {
		return word
	}
	return map[check.Verdict]text.Colors{
		check.Pass: {text.FgGreen}, check.Unknown: {text.FgYellow}, check.Fail: {text.FgRed},
	}[v].Sprint(word)
}
