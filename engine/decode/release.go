package decode

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// askToStop tells the writer that nobody waits for the room any more, and when to ask again.
func (w *Worker) askToStop(r *request) {
	w.desk.Event(&event.Event{Kind: event.AbortSent, Room: r.room, Peer: r.writer})
	w.desk.Send(r.writer, r.room, wire.Abort{})
	r.deadline = w.desk.Now() + wire.Tick(w.config.Worker.AbortRetryTicks)
}

// sweep ends what has waited too long, gives back what has drained, and drops what is over from the queue.
func (w *Worker) sweep() {
	kept := w.queue[:0]
	for _, r := range w.queue {
		w.expire(r)
		if r.state == draining {
			w.drain(r)
		}
		if r.state == scrubbing && r.ops == 0 {
			w.giveBack(r)
		}
		if r.state == over {
			r.prompt, r.output, r.sent, r.proof = nil, nil, wire.Sent{}, proof{}
			continue
		}
		kept = append(kept, r)
	}
	clear(w.queue[len(kept):])
	w.queue = kept
}

// expire bounds the wait for pages and for prefill's "done".
func (w *Worker) expire(r *request) {
	if r.state > transferring {
		return
	}
	if w.desk.Now() < r.deadline {
		w.desk.WakeBy(r.deadline)
		return
	}
	reason := "timed out waiting for free pages"
	if r.state == transferring || w.prefill.Gone {
		reason = "timed out waiting for prefill"
	}
	w.desk.Event(&event.Event{Kind: event.RequestExpired, Room: r.room, Reason: reason})
	w.finish(r, 504, reason)
}

// drain gives the pages back: at once, or with deferred release when neither prefill nor the device may touch them any
// more. An unanswered abort is repeated a bounded number of times (unbounded, a lost answer is a livelock), then the
// pages are quarantined.
func (w *Worker) drain(r *request) {
	deferred := w.config.Guards.Has(guard.DeferredRelease)
	switch {
	case deferred && r.writing:
		w.awaitWriter(r)
	case r.ops > 0 && (deferred || w.config.Guards.Has(guard.Scrub)): // what runs now would write behind the zeros
	default:
		w.release(r)
	}
}

func (w *Worker) awaitWriter(r *request) {
	if w.desk.Now() < r.deadline {
		w.desk.WakeBy(r.deadline)
		return
	}
	if r.abortRetries < w.config.Worker.AbortRetriesMax {
		r.abortRetries++
		w.askToStop(r)
		w.desk.WakeBy(r.deadline)
		return
	}
	reason := "the writer never said that it drained"
	w.trip(r, guard.DeferredRelease, reason, -1)
	w.quarantine(r, reason)
}

// quarantine takes pages and slot out of circulation for good.
func (w *Worker) quarantine(r *request, reason string) {
	w.desk.Event(&event.Event{Kind: event.PagesQuarantined, Room: r.room, Count: len(r.pages), Reason: reason})
	w.quarantinedPages += len(r.pages)
	w.quarantinedSlots++
	w.revoke(r)
	r.pages, r.slot, r.state = nil, -1, over
}

// release ends the registration and starts giving the pages back: scrubbed first, if that guard is on.
func (w *Worker) release(r *request) {
	if r.pages == nil {
		r.state = over
		return
	}
	w.revoke(r)
	if w.config.Guards.Has(guard.Scrub) {
		r.state = scrubbing
		r.scrub = w.submitOp(r, port.Op{Kind: port.OpScrub, Queue: queueMemory, Pages: r.pages})
		return
	}
	w.giveBack(r)
}

func (w *Worker) revoke(r *request) {
	if r.generation != 0 {
		w.desk.Revoke(wire.Region{Base: w.config.Pool.Base, Generation: r.generation})
		w.desk.Revoke(wire.Region{Base: w.config.RecordBase, Generation: r.generation})
		r.generation = 0
	}
}

func (w *Worker) giveBack(r *request) {
	w.desk.Event(&event.Event{Kind: event.PagesReleased, Room: r.room})
	w.config.Allocator.Release(r.pages)
	w.config.Slots.Release(r.slot)
	r.pages, r.slot, r.state = nil, -1, over
}
