package memory

import (
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/kv/arena"
	"github.com/stalepage/stalepage/engine/kv/fifo"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/after"
	"github.com/stalepage/stalepage/engine/wire"
)

// Config is what a transport needs to know of the worker that writes through it.
type Config struct {
	// Addr is the writer: the source of the events.
	Addr wire.Addr
	// Registry resolves the spans of writes, on both sides.
	Registry *kv.Registry
	// Record is told of every landing as it happens. The event is overwritten by the next one: keep nothing of it.
	// Pages is always set for a page's buffer, one page; -1 where the span is no page of that buffer. Nil records nothing.
	Record func(*event.Event)
}

// Transport is the write engine of one worker. It implements port.Transport and port.Stepper: each write whose
// dependencies are satisfied is enabled, and a step lands its next span (or ends it, if it has none).
//
// Spans are resolved when they land. A span that does not resolve ends its write: Rejected if nothing of it landed,
// else Failed. A write that no step could carry out is Rejected at Submit: unequal numbers of spans, unequal lengths, a
// buffer or an ordinal that does not exist. Submit copies the slices it is given.
type Transport struct {
	config Config
	writes after.Tracker[write]
	// ready holds the enabled writes in order of submission.
	ready     []enabled
	submitted uint64
	answers   fifo.Queue[port.WriteDone]
	landed    event.Event
	page      [1]wire.Page
	sums      arena.Arena[uint64]
}

var (
	_ port.Transport = (*Transport)(nil)
	_ port.Stepper   = (*Transport)(nil)
)

// write is a pending write: its next span to land, and what has been read so far.
type write struct {
	port.Write
	number  uint64 // of submission
	next    int
	bytes   int64
	digests []uint64
}

type enabled struct {
	number uint64
	handle after.Handle
}

// NewTransport returns the transport of the worker at config.Addr.
func NewTransport(config Config) *Transport {
	if config.Record == nil {
		config.Record = func(*event.Event) {}
	}
	return &Transport{config: config}
}

// Reset makes of a used transport the one that NewTransport would return, and keeps its memory.
func (t *Transport) Reset(config Config) {
	if config.Record == nil {
		config.Record = func(*event.Event) {}
	}
	t.config, t.submitted, t.ready = config, 0, t.ready[:0]
	t.writes.Reset()
	t.answers.Reset()
}

// Submit takes a write; see port.Port.
func (t *Transport) Submit(w port.Write) {
	handle, pending, state := t.writes.Admit(w.Ticket, w.After)
	switch state {
	case after.Duplicate:
		return
	case after.Nameless, after.Repeated:
		t.answers.Push(port.WriteDone{Ticket: w.Ticket, Status: port.Rejected})
		return
	case after.Doomed:
		t.end(port.WriteDone{Ticket: w.Ticket, Status: port.Cancelled})
		return
	case after.Ready, after.Waiting:
	}
	if !wellFormed(&w) {
		t.end(port.WriteDone{Ticket: w.Ticket, Status: port.Rejected})
		return
	}
	source, target := append(pending.Src[:0], w.Src...), append(pending.Dst[:0], w.Dst...)
	t.submitted++
	*pending = write{Write: w, number: t.submitted}
	pending.Src, pending.Dst, pending.After = source, target, nil
	if w.Digest {
		pending.digests = t.sums.Take(kv.DigestGroups(int(w.First), len(w.Src)))
	}
	if state == after.Ready {
		t.enable(handle)
	}
}

func wellFormed(w *port.Write) bool {
	if len(w.Src) != len(w.Dst) || w.Buffer >= wire.Buffers || w.First < 0 {
		return false
	}
	for i := range w.Src {
		if w.Src[i].Length != w.Dst[i].Length {
			return false
		}
	}
	return true
}

// Cancel ends a pending write where it stands: what has landed stays.
func (t *Transport) Cancel(ticket wire.Ticket) {
	handle, ok := t.writes.Find(ticket)
	if !ok {
		return
	}
	if t.writes.IsReady(handle) {
		at, _ := slices.BinarySearchFunc(t.ready, t.writes.Payload(handle).number, byNumber)
		t.disable(at)
	}
	t.end(t.answer(handle, port.Cancelled))
}

// Poll hands out answers; see port.Port.
func (t *Transport) Poll(dst []port.WriteDone) int { return t.answers.PopInto(dst) }

// Enabled counts the writes that can land something now.
func (t *Transport) Enabled() int { return len(t.ready) }

// Step lands the next span of the i-th enabled write, in order of submission.
func (t *Transport) Step(i int) {
	handle := t.ready[i].handle
	w := t.writes.Payload(handle)
	if w.next < len(w.Src) && !t.land(w) {
		status := port.Failed
		if w.next == 0 {
			status = port.Rejected
		}
		t.refuse(w)
		t.disable(i)
		t.end(t.answer(handle, status))
		return
	}
	if w.next >= len(w.Src) {
		t.disable(i)
		t.end(t.answer(handle, port.OK))
	}
}

// land copies one span and advances w, or does nothing and returns false if either side does not resolve.
func (t *Transport) land(w *write) bool {
	source, err := t.config.Registry.Resolve(w.Src[w.next])
	if err != nil {
		return false
	}
	target, err := t.config.Registry.Resolve(w.Dst[w.next])
	if err != nil {
		return false
	}
	copy(target, source)
	ordinal := int(w.First) + w.next
	if w.Digest {
		t.prefetch(w)
		// Right after the copy the source is still in the first-level cache: the sum costs no second trip to memory.
		w.digests[kv.DigestGroup(int(w.First), ordinal)] += kv.Digest(w.Buffer, ordinal, source)
	}
	t.recordLanding(w, ordinal)
	w.bytes += int64(len(source))
	w.next++
	return true
}

// prefetch brings the first part of the next span's pages nearer while the sum of this one is worked out, which leaves
// memory idle: pages lie anywhere, and the processor's own prefetcher starts afresh with each. It costs a digested
// transfer of large pages a fifth less (bench_test.go); small pools are in cache anyway.
func (t *Transport) prefetch(w *write) {
	const largeBytes, aheadLines = 4096, 32
	next := w.next + 1
	if next >= len(w.Src) || w.Src[next].Length < largeBytes {
		return
	}
	for _, span := range [2]wire.Span{w.Src[next], w.Dst[next]} {
		if bytes, err := t.config.Registry.Resolve(span); err == nil {
			kv.Prefetch(bytes, aheadLines)
		}
	}
}

func (t *Transport) recordLanding(w *write, ordinal int) {
	span := w.Dst[w.next]
	peer, layout, _ := t.config.Registry.Owner(span.Region.Base)
	t.landed = event.Event{} // then its fields one by one: a literal would be built elsewhere and copied here
	t.landed.Kind, t.landed.Source, t.landed.Peer, t.landed.Room = event.WriteLanded, t.config.Addr, peer, w.Room
	t.landed.Buffer, t.landed.First, t.landed.Count = w.Buffer, ordinal, 1
	if w.Buffer == wire.Record {
		t.landed.Slot = int(span.Offset / port.RecordBytes)
	} else {
		t.page[0] = pageOf(layout, w.Buffer, span)
		t.landed.Pages = t.page[:]
	}
	t.config.Record(&t.landed)
}

// pageOf is the page of layout that span covers exactly, buffer b; -1 if it is none.
func pageOf(layout port.Layout, b wire.Buffer, span wire.Span) wire.Page {
	if layout.Pages == 0 {
		return -1
	}
	page, ok := layout.PageAt(b, span)
	exact := layout.Span(b, page, span.Region.Generation)
	if !ok || exact != span {
		return -1
	}
	return page
}

func (t *Transport) refuse(w *write) {
	t.landed = event.Event{
		Kind: event.WriteRefused, Source: t.config.Addr, Room: w.Room,
		Buffer: w.Buffer, First: int(w.First) + w.next, Count: len(w.Src) - w.next,
	}
	t.config.Record(&t.landed)
}

func (t *Transport) answer(handle after.Handle, status port.Status) port.WriteDone {
	w := t.writes.Payload(handle)
	return port.WriteDone{Ticket: w.Ticket, Status: status, ClaimedBytes: w.bytes, Digests: w.digests}
}

// end answers a write that is not enabled any more, and then every write that its ending decides.
func (t *Transport) end(done port.WriteDone) {
	t.close(done)
	for {
		handle, ticket, doomed, ok := t.writes.Settle()
		if !ok {
			return
		}
		if doomed {
			t.close(port.WriteDone{Ticket: ticket, Status: port.Cancelled})
		} else {
			t.enable(handle)
		}
	}
}

func (t *Transport) close(done port.WriteDone) {
	t.answers.Push(done)
	for range t.writes.End(done.Ticket, done.Status) {
		t.answers.Push(port.WriteDone{Ticket: done.Ticket, Status: port.Rejected})
	}
}

func (t *Transport) enable(handle after.Handle) {
	e := enabled{number: t.writes.Payload(handle).number, handle: handle}
	if last := len(t.ready) - 1; last < 0 || t.ready[last].number < e.number {
		t.ready = append(t.ready, e)
		return
	}
	at, _ := slices.BinarySearchFunc(t.ready, e.number, byNumber)
	t.ready = slices.Insert(t.ready, at, e)
}

func (t *Transport) disable(at int) { t.ready = slices.Delete(t.ready, at, at+1) }

func byNumber(e enabled, number uint64) int {
	switch {
	case e.number < number:
		return -1
	case e.number > number:
		return 1
	}
	return 0
}
