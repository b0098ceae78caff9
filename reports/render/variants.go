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
	// Leaked, Rejected, Exact, Garbage and TimedOut count the responses by outcome; what is left over is other.
	Leaked, Rejected, Exact, Garbage, TimedOut int
	// Recorded says whether the variant did what the fixture records; Isolation what its journal says by itself.
	Recorded, Isolation check.Verdict
	WallSeconds         float64
}

// Variants writes a table with one line a variant. The column other appears only if a response fits no other one.
func Variants(out io.Writer, variants []Variant) error {
	return write(out, variantTable(styleOf(out), variants))
}

func variantTable(s style, variants []Variant) string {
	headings := []string{"variant", "responses", "leaked", "refused", "exact", "garbage", "timed out"}
	showOther := false
	for i := range variants {
		showOther = showOther || variants[i].other() != 0
	}
	if showOther {
		headings = append(headings, "other")
	}
	headings = append(headings, "time")
	var numbers []int
	for i := 1; i < len(headings); i++ {
		numbers = append(numbers, i)
	}
	headings = append(headings, "isolation", "as recorded")
	rows := make([][]string, len(variants))
	for i := range variants {
		v := &variants[i]
		leaked := strconv.Itoa(v.Leaked)
		if v.Leaked > 0 {
			leaked = s.paint(red, leaked)
		}
		cells := []string{
			printable(v.Name), strconv.Itoa(v.Responses), leaked, strconv.Itoa(v.Rejected), strconv.Itoa(v.Exact),
			strconv.Itoa(v.Garbage), strconv.Itoa(v.TimedOut),
		}
		if showOther {
			cells = append(cells, strconv.Itoa(v.other()))
		}
		rows[i] = append(cells, fmt.Sprintf("%.1f s", v.WallSeconds), s.verdict(v.Isolation), s.recorded(v.Recorded))
	}
	return columns(headings, numbers, rows)
}

func (v *Variant) other() int {
	return v.Responses - v.Leaked - v.Rejected - v.Exact - v.Garbage - v.TimedOut
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
