package faults

import (
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// HeldAbort delays the aborts on their way to prefill, and with them everything else on their channels.
type HeldAbort struct {
	Target
	When
	// ReleaseOn is the event at which the channel moves again; absent, when prefill has sent the room's "done" unaware.
	ReleaseOn *Trigger `json:"release_on,omitempty"`
}

// Name is its name in a plan.
func (*HeldAbort) Name() string { return "held-abort" }

// Doc describes it.
func (*HeldAbort) Doc() string {
	return "The aborts of the router and of decode (or of the one that role names) are held on their way to prefill, " +
		"and everything behind them on those channels, until prefill has sent the transfer that nobody waits for " +
		"(or until release_on). Prefill goes on writing to pages that decode has given up. Public: sglang 28651, " +
		"24527 (an aborted room's writes landed in the next request's pages), 33507; TensorRT-LLM 11715; dynamo " +
		"7489. Stopped by deferred release and by address generations. Seen by the ownership check and the next " +
		"request's canary; not by the coverage of the aborted request."
}

// Validate judges its own fields.
func (f *HeldAbort) Validate() error { return validateTrigger("release_on", f.ReleaseOn) }

func (*HeldAbort) home() []wire.Role { return []wire.Role{wire.Decode, wire.Router} }

// standsAt is true of both homes where the plan names none: a client's abort reaches prefill through the router, and
// again through decode, and one that arrives is enough.
func (f *HeldAbort) standsAt(homes []wire.Role, worker wire.Addr) bool {
	if f.Role == "" {
		return slices.Contains(homes, worker.Role) && (f.Worker == nil || *f.Worker == int(worker.Index))
	}
	return f.Target.standsAt(homes, worker)
}

func (f *HeldAbort) install(i *instance, seams *port.Seams) {
	installLinkTap(i, seams, linkMoves{match: sends[wire.Abort](wire.Prefill.String()), hold: true})
	i.releaseOn(f.ReleaseOn.orElse(Trigger{Event: event.TransferSent}))
}
