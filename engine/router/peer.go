package router

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/turn"
	"github.com/stalepage/stalepage/engine/wire"
)

// worker is one worker as the router knows it.
type worker struct {
	turn.Peer
	// limit is the smallest that it announced; 0 until it did, or if it refuses nothing.
	limit int
}

// find returns the worker that addr is an incarnation of, or nil.
func (w *Worker) find(addr wire.Addr) *worker {
	for i := range w.workers {
		known := w.workers[i].Addr
		if known.Role == addr.Role && known.Index == addr.Index {
			return &w.workers[i]
		}
	}
	return nil
}

// hears tells whether a message is of somebody who is there: what a worker left behind that is gone changes nothing. A
// later incarnation says by whatever it sends that it has taken over.
func (w *Worker) hears(from wire.Addr) bool {
	known := w.find(from)
	if known == nil {
		return true
	}
	if known.SucceededBy(from) {
		w.lose(known)
		known.Peer = turn.Peer{Addr: from}
	}
	return known.Hears(from)
}

func (w *Worker) peerUp(from wire.Addr, body wire.PeerUp) {
	w.desk.Event(&event.Event{Kind: event.PeerRegistered, Peer: from, Tokens: body.MaxInputTokens})
	if known := w.find(from); known != nil {
		known.limit = smaller(known.limit, body.MaxInputTokens)
	}
}

// peerDown takes the word that a peer is gone.
func (w *Worker) peerDown(gone wire.Addr) {
	if known := w.find(gone); known != nil && known.Concerns(gone) {
		w.lose(known)
		known.Addr = gone
	}
}

// lose answers every room that waits for a worker that is gone, if it was the one that answers. Decode answers for a
// prefill that is gone.
func (w *Worker) lose(known *worker) {
	if known.Gone {
		return
	}
	known.Gone, known.limit = true, 0
	w.desk.Event(&event.Event{Kind: event.PeerLost, Peer: known.Addr})
	if known != &w.workers[len(w.workers)-1] {
		return
	}
	for len(w.waiting) > 0 {
		w.answerGone(w.waiting[0], known.Addr)
	}
}

// serve posts a request to every worker. If one is gone nobody ever would serve it: the client hears so at once.
func (w *Worker) serve(room wire.Room, body wire.Submit) {
	for _, known := range w.workers {
		if known.Gone {
			w.answerGone(room, known.Addr)
			return
		}
	}
	w.broadcast(room, body)
}

func (w *Worker) answerGone(room wire.Room, gone wire.Addr) {
	w.answer(room, wire.Finished{
		Status: 502, PromptTokens: w.rooms[room].tokens, Reason: "peer " + gone.String() + " is gone",
	})
}

// post sends to a worker, if anybody is there to receive it.
func (w *Worker) post(to worker, room wire.Room, body wire.Body) {
	if !to.Gone {
		w.desk.Send(to.Addr, room, body)
	}
}

// limit is the smallest limit that a worker announced; 0 until one did, or if none refuses.
func (w *Worker) limit() int {
	limit := 0
	for _, known := range w.workers {
		limit = smaller(limit, known.limit)
	}
	return limit
}

// smaller is the smaller of two limits, of which 0 is none.
func smaller(a, b int) int {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}
