package faults

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// HeldAbort delays decode's abort, and with it everything decode sends to prefill.
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
	return "Decode's abort is held on its way to prefill, and everything behind it on that channel, until prefill " +
		"has sent the transfer that nobody waits for (or until release_on). Prefill goes on writing to pages that" +
		" decode has given up. Public: sglang 28651, 24527 (an aborted room's writes landed in the next request's" +
		" pages), 33507; TensorRT-LLM 11715; dynamo 7489. Stopped by deferred release and by address generations." +
		" Seen by the ownership check and the next request's canary; not by the coverage of the aborted request."
}

// Validate judges its own fields.
func (f *HeldAbort) Validate() error { return validateTrigger("release_on", f.ReleaseOn) }

func (*HeldAbort) home() []wire.Role { return []wire.Role{wire.Decode} }

func (f *HeldAbort) install(i *instance, seams *port.Seams) {
	installLinkTap(i, seams, linkMoves{match: sends[wire.Abort](wire.Prefill.String()), hold: true})
	i.releaseOn(f.ReleaseOn.orElse(Trigger{Event: event.TransferSent, By: wire.Prefill.String()}))
}
