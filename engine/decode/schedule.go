package decode

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// preallocate reserves pages for waiting requests, first come, first served: pages for the prompt and the whole answer.
func (w *Worker) preallocate() {
	for _, r := range w.queue {
		if r.state == preallocating && !w.reserve(r) {
			return
		}
	}
}

// reserve reports false if the request must wait.
func (w *Worker) reserve(r *request) bool {
	if w.config.Slots.Free() == 0 {
		return false
	}
	if !w.admit(r, wire.AtReserve) {
		return true
	}
	pages := w.config.Allocator.Reserve(w.config.Pool.PagesFor(len(r.prompt) + r.maxNewTokens))
	if pages == nil {
		return false
	}
	r.pages = pages
	r.slot, _ = w.config.Slots.Reserve()
	if w.config.Guards.Has(guard.AddressGeneration) {
		w.generation++
		r.generation = w.generation
		w.desk.Grant(wire.Region{Base: w.config.Pool.Base, Generation: r.generation})
		w.desk.Grant(wire.Region{Base: w.config.RecordBase, Generation: r.generation})
	}
	w.desk.Event(event.Event{
		Kind: event.PagesReserved, Room: r.room, Pages: r.pages, Slot: r.slot, Generation: r.generation,
	})
	r.state, r.told, r.writing = transferring, true, true
	r.deadline = w.desk.Now() + wire.Tick(w.config.Worker.BootstrapTimeoutTicks)
	w.desk.Send(w.config.Prefill, r.room, wire.Reserved{
		Pages: r.pages[:w.config.Pool.PagesFor(len(r.prompt))], Slot: r.slot, Generation: r.generation,
	})
	return true
}

// startStep begins the next decode step, if none is in flight: one operation for each running request.
func (w *Worker) startStep() {
	if w.stepWaits > 0 {
		return
	}
	w.step = w.step[:0]
	for _, r := range w.queue {
		if r.state != running || len(w.step) == w.config.Worker.MaxRunningRequests {
			continue
		}
		last := len(r.output) - 1
		o := port.Op{
			Kind: port.OpDecode, Queue: queueCompute, Pages: r.pages, First: len(r.prompt) + last,
			Tokens: r.output[last : last+1 : last+1],
		}
		if w.config.Guards.Has(guard.PageStamp) {
			o.Verify, o.Generation = w.config.Pool.PagesFor(len(r.prompt)), r.generation
		}
		r.stepping = true
		w.submitOp(r, o)
		w.step = append(w.step, r)
	}
	w.stepWaits = len(w.step)
}

// stepDone takes one answer of the step in flight; the next step begins when all of them are in.
func (w *Worker) stepDone(r *request, d port.OpDone) {
	r.stepping = false
	w.stepWaits--
	switch {
	case r.state != running: // ended while its operation ran
	case d.Status != port.OK:
		reason := "device operation " + d.Status.String()
		if w.config.Guards.Has(guard.PageStamp) {
			reason = fmt.Sprintf("page at ordinal %d no longer carries this room's stamp on read", d.FailedOrdinal)
			w.trip(r, guard.PageStamp, reason, d.FailedOrdinal)
		}
		w.finish(r, 500, reason)
	default:
		w.emit(r, d.Sampled[0].Token)
	}
}

// emit adds one token to the answer and ends it at its length.
func (w *Worker) emit(r *request, token wire.Token) {
	r.output = append(r.output, token)
	if len(r.output) >= r.maxNewTokens {
		w.finish(r, 200, "length")
	}
}
