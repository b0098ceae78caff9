package render

import (
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/stalepage/stalepage/reports/check"
)

// style says whether to colour.
type style struct{ colour bool }

// styleOf is the style that out can show.
func styleOf(out io.Writer) style {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return style{}
	}
	info, err := file.Stat()
	return style{colour: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// The colours used, as terminals spell them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

func (s style) paint(colour, words string) string {
	if !s.colour || words == "" {
		return words
	}
	return "\x1b[" + colour + "m" + words + "\x1b[0m"
}

func (s style) verdict(v check.Verdict) string {
	switch v {
	case check.Pass:
		return s.paint(green, v.String())
	case check.Unknown:
		return s.paint(yellow, v.String())
	default:
		return s.paint(red, v.String())
	}
}

// columns lays rows out under their headings, two spaces apart. Columns named in numbers are set flush right.
func columns(headings []string, numbers []int, rows [][]string) string {
	t := table.NewWriter()
	t.SetStyle(table.Style{
		Box: table.BoxStyle{PaddingRight: "  "}, Format: table.FormatOptions{Header: text.FormatDefault},
		Options: table.OptionsNoBordersAndSeparators,
	})
	t.AppendHeader(row(headings))
	var configs []table.ColumnConfig
	for _, number := range numbers {
		configs = append(configs, table.ColumnConfig{
			Number: number + 1, Align: text.AlignRight, AlignHeader: text.AlignRight,
		})
	}
	t.SetColumnConfigs(configs)
	for _, r := range rows {
		t.AppendRow(row(r))
	}
	var b strings.Builder
	for line := range strings.Lines(t.Render() + "\n") {
		b.WriteString(strings.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
	return b.String()
}

func row(cells []string) table.Row {
	out := make(table.Row, len(cells))
	for i, cell := range cells {
		out[i] = cell
	}
	return out
}

// printable spells out what could steer a terminal or hide in a text: control and format characters, and bytes that are
// no UTF-8.
func printable(words string) string {
	plain := func(r rune) bool { return unicode.IsGraphic(r) && r != unicode.ReplacementChar }
	if strings.IndexFunc(words, func(r rune) bool { return !plain(r) }) < 0 {
		return words
	}
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i, r := range words {
		switch {
		case plain(r):
			b.WriteRune(r)
		case r == unicode.ReplacementChar, r < 0x80:
			b.WriteString(`\x`)
			b.WriteByte(digits[words[i]>>4])
			b.WriteByte(digits[words[i]&15])
		default:
			b.WriteString(`\u{`)
			started := false
			for shift := 20; shift >= 0; shift -= 4 {
				digit := r >> shift & 15
				if started = started || digit != 0; started {
					b.WriteByte(digits[digit])
				}
			}
			b.WriteByte('}')
		}
	}
	return b.String()
}
