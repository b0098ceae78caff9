package faults

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// LostAbortAck loses prefill's answer to decode's abort.
type LostAbortAck struct {
	Target
	When
}

// Name is its name in a plan.
func (*LostAbortAck) Name() string { return "lost-abort-ack" }

// Doc describes it.
func (*LostAbortAck) Doc() string {
	return "Prefill's answer to decode's abort, which says that no write is outstanding, is lost: count times, or " +
		"every time. Public: sglang 38961 (a cleared room never answered), 29133, 35965, 31800; TensorRT-LLM " +
		"12542. Stopped by repeating the abort; if every answer is lost, by a bound on the repeats and quarantine " +
		"of the pages. Seen by the quiesce check (quarantined pages) and the liveness check; never by the " +
		"canary."
}

// Validate judges its own fields.
func (*LostAbortAck) Validate() error { return nil }

func (*LostAbortAck) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (*LostAbortAck) install(i *instance, seams *port.Seams) {
	installLoss[wire.AbortAck](i, seams, anyRole)
}
