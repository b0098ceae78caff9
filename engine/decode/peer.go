package decode

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/turn"
	"github.com/stalepage/stalepage/engine/wire"
)

// introduce registers with prefill and the router, once: where the pool and the metadata slots lie.
func (w *Worker) introduce() {
	if w.introduced {
		return
	}
	w.introduced = true
	w.desk.Send(w.prefill.Addr, 0, w.registration())
	w.desk.Send(w.config.Router, 0, w.registration())
}

func (w *Worker) registration() wire.PeerUp {
	return wire.PeerUp{
		MaxInputTokens: w.config.Worker.AnnouncedLimitTokens(), PageSize: w.config.Pool.PageSize,
		PoolPages: w.config.Pool.Pages, PoolBase: w.config.Pool.Base, RecordBase: w.config.RecordBase,
	}
}

// hears tells whether a message is of somebody who is there. A prefill that has taken over is introduced to. It does not
// say that the one before writes no more: pages that were told to that one wait for the word of it.
func (w *Worker) hears(from wire.Addr) bool {
	if w.prefill.SucceededBy(from) {
		w.losePrefill()
		w.prefill = turn.Peer{Addr: from}
		w.desk.Send(w.prefill.Addr, 0, w.registration())
	}
	return w.prefill.Hears(from)
}

// peerDown takes the word that a peer is gone, and none of its writes can land any more; also of one that a later one
// has taken over from.
func (w *Worker) peerDown(gone wire.Addr) {
	for _, r := range w.queue {
		if r.writer == gone {
			r.writing = false
		}
	}
	if w.prefill.Concerns(gone) {
		w.losePrefill()
		w.prefill.Addr = gone
	}
}

// losePrefill ends what waits for it: no later prefill ever hears of these requests. Those that have its "done" lack
// nothing and go on.
func (w *Worker) losePrefill() {
	if w.prefill.Gone {
		return
	}
	w.prefill.Gone, w.peerKnown, w.peerLimit = true, false, 0
	w.desk.Event(&event.Event{Kind: event.PeerLost, Peer: w.prefill.Addr})
	for _, r := range w.queue {
		if r.state < verifying {
			w.finish(r, 502, "peer "+w.prefill.Addr.String()+" is gone")
		}
	}
}
