package colocated

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// schedule starts waiting requests, first come, first served, and runs one operation of each request that has none.
func (w *Worker) schedule() {
	starved := false
	for _, r := range w.queue {
		if r.state == waiting && !starved {
			starved = !w.start(r)
		}
		if r.state == running && r.ops == 0 {
			last := len(r.output) - 1
			w.submitOp(r, port.Op{
				Kind: port.OpDecode, Pages: r.pages, First: len(r.prompt) + last, Tokens: r.output[last : last+1 : last+1],
			})
		}
	}
}

// start reserves pages for prompt and answer and computes the first chunk. It reports false if the request must wait.
func (w *Worker) start(r *request) bool {
	need := w.config.Pool.PagesFor(len(r.prompt) + r.maxNewTokens)
	if w.config.Allocator.Free() < need && need <= w.config.Allocator.Capacity() {
		return false
	}
	if !w.admit(r, wire.AtWaiting) {
		return true
	}
	if r.pages = w.config.Allocator.Reserve(need); r.pages == nil {
		return w.neverFits(r, need)
	}
	w.desk.Event(&event.Event{Kind: event.PagesReserved, Room: r.room, Pages: r.pages})
	r.state = forwarding
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
		Reason: fmt.Sprintf("prompt and answer need %d pages of a pool of %d", need, capacity),
	}
	w.reject(r)
	return true
}

func (w *Worker) compute(r *request) {
	next := min(len(r.prompt), r.computed+w.config.Worker.ChunkedPrefillSize)
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
	r.ops++
	return ticket
}

func (w *Worker) opDone(d port.OpDone) {
	r, _ := w.operations.Get(d.Ticket)
	if r == nil {
		return // a duplicate completion: this ticket was answered before
	}
	w.operations.Delete(d.Ticket)
	r.ops--
	switch {
	case d.Ticket == r.scrub && d.Status != port.OK:
		w.desk.Event(&event.Event{
			Kind: event.PagesQuarantined, Room: r.room, Count: len(r.pages),
			Reason: "scrub " + d.Status.String() + ": the pages still hold what they held",
		})
		w.quarantinedPages += len(r.pages)
		r.pages, r.state = nil, over
	case r.state >= draining:
	case d.Status != port.OK:
		w.finish(r, 500, "device operation "+d.Status.String())
	case r.state == forwarding && r.computed < len(r.prompt):
		w.compute(r)
	case r.pending.Refused: // the object that was refused is the one that answers
		w.reject(r)
	case len(d.Sampled) == 0:
		w.finish(r, 500, "device answered without a token")
	default:
		r.state = running
		r.output = append(r.output, d.Sampled[0].Token)
		if len(r.output) >= r.maxNewTokens {
			w.finish(r, 200, "length")
		}
	}
}

// sweep ends what has waited too long, gives back what has drained, and drops what is over from the queue.
func (w *Worker) sweep() {
	kept := w.queue[:0]
	for _, r := range w.queue {
		w.expire(r)
		if r.state == draining && (r.ops == 0 || !w.config.Guards.Has(guard.DeferredRelease)) {
			w.release(r)
		}
		if r.state == scrubbing && r.ops == 0 {
			w.giveBack(r)
		}
		if r.state == over {
			r.prompt, r.output = nil, nil
			continue
		}
		kept = append(kept, r)
	}
	clear(w.queue[len(kept):])
	w.queue = kept
}

func (w *Worker) expire(r *request) {
	switch {
	case r.state != waiting:
	case w.desk.Now() < r.deadline:
		w.desk.WakeBy(r.deadline)
	default:
		reason := "timed out waiting for free pages"
		w.desk.Event(&event.Event{Kind: event.RequestExpired, Room: r.room, Reason: reason})
		w.finish(r, 504, reason)
	}
}

func (w *Worker) release(r *request) {
	if r.pages != nil && w.config.Guards.Has(guard.Scrub) {
		r.state = scrubbing
		r.scrub = w.submitOp(r, port.Op{Kind: port.OpScrub, Pages: r.pages})
		return
	}
	w.giveBack(r)
}

func (w *Worker) giveBack(r *request) {
	if r.pages != nil {
		w.desk.Event(&event.Event{Kind: event.PagesReleased, Room: r.room})
		w.config.Allocator.Release(r.pages)
		r.pages = nil
	}
	r.state = over
}
