package faults

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// LostRefusalMessage loses the message by which one worker of a pair tells the other that the request is refused.
type LostRefusalMessage struct {
	Target
	When
	// To is the role of the receiver; absent, decode hears nothing from prefill, or prefill from decode.
	To string `json:"to,omitempty"`
}

// Name is its name in a plan.
func (*LostRefusalMessage) Name() string { return "lost-refusal-message" }

// Doc describes it.
func (*LostRefusalMessage) Doc() string {
	return "The refusal is made and acted on, but the message that tells the other worker of the pair is lost at the " +
		"hand-off. role is who refuses (prefill, or decode), to who does not hear it. Public: sglang 28651 " +
		"(decode held its pages for the whole timeout), 36988, 38704; vllm 41269. Stopped by a deadline in every " +
		"state. Seen by the liveness and outcome checks (a timeout where a refusal was due) and by how long the " +
		"reservation is held."
}

// Validate judges its own fields.
func (f *LostRefusalMessage) Validate() error { return validateTo(f.To) }

func (*LostRefusalMessage) home() []wire.Role { return []wire.Role{wire.Prefill, wire.Decode} }

func (f *LostRefusalMessage) install(i *instance, seams *port.Seams) {
	to := f.To
	if to == anyRole {
		to = wire.Decode.String()
		if seams.Addr.Role == wire.Decode {
			to = wire.Prefill.String()
		}
	}
	installLoss[wire.Refused](i, seams, to)
}
