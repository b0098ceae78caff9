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
	unknown := !w.peerKnown && w.config.Guards.Has(guard.LimitExchange)
	if w.prefill.Gone || unknown || w.config.Slots.Free() == 0 {
		return false
	}
	if !w.withinPeerLimit(r, wire.AtReserve) || !w.admit(r, wire.AtReserve) {
		return true
	}
	need := w.config.Pool.PagesFor(len(r.prompt) + r.maxNewTokens)
	pages := w.config.Allocator.Reserve(need)
	if pages == nil {
		return w.neverFits(r, need)
	}
	r.pages = pages
	r.slot, _ = w.config.Slots.Reserve()
	if w.config.Guards.Has(guard.AddressGeneration) {
		w.generation++
		r.generation = w.generation
		w.desk.Grant(wire.Region{Base: w.config.Pool.Base, Generation: r.generation})
		w.desk.Grant(wire.Region{Base: w.config.RecordBase, Generation: r.generation})
	}
	w.desk.Event(&event.Event{
		Kind: event.PagesReserved, Room: r.room, Pages: r.pages, Slot: r.slot, Generation: r.generation,
	})
	r.state, r.writer, r.writing = transferring, w.prefill.Addr, true
	r.deadline = w.desk.Now() + wire.Tick(w.config.Worker.BootstrapTimeoutTicks)
	w.desk.Send(w.prefill.Addr, r.room, wire.Reserved{
		Pages: r.pages[:w.config.Pool.PagesFor(len(r.prompt))], Slot: r.slot, Generation: r.generation,
	})
	return true
}

// withinPeerLimit is the limit-exchange guard: what prefill said that it refuses is refused here. Links to different
// peers are not ordered, so a Submit may come before prefill's registration: nothing is reserved until that is here,
// and the limit is looked at once more then.
func (w *Worker) withinPeerLimit(r *request, stage wire.Stage) bool {
	if !w.config.Guards.Has(guard.LimitExchange) || w.peerLimit == 0 || len(r.prompt) < w.peerLimit {
		return true
	}
	reason := "prompt reaches the limit that prefill announced"
	w.trip(r, guard.LimitExchange, reason, -1)
	w.reject(r, stage, reason)
	return false
}

// neverFits refuses a request that no amount of waiting would serve: it would only hold back those behind it.
func (w *Worker) neverFits(r *request, need int) bool {
	capacity := w.config.Allocator.Capacity()
	if need <= capacity {
		return false
	}
	w.reject(r, wire.AtReserve, fmt.Sprintf("prompt and answer need %d pages of a pool of %d", need, capacity))
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
		if d.Status == port.Failed && w.config.Guards.Has(guard.PageStamp) {
			reason = fmt.Sprintf("page at ordinal %d no longer carries this room's stamp on read", d.FailedOrdinal)
			w.trip(r, guard.PageStamp, reason, d.FailedOrdinal)
		}
		w.finish(r, 500, reason)
	case len(d.Sampled) == 0:
		w.finish(r, 500, "device answered a decode step without a token")
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
	case r.stepping:
		w.stepDone(r, d)
	case r.state == verifying:
		w.gather(r, d)
	case d.Ticket == r.scrub && d.Status != port.OK:
		w.quarantine(r, "scrub "+d.Status.String()+": the pages still hold what they held")
	}
}
