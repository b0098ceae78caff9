package journal

import (
	"bytes"
	"strconv"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// each takes a bracketed list of at most so many entries, each read by read, which is given its index.
func (s *scanner) each(limit int, read func(int)) {
	s.literal("[")
	for i := 0; s.err == nil; i++ {
		if i == limit {
			s.fail("at most " + strconv.Itoa(limit) + " entries")
			return
		}
		read(i)
		if s.peek() != ',' {
			break
		}
		s.at++
	}
	s.literal("]")
}

func (s *scanner) hasPrefix(text string) bool {
	return s.err == nil && bytes.HasPrefix(s.line[s.at:], []byte(text))
}

func (s *scanner) span() event.Span {
	var out event.Span
	s.literal("[")
	out.Tenant = int(s.signed(strconv.IntSize))
	s.literal(",")
	out.First = int(s.signed(strconv.IntSize))
	s.literal(",")
	out.Count = int(s.signed(strconv.IntSize))
	s.literal("]")
	return out
}

func (s *scanner) holdings(h *event.Holdings) {
	separator := `{"`
	for _, field := range [...]struct {
		name  string
		value *int
	}{
		{"pages_free", &h.PagesFree},
		{"pages_capacity", &h.PagesCapacity},
		{"pages_quarantined", &h.PagesQuarantined},
		{"slots_free", &h.SlotsFree},
		{"slots_capacity", &h.SlotsCapacity},
		{"slots_quarantined", &h.SlotsQuarantined},
		{"requests", &h.Requests},
		{"outstanding", &h.Outstanding},
	} {
		s.literal(separator)
		s.literal(field.name)
		s.literal(`":`)
		*field.value = int(s.signed(strconv.IntSize))
		separator = `,"`
	}
	s.literal("}")
}

// addr takes an address in quotes, as wire.Addr spells it.
func (s *scanner) addr() wire.Addr {
	var a wire.Addr
	s.literal(`"`)
	for a.Role = wire.Client; a.Role <= wire.Colocated; a.Role++ {
		name := a.Role.String()
		if s.hasPrefix(name) {
			s.literal(name)
			s.literal("/")
			a.Index = uint8(s.unsigned(8))
			s.literal("#")
			a.Incarnation = uint16(s.unsigned(16))
			s.literal(`"`)
			return a
		}
	}
	s.fail("an address, role/index#incarnation")
	return wire.Addr{}
}

// unmarshal takes a name and its closing quote.
func (s *scanner) unmarshal(into interface{ UnmarshalText([]byte) error }) {
	name := s.word()
	if s.err != nil {
		return
	}
	if err := into.UnmarshalText(name); err != nil {
		s.err = err
	}
}
