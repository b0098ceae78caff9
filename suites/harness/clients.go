package harness

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/fixtures/traffic"
)

// clients sends a trace and takes the answers: one more thing for the scheduler to step. In one step it sends one
// abort, takes one answer, or sends one request, preferred in this order.
type clients struct {
	addr    wire.Addr
	link    port.Link
	routers func(model string) (wire.Addr, bool)
	record  func(*event.Event)
	corpus  *corpus.Corpus
	seed    uint64
	trace   traffic.Trace
	omit    []int // indices of requests that are not sent, ascending

	next    int // the first request not sent yet
	end     int // one past the last request to send
	open    map[wire.Room]*exchange
	phase   int
	aborts  []wire.Room // armed, not sent
	awaited uint64      // the kinds, a bit each, upon which some client has given up or is to
	arrived []wire.Message
	tickets wire.Tickets
	polled  [16]wire.Message
	answers int
}

// exchange is one request that waits for its answer.
type exchange struct {
	request *traffic.Request
	router  wire.Addr
	abortAt event.Kind
	toAbort int // occurrences of abortAt still to come; 0 is never, or done
}

// Enabled counts the aborts, answers and requests that could be next.
func (c *clients) Enabled() int {
	for n := c.link.Poll(c.polled[:]); n > 0; n = c.link.Poll(c.polled[:]) {
		c.arrived = append(c.arrived, c.polled[:n]...)
	}
	n := len(c.aborts) + len(c.arrived)
	if c.maySend() {
		n++
	}
	return n
}

func (c *clients) maySend() bool {
	for c.next < c.end && c.omitted(c.next) {
		c.next++
	}
	if c.next == c.end || len(c.open) >= c.trace.Concurrency {
		return false
	}
	return len(c.open) == 0 || c.trace.Requests[c.next].Phase == c.phase
}

func (c *clients) omitted(request int) bool {
	_, found := slices.BinarySearch(c.omit, request)
	return found
}

// Step does the i-th of them.
func (c *clients) Step(i int) {
	switch {
	case i < len(c.aborts):
		c.abort(i)
	case i < len(c.aborts)+len(c.arrived):
		i -= len(c.aborts)
		m := c.arrived[i]
		c.arrived = append(c.arrived[:i], c.arrived[i+1:]...)
		c.answer(m)
	default:
		c.send()
	}
}

func (c *clients) send() {
	r := &c.trace.Requests[c.next]
	c.next++
	c.phase = r.Phase
	room := traffic.Room(c.seed, r.Index)
	x := &exchange{request: r, toAbort: r.AbortCount}
	x.router, _ = c.routers(r.Model)
	if r.AbortAt != "" {
		// The trace was validated against event.Kinds before the run.
		_ = x.abortAt.UnmarshalText([]byte(r.AbortAt))
		c.awaited |= 1 << x.abortAt
	}
	c.open[room] = x
	// A prompt outlives this step inside both workers, so each has memory of its own.
	prompt := c.corpus.Append(make([]wire.Token, 0, r.PromptTokens), r.Spans...)
	c.record(&event.Event{
		Kind: event.RequestSubmitted, Source: c.addr, Peer: x.router, Room: room, Tenant: r.Tenant, Request: r.Index,
		Tokens: r.PromptTokens, MaxNewTokens: r.MaxNewTokens, Spans: spans(r.Spans), Hash: turn.HashOf(prompt),
		Text: r.Kind,
	})
	c.post(x.router, room, wire.Submit{Prompt: prompt, MaxNewTokens: r.MaxNewTokens})
}

func (c *clients) post(to wire.Addr, room wire.Room, body wire.Body) {
	c.link.Send(wire.Message{Ticket: c.tickets.Next(), From: c.addr, To: to, Room: room, Body: body})
}

func (c *clients) abort(i int) {
	room := c.aborts[i]
	c.aborts = append(c.aborts[:i], c.aborts[i+1:]...)
	if x := c.open[room]; x != nil {
		c.record(&event.Event{Kind: event.AbortSent, Source: c.addr, Peer: x.router, Room: room})
		c.post(x.router, room, wire.Abort{})
	}
}

func (c *clients) answer(m wire.Message) {
	body, ok := m.Body.(wire.Finished)
	if !ok || c.open[m.Room] == nil {
		return // a second answer finds nobody waiting
	}
	delete(c.open, m.Room)
	c.answers++
	c.record(&event.Event{
		Kind: event.ResponseReceived, Source: c.addr, Peer: m.From, Room: m.Room, Status: body.Status,
		Tokens: body.PromptTokens, Output: body.Tokens, Flag: body.Truncated, Reason: body.Reason,
	})
}

// Observe arms an abort when the event that its client waits for has been seen often enough.
func (c *clients) Observe(e *event.Event) {
	if c.awaited>>e.Kind&1 == 0 {
		return
	}
	x := c.open[e.Room]
	if x == nil || x.toAbort == 0 || e.Kind != x.abortAt {
		return
	}
	if x.toAbort--; x.toAbort == 0 {
		c.aborts = append(c.aborts, e.Room)
	}
}

func spans(list []corpus.Span) []event.Span {
	out := make([]event.Span, len(list))
	for i, s := range list {
		out[i] = event.Span{Tenant: s.Tenant, First: s.First, Count: s.Count}
	}
	return out
}

// checkTrace finds what a valid trace asks for and the run could not carry out: a model nobody serves, an abort upon an
// event that does not exist.
func checkTrace(t traffic.Trace, cluster config.Cluster) error {
	for _, r := range t.Requests {
		if !slices.ContainsFunc(cluster.Models, func(m config.Model) bool { return m.Name == r.Model }) {
			return fmt.Errorf("request %d is for model %q, which the configuration does not serve", r.Index, r.Model)
		}
		var kind event.Kind
		if r.AbortAt == "" {
			continue
		}
		if err := kind.UnmarshalText([]byte(r.AbortAt)); err != nil {
			return fmt.Errorf("request %d aborts at: %w", r.Index, err)
		}
	}
	return nil
}
