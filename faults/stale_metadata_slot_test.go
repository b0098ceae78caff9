package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves how much of the record lands, and where, while its completion claims all of it; pages and other records are
// left alone. The expected lengths are derived from port.Record itself.
func TestTheRecordKeepsFormerContent(t *testing.T) {
	full := []wire.Span{port.RecordSpan(decodeRecords, 3, 0)}
	first := func(n int64) []wire.Span {
		return []wire.Span{{Region: wire.Region{Base: decodeRecords}, Offset: 3 * port.RecordBytes, Length: n}}
	}
	for name, c := range map[string]struct {
		fault  StaleMetadataSlot
		landed []wire.Span
	}{
		"nothing lands":                {StaleMetadataSlot{Keep: KeepNothing}, nil},
		"the room lands":               {StaleMetadataSlot{Keep: KeepRoom}, first(lengthOf(port.Record{Room: ^wire.Room(0)}))},
		"the room is the default":      {StaleMetadataSlot{}, first(lengthOf(port.Record{Room: ^wire.Room(0)}))},
		"the claimed length too":       {StaleMetadataSlot{Keep: KeepLength}, first(lengthOf(port.Record{Room: 1, Tokens: -1}))},
		"it lands in another's slot":   {StaleMetadataSlot{ToSlot: number(6)}, []wire.Span{port.RecordSpan(decodeRecords, 6, 0)}},
		"a slot of its own is no harm": {StaleMetadataSlot{ToSlot: number(3)}, full},
	} {
		t.Run(name, func(t *testing.T) {
			c.fault.Aim(Request(target))
			b := newBench(t, &c.fault)
			writes, theirs := b.transfer(target, 4), b.transfer(other, 4)
			submitted := writes[len(writes)-1]
			var out [32]port.WriteDone
			b.transport.land()
			n := b.prefill.Transport.Poll(out[:])
			b.Expect(n).To(Equal(len(writes) + len(theirs)))
			b.Expect(out[:n]).To(ContainElement(port.WriteDone{
				Ticket: submitted.Ticket, Status: port.OK, ClaimedBytes: port.RecordBytes,
			}))
			var landed []wire.Span
			for _, w := range b.transport.landed {
				if w.Room == roomOf(target) && w.Buffer == wire.Record {
					landed = w.Dst
					b.Expect(w.Src[0].Length).To(Equal(w.Dst[0].Length), "a transport moves as much as it reads")
					b.Expect(w.Src[0].Offset).To(Equal(submitted.Src[0].Offset))
				}
			}
			b.Expect(landed).To(Equal(c.landed))
			b.Expect(submitted.Dst).To(Equal(full), "the worker's own slices are not touched")
			b.Expect(b.landed(target)).To(ContainElements(names(writes[:len(writes)-1])))
			b.Expect(b.landed(other)).To(Equal(names(theirs)))
			want := Fired
			if name == "a slot of its own is no harm" {
				want = Armed
			}
			b.Expect(b.injector.Status()[0].State).To(Equal(want))
		})
	}
}

// lengthOf is how many bytes of a record hold the fields that are set: up to its last byte that is not zero.
func lengthOf(r port.Record) int64 {
	bytes := r.Bytes()
	n := len(bytes)
	for n > 0 && bytes[n-1] == 0 {
		n--
	}
	return int64(n)
}
