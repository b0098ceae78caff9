package check

import "github.com/stalepage/stalepage/engine/wire"

// row names one row of a pool: which request wrote it, as which position of its own, and at which event it came to
// this pool. Request is an index of history.requests; the zero row was never written.
type row struct{ request, position, event int32 }

// standIn marks the position of a row that holds a placeholder in place of the prompt's token.
const standIn int32 = 1 << 30

// after is the row i slots further in the same run.
func (r row) after(i int) row {
	if r.request != 0 {
		r.position += int32(i)
	}
	return r
}

// continues reports whether next is what slot holds if the run goes on; the event may differ, the first is kept.
func (r row) continues(slot int, next row) bool {
	return r.request == next.request && r.position+int32(slot) == next.position
}

// origin is whose text a token is: a position of a request's prompt. It passes through generated rows, so that text
// which one leak replays from another still names its owner. The zero origin is not known.
type origin struct{ request, position int32 }

// relation is how the row that a token was drawn from relates to the request that drew it.
type relation uint8

const (
	unwritten relation = iota // nobody wrote the row, or it was scrubbed
	own
	stale   // the same tenant's, another request's
	foreign // another tenant's
)

// draw is one token of an answer and the row it was drawn from.
type draw struct {
	token    wire.Token
	relation relation
	pool     int32
	page     wire.Page
	slot     int32
	event    int32
	row      row
	origin   origin
}

// drawn is a draw with the request that drew it and the position of the row written before.
type drawn struct {
	request  int32
	position int32
	output   int32 // the index of the token in the answer
	draw     draw
}

// origin says whose text a row holds. A row at a position that decode generated holds the token that its sample drew,
// so it has that token's origin.
func (h *history) origin(r row) origin {
	if r.request == 0 {
		return origin{}
	}
	q := &h.requests[r.request]
	if q.base < 0 || int(r.position) < q.base || r.position >= standIn {
		return origin{r.request, r.position}
	}
	if i := int(r.position) - q.base; i < len(q.draws) {
		return q.draws[i].origin
	}
	return origin{}
}

// relate says how a row with an origin relates to a request. A row is another's if it was written for another, or if
// its text is another's.
func (h *history) relate(request int32, r row, o origin) relation {
	switch {
	case r.request == 0:
		return unwritten
	case r.request == request && (o.request == 0 || o.request == request):
		return own
	case h.sameTenant(request, r.request) && (o.request == 0 || h.sameTenant(request, o.request)):
		return stale
	}
	return foreign
}

func (h *history) sameTenant(a, b int32) bool { return h.requests[a].tenant == h.requests[b].tenant }

// token is what a row's text is at its origin; false if events do not say.
func (h *history) token(o origin) (wire.Token, bool) {
	if o.request == 0 {
		return 0, false
	}
	if o.position >= standIn {
		return placeholder, true
	}
	tenant, place, ok := h.requests[o.request].place(int(o.position))
	if !ok || h.run.Corpus == nil {
		return 0, false
	}
	return h.corpusToken(tenant, place), true
}

// placeholder is the token that stands in for a refused prompt: id 0, the vocabulary's placeholder.
const placeholder wire.Token = 0
