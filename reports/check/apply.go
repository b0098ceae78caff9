package check

import (
	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
)

// applyRequest takes an event that tells something of a request and touches no page.
func (h *history) applyRequest(e *event.Event, r int32, q *request) {
	switch e.Kind {
	case event.RequestSubmitted:
		h.submit(e, q)
	case event.ResponseReceived:
		h.respond(e, q)
	case event.RefusalRecorded:
		q.refusals++
		q.refusedAt = int32(h.events)
		if e.Flag {
			q.standIn = true
		}
	case event.RequestTruncated:
		q.truncatedTo = e.Tokens
	case event.RequestRejected:
		q.rejections++
	case event.RequestExpired:
		q.expiries++
	case event.AbortSent, event.AbortReceived:
		q.aborts++
	case event.WriteRefused, event.GuardTripped:
		q.broken++
	case event.WriteEnded:
		if e.Reason != "ok" {
			q.broken++
		}
	case event.TransferSent:
		q.sentTokens = e.Tokens
	case event.TransferReceived:
		q.receivedTokens = e.Tokens
		keepDigests(&q.sentDigests, e)
	case event.DigestTaken:
		keepDigests(&q.takenDigests, e)
	case event.TransferCommitted:
		h.commit(e, r, q)
	case event.RequestFinished:
		if e.Source.Role == wire.Prefill {
			q.prefillTokens = e.Tokens
		} else if q.answered == 0 {
			q.finishedTokens, q.finishedCount, q.finishedStatus = e.Tokens, e.Count, e.Status
		}
	}
}

func keepDigests(to *[wire.KVBuffers][]uint64, e *event.Event) {
	for b := range to {
		to[b] = append(to[b][:0], e.Digests[b]...)
	}
}

func (h *history) submit(e *event.Event, q *request) {
	if q.submitted != 0 {
		h.bad(e, "submits a room a second time")
		return
	}
	q.submitted, q.submittedTick = int32(h.events), e.Tick
	q.tenant, q.number, q.kind = e.Tenant, e.Request, e.Text
	q.promptTokens, q.maxNewTokens, q.hash = e.Tokens, e.MaxNewTokens, e.Hash
	total := 0
	for _, s := range e.Spans {
		span := corpus.Span{Tenant: s.Tenant, First: s.First, Count: s.Count}
		if err := span.Validate(); err != nil || s.Count > config.TokensMax-total {
			h.bad(e, "has a span of no document, or of one too long to serve: %+v", span)
			q.spans = q.spans[:0]
			return
		}
		q.spans = append(q.spans, span)
		total += s.Count
	}
	if total != e.Tokens {
		h.bad(e, "has spans of %d tokens for a prompt of %d", total, e.Tokens)
		q.spans = q.spans[:0]
	}
}

func (h *history) respond(e *event.Event, q *request) {
	q.answers++
	if q.submitted == 0 {
		h.bad(e, "answers a room that was never submitted")
	}
	if q.answered != 0 {
		return // liveness counts it
	}
	q.answered, q.answeredTick = int32(h.events), e.Tick
	q.status, q.reason, q.usageTokens, q.truncated = e.Status, e.Reason, e.Tokens, e.Flag
	q.output = append(q.output[:0], e.Output...)
}

// commit takes decode's word that it will generate. The first token of the answer is the one in the metadata slot,
// whoever's record that is.
func (h *history) commit(e *event.Event, r int32, q *request) {
	q.committedTokens = e.Tokens
	p := h.pool(e.Source)
	if p == None || e.Slot < 0 || e.Slot >= len(h.pools[p].records) {
		h.bad(e, "names a metadata slot that cannot be")
		return
	}
	held := &h.pools[p].records[e.Slot]
	if held.request == 0 || held.request == r {
		return
	}
	h.foreignSlot = held.request
	first := held.first
	first.relation = stale
	if !h.sameTenant(r, held.request) || first.origin.request != 0 && !h.sameTenant(r, first.origin.request) {
		first.relation = foreign
	}
	if len(q.draws) == 0 {
		q.draws = append(q.draws, first)
	}
	q.draws[0] = first
}
