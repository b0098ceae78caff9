package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// ShrunkenPool keeps pages of one worker's pool back from the start.
type ShrunkenPool struct {
	Target
	// HoldPages is how many pages are kept back.
	HoldPages int `json:"hold_pages"`
}

// Name is its name in a plan.
func (*ShrunkenPool) Name() string { return "shrunken-pool" }

// Doc describes it.
func (*ShrunkenPool) Doc() string {
	return "Keeps hold_pages pages of a worker's pool back from the start; the pool then looks that much smaller, to " +
		"its quiesce count too. The limits that the worker checks prompts against are configuration and do not " +
		"change: unequal limits, as in the incident, belong in the topology. Public: sglang 30233 and 35421 " +
		"(prefill smaller than decode), 18701, vllm-ascend 16315, LMCache 3022. Stopped by refusing at the door " +
		"what can never fit, and by deadlines in every queue. Seen by the outcome, liveness and quiesce checks; " +
		"not by comparing text. Fires when a reservation is refused, or the free count differs, for no other " +
		"reason."
}

// Validate judges its own fields.
func (f *ShrunkenPool) Validate() error { return validatePages(f.HoldPages) }

func (*ShrunkenPool) when() When { return When{} }

func (*ShrunkenPool) home() []wire.Role { return poolRoles() }

func (f *ShrunkenPool) install(i *instance, seams *port.Seams) {
	if i.aim.MisAimed || seams.Allocator == nil {
		return
	}
	if free := seams.Allocator.Free(); f.HoldPages >= free {
		i.injector.fail(fmt.Errorf("fault %s: hold_pages %d at %s: only %d pages are free, and one must be left",
			f.Name(), f.HoldPages, seams.Addr, free))
		return
	}
	a := &withholding{inner: seams.Allocator, fault: i, source: seams.Addr, want: f.HoldPages, smaller: true}
	a.keep()
	seams.Allocator = a
}
