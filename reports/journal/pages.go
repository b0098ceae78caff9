package journal

import (
	"math"
	"strconv"

	"github.com/stalepage/stalepage/engine/wire"
)

// appendPages spells a page list by runs, in order, separated by commas: "12+40" is page 12 and the 40 above it, "90-2"
// is page 90 and the two below it (a last-in-first-out allocator hands out such), "80" is one page. Each run is as
// long as it can be, so a list has one spelling.
func appendPages(dst []byte, pages []wire.Page) []byte {
	for i := 0; i < len(pages); {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(pages[i]), 10)
		sign, run := byte('+'), runLength(pages[i:], 1)
		if run == 1 {
			sign, run = '-', runLength(pages[i:], -1)
		}
		if run > 1 {
			dst = append(dst, sign)
			dst = strconv.AppendInt(dst, int64(run-1), 10)
		}
		i += run
	}
	return dst
}

// runLength is how many of pages, from the first, follow each other at the given stride: at least 1.
func runLength(pages []wire.Page, stride int64) int {
	n := 1
	for n < len(pages) && int64(pages[n]) == int64(pages[n-1])+stride {
		n++
	}
	return n
}

// pages reads what appendPages wrote, the quotes excluded, into dst.
func (s *scanner) pages(dst []wire.Page) []wire.Page {
	for s.err == nil {
		first := s.signed(32)
		stride, extra := int64(1), int64(0)
		switch s.peek() {
		case '+':
			s.at++
			extra = s.signed(32)
		case '-':
			s.at++
			stride, extra = -1, s.signed(32)
		}
		last := first + stride*extra
		if extra < 0 || last > math.MaxInt32 || last < math.MinInt32 || int64(len(dst))+extra >= PagesMax {
			s.fail("a page list within range and of at most " + strconv.Itoa(PagesMax) + " pages")
		}
		if s.err != nil {
			return dst
		}
		for i := range extra + 1 {
			dst = append(dst, wire.Page(first+stride*i))
		}
		if s.peek() != ',' {
			return dst
		}
		s.at++
	}
	return dst
}
