package wire

// Message is one control message. Links deliver first in, first out per (From, To).
type Message struct {
	Ticket   Ticket
	From, To Addr
	Room     Room
	Body     Body
}

// Body is one of the types of this file: the set is closed. Any may arrive before Submit; a room that has
// finished answers from a tombstone.
type Body interface{ Name() string }

type (
	// Submit asks for a completion: client to router, and router to prefill and decode at once.
	Submit struct {
		Prompt       []Token
		MaxNewTokens int
	}
	// PeerUp introduces a worker to a peer: its limits and where its memory lies. Sent once per
	// incarnation of a peer.
	PeerUp struct {
		// MaxInputTokens is the sender's own limit: a prompt of this many tokens or more is refused by it; 0 if it refuses
		// none, because it truncates.
		MaxInputTokens int
		PageSize       int
		// PoolPages counts the pool's pages, page 0 included; it fixes where each buffer of a page lies.
		PoolPages  int
		PoolBase   uint16
		RecordBase uint16
	}
	// PeerDown says that a peer's incarnation is gone and its connections are torn down: none of its writes can land any
	// more, and no answer of it will come. Anybody may say so. A message of a later incarnation says no more than that the
	// earlier one answers no more.
	PeerDown struct{ Peer Addr }
	// Reserved is decode's half of the bootstrap handshake: where prefill is to write.
	Reserved struct {
		Pages []Page
		// Slot is the metadata slot, an index into decode's record region.
		Slot int
		// Generation is the region generation under which pages and slot are registered; 0 when unguarded.
		Generation uint32
	}
	// Sent is prefill's "done": the sender's claim, evidence of nothing.
	Sent struct {
		Pages  int
		Bytes  int64
		Tokens int
		// Digests has, per KV buffer (K0 to V1), one order-independent sum per DigestGroupPages ordinals.
		Digests [KVBuffers][]uint64
		// Record is the sum of the metadata record; 0 where nothing is digested.
		Record uint64
	}
	// Refused tells a peer, or the router, that the request is over and why.
	Refused struct {
		Stage  Stage
		Reason string
		// Status is the HTTP status that fits: 400 for a refusal, 500 for a transfer that failed, 502 for one whose
		// peer is gone, 504 for one that was not begun in time.
		Status int
	}
	// Abort ends a request in flight: from a client, or from a peer that will not wait for it.
	Abort struct{}
	// AbortAck answers a peer's Abort. Drained says that no write of the room is outstanding, so that the
	// pages may be given away.
	AbortAck struct{ Drained bool }
	// Finished is the answer to a client, HTTP status and all.
	Finished struct {
		Status int
		// PromptTokens is what the answering worker believes the prompt's length to be.
		PromptTokens int
		Tokens       []Token
		// Truncated says that auto_truncate shortened the prompt before it was answered.
		Truncated bool
		Reason    string
	}
)

// DigestGroupPages is how many consecutive ordinals one transfer digest covers.
const DigestGroupPages = 128

// Name returns the message's name as the journal spells it.
func (Submit) Name() string   { return "submit" }
func (PeerUp) Name() string   { return "peer-up" }
func (PeerDown) Name() string { return "peer-down" }
func (Reserved) Name() string { return "reserved" }
func (Sent) Name() string     { return "sent" }
func (Refused) Name() string  { return "refused" }
func (Abort) Name() string    { return "abort" }
func (AbortAck) Name() string { return "abort-ack" }
func (Finished) Name() string { return "finished" }
