package render

import (
	"fmt"
	"io"
	"strings"
)

// columnKeys name the columns: the list below the drawing says which event each is.
const columnKeys = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Draw writes the timeline as text of fixed width: pages downwards, events to the right.
func (t Timeline) Draw(out io.Writer) error { return write(out, t.draw(styleOf(out))) }

func (t Timeline) draw(s style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", printable(t.Title))
	keys, marks := "", ""
	for i, c := range t.Columns {
		keys += columnKeys[i%len(columnKeys) : i%len(columnKeys)+1]
		switch {
		case c.Finding:
			marks += "!"
		case c.Fault:
			marks += "F"
		default:
			marks += " "
		}
	}
	fmt.Fprintf(&b, "%9s  %8s   %s\n", "ordinal", "page", keys)
	for _, row := range t.Rows {
		if row.Elided > 0 {
			fmt.Fprintf(&b, "%9s  (%s)\n", "...", plural(row.Elided, "page"))
		}
		pointer := " "
		if row.Finding {
			pointer = ">"
		}
		fmt.Fprintf(&b, "%s%8d  %8d   ", pointer, row.Ordinal, row.Page)
		for i, cell := range row.Cells {
			letter := cell.letter()
			if row.Finding && t.Columns[i].Finding {
				letter = s.paint(red, letter)
			}
			b.WriteString(letter)
		}
		b.WriteByte('\n')
	}
	if last := len(t.Rows) - 1; last >= 0 && t.PagesTotal > t.Rows[last].Ordinal+1 {
		fmt.Fprintf(&b, "%9s  (%s)\n", "...", plural(t.PagesTotal-t.Rows[last].Ordinal-1, "page"))
	}
	if strings.TrimSpace(marks) != "" {
		fmt.Fprintf(&b, "%9s  %8s   %s\n", "", "", strings.TrimRight(marks, " "))
	}
	b.WriteString("\nowners: ")
	for i, tenant := range t.Owners {
		fmt.Fprintf(&b, "%c tenant %d, ", 'a'+i, tenant)
	}
	b.WriteString(". never written, 0 zeroed, * others\n")
	b.WriteString("capital, or _ for never written: the request holds the page; F: a fault; !: the finding\n\n")
	for i, c := range t.Columns {
		mark := " "
		if marks[i] != ' ' {
			mark = marks[i : i+1]
		}
		fmt.Fprintf(&b, "%s %c  event %d: %s\n", mark, columnKeys[i%len(columnKeys)], c.Event, printable(c.What))
	}
	return b.String()
}

// letter is one character: whose page, and whether the request holds it.
func (c Cell) letter() string {
	switch {
	case c.Owner == Zeroed:
		return "0"
	case c.Owner == Others:
		return "*"
	case c.Owner < 0 && c.Held:
		return "_"
	case c.Owner < 0:
		return "."
	case c.Held:
		return string(rune('A' + c.Owner%lettersMax))
	}
	return string(rune('a' + c.Owner%lettersMax))
}
