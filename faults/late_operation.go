package faults

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// LateOperation holds a decode step past the end of its request and lets it write its row into another request's page.
type LateOperation struct {
	Target
	When
	// ReleaseOn replaces the default window: the commit of another room that was given the page written to.
	ReleaseOn *Trigger `json:"release_on,omitempty"`
}

// Name is its name in a plan.
func (*LateOperation) Name() string { return "late-operation" }

// Doc describes it.
func (*LateOperation) Doc() string {
	return "Holds the target's decode operations on the device, deaf to Cancel, until another room that was given " +
		"the page they write to has committed (or until release_on); then the row is written. The request must be " +
		"aborted while one is held. Public: vllm 45357 and 55470, vllm-ascend 14055, tpu-inference 3449 (a page " +
		"given away while a step still wrote to it), TensorRT-LLM 12542. Stopped by deferred release, which also " +
		"waits for the device; an address generation does not help, because no transfer is involved. Seen by the " +
		"ownership check and the next owner's exact answer."
}

// Validate judges its own fields.
func (f *LateOperation) Validate() error { return validateTrigger("release_on", f.ReleaseOn) }

func (*LateOperation) home() []wire.Role { return []wire.Role{wire.Decode} }

func (f *LateOperation) install(i *instance, seams *port.Seams) {
	if seams.Device == nil {
		return
	}
	window, pageSize := newReuseWindow(i), max(seams.Pool.PageSize, 1)
	seams.Device = newTap(i, seams.Addr, seams.Device, &operationShape, moves[port.Op, port.OpDone]{
		match: func(o port.Op) bool { return o.Kind == port.OpDecode }, hold: true,
		onHold: func(o port.Op) { window.aim(o.Room, o.First/pageSize, 1) },
	})
	if f.ReleaseOn != nil {
		i.releaseOn(*f.ReleaseOn)
		return
	}
	window.open()
}
