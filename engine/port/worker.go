package port

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// Turn is all that a worker sees. Its slices are valid until the next turn.
type Turn struct {
	Now      wire.Tick
	Messages []wire.Message
	Writes   []WriteDone
	Ops      []OpDone
}

// Effects is all that a worker does. The runner applies the fields in this order, so that an event stands in the
// journal before whatever the effects cause. The slices, and the spans of writes, are the worker's and are overwritten by
// its next Step: who keeps any of it copies it.
type Effects struct {
	Events       []event.Event
	Revoke       []wire.Region
	CancelWrites []wire.Ticket
	CancelOps    []wire.Ticket
	Grant        []wire.Region
	Ops          []Op
	Writes       []Write
	Send         []wire.Message
	// Wake is the tick at which the worker wants a turn even if nothing arrives; 0 is never.
	Wake wire.Tick
}

// Worker is one party of the engine as a pure state machine: Step never blocks, polls, or touches memory except by
// the operations it returns.
type Worker interface {
	Addr() wire.Addr
	Step(Turn) Effects
	// Held says what the worker still holds; all zero at quiesce on a healthy engine.
	Held() event.Holdings
}

// Request is what admission is told of a request.
type Request struct {
	Room         wire.Room
	Tokens       int
	MaxNewTokens int
}

// Verdict is admission's answer. A refusal and the placeholder that stands in for the prompt are two effects of it:
// a fault may lose one and keep the other (public report sglang 30233).
type Verdict struct {
	Refused bool
	// StandIn asks the worker to replace the prompt by one placeholder token.
	StandIn bool
	// TruncateTo, when positive, asks the worker to keep only the first so many tokens (auto_truncate).
	TruncateTo int
	Stage      wire.Stage
	Reason     string
}

// Admission decides; it is asked at every queue hand-over with the verdict still pending from earlier stages, and
// what it returns replaces that verdict.
type Admission interface {
	At(stage wire.Stage, request Request, pending Verdict) Verdict
}

// Allocator hands out pages. Reserve returns nil when n pages are not free now; it never returns page 0.
type Allocator interface {
	Reserve(n int) []wire.Page
	Release([]wire.Page)
	Free() int
	Capacity() int
}

// Slots hands out metadata slots; false when none is free.
type Slots interface {
	Reserve() (int, bool)
	Release(int)
	Free() int
	Capacity() int
}

// Seams is everything that stands between one worker and the world. The engine builds it, lets one wrapper put
// other implementations in place of any field, and then hands it to the runner and the worker.
// Fields a role does not use are nil (a router has neither Transport nor Device).
type Seams struct {
	Addr      wire.Addr
	Link      Link
	Transport Transport
	Device    Device
	Memory    Memory
	Admission Admission
	Allocator Allocator
	// Pool tells which page a span of this worker's pool lies in, and the other way round.
	Pool Layout
}

// Layout says where pages lie in a pool's registered memory: buffers K0, V0, K1, V1, stamp one after the other,
// each an array of pages.
type Layout struct {
	Base uint16
	// Pages counts the pages, page 0 included.
	Pages int
	// PageSize is tokens per page; RowBytes is the bytes of one token's row in one KV buffer.
	PageSize, RowBytes int
}

// StampBytes is the size of one page's stamp: room, ordinal and generation.
const StampBytes = 16

// RecordBytes is the size of one metadata record: room, tokens, first token, cached tokens.
const RecordBytes = 32

// BufferBytes is the size of buffer b of one page.
func (l Layout) BufferBytes(b wire.Buffer) int64 {
	if b == wire.Stamp {
		return StampBytes
	}
	return int64(l.PageSize * l.RowBytes)
}

// PageBytes is the size of one page over its KV buffers, and its stamp if stamped.
func (l Layout) PageBytes(stamped bool) int64 {
	n := wire.KVBuffers * l.BufferBytes(wire.K0)
	if stamped {
		n += StampBytes
	}
	return n
}

// Span is where buffer b of page p lies.
func (l Layout) Span(b wire.Buffer, p wire.Page, generation uint32) wire.Span {
	size := l.BufferBytes(b)
	start := int64(b) * int64(l.Pages) * l.BufferBytes(wire.K0)
	return wire.Span{
		Region: wire.Region{Base: l.Base, Generation: generation},
		Offset: start + int64(p)*size, Length: size,
	}
}

// PageAt inverts Span: the page that s lies in, buffer b; false if s is of another region or out of range.
func (l Layout) PageAt(b wire.Buffer, s wire.Span) (wire.Page, bool) {
	first := l.Span(b, 0, 0)
	p := (s.Offset - first.Offset) / first.Length
	return wire.Page(p), s.Region.Base == l.Base && s.Offset >= first.Offset && p < int64(l.Pages)
}

// Bytes is the size of the whole slab, stamps included.
func (l Layout) Bytes() int64 { return int64(l.Pages) * l.PageBytes(true) }

// PagesFor is how many pages hold so many tokens.
func (l Layout) PagesFor(tokens int) int { return (tokens + l.PageSize - 1) / l.PageSize }

// RecordSpan is where metadata slot lies in the record region with the given base.
func RecordSpan(base uint16, slot int, generation uint32) wire.Span {
	return wire.Span{
		Region: wire.Region{Base: base, Generation: generation},
		Offset: int64(slot) * RecordBytes, Length: RecordBytes,
	}
}
