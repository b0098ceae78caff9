package journal

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/stalepage/stalepage/engine/wire"
)

// scanner reads the pieces that lines are made of, from left to right. The first failure sticks and stops it; each
// method may be called after a failure and then returns zero. It is not a JSON parser: it knows only what the encoder
// writes.
type scanner struct {
	line []byte
	at   int
	err  error
}

func tick(v int64) wire.Tick { return wire.Tick(v) }

// fail says what was expected at the current place.
func (s *scanner) fail(want string) {
	if s.err == nil {
		s.err = fmt.Errorf("at byte %d: want %s", s.at, want)
	}
}

// peek is the next byte, or 0 at the end or after a failure.
func (s *scanner) peek() byte {
	if s.err != nil || s.at >= len(s.line) {
		return 0
	}
	return s.line[s.at]
}

// literal takes exactly text.
func (s *scanner) literal(text string) {
	if s.err != nil {
		return
	}
	if len(s.line)-s.at < len(text) || string(s.line[s.at:s.at+len(text)]) != text {
		s.fail(strconv.Quote(text))
		return
	}
	s.at += len(text)
}

// end says that nothing may follow.
func (s *scanner) end() {
	if s.err == nil && s.at != len(s.line) {
		s.fail("the end of the line")
	}
}

// unsigned takes a decimal number of at most so many bits.
func (s *scanner) unsigned(bits uint) uint64 {
	limit := ^uint64(0) >> (64 - bits)
	var value uint64
	start := s.at
	for s.at < len(s.line) {
		digit := uint64(s.line[s.at]) - '0'
		if digit > 9 {
			break
		}
		if value > limit/10 || value*10 > limit-digit {
			s.fail("a number of at most " + strconv.Itoa(int(bits)) + " bits")
			return 0
		}
		value = value*10 + digit
		s.at++
	}
	if s.at == start {
		s.fail("a number")
		return 0
	}
	return value
}

// signed takes a decimal number of at most so many bits, its sign included.
func (s *scanner) signed(bits uint) int64 {
	if s.peek() != '-' {
		return int64(s.unsigned(bits - 1))
	}
	s.at++
	size := s.unsigned(bits)
	if size > 1<<(bits-1) {
		s.fail("a number of at most " + strconv.Itoa(int(bits)) + " bits")
		return 0
	}
	return -int64(size)
}

// word takes what stands before the next quote, and the quote: a name, which has no escapes.
func (s *scanner) word() []byte {
	for i := s.at; i < len(s.line) && s.err == nil; i++ {
		if s.line[i] == '"' {
			word := s.line[s.at:i]
			s.at = i + 1
			return word
		}
	}
	s.fail("a closing quote")
	return nil
}

// hexadecimal fills dst from twice as many lower-case digits.
func (s *scanner) hexadecimal(dst []byte) {
	for i := range dst {
		dst[i] = byte(s.hexDigits(2))
	}
}

// hexDigits takes a number of exactly count hexadecimal digits.
func (s *scanner) hexDigits(count int) uint64 {
	var value uint64
	for range count {
		digit := s.peek()
		switch {
		case digit >= '0' && digit <= '9':
			value = value<<4 | uint64(digit-'0')
		case digit >= 'a' && digit <= 'f':
			value = value<<4 | uint64(digit-'a'+10)
		default:
			s.fail("a hexadecimal digit")
			return 0
		}
		s.at++
	}
	return value
}

// text takes what appendEscaped wrote, and the closing quote.
func (s *scanner) text() string {
	start := s.at
	for s.err == nil && s.at < len(s.line) {
		switch s.line[s.at] {
		case '"':
			s.at++
			return string(s.line[start : s.at-1])
		case '\\':
			return s.escaped(append([]byte(nil), s.line[start:s.at]...))
		}
		s.at++
	}
	s.fail("a closing quote")
	return ""
}

// escaped takes the rest of a text from its first backslash on.
func (s *scanner) escaped(dst []byte) string {
	for s.err == nil {
		switch c := s.peek(); c {
		case '"':
			s.at++
			return string(dst)
		case '\\':
			s.at++
			dst = s.escape(dst)
		case 0:
			s.fail("a closing quote")
		default:
			dst = append(dst, c)
			s.at++
		}
	}
	return ""
}

// escape takes what follows a backslash. A low surrogate alone is one byte that was no UTF-8.
func (s *scanner) escape(dst []byte) []byte {
	switch c := s.peek(); c {
	case '"', '\\':
		s.at++
		return append(dst, c)
	}
	s.literal("u")
	unit := rune(s.hexDigits(4))
	switch {
	case unit >= 0xdc80 && unit <= 0xdcff:
		return append(dst, byte(unit))
	case unit >= 0xd800 && unit <= 0xdbff:
		s.literal(`\u`)
		low := rune(s.hexDigits(4))
		unit = 0x10000 + (unit-0xd800)<<10 + (low - 0xdc00)
		if s.err == nil && (low < 0xdc00 || low > 0xdfff) {
			s.fail("the second half of a surrogate pair")
		}
	case unit >= 0xdc00 && unit <= 0xdfff:
		s.fail("no such half of a surrogate pair")
	}
	if s.err != nil {
		return dst
	}
	return utf8.AppendRune(dst, unit)
}
