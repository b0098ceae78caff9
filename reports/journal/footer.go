package journal

import (
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
)

// appendFooter spells the footer line with its newline, hashing into sum what precedes the digits of the hash. sum
// holds every earlier byte of the journal.
func appendFooter(dst []byte, f Footer, sum hash.Hash) []byte {
	start := len(dst)
	dst = append(dst, closedLine...)
	dst = append(dst, `,"events":`...)
	dst = strconv.AppendInt(dst, f.Events, 10)
	dst = append(dst, `,"steps":`...)
	dst = strconv.AppendInt(dst, f.Steps, 10)
	dst = append(dst, `,"tick":`...)
	dst = strconv.AppendInt(dst, int64(f.Tick), 10)
	dst = append(dst, `,"sha256":"`...)
	sum.Write(dst[start:])
	var digits [32]byte
	dst = hex.AppendEncode(dst, sum.Sum(digits[:0]))
	return append(dst, '"', '}', '\n')
}

// parseFooter reads what appendFooter wrote and verifies it: events is how many the reader has seen, sum holds every
// byte before the line.
func parseFooter(line []byte, events int64, sum hash.Hash) (Footer, error) {
	var f Footer
	s := scanner{line: line}
	s.literal(closedLine)
	s.literal(`,"events":`)
	f.Events = s.signed(64)
	s.literal(`,"steps":`)
	f.Steps = s.signed(64)
	s.literal(`,"tick":`)
	f.Tick = tick(s.signed(64))
	s.literal(`,"sha256":"`)
	s.hexadecimal(f.SHA256[:])
	s.literal("\"}\n")
	s.end()
	if s.err != nil {
		return Footer{}, fmt.Errorf("%w: %s: %w", ErrMalformed, closedKind, s.err)
	}
	given := f.SHA256
	if again := appendFooter(nil, f, sum); string(again) != string(line) {
		sum.Sum(f.SHA256[:0])
		return Footer{}, fmt.Errorf("%w: its content hashes to %x, its footer says %x", ErrTampered, f.SHA256, given)
	}
	if f.Events != events {
		return Footer{}, fmt.Errorf("%w: it holds %d events, its footer says %d", ErrTampered, events, f.Events)
	}
	return f, nil
}
