package prefill

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// introduce registers with decode and the router, once: the limit travels with the registration.
func (w *Worker) introduce() {
	if w.introduced {
		return
	}
	w.introduced = true
	w.desk.Send(w.decode, 0, w.registration())
	w.desk.Send(w.config.Router, 0, w.registration())
}

func (w *Worker) registration() wire.PeerUp {
	return wire.PeerUp{MaxInputTokens: w.config.Worker.AnnouncedLimitTokens(), PageSize: w.config.Pool.PageSize}
}

// hears tells whether a message is of somebody who is there: what a decode left behind that is gone changes nothing. A
// later incarnation says by whatever it sends that it has taken over, whether or not anybody said that the other is gone,
// and is introduced to.
func (w *Worker) hears(from wire.Addr) bool {
	if from.Succeeds(w.decode) {
		w.loseDecode()
		w.decode, w.decodeGone = from, false
		w.desk.Send(w.decode, 0, w.registration())
	}
	return !w.decode.Succeeds(from) && (from != w.decode || !w.decodeGone)
}

// peerDown takes the word that a peer is gone. One that was never heard of may be: its introduction, should it still
// come, is not to bring it back.
func (w *Worker) peerDown(gone wire.Addr) {
	if gone == w.decode || gone.Succeeds(w.decode) {
		w.loseDecode()
		w.decode = gone
	}
}

// loseDecode ends every request: what decode reserved for them went with it. Nobody waits for an acknowledgement any
// more. The pages here are given back as ever, when no write reads them.
func (w *Worker) loseDecode() {
	if w.decodeGone {
		return
	}
	w.decodeGone, w.peerKnown = true, false
	w.desk.Event(event.Event{Kind: event.PeerLost, Peer: w.decode})
	for _, r := range w.queue {
		w.failTransfer(r, 502, "peer "+w.decode.String()+" is gone")
		r.acknowledgeTo = nil
	}
}

// tellDecode says how a request ended, if anybody is there to hear it.
func (w *Worker) tellDecode(r *request) {
	if !w.decodeGone {
		w.desk.Send(w.decode, r.room, r.ending)
	}
}
