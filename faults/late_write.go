package faults

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// LateWrite holds a request's page writes past its end and lets them land in what has become another request's pages.
type LateWrite struct {
	Target
	When
	// ReleaseOn replaces the default window: the commit of another room that was given one of the pages aimed at.
	ReleaseOn *Trigger `json:"release_on,omitempty"`
}

// Name is its name in a plan.
func (*LateWrite) Name() string { return "late-write" }

// Doc describes it.
func (*LateWrite) Doc() string {
	return "Holds the target's page writes, deaf to Cancel, until another room that was given one of their " +
		"destination pages has committed (or until release_on); then they land, and only then is their completion " +
		"reported, truthfully. The request must end while they are held: the plan's traffic aborts it, or a " +
		"deadline does. Public: sglang 24527, 24580, 35049, 35360, 38961, 31357; vllm 32255. Stopped by deferred " +
		"release, which waits for the completion, and by address generations. Seen by the ownership check and by " +
		"the next owner's canary; coverage at commit sees nothing, because the bytes land after it."
}

// Validate judges its own fields.
func (f *LateWrite) Validate() error { return validateTrigger("release_on", f.ReleaseOn) }

func (*LateWrite) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *LateWrite) install(i *instance, seams *port.Seams) {
	installLateWrite(i, seams, f.ReleaseOn, nil)
}

// installLateWrite holds page writes until the pages that they aim at are another's.
func installLateWrite(
	i *instance, seams *port.Seams, release *Trigger, onCancel func(port.Write) port.WriteDone,
) {
	window := newReuseWindow(i)
	t := installWriteTap(i, seams, moves[port.Write, port.WriteDone]{
		match: isPages, hold: true, onCancel: onCancel,
		onHold: func(w port.Write) { window.aim(w.Room, int(w.First), len(w.Dst)) },
	})
	switch {
	case t == nil:
	case release != nil:
		i.releaseOn(*release)
	default:
		window.open()
	}
}
