// Package port holds the engine's seams: ordinary interfaces that it needs anyway (host or CUDA, in process or
// over a network, stepped or live), and at which a fault may stand without the engine knowing.
//
// Three are asynchronous and carry bytes or messages: Transport, Device, Link. Three are policies: Admission,
// Allocator, Memory. It imports only wire and event.
package port

import (
	"github.com/stalepage/stalepage/engine/wire"
)

// Status is how a submitted operation ended.
type Status uint8

// The statuses of a Done.
const (
	OK        Status = iota
	Cancelled        // by its submitter, before it was complete; bytes may have landed before the Done, none after
	Failed           // it began and went wrong
	Rejected         // it never began: Submit, or an address check, said no
)

var statusNames = [...]string{"ok", "cancelled", "failed", "rejected"}

func (s Status) String() string { return statusNames[s] }

// Port takes operations of type O and answers each with exactly one D, a refusal included. After a Done no byte
// of its operation lands any more. Cancel is a request: idempotent, a no-op on an unknown or answered ticket, and
// answered by the operation's own Done. Poll fills its argument and returns how many it filled.
// No method blocks. The contract test of engine/transfer and engine/device holds every implementation to this.
type Port[O, D any] interface {
	Submit(O)
	Cancel(wire.Ticket)
	Poll([]D) int
}

// Link carries control messages, first in, first out per (From, To). It is not a Port: what is polled is not an
// answer to what was sent.
type Link interface {
	Send(wire.Message)
	Poll([]wire.Message) int
}

// Stepper is what the scheduler of a stepped run drives: Enabled counts the independent things that can advance
// now, and Step(i) advances the i-th of them (0 <= i < Enabled()) by its smallest step.
type Stepper interface {
	Enabled() int
	Step(i int)
}

// Transport moves bytes between registered memories, one-sided; Device computes on one worker's memory.
type (
	Transport = Port[Write, WriteDone]
	Device    = Port[Op, OpDone]
)

// Write asks for spans of local memory to be written, in order, to spans of a peer's memory: one buffer of
// consecutive pages, or one metadata record.
type Write struct {
	Ticket wire.Ticket
	Room   wire.Room
	Buffer wire.Buffer
	// First is the ordinal of the first page; the i-th span is ordinal First+i.
	First    wire.Ordinal
	Src, Dst []wire.Span
	// After names writes of this port that must be Done OK first. An unknown ticket means pending, never
	// satisfied; a dependency that ends otherwise cancels its dependents.
	After []wire.Ticket
	// Digest asks for the sums of what was read from Src, see WriteDone.
	Digest bool
}

// WriteDone is the sender's side of the story: the target sees nothing of a one-sided write.
type WriteDone struct {
	Ticket       wire.Ticket
	Status       Status
	ClaimedBytes int64
	// Digests has one sum per group of wire.DigestGroupPages ordinals that the write touches, from the group of
	// First on, over the source bytes as they were read; nil unless asked for.
	Digests []uint64
}

// OpKind is what a device operation does.
type OpKind uint8

// The device operations.
const (
	// OpPrefill computes the rows of Tokens at positions First, First+1, ... into Pages, then samples the token that
	// follows if Sample is set.
	OpPrefill OpKind = iota
	// OpDecode writes the row of Tokens[0] at position First, attends over positions 0 to First and samples.
	// With Verify = n it checks the stamps of the first n pages within the same operation and fails if one is wrong.
	OpDecode
	// OpScrub zeroes every buffer of Pages.
	OpScrub
	// OpStamp stamps Pages with (Room, ordinal, Generation), ordinals counting from First.
	OpStamp
	// OpCheckStamp compares the stamps of Pages with (Room, ordinal, Generation).
	OpCheckStamp
	// OpDigest sums the KV buffers of Pages: Digests is K0's groups, then V0's, K1's, V1's.
	OpDigest
	// OpLoad reads Span into Data; OpStore writes Data to Span.
	OpLoad
	OpStore
)

var opNames = [...]string{"prefill", "decode", "scrub", "stamp", "check-stamp", "digest", "load", "store"}

func (k OpKind) String() string { return opNames[k] }

// Op asks for one device operation. Operations of one queue run in order; queues are independent.
type Op struct {
	Ticket wire.Ticket
	Queue  uint8
	// After names operations of this device that must be Done OK first, whatever their queue; see Write.After.
	After []wire.Ticket
	Room  wire.Room
	Kind  OpKind
	// Pages is the request's page table (a prefix of it, for whole-page operations).
	Pages []wire.Page
	// First is a position (prefill, decode) or an ordinal (stamps).
	First      int
	Tokens     []wire.Token
	Sample     bool
	Verify     int
	Generation uint32
	Span       wire.Span
	Data       []byte
}

// Sampled is one token drawn, and the row that won the attention: trace data, never an owner.
type Sampled struct {
	Token wire.Token
	Page  wire.Page
	Slot  int32
	Score int32
}

// OpDone is the answer to an Op.
type OpDone struct {
	Ticket wire.Ticket
	Status Status
	// Sampled has the token of OpPrefill (if asked) and OpDecode, else it is nil.
	Sampled []Sampled
	Digests []uint64
	Data    []byte
	// FailedOrdinal is the first page whose stamp was wrong, when a stamp check failed; else -1 or 0.
	FailedOrdinal int
}

// Memory opens and closes registered address ranges of the worker that owns them. It acts at once: registering and
// deregistering are synchronous on every transport of the field.
type Memory interface {
	// Grant makes writes that name r land; a region never granted, or revoked, refuses them.
	Grant(r wire.Region)
	// Revoke ends r: no byte of a write that names it lands after Revoke returns.
	Revoke(r wire.Region)
}

// ID, Dependencies: what a wrapper written once over Port needs of any operation or answer.
func (w Write) ID() wire.Ticket             { return w.Ticket }
func (w Write) Dependencies() []wire.Ticket { return w.After }
func (d WriteDone) ID() wire.Ticket         { return d.Ticket }
func (o Op) ID() wire.Ticket                { return o.Ticket }
func (o Op) Dependencies() []wire.Ticket    { return o.After }
func (d OpDone) ID() wire.Ticket            { return d.Ticket }
