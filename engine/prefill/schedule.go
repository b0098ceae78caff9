package prefill

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// schedule moves requests from queue to queue, first come, first served: a request that cannot get its pages holds back
// those behind it.
func (w *Worker) schedule() {
	starved := false
	for _, r := range w.queue {
		if r.state == bootstrapping && r.submitted && r.reserved && w.admit(r, wire.AtBootstrap) {
			w.desk.Event(&event.Event{Kind: event.RoomBootstrapped, Room: r.room, Count: len(r.target.Pages)})
			r.state = waiting
		}
		if r.state == waiting && !starved {
			starved = !w.start(r)
		}
	}
}

// start reserves pages and a record slot and computes the first chunk. It reports false if the request must wait.
func (w *Worker) start(r *request) bool {
	need := w.config.Pool.PagesFor(len(r.prompt))
	if w.config.Slots.Free() == 0 || w.config.Allocator.Free() < need && need <= w.config.Allocator.Capacity() {
		return false
	}
	if !w.admit(r, wire.AtWaiting) {
		return true
	}
	if r.pages = w.config.Allocator.Reserve(need); r.pages == nil {
		return w.neverFits(r, need)
	}
	r.slot, _ = w.config.Slots.Reserve()
	w.desk.Event(&event.Event{Kind: event.PagesReserved, Room: r.room, Pages: r.pages, Slot: r.slot})
	r.state = forwarding
	if w.config.Guards.Has(guard.PageStamp) {
		w.submitOp(r, port.Op{Kind: port.OpStamp, Pages: r.pages, Generation: r.target.Generation})
	}
	w.compute(r)
	return true
}

// neverFits refuses a request that no amount of waiting would serve: it would only hold back those behind it.
func (w *Worker) neverFits(r *request, need int) bool {
	capacity := w.config.Allocator.Capacity()
	if need <= capacity {
		return false
	}
	r.pending = port.Verdict{
		Refused: true, Stage: wire.AtWaiting,
		Reason: fmt.Sprintf("the prompt needs %d pages of a pool of %d", need, capacity),
	}
	w.reject(r)
	return true
}

// compute submits the next chunk.
func (w *Worker) compute(r *request) {
	count := min(w.config.Worker.ChunkedPrefillSize, len(r.prompt)-r.computed)
	next := r.computed + count
	w.submitOp(r, port.Op{
		Kind: port.OpPrefill, Pages: r.pages, First: r.computed, Tokens: r.prompt[r.computed:next],
		Sample: next == len(r.prompt),
	})
	r.computed = next
}

func (w *Worker) submitOp(r *request, o port.Op) wire.Ticket {
	o.Room = r.room
	ticket := w.desk.Op(o)
	w.operations.Put(ticket, r)
	r.ops = append(r.ops, ticket)
	return ticket
}

func (w *Worker) opDone(d port.OpDone) {
	r, _ := w.operations.Get(d.Ticket)
	if r == nil {
		return // a duplicate completion: this ticket was answered before
	}
	w.operations.Delete(d.Ticket)
	r.ops = without(r.ops, d.Ticket)
	switch {
	case d.Ticket == r.scrub && d.Status != port.OK:
		w.quarantine(r, "scrub "+d.Status.String()+": the pages still hold what they held")
	case r.state != forwarding:
	case d.Status != port.OK:
		w.failTransfer(r, 500, "device operation "+d.Status.String())
	case len(r.ops) > 0: // a chunk has one answer: stamps and rows together
		w.keepSample(r, d)
	case r.stored:
		w.postRecord(r)
	default:
		w.keepSample(r, d)
		w.chunkDone(r)
	}
}

func (w *Worker) keepSample(r *request, d port.OpDone) {
	if len(d.Sampled) > 0 {
		r.first = d.Sampled[0].Token
	}
}

// chunkDone posts the whole pages that the chunk completed, or all that is left after the last chunk.
func (w *Worker) chunkDone(r *request) {
	last := r.computed == len(r.prompt)
	ready := r.computed / w.config.Pool.PageSize
	if last {
		if !w.admit(r, wire.AtForward) {
			return
		}
		ready = w.config.Pool.PagesFor(r.computed)
	}
	if r.posted == 0 && !w.checkOwed(r) {
		return
	}
	w.postPages(r, min(ready, len(r.target.Pages)))
	if !last {
		w.compute(r)
		return
	}
	r.stored = true
	w.submitOp(r, port.Op{
		Kind: port.OpStore, Span: port.RecordSpan(w.config.RecordBase, r.slot, 0),
		Data: r.record().Bytes(),
	})
}

// checkOwed is the sender-check guard: what prefill owes must be what decode reserved.
func (w *Worker) checkOwed(r *request) bool {
	owed := w.config.Pool.PagesFor(len(r.prompt))
	if !w.config.Guards.Has(guard.SenderCheck) || owed == len(r.target.Pages) {
		return true
	}
	reason := "owes a different number of pages than the peer reserved"
	w.desk.Event(&event.Event{
		Kind: event.GuardTripped, Room: r.room, Guard: guard.SenderCheck.String(), Reason: reason, First: owed,
	})
	w.failTransfer(r, 500, reason)
	return false
}

func without(tickets []wire.Ticket, gone wire.Ticket) []wire.Ticket {
	for i, t := range tickets {
		if t == gone {
			return append(tickets[:i], tickets[i+1:]...)
		}
	}
	return tickets
}
