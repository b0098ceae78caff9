package faults

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// LostCompletion loses the completions of writes that did land.
type LostCompletion struct {
	Target
	When
	// Buffer picks the writes of one buffer: "K0" to "V1", "stamp" or "record"; absent, all.
	Buffer *wire.Buffer `json:"buffer,omitempty"`
}

// Name is its name in a plan.
func (*LostCompletion) Name() string { return "lost-completion" }

// Doc describes it.
func (*LostCompletion) Doc() string {
	return "The target's writes land, but prefill never hears of it: the completion is lost, for one buffer or for " +
		"all, count times or every time. Public: sglang 31800 (deadline checked only before the transfer), 38961; " +
		"vllm 46283, 50754, 58188; vllm-ascend 16662; TensorRT-LLM 12542. Stopped by a deadline in every state " +
		"and a bounded wait for the writer, then quarantine. Seen by the liveness and quiesce checks; never by " +
		"the canary."
}

// Validate judges its own fields.
func (*LostCompletion) Validate() error { return nil }

func (*LostCompletion) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *LostCompletion) install(i *instance, seams *port.Seams) {
	installWriteTap(i, seams, moves[port.Write, port.WriteDone]{match: ofBuffer(f.Buffer), swallow: true})
}

// ofBuffer matches writes of one buffer, or all.
func ofBuffer(b *wire.Buffer) func(port.Write) bool {
	return func(w port.Write) bool { return b == nil || w.Buffer == *b }
}
