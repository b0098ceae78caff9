package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/wire"
)

// routes reports whether the router of q's model is in a mode.
func (h *history) routes(q *request, mode config.RouterMode) bool {
	m := h.model(q)
	return m != nil && m.Router.Mode == mode
}

// model is the model that served a request, nil if no worker mentioned it.
func (h *history) model(q *request) *config.Model {
	if q.model < 0 || q.model >= len(h.run.Cluster.Models) {
		return nil
	}
	return &h.run.Cluster.Models[q.model]
}

// served is the worker that computes a request's prompt, and its page size is that of every pool of the model.
func (h *history) served(q *request) (config.Worker, bool) {
	m := h.model(q)
	if m == nil || m.Prefill.PageSize <= 0 {
		return config.Worker{}, false
	}
	return m.Prefill, true
}

// disaggregated reports whether a request's pages had to cross from one pool to another.
func (h *history) disaggregated(q *request) bool {
	m := h.model(q)
	return m != nil && m.Mode == config.Disaggregated
}

// pages is how many pages hold so many tokens.
func pages(tokens, pageSize int) int { return (tokens + pageSize - 1) / pageSize }

// describe says in words what a row of a pool is: "tokens 64-127 of tenant 5 request 31, there since event 812". The
// tokens are all that its page can hold of the same prompt.
func (h *history) describe(r row, pool int32) string {
	if r.request == 0 {
		return "what nobody wrote"
	}
	q := &h.requests[r.request]
	who := fmt.Sprintf("tenant %d request %d, there since event %d", q.tenant, q.number, r.event-1)
	if r.position >= standIn {
		return "a placeholder of " + who
	}
	return h.pageTokens(r, pool) + " of " + who
}

// pageTokens names the positions that share a page with a row in its writer's own request: "tokens 64-127". Generated
// rows are not prompt tokens and are named alone.
func (h *history) pageTokens(r row, pool int32) string {
	q, size := &h.requests[r.request], h.pools[pool].pageSize
	position := int(r.position)
	if q.base >= 0 && position >= q.base {
		return fmt.Sprintf("generated token %d", position-q.base)
	}
	first := position / size * size
	last := first + size - 1
	if q.promptTokens > position {
		last = min(last, q.promptTokens-1)
	}
	return fmt.Sprintf("tokens %d-%d", first, last)
}

// holder says in words who holds a page.
func (h *history) holder(pool int32, page wire.Page) string {
	r := h.pools[pool].holders[page]
	if r == 0 {
		return "which nobody holds"
	}
	q := &h.requests[r]
	return fmt.Sprintf("which room %d (tenant %d request %d) holds", q.room, q.tenant, q.number)
}
