package faults

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// EarlyCompletion reports page writes as done before a byte has moved.
type EarlyCompletion struct {
	Target
	When
	// ReleaseOn is the event at which the writes do land; absent, when decode has finished the request.
	ReleaseOn *Trigger `json:"release_on,omitempty"`
}

// Name is its name in a plan.
func (*EarlyCompletion) Name() string { return "early-completion" }

// Doc describes it.
func (*EarlyCompletion) Doc() string {
	return "Three moves at once, because one alone does nothing: page writes are answered OK at Submit, held, and no " +
		"longer order what comes after them, so that the metadata record and the done message go ahead of the " +
		"pages. They land when decode has finished the request (or at release_on). Their completion carries no " +
		"digest: the source was not read. Public: Mooncake 3968, torchcomms 4047 and 2396, NCCL 683 (a completion " +
		"before the payload is visible), sglang 31357, 35360. Stopped by coverage or page stamps at commit; a " +
		"claimed length believes it. Seen by the coverage check, then by ownership and exact answer."
}

// Validate judges its own fields.
func (f *EarlyCompletion) Validate() error { return validateTrigger("release_on", f.ReleaseOn) }

func (*EarlyCompletion) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *EarlyCompletion) install(i *instance, seams *port.Seams) {
	installWriteTap(i, seams, moves[port.Write, port.WriteDone]{
		match: isPages, hold: true, unordered: true,
		early: func(w port.Write) port.WriteDone {
			return port.WriteDone{Ticket: w.Ticket, Status: port.OK, ClaimedBytes: writeBytes(w)}
		},
	})
	i.releaseOn(f.ReleaseOn.orElse(Trigger{Event: event.RequestFinished, By: wire.Decode.String()}))
}
