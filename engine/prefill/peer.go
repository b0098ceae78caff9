package prefill

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/turn"
	"github.com/stalepage/stalepage/engine/wire"
)

// introduce registers with decode and the router, once: the limit travels with the registration.
func (w *Worker) introduce() {
	if w.introduced {
		return
	}
	w.introduced = true
	w.desk.Send(w.decode.Addr, 0, w.registration())
	w.desk.Send(w.config.Router, 0, w.registration())
}

func (w *Worker) registration() wire.PeerUp {
	return wire.PeerUp{MaxInputTokens: w.config.Worker.AnnouncedLimitTokens(), PageSize: w.config.Pool.PageSize}
}

// hears tells whether a message is of somebody who is there. A decode that has taken over is introduced to.
func (w *Worker) hears(from wire.Addr) bool {
	if w.decode.SucceededBy(from) {
		w.loseDecode()
		w.decode = turn.Peer{Addr: from}
		w.desk.Send(w.decode.Addr, 0, w.registration())
	}
	return w.decode.Hears(from)
}

// peerDown takes the word that a peer is gone.
func (w *Worker) peerDown(gone wire.Addr) {
	if w.decode.Concerns(gone) {
		w.loseDecode()
		w.decode.Addr = gone
	}
}

// loseDecode ends every request: what decode reserved for them went with it. Nobody waits for an acknowledgement any
// more. The pages here are given back as ever, when no write reads them.
func (w *Worker) loseDecode() {
	if w.decode.Gone {
		return
	}
	w.decode.Gone, w.peerKnown = true, false
	w.desk.Event(&event.Event{Kind: event.PeerLost, Peer: w.decode.Addr})
	for _, r := range w.queue {
		w.failTransfer(r, 502, "peer "+w.decode.Addr.String()+" is gone")
		r.acknowledgeTo = nil
	}
}

// tellDecode says how a request ended, if anybody is there to hear it.
func (w *Worker) tellDecode(r *request) {
	if !w.decode.Gone {
		w.desk.Send(w.decode.Addr, r.room, r.ending)
	}
}
