package render

import (
	"fmt"
	"io"
	"strconv"

	"github.com/stalepage/stalepage/reports/check"
)

// Variant is one line of the table of an incident's variants. The counts are of the incident's own prompts alone.
type Variant struct {
	Name      string
	Responses int
	// These count the responses by outcome; a response that is none of them is other.
	Leaked, Garbage, Rejected, TimedOut, Failed, Exact int
	// Attributed counts those of Leaked whose every token has an owner.
	Attributed int
	// Others counts the answers to ordinary traffic beside the incident's, OthersExact those that are exact.
	Others, OthersExact int
	// Isolation is what the variant's journal says by itself; Recorded whether the variant did what the fixture records.
	Isolation, Recorded check.Verdict
	WallSeconds         float64
}

func (v *Variant) other() int {
	return v.Responses - v.Leaked - v.Garbage - v.Rejected - v.TimedOut - v.Failed - v.Exact
}

// Variants writes a table with one line a variant. Columns that would be zero on every line are left out, but for those
// that every reader looks for.
func Variants(out io.Writer, variants []Variant) error {
	return write(out, variantTable(styleOf(out), variants))
}

// variantColumn is one column of numbers.
type variantColumn struct {
	heading string
	always  bool
	value   func(*Variant) int
}

func variantColumns() []variantColumn {
	return []variantColumn{
		{"responses", true, func(v *Variant) int { return v.Responses }},
		{"leaked", true, func(v *Variant) int { return v.Leaked }},
		{"attributed", false, func(v *Variant) int { return v.Attributed }},
		{"garbage", false, func(v *Variant) int { return v.Garbage }},
		{"refused", true, func(v *Variant) int { return v.Rejected }},
		{"timed out", false, func(v *Variant) int { return v.TimedOut }},
		{"failed", false, func(v *Variant) int { return v.Failed }},
		{"exact", true, func(v *Variant) int { return v.Exact }},
		{"other", false, func(v *Variant) int { return v.other() }},
	}
}

func variantTable(s style, variants []Variant) string {
	headings := []string{"variant"}
	rows := make([][]string, len(variants))
	for i := range variants {
		rows[i] = []string{printable(variants[i].Name)}
	}
	var numbers []int
	add := func(heading string, cell func(*Variant) string) {
		numbers = append(numbers, len(headings))
		headings = append(headings, heading)
		for i := range variants {
			rows[i] = append(rows[i], cell(&variants[i]))
		}
	}
	for _, column := range variantColumns() {
		if column.always || anyVariant(variants, column.value) {
			add(column.heading, func(v *Variant) string { return s.count(column.heading, column.value(v)) })
		}
	}
	if anyVariant(variants, func(v *Variant) int { return v.Others }) {
		add("others exact", func(v *Variant) string { return fmt.Sprintf("%d/%d", v.OthersExact, v.Others) })
	}
	add("time", func(v *Variant) string { return fmt.Sprintf("%.1f s", v.WallSeconds) })
	headings = append(headings, "isolation", "as recorded")
	for i := range variants {
		rows[i] = append(rows[i], s.verdict(variants[i].Isolation), s.recorded(variants[i].Recorded))
	}
	return columns(headings, numbers, rows)
}

func anyVariant(variants []Variant, value func(*Variant) int) bool {
	for i := range variants {
		if value(&variants[i]) != 0 {
			return true
		}
	}
	return false
}

// count spells a number, red where a single one is bad.
func (s style) count(heading string, value int) string {
	words := strconv.Itoa(value)
	if heading == "leaked" && value > 0 {
		return s.paint(red, words)
	}
	return words
}

func (s style) recorded(v check.Verdict) string {
	switch v {
	case check.Pass:
		return s.paint(green, "yes")
	case check.Unknown:
		return s.paint(yellow, "unknown")
	default:
		return s.paint(red, "no")
	}
}
