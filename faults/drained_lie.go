package faults

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// DrainedLie is a late write whose Cancel is answered at once: the transport says that it has drained, and has not.
type DrainedLie struct {
	Target
	When
	// ReleaseOn replaces the default window: the commit of another room that was given one of the pages aimed at.
	ReleaseOn *Trigger `json:"release_on,omitempty"`
}

// Name is its name in a plan.
func (*DrainedLie) Name() string { return "drained-lie" }

// Doc describes it.
func (*DrainedLie) Doc() string {
	return "A late write whose Cancel is answered at once as cancelled, although the write stays held and lands in " +
		"the end: the transport breaks its promise that no byte lands after a completion. Public: sglang 35360 " +
		"and 31357 (an acknowledgement that proved receipt, not that the writer had drained), 38961; the " +
		"DONE_EARLY family, Mooncake 3968. Deferred release believes the lie. Stopped only by address " +
		"generations. Seen by the ownership check and by the next owner's canary."
}

// Validate judges its own fields.
func (f *DrainedLie) Validate() error { return validateTrigger("release_on", f.ReleaseOn) }

func (*DrainedLie) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *DrainedLie) install(i *instance, seams *port.Seams) {
	installLateWrite(i, seams, f.ReleaseOn, func(w port.Write) port.WriteDone {
		return port.WriteDone{Ticket: w.Ticket, Status: port.Cancelled}
	})
}
