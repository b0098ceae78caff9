// Package event defines what a run says happened: one flat record per event, in the order it happened. Every check,
// verdict and report is a pure function of these. It imports only wire.
//
// An event carries evidence of different weight. Client and worker events are what a party believes. Events whose
// doc says "as it happened" are written by our own code at the instant the bytes moved, so they exist only where
// our own code moves them (the in-process transport, the host device).
package event

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/wire"
)

// Kind is what happened, as noun.past-verb.
type Kind uint8

// The kinds. After each, who records it and which fields it uses beside Kind, Tick, Source and Room.
const (
	// RequestSubmitted: the client, on sending. Tenant, Request, Tokens (prompt), MaxNewTokens, Spans, Hash (of the
	// prompt), Text (shape of the traffic, if named).
	RequestSubmitted Kind = iota
	// RequestReceived: router and each worker, on Submit. Tokens, MaxNewTokens, Hash (of the prompt as received).
	RequestReceived
	// RefusalRecorded: a worker's admission said no, acted on or not. Stage, Tokens, Reason; Flag: with a stand-in.
	RefusalRecorded
	// RequestTruncated: auto_truncate shortened the prompt. Tokens (kept), Count (asked).
	RequestTruncated
	// RequestRejected: a party ended the request as refused. Stage, Tokens, Reason.
	RequestRejected
	// RoomBootstrapped: prefill has the peer's reservation and may schedule. Count (pages the peer reserved).
	RoomBootstrapped
	// PagesReserved: Pages in ordinal order; Slot (metadata slot), Generation.
	PagesReserved
	// PagesReleased: the room's pages went back to the allocator.
	PagesReleased
	// PagesQuarantined: Count pages of the room will never be handed out again. Reason.
	PagesQuarantined
	// PagesScrubbed: as it happened, all buffers of Pages were zeroed.
	PagesScrubbed
	// RowsComputed: as it happened, the rows of positions First to First+Count-1 of the room were written to its pages.
	RowsComputed
	// TokenSampled: as it happened, one column per row in Samples: the row of Samples[i].Position was written, attention
	// ran, and a token was drawn. On prefill only the draw (the rows are in RowsComputed).
	TokenSampled
	// WritePosted: prefill, a write was submitted. Buffer, First, Count.
	WritePosted
	// WriteLanded: as it happened, ordinals First to First+Count-1 of Buffer were copied from Source's pool into the
	// pages of Peer's pool. Pages is nil when they are exactly the room's reserved pages at
	// those ordinals; otherwise Pages[i] is where ordinal First+i landed. For Record, Slot is where.
	WriteLanded
	// WriteRefused: as it happened, a write to a revoked or unknown region did not land. Buffer, First, Count.
	WriteRefused
	// WriteEnded: prefill, a Done. Buffer, First, Count, Bytes (claimed), Reason (status).
	WriteEnded
	// TransferSent: prefill's claim as it left. Count (pages), Bytes, Tokens, Digests.
	TransferSent
	// TransferReceived: decode, the claim as it arrived. The same fields.
	TransferReceived
	// DigestTaken: decode, at commit, of what lies in its reserved prompt pages. Digests, Count (pages).
	DigestTaken
	// TransferCommitted: decode accepted. Tokens (prompt), Count (pages), Slot.
	TransferCommitted
	// GuardTripped: a guard stopped something. Guard, Reason, First (ordinal, where it knows one, else -1).
	GuardTripped
	// AbortSent, AbortReceived, AbortAcknowledged: Peer; Flag on the last: drained.
	AbortSent
	AbortReceived
	AbortAcknowledged
	// RequestExpired: a deadline passed. Reason names the state it waited in.
	RequestExpired
	// RequestFinished: a worker's own view of the end. Status, Tokens (prompt, as it believes), Count (generated), Reason.
	RequestFinished
	// ResponseReceived: the client's answer. Status, Tokens (usage.prompt_tokens), Output, Flag (prompt was truncated), Reason.
	ResponseReceived
	// PeerRegistered: a worker knows a peer. Peer, Tokens (the peer's limit).
	PeerRegistered
	// FaultArmed, FaultFired, FaultRecovered: Fault; on FaultFired Before and After: the submitted and the delivered.
	FaultArmed
	FaultFired
	FaultRecovered
	// HoldReleased: Fault; Reason says which event opened the window, or "idle" when only quiescing released it.
	HoldReleased
	// WorkerQuiesced: at the end of the run. Holdings.
	WorkerQuiesced
	// PeerLost: a worker was told that a peer's incarnation is gone, or met a later one. Peer: who is gone.
	PeerLost

	kinds
)

var names = [kinds]string{
	"request.submitted", "request.received", "refusal.recorded", "request.truncated", "request.rejected",
	"room.bootstrapped", "pages.reserved", "pages.released", "pages.quarantined", "pages.scrubbed", "rows.computed",
	"token.sampled", "write.posted", "write.landed", "write.refused", "write.ended", "transfer.sent",
	"transfer.received", "digest.taken", "transfer.committed", "guard.tripped", "abort.sent", "abort.received",
	"abort.acknowledged", "request.expired", "request.finished", "response.received", "peer.registered",
	"fault.armed", "fault.fired", "fault.recovered", "hold.released", "worker.quiesced", "peer.lost",
}

// Kinds lists every kind in order.
func Kinds() []Kind {
	out := make([]Kind, kinds)
	for i := range out {
		out[i] = Kind(i)
	}
	return out
}

func (k Kind) String() string {
	if k < kinds {
		return names[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// MarshalText lets a kind be a JSON string.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	for i, n := range names {
		if n == string(text) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("event kind %q is not known to this version", text)
}

// Event is one thing that happened. Fields that a kind does not use are zero and left out of the journal.
type Event struct {
	Kind   Kind
	Tick   wire.Tick
	Source wire.Addr // who says so
	Room   wire.Room
	Peer   wire.Addr

	Tenant, Request int // of the fixture: whose request this is, and its index in the traffic
	Tokens          int
	MaxNewTokens    int
	First, Count    int // positions or ordinals, as the kind says
	Bytes           int64
	Status          int // HTTP
	Slot            int // metadata slot
	Generation      uint32
	Stage           wire.Stage
	Buffer          wire.Buffer
	Flag            bool

	Guard, Fault, Reason, Before, After, Text string

	Hash     [32]byte // SHA-256 of a prompt's tokens, little endian
	Pages    []wire.Page
	Output   []wire.Token
	Samples  []Sample
	Spans    []Span
	Digests  [wire.KVBuffers][]uint64
	Holdings Holdings
}

// Sample is one token drawn. Room is given because one TokenSampled event holds a whole decode step.
type Sample struct {
	Room     wire.Room
	Position int // whose row was written; the drawn token belongs at Position+1
	Token    wire.Token
	Page     wire.Page // of the winning row
	Slot     int32
	Score    int32
}

// Span is a stretch of a tenant's document: tokens First to First+Count-1. A prompt is the concatenation of its spans.
type Span struct{ Tenant, First, Count int }

// Holdings is what a worker holds: zero free-versus-capacity difference and zero counts at rest.
type Holdings struct {
	PagesFree, PagesCapacity, PagesQuarantined int
	SlotsFree, SlotsCapacity, SlotsQuarantined int
	Requests, Outstanding                      int
}

// Idle reports whether nothing is held: quarantined pages are held, by design and for ever.
func (h Holdings) Idle() bool {
	return h.PagesFree+h.PagesQuarantined == h.PagesCapacity && h.SlotsFree+h.SlotsQuarantined == h.SlotsCapacity &&
		h.Requests == 0 && h.Outstanding == 0
}
