package prefill

import (
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// postPages posts ordinals r.posted to upTo-1, one write a buffer; the stamp, if any, is ordered behind the rest.
func (w *Worker) postPages(r *request, upTo int) {
	if upTo <= r.posted {
		return
	}
	first := r.posted
	r.posted = upTo
	digest := w.config.RecordDigests || w.config.Guards.Has(guard.Coverage)
	r.writes = slices.Grow(r.writes, int(wire.Buffers))
	for b := wire.K0; b <= wire.V1; b++ {
		w.postBuffer(r, port.Write{Buffer: b, Digest: digest}, first, upTo)
	}
	if w.config.Guards.Has(guard.PageStamp) {
		w.postBuffer(r, port.Write{Buffer: wire.Stamp, After: r.writes[len(r.writes)-wire.KVBuffers:]}, first, upTo)
	}
}

func (w *Worker) postBuffer(r *request, write port.Write, first, upTo int) {
	spans := w.desk.Spans(2 * (upTo - first))
	write.Src, write.Dst = spans[:upTo-first], spans[upTo-first:]
	for i := range write.Src {
		write.Src[i] = w.config.Pool.Span(write.Buffer, r.pages[first+i], 0)
		write.Dst[i] = w.peerPool().Span(write.Buffer, r.target.Pages[first+i], r.target.Generation)
	}
	write.First = wire.Ordinal(first)
	w.submitWrite(r, write, upTo-first)
}

// peerPool is where decode's pages lie, by its own registration.
func (w *Worker) peerPool() port.Layout {
	return port.Layout{
		Base: w.peer.PoolBase, Pages: w.peer.PoolPages, PageSize: w.peer.PageSize, RowBytes: w.config.Pool.RowBytes,
	}
}

// record is what decode is to find in the metadata slot.
func (r *request) record() port.Record {
	return port.Record{Room: r.room, Tokens: len(r.prompt), First: r.first}
}

// postRecord posts the metadata record behind every write of the room that is still outstanding.
func (w *Worker) postRecord(r *request) {
	r.state = inflight
	spans := w.desk.Spans(2)
	spans[0] = port.RecordSpan(w.config.RecordBase, r.slot, 0)
	spans[1] = port.RecordSpan(w.peer.RecordBase, r.target.Slot, r.target.Generation)
	w.submitWrite(r, port.Write{Buffer: wire.Record, Src: spans[:1], Dst: spans[1:], After: r.writes}, 1)
}

func (w *Worker) submitWrite(r *request, write port.Write, count int) {
	write.Room = r.room
	ticket := w.desk.Write(write)
	w.transfers.Put(ticket, outgoing{request: r, buffer: write.Buffer, first: int(write.First), count: count})
	r.writes = append(r.writes, ticket)
	w.desk.Event(&event.Event{
		Kind: event.WritePosted, Room: r.room, Buffer: write.Buffer, First: int(write.First), Count: count,
		Slot: r.target.Slot,
	})
}

func (w *Worker) writeDone(d port.WriteDone) {
	sent, known := w.transfers.Get(d.Ticket)
	if !known {
		return // a duplicate completion: this ticket was answered before
	}
	r := sent.request
	w.transfers.Delete(d.Ticket)
	r.writes = without(r.writes, d.Ticket)
	w.desk.Event(&event.Event{
		Kind: event.WriteEnded, Room: r.room, Buffer: sent.buffer, First: sent.first, Count: sent.count,
		Bytes: d.ClaimedBytes, Reason: d.Status.String(),
	})
	if r.state != forwarding && r.state != inflight {
		return
	}
	if d.Status != port.OK {
		w.failTransfer(r, 500, "write of "+sent.buffer.String()+" "+d.Status.String())
		return
	}
	if sent.buffer != wire.Record {
		r.claimedBytes += d.ClaimedBytes
	}
	if sent.buffer < wire.KVBuffers {
		w.addDigests(r, sent, d.Digests)
	}
}

func (w *Worker) addDigests(r *request, sent outgoing, sums []uint64) {
	group := sent.first / wire.DigestGroupPages
	for i, sum := range sums {
		for len(r.digests[sent.buffer]) <= group+i {
			r.digests[sent.buffer] = append(r.digests[sent.buffer], 0)
		}
		r.digests[sent.buffer][group+i] += sum
	}
}

// complete says "done" once all that was posted has ended.
func (w *Worker) complete(r *request) {
	if len(r.writes) > 0 {
		return
	}
	sent := wire.Sent{Pages: r.posted, Bytes: r.claimedBytes, Tokens: len(r.prompt), Digests: r.digests}
	if w.config.RecordDigests || w.config.Guards.Has(guard.Coverage) {
		sent.Record = r.record().Sum()
	}
	w.desk.Event(&event.Event{
		Kind: event.TransferSent, Room: r.room, Count: sent.Pages, Bytes: sent.Bytes, Tokens: sent.Tokens,
		Digests: sent.Digests,
	})
	w.desk.Send(w.decode.Addr, r.room, sent)
	w.desk.Event(&event.Event{Kind: event.RequestFinished, Room: r.room, Status: 200, Tokens: len(r.prompt), Count: 1})
	r.state = draining // nothing is outstanding: the same sweep gives its pages back
}
