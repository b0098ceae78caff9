package prefill

import (
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
			w.desk.Event(event.Event{Kind: event.RoomBootstrapped, Room: r.room, Count: len(r.target.Pages)})
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
		return false
	}
	r.slot, _ = w.config.Slots.Reserve()
	w.desk.Event(event.Event{Kind: event.PagesReserved, Room: r.room, Pages: r.pages, Slot: r.slot})
	r.state = forwarding
	if w.config.Guards.Has(guard.PageStamp) {
		w.submitOp(r, port.Op{Kind: port.OpStamp, Pages: r.pages, Generation: r.target.Generation})
	}
	w.compute(r)
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

func (w *Worker) submitOp(r *request, o port.Op) {
	o.Room = r.room
	ticket := w.desk.Op(o)
	w.operations[ticket] = r
	r.ops = append(r.ops, ticket)
}

func (w *Worker) opDone(d port.OpDone) {
	r := w.operations[d.Ticket]
	if r == nil {
		return // a duplicate completion: this ticket was answered before
	}
	delete(w.operations, d.Ticket)
	r.ops = without(r.ops, d.Ticket)
	switch {
	case r.state != forwarding:
	case d.Status != port.OK:
		w.failTransfer(r, "device operation "+d.Status.String())
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
		Data: port.Record{Room: r.room, Tokens: len(r.prompt), First: r.first}.Bytes(),
	})
}

// checkOwed is the sender-check guard: what prefill owes must be what decode reserved.
func (w *Worker) checkOwed(r *request) bool {
	owed := w.config.Pool.PagesFor(len(r.prompt))
	if !w.config.Guards.Has(guard.SenderCheck) || owed == len(r.target.Pages) {
		return true
	}
	reason := "owes a different number of pages than the peer reserved"
	w.desk.Event(event.Event{
		Kind: event.GuardTripped, Room: r.room, Guard: guard.SenderCheck.String(), Reason: reason, First: owed,
	})
	w.failTransfer(r, reason)
	return false
}

// sweep ends what has waited too long, says "done" for what is complete, gives back what has drained, and drops what is
// over from the queue.
func (w *Worker) sweep() {
	kept := w.queue[:0]
	for _, r := range w.queue {
		w.expire(r)
		if r.state == inflight {
			w.complete(r)
		}
		if r.state == draining && (w.drained(r) || !w.config.Guards.Has(guard.DeferredRelease)) {
			w.release(r)
		}
		if r.state == scrubbing && len(r.ops) == 0 {
			w.giveBack(r)
		}
		if r.state == over {
			for _, to := range r.acknowledgeTo {
				w.acknowledge(r, to)
			}
			r.acknowledgeTo, r.prompt = nil, nil
			continue
		}
		kept = append(kept, r)
	}
	clear(w.queue[len(kept):])
	w.queue = kept
}

// expire bounds the wait for decode's reservation and for pages.
func (w *Worker) expire(r *request) {
	if r.state > waiting {
		return
	}
	if w.desk.Now() < r.deadline {
		w.desk.WakeBy(r.deadline)
		return
	}
	w.desk.Event(event.Event{Kind: event.RequestExpired, Room: r.room, Reason: "waited for a reservation or for pages"})
	r.pending = port.Verdict{Refused: true, Stage: wire.AtBootstrap, Reason: "timed out before the transfer began"}
	w.reject(r)
}

// release starts giving back what a finished request holds: scrubbed first, if that guard is on.
func (w *Worker) release(r *request) {
	if r.pages != nil && w.config.Guards.Has(guard.Scrub) {
		r.state = scrubbing
		w.submitOp(r, port.Op{Kind: port.OpScrub, Pages: r.pages})
		return
	}
	w.giveBack(r)
}

func (w *Worker) giveBack(r *request) {
	if r.pages != nil {
		w.desk.Event(event.Event{Kind: event.PagesReleased, Room: r.room})
		w.config.Allocator.Release(r.pages)
		w.config.Slots.Release(r.slot)
		r.pages, r.slot = nil, -1
	}
	r.state = over
}

func without(tickets []wire.Ticket, gone wire.Ticket) []wire.Ticket {
	for i, t := range tickets {
		if t == gone {
			return append(tickets[:i], tickets[i+1:]...)
		}
	}
	return tickets
}
