package faults

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// DuplicateCompletion reports the completions of writes twice.
type DuplicateCompletion struct {
	Target
	When
	// Buffer picks the writes of one buffer: "K0" to "V1", "stamp" or "record"; absent, all.
	Buffer *wire.Buffer `json:"buffer,omitempty"`
}

// Name is its name in a plan.
func (*DuplicateCompletion) Name() string { return "duplicate-completion" }

// Doc describes it.
func (*DuplicateCompletion) Doc() string {
	return "Each completion of the target's writes is delivered twice, one after the other, for one buffer or for " +
		"all. A worker that counts completions believes too early that nothing is outstanding, and that it was " +
		"paid twice. Public: the DONE_LOST family (late or sent twice: sglang 31800, 38961; vllm 46283, 58188). " +
		"Stopped by knowing completions by their ticket. Seen by the token accounting, quiesce and coverage " +
		"checks; a worker that knows its tickets shows nothing at all."
}

// Validate judges its own fields.
func (*DuplicateCompletion) Validate() error { return nil }

func (*DuplicateCompletion) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *DuplicateCompletion) install(i *instance, seams *port.Seams) {
	installWriteTap(i, seams, moves[port.Write, port.WriteDone]{match: ofBuffer(f.Buffer), duplicate: true})
}
