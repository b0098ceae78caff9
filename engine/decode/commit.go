package decode

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// proof is what verifying has gathered of one transfer.
type proof struct {
	record  port.Record
	loaded  bool
	digests []uint64 // K0's groups, then V0's, K1's, V1's, as they lie in decode's own pages
	// stamps is the ticket of the stamp check; unstamped says that it found a wrong one, at ordinal.
	stamps    wire.Ticket
	unstamped bool
	ordinal   int
	// failed is how an operation ended that gave no evidence either way.
	failed port.Status
}

// transferDone takes prefill's claim. Whatever it says, prefill has nothing outstanding on these pages any more.
func (w *Worker) transferDone(r *request, body wire.Sent) {
	w.desk.Event(&event.Event{
		Kind: event.TransferReceived, Room: r.room, Count: body.Pages, Bytes: body.Bytes, Tokens: body.Tokens,
		Digests: body.Digests,
	})
	r.writing = false
	if r.state == transferring {
		r.sent = body
		w.verify(r)
	}
}

// verify reads back what the guards need: the metadata slot always, digests and stamps if asked for.
func (w *Worker) verify(r *request) {
	r.state = verifying
	pages := r.pages[:w.config.Pool.PagesFor(len(r.prompt))]
	if w.config.RecordDigests || w.config.Guards.Has(guard.Coverage) {
		w.submitOp(r, port.Op{Kind: port.OpDigest, Queue: queueMemory, Pages: pages})
	}
	if w.config.Guards.Has(guard.PageStamp) {
		r.proof.stamps = w.submitOp(r, port.Op{
			Kind: port.OpCheckStamp, Queue: queueMemory, Pages: pages, Generation: r.generation,
		})
	}
	w.submitOp(r, port.Op{
		Kind: port.OpLoad, Queue: queueMemory, Span: port.RecordSpan(w.config.RecordBase, r.slot, 0),
	})
}

// gather collects the answers of verify; the last one decides.
func (w *Worker) gather(r *request, d port.OpDone) {
	switch {
	case d.Ticket == r.proof.stamps && d.Status == port.Failed:
		r.proof.unstamped, r.proof.ordinal = true, d.FailedOrdinal
	case d.Status != port.OK:
		r.proof.failed = d.Status
	case d.Digests != nil:
		r.proof.digests = d.Digests
	case d.Data != nil:
		r.proof.record, r.proof.loaded = port.ParseRecord(d.Data)
	}
	if r.ops == 0 {
		w.decide(r)
	}
}

func (w *Worker) decide(r *request) {
	pages := w.config.Pool.PagesFor(len(r.prompt))
	if r.proof.digests != nil {
		w.desk.Event(&event.Event{
			Kind: event.DigestTaken, Room: r.room, Count: pages, Digests: byBuffer(r.proof.digests),
		})
	}
	if reason := w.refuse(r, pages); reason != "" {
		w.finish(r, 500, reason)
		return
	}
	w.desk.Event(&event.Event{
		Kind: event.TransferCommitted, Room: r.room, Tokens: len(r.prompt), Count: pages, Slot: r.slot,
	})
	r.state = running
	w.emit(r, r.proof.record.First)
}

// refuse says why the transfer is not to be believed; "" commits it.
func (w *Worker) refuse(r *request, pages int) string {
	guards := w.config.Guards
	switch {
	case r.proof.failed != port.OK:
		return "device operation " + r.proof.failed.String()
	case !r.proof.loaded || r.proof.record.Room != r.room:
		return fmt.Sprintf("metadata slot %d holds the record of room %d: prefill's never landed", r.slot, r.proof.record.Room)
	case guards.Has(guard.ClaimedLength) && !w.claimFits(r, pages):
		reason := fmt.Sprintf("prefill claims %d tokens, %d pages, %d bytes of %d tokens, %d pages",
			r.proof.record.Tokens, r.sent.Pages, r.sent.Bytes, len(r.prompt), pages)
		w.trip(r, guard.ClaimedLength, reason, -1)
		return reason
	case r.proof.unstamped:
		reason := fmt.Sprintf("page at ordinal %d does not carry this room's stamp at commit", r.proof.ordinal)
		w.trip(r, guard.PageStamp, reason, r.proof.ordinal)
		return reason
	case guards.Has(guard.Coverage):
		if buffer, group, equal := compare(r.sent.Digests, byBuffer(r.proof.digests)); !equal {
			reason := fmt.Sprintf("digest of %s differs from the sender's in pages %d to %d", buffer,
				group*wire.DigestGroupPages, min(pages, (group+1)*wire.DigestGroupPages)-1)
			w.trip(r, guard.Coverage, reason, group*wire.DigestGroupPages)
			return reason
		}
		if r.proof.record.Sum() != r.sent.Record {
			reason := fmt.Sprintf("metadata slot %d holds another record than prefill sent", r.slot)
			w.trip(r, guard.Coverage, reason, -1)
			return reason
		}
	}
	return ""
}

// claimFits compares numbers that the sender published; nothing here looks at a page.
func (w *Worker) claimFits(r *request, pages int) bool {
	bytes := int64(pages) * w.config.Pool.PageBytes(w.config.Guards.Has(guard.PageStamp))
	return r.proof.record.Tokens == len(r.prompt) && r.sent.Tokens == len(r.prompt) && r.sent.Pages == pages &&
		r.sent.Bytes == bytes
}

func byBuffer(sums []uint64) (out [wire.KVBuffers][]uint64) {
	groups := len(sums) / wire.KVBuffers
	for b := range out {
		out[b] = sums[b*groups : (b+1)*groups]
	}
	return out
}

// compare finds the first buffer and page group that differ.
func compare(sent, landed [wire.KVBuffers][]uint64) (buffer wire.Buffer, group int, equal bool) {
	for b := range sent {
		if slices.Equal(sent[b], landed[b]) {
			continue
		}
		for g := range landed[b] {
			if g >= len(sent[b]) || sent[b][g] != landed[b][g] {
				return wire.Buffer(b), g, false
			}
		}
		return wire.Buffer(b), len(landed[b]), false
	}
	return 0, 0, true
}
