package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
)

// attribution verifies that each token was drawn from a row of the request's own, and that a row's text is what was
// emitted. Who wrote a row, and whose text it holds, is worked out from reserve, write and token events, through
// generated rows too; the winning row of the trace is only data: it says where to look, never whose it is. It needs draws
// and landings.
//
// It does not verify tokens that no event traces, nor that the right row of the request's own won: exact-answer does.
type attribution struct{ tally }

func (*attribution) name() string        { return "attribution" }
func (*attribution) kinds() []event.Kind { return []event.Kind{event.TokenSampled} }

func (c *attribution) observe(h *history, _ *event.Event) {
	for i := range h.drawn {
		d := &h.drawn[i]
		c.Looked++
		if d.draw.relation == foreign || d.draw.relation == stale {
			outcome := Stale
			if d.draw.relation == foreign {
				outcome = Leak
			}
			c.report(h, d, outcome, sayOwner)
			continue
		}
		if want, ok := h.token(d.draw.origin); ok && want != d.draw.token {
			c.report(h, d, Garbage, sayOtherToken)
		}
	}
}

func (c *attribution) report(h *history, d *drawn, outcome Outcome, say sentence) {
	c.find(h, d.request, outcome, Finding{
		Page: d.draw.page, Ordinal: None, Position: int(d.position) + 1, say: say,
		detail: detail{pool: d.draw.pool, row: d.draw.row, origin: d.draw.origin},
	})
}

func (c *attribution) finish(h *history) {
	for i := range h.requests {
		if q := &h.requests[i]; q.submitted != 0 && q.status == 200 && len(q.output) > 1 {
			c.due = true
			if len(q.draws) < len(q.output) {
				c.skip(fmt.Sprintf("room %d was sent tokens that no event traces", q.room))
			}
		}
	}
}

func sayOwner(h *history, f *Finding) string {
	d := &f.detail
	writer := &h.requests[d.row.request]
	text := fmt.Sprintf("page %d, room %d, written by tenant %d request %d %s at event %d, read by tenant %d request %d "+
		"at event %d", f.Page, f.Room, writer.tenant, writer.number, h.writtenTokens(d.row, d.pool), d.row.event-1,
		f.Tenant, f.Request, f.Event)
	if d.origin.request != 0 && d.origin.request != d.row.request {
		from := &h.requests[d.origin.request]
		text += fmt.Sprintf("; the text is token %d of tenant %d request %d", d.origin.position&^standIn, from.tenant,
			from.number)
	}
	return text
}

func (h *history) writtenTokens(r row, pool int32) string {
	if r.position >= standIn {
		return "placeholder"
	}
	return h.pageTokens(r, pool)
}

func sayOtherToken(h *history, f *Finding) string {
	return fmt.Sprintf("%s drew at event %d, for position %d, a token that is not what page %d holds by the events: %s",
		subject(f), f.Event, f.Position, f.Page, h.describe(f.detail.row, f.detail.pool))
}
