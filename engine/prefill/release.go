package prefill

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// sweep ends what has waited too long, says "done" for what is complete, gives back what has drained, and drops what is
// over from the queue.
func (w *Worker) sweep() {
	kept := w.queue[:0]
	for _, r := range w.queue {
		w.expire(r)
		if r.state == inflight {
			w.complete(r)
		}
		if r.state == draining {
			w.drain(r)
		}
		if r.state == scrubbing && len(r.ops) == 0 {
			w.giveBack(r)
		}
		if r.state == over {
			for _, to := range r.acknowledgeTo {
				w.acknowledge(r, to)
			}
			r.acknowledgeTo, r.prompt, r.target, r.digests = nil, nil, wire.Reserved{}, [wire.KVBuffers][]uint64{}
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
	w.desk.Event(&event.Event{Kind: event.RequestExpired, Room: r.room, Reason: "waited for a reservation or for pages"})
	w.failTransfer(r, 504, "timed out before the transfer began")
}

// cancel asks for all that is outstanding to end, and says when to ask again.
func (w *Worker) cancel(r *request) {
	for _, ticket := range r.writes {
		w.desk.CancelWrite(ticket)
	}
	for _, ticket := range r.ops {
		w.desk.CancelOp(ticket)
	}
	r.deadline = w.desk.Now() + wire.Tick(w.config.Worker.AbortRetryTicks)
}

// drain gives the pages back: at once, or with deferred release when nothing may read or write them any more. A lost
// completion would have it wait for ever, so it asks a bounded number of times and then quarantines the pages.
func (w *Worker) drain(r *request) {
	switch {
	case w.drained(r) || !w.config.Guards.Has(guard.DeferredRelease):
		w.release(r)
	case w.desk.Now() < r.deadline:
		w.desk.WakeBy(r.deadline)
	case r.cancelRetries < w.config.Worker.AbortRetriesMax:
		r.cancelRetries++
		w.cancel(r)
		w.desk.WakeBy(r.deadline)
	default:
		w.abandon(r)
	}
}

// abandon stops waiting for what was never answered: the room never drained, and never will.
func (w *Worker) abandon(r *request) {
	reason := "an operation on the pages was never answered"
	w.desk.Event(&event.Event{
		Kind: event.GuardTripped, Room: r.room, Guard: guard.DeferredRelease.String(), Reason: reason, First: -1,
	})
	for _, ticket := range r.writes {
		w.transfers.Delete(ticket)
	}
	for _, ticket := range r.ops {
		w.operations.Delete(ticket)
	}
	r.writes, r.ops, r.abandoned = nil, nil, true
	w.quarantine(r, reason)
}

// quarantine takes pages and slot out of circulation for good.
func (w *Worker) quarantine(r *request, reason string) {
	w.desk.Event(&event.Event{Kind: event.PagesQuarantined, Room: r.room, Count: len(r.pages), Reason: reason})
	w.quarantinedPages += len(r.pages)
	w.quarantinedSlots++
	r.pages, r.slot, r.state = nil, -1, over
}

// release starts giving back what a finished request holds: scrubbed first, if that guard is on.
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
		w.config.Slots.Release(r.slot)
		r.pages, r.slot = nil, -1
	}
	r.state = over
}

// drained tells whether nothing of the room is outstanding, and all of it was answered.
func (w *Worker) drained(r *request) bool {
	return len(r.ops) == 0 && len(r.writes) == 0 && !r.abandoned
}

func (w *Worker) acknowledge(r *request, to wire.Addr) {
	w.desk.Event(&event.Event{Kind: event.AbortAcknowledged, Room: r.room, Peer: to, Flag: w.drained(r)})
	w.desk.Send(to, r.room, wire.AbortAck{Drained: w.drained(r)})
}
