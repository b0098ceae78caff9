package journal

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// ParseEvent reads one line as AppendEvent spells it, without newline. It refuses every other spelling of the same
// event.
func ParseEvent(line []byte) (event.Event, error) {
	var e event.Event
	err := newDecoder().decode(line, &e)
	return e, err
}

// decoder reads events into storage that it uses again for the next one.
type decoder struct {
	kinds   map[string]event.Kind
	pages   []wire.Page
	output  []wire.Token
	samples []event.Sample
	spans   []event.Span
	digests [wire.KVBuffers][]uint64
	again   []byte
}

func newDecoder() *decoder {
	d := &decoder{kinds: make(map[string]event.Kind)}
	for _, k := range event.Kinds() {
		d.kinds[k.String()] = k
	}
	return d
}

// decode reads line into e, whose lists are valid until the next call.
//
// The scan below takes some lines that no encoder writes: a field twice, out of order, or zero. Spelling e again and
// comparing refuses them all, and whatever the scan may have misread, for the price of one encoding.
func (d *decoder) decode(line []byte, e *event.Event) error {
	*e = event.Event{}
	s := scanner{line: line}
	s.literal(`{"kind":"`)
	name := s.word()
	kind, known := d.kinds[string(name)]
	if s.err == nil && !known {
		return fmt.Errorf("%w: kind %q is not known to this version", ErrMalformed, name)
	}
	e.Kind = kind
	for s.peek() == ',' {
		s.literal(`,"`)
		key := s.word()
		s.literal(":")
		if s.err == nil && !d.number(&s, key, e) && !d.name(&s, key, e) && !d.list(&s, key, e) {
			return fmt.Errorf("%w: %s: at byte %d: field %q is not known to this version", ErrMalformed, kind, s.at, key)
		}
	}
	s.literal("}")
	s.end()
	if s.err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, s.err)
	}
	d.again = AppendEvent(d.again[:0], e)
	if !bytes.Equal(d.again, line) {
		return fmt.Errorf("%w: %s: not spelled as a writer spells it: want %s", ErrMalformed, kind, clip(d.again))
	}
	return nil
}

// number reads the value of a field that holds a number; false if key names no such field.
func (d *decoder) number(s *scanner, key []byte, e *event.Event) bool {
	const size = strconv.IntSize
	switch string(key) {
	case "tick":
		e.Tick = tick(s.signed(64))
	case "room":
		e.Room = wire.Room(s.unsigned(64))
	case "tenant":
		e.Tenant = int(s.signed(size))
	case "request":
		e.Request = int(s.signed(size))
	case "tokens":
		e.Tokens = int(s.signed(size))
	case "max_new_tokens":
		e.MaxNewTokens = int(s.signed(size))
	case "first":
		e.First = int(s.signed(size))
	case "count":
		e.Count = int(s.signed(size))
	case "bytes":
		e.Bytes = s.signed(64)
	case "status":
		e.Status = int(s.signed(size))
	case "slot":
		e.Slot = int(s.signed(size))
	case "generation":
		e.Generation = uint32(s.unsigned(32))
	case "flag":
		s.literal("true")
		e.Flag = true
	default:
		return false
	}
	return true
}

// name reads the value of a field that holds a name or a text; false if key names no such field.
func (d *decoder) name(s *scanner, key []byte, e *event.Event) bool {
	var text *string
	switch string(key) {
	case "source":
		e.Source = s.addr()
		return true
	case "peer":
		e.Peer = s.addr()
		return true
	case "stage":
		s.literal(`"`)
		s.unmarshal(&e.Stage)
		return true
	case "buffer":
		s.literal(`"`)
		s.unmarshal(&e.Buffer)
		return true
	case "guard":
		text = &e.Guard
	case "fault":
		text = &e.Fault
	case "reason":
		text = &e.Reason
	case "before":
		text = &e.Before
	case "after":
		text = &e.After
	case "text":
		text = &e.Text
	default:
		return false
	}
	s.literal(`"`)
	*text = s.text()
	return true
}

// list reads the value of a field that holds many; false if key names no such field.
func (d *decoder) list(s *scanner, key []byte, e *event.Event) bool {
	switch string(key) {
	case "hash":
		s.literal(`"`)
		s.hexadecimal(e.Hash[:])
		s.literal(`"`)
	case "pages":
		s.literal(`"`)
		d.pages = s.pages(d.pages[:0])
		e.Pages = d.pages
		s.literal(`"`)
	case "output":
		d.output = d.output[:0]
		s.each(ListMax, func(int) { d.output = append(d.output, wire.Token(s.unsigned(16))) })
		e.Output = d.output
	case "samples":
		d.readSamples(s, e.Room)
		e.Samples = d.samples
	case "spans":
		d.spans = d.spans[:0]
		s.each(ListMax, func(int) { d.spans = append(d.spans, s.span()) })
		e.Spans = d.spans
	case "digests":
		d.readDigests(s, e)
	case "holdings":
		s.holdings(&e.Holdings)
	default:
		return false
	}
	return true
}

func (d *decoder) readSamples(s *scanner, own wire.Room) {
	d.samples = d.samples[:0]
	rooms := 0
	s.literal("{")
	if s.hasPrefix(`"rooms":`) {
		s.literal(`"rooms":`)
		s.each(SamplesMax, func(i int) {
			d.samples = append(d.samples, event.Sample{Room: wire.Room(s.unsigned(64))})
			rooms = i + 1
		})
		s.literal(",")
	}
	s.literal(`"positions":`)
	if rooms < 2 { // no column, or one entry for all
		if rooms == 1 {
			own = d.samples[0].Room
		}
		d.samples = d.samples[:0]
		s.each(SamplesMax, func(int) {
			d.samples = append(d.samples, event.Sample{Room: own, Position: int(s.signed(strconv.IntSize))})
		})
	} else {
		d.column(s, func(at *event.Sample) { at.Position = int(s.signed(strconv.IntSize)) })
	}
	s.literal(`,"tokens":`)
	d.column(s, func(at *event.Sample) { at.Token = wire.Token(s.unsigned(16)) })
	s.literal(`,"pages":`)
	d.column(s, func(at *event.Sample) { at.Page = wire.Page(s.signed(32)) })
	s.literal(`,"slots":`)
	d.column(s, func(at *event.Sample) { at.Slot = int32(s.signed(32)) })
	s.literal(`,"scores":`)
	d.column(s, func(at *event.Sample) { at.Score = int32(s.signed(32)) })
	s.literal("}")
}

// column reads one value for each sample there is.
func (d *decoder) column(s *scanner, read func(*event.Sample)) {
	count := 0
	s.each(len(d.samples), func(i int) {
		read(&d.samples[i])
		count++
	})
	if s.err == nil && count != len(d.samples) {
		s.fail("columns of one length")
	}
}

func (d *decoder) readDigests(s *scanner, e *event.Event) {
	s.literal("[")
	for b := range e.Digests {
		if b > 0 {
			s.literal(",")
		}
		s.literal(`"`)
		sums := d.digests[b][:0]
		for s.err == nil && s.peek() != '"' {
			if len(sums) > 0 {
				s.literal(" ")
			}
			if len(sums) == PagesMax {
				s.fail("at most " + strconv.Itoa(PagesMax) + " digests a buffer")
			}
			sums = append(sums, s.hexDigits(16))
		}
		s.literal(`"`)
		d.digests[b] = sums
		if len(sums) > 0 {
			e.Digests[b] = sums
		}
	}
	s.literal("]")
}

// clip shortens a line for a message.
func clip(line []byte) string {
	const shown = 200
	if len(line) <= shown {
		return string(line)
	}
	return string(line[:shown]) + "…"
}
