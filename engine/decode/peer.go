package decode

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// introduce registers with prefill and the router, once: where the pool and the metadata slots lie.
func (w *Worker) introduce() {
	if w.introduced {
		return
	}
	w.introduced = true
	w.desk.Send(w.prefill, 0, w.registration())
	w.desk.Send(w.config.Router, 0, w.registration())
}

func (w *Worker) registration() wire.PeerUp {
	return wire.PeerUp{
		MaxInputTokens: w.config.Worker.AnnouncedLimitTokens(), PageSize: w.config.Pool.PageSize,
		PoolPages: w.config.Pool.Pages, PoolBase: w.config.Pool.Base, RecordBase: w.config.RecordBase,
	}
}

// hears tells whether a message is of somebody who is there: what a prefill left behind that is gone changes nothing. A
// later incarnation says by whatever it sends that it has taken over, and is introduced to. It does not say that the one
// before writes no more: pages that were told to that one wait for the word of it.
func (w *Worker) hears(from wire.Addr) bool {
	if from.Succeeds(w.prefill) {
		w.losePrefill()
		w.prefill, w.prefillGone = from, false
		w.desk.Send(w.prefill, 0, w.registration())
	}
	return !w.prefill.Succeeds(from) && (from != w.prefill || !w.prefillGone)
}

// peerDown takes the word that a peer is gone, and none of its writes can land any more; also of one that a later one
// has taken over from. One that was never heard of may be gone: its introduction, should it still come, is not to bring
// it back.
func (w *Worker) peerDown(gone wire.Addr) {
	for _, r := range w.queue {
		if r.writer == gone {
			r.writing = false
		}
	}
	if gone == w.prefill || gone.Succeeds(w.prefill) {
		w.losePrefill()
		w.prefill = gone
	}
}

// losePrefill ends what waits for it: no later prefill ever hears of these requests. Those that have its "done" lack
// nothing and go on.
func (w *Worker) losePrefill() {
	if w.prefillGone {
		return
	}
	w.prefillGone, w.peerKnown, w.peerLimit = true, false, 0
	w.desk.Event(event.Event{Kind: event.PeerLost, Peer: w.prefill})
	for _, r := range w.queue {
		if r.state < verifying {
			w.finish(r, 502, "peer "+w.prefill.String()+" is gone")
		}
	}
}
