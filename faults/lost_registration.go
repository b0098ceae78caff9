package faults

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// LostRegistration loses the message by which a worker introduces itself to a peer.
type LostRegistration struct {
	Target
	When
	// To is the role of the receiver; absent, no peer hears it.
	To string `json:"to,omitempty"`
}

// Name is its name in a plan.
func (*LostRegistration) Name() string { return "lost-registration" }

// Doc describes it.
func (*LostRegistration) Doc() string {
	return "A worker's registration, with its limit and where its memory lies, never reaches the peer. role is who " +
		"registers (prefill, or decode), to who does not hear it. Without prefill's, decode and router do not " +
		"know its limit; without decode's, prefill does not know where to write. It concerns no request, so a " +
		"request in its target is not read. Public: smg 2382 and vllm 58063 (peers that knew each other wrongly), " +
		"sglang 23380 (limits never compared). Stopped by refusing to serve with an unknown peer. Seen by the " +
		"outcome and liveness checks."
}

// Validate judges its own fields.
func (f *LostRegistration) Validate() error { return validateTo(f.To) }

func (*LostRegistration) home() []wire.Role { return []wire.Role{wire.Prefill, wire.Decode} }

func (f *LostRegistration) install(i *instance, seams *port.Seams) {
	i.aim.Request = nil // a registration belongs to no room
	installLoss[wire.PeerUp](i, seams, f.To)
}
