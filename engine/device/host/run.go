package host

import (
	"encoding/binary"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// run carries out an operation that wellFormed let pass.
func (d *Device) run(op *port.Op) port.OpDone {
	answer := done(op.Ticket, port.OK)
	switch op.Kind {
	case port.OpPrefill:
		d.prefill(op, &answer)
	case port.OpDecode:
		d.decode(op, &answer)
	case port.OpScrub:
		d.scrub(op)
	case port.OpStamp:
		for i, page := range op.Pages {
			putStamp(d.config.Pool.Page(wire.Stamp, page), op.Room, op.First+i, op.Generation)
		}
	case port.OpCheckStamp:
		d.checkStamps(op, op.First, op.Pages, &answer)
	case port.OpDigest:
		d.digest(op, &answer)
	case port.OpLoad:
		bytes, err := d.config.Registry.Resolve(op.Span)
		if err != nil {
			answer.Status = port.Rejected
			break
		}
		answer.Data = d.loaded.Take(len(bytes))
		copy(answer.Data, bytes)
	case port.OpStore:
		bytes, err := d.config.Registry.Resolve(op.Span)
		if err != nil {
			answer.Status = port.Rejected
			break
		}
		copy(bytes, op.Data)
	}
	return answer
}

func (d *Device) prefill(op *port.Op, answer *port.OpDone) {
	d.config.Model.Prefill(d.kv, op.Pages, op.First, op.Tokens)
	d.happened = event.Event{
		Kind: event.RowsComputed, Source: d.config.Addr, Room: op.Room, First: op.First, Count: len(op.Tokens),
	}
	d.config.Record(&d.happened)
	if op.Sample {
		d.draw(op, op.First+len(op.Tokens)-1, answer)
	}
}

// decode checks the stamps, writes and reads in one operation: between two operations the pages could change hands.
func (d *Device) decode(op *port.Op, answer *port.OpDone) {
	if !d.checkStamps(op, 0, op.Pages[:op.Verify], answer) {
		return
	}
	d.config.Model.Prefill(d.kv, op.Pages, op.First, op.Tokens)
	d.draw(op, op.First, answer)
}

// draw samples the token that follows position, the last row written.
func (d *Device) draw(op *port.Op, position int, answer *port.OpDone) {
	drawn := d.config.Model.Sample(d.kv, op.Pages, position, d.scratch)
	answer.Sampled = d.sampled.Take(1)
	answer.Sampled[0] = drawn
	d.sample[0] = event.Sample{
		Room: op.Room, Position: position, Token: drawn.Token, Page: drawn.Page, Slot: drawn.Slot, Score: drawn.Score,
	}
	d.happened = event.Event{
		Kind: event.TokenSampled, Source: d.config.Addr, Room: op.Room, Samples: d.sample[:],
	}
	d.config.Record(&d.happened)
}

func (d *Device) scrub(op *port.Op) {
	for _, page := range op.Pages {
		for b := wire.K0; b <= wire.Stamp; b++ {
			clear(d.config.Pool.Page(b, page))
		}
	}
	d.happened = event.Event{Kind: event.PagesScrubbed, Source: d.config.Addr, Room: op.Room, Pages: op.Pages}
	d.config.Record(&d.happened)
}

// checkStamps compares the stamps of pages, whose ordinals count from first, and fails answer at the first wrong one.
func (d *Device) checkStamps(op *port.Op, first int, pages []wire.Page, answer *port.OpDone) bool {
	stamps := d.config.Pool.Buffer(wire.Stamp)
	var want [port.StampBytes]byte
	for i, page := range pages {
		putStamp(want[:], op.Room, first+i, op.Generation)
		at := int(page) * port.StampBytes
		if [port.StampBytes]byte(stamps[at:at+port.StampBytes]) != want {
			answer.Status, answer.FailedOrdinal = port.Failed, first+i
			return false
		}
	}
	return true
}

// putStamp writes a stamp: room (8 bytes), ordinal (4) and generation (4), little endian.
func putStamp(stamp []byte, room wire.Room, ordinal int, generation uint32) {
	binary.LittleEndian.PutUint64(stamp, uint64(room))
	binary.LittleEndian.PutUint32(stamp[8:], uint32(ordinal))
	binary.LittleEndian.PutUint32(stamp[12:], generation)
}

// digest reads the pages where they lie now: it is the receiver's word on what arrived, and owes nothing to the copy.
func (d *Device) digest(op *port.Op, answer *port.OpDone) {
	const aheadLines = 12 // of the next page, fetched while this one is summed: measured, see bench_test.go
	groups := kv.DigestGroups(op.First, len(op.Pages))
	answer.Digests = d.sums.Take(wire.KVBuffers * groups)
	for b := wire.K0; b <= wire.V1; b++ {
		sums := answer.Digests[int(b)*groups:][:groups]
		for i, page := range op.Pages {
			if i+1 < len(op.Pages) {
				kv.Prefetch(d.config.Pool.Page(b, op.Pages[i+1]), aheadLines)
			}
			ordinal := op.First + i
			sums[kv.DigestGroup(op.First, ordinal)] += kv.Digest(b, ordinal, d.config.Pool.Page(b, page))
		}
	}
}
