package faults

import (
	"errors"
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Squatter takes pages of one worker's pool in mid-run, as another tenant's long request would, and gives them back.
type Squatter struct {
	Target
	When
	// HoldPages is how many pages it takes: those that are free when it is armed, the rest as they come free.
	HoldPages int `json:"hold_pages"`
	// ReleaseOn is the event at which it gives them back; absent, when nothing else can move.
	ReleaseOn *Trigger `json:"release_on,omitempty"`
}

// Name is its name in a plan.
func (*Squatter) Name() string { return "squatter" }

// Doc describes it.
func (*Squatter) Doc() string {
	return "Takes hold_pages pages of a worker's pool when its arm_on event has come, as they come free, and gives " +
		"them back at release_on or when nothing else can move. The pool's capacity stays as it was: to the " +
		"worker the pages look reserved. Public: load that comes and goes beside a long request (sglang 28651, " +
		"35421; vllm 46283). Stopped by queues that wait for pages with a deadline and hand over again what they " +
		"refused. Seen by the outcome, liveness and quiesce checks. Fires when a reservation is refused, or the " +
		"free count differs, for no other reason."
}

// Validate judges its own fields.
func (f *Squatter) Validate() error {
	errs := []error{validatePages(f.HoldPages), validateTrigger("release_on", f.ReleaseOn)}
	if f.ArmOn == nil {
		errs = append(errs, errors.New("arm_on: needed; from the start, it would be shrunken-pool"))
	}
	if f.Count != 0 {
		errs = append(errs, fmt.Errorf("count %d: a squatter takes its pages once; leave it out", f.Count))
	}
	return errors.Join(errs...)
}

func (*Squatter) home() []wire.Role { return poolRoles() }

func (f *Squatter) install(i *instance, seams *port.Seams) {
	if i.aim.MisAimed || seams.Allocator == nil {
		return
	}
	a := &withholding{inner: seams.Allocator, fault: i, source: seams.Addr}
	i.holders = append(i.holders, squat{a})
	i.whenArmed(func() {
		a.want = f.HoldPages
		a.keep()
	})
	if f.ReleaseOn != nil {
		i.releaseOn(*f.ReleaseOn)
	} else {
		i.idleReason = ReasonIdle + ", as planned" // its window was open all the while
	}
	seams.Allocator = a
}
