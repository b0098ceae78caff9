package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// DroppedRejectionFlag loses a refusal at one stage and keeps the placeholder that came with it.
type DroppedRejectionFlag struct {
	Target
	When
	// Stage is the hand-over at which the refusal is lost.
	Stage wire.Stage `json:"stage"`
}

// Name is its name in a plan.
func (*DroppedRejectionFlag) Name() string { return "dropped-rejection-flag" }

// Doc describes it.
func (*DroppedRejectionFlag) Doc() string {
	return "At one stage of admission (intake, bootstrap, waiting, forward) the verdict comes back without its " +
		"refusal, wherever that was first given; the placeholder that stands in for the prompt stays, so the " +
		"request goes on as one token. It bites only next to a refusal: a plan or a topology must bring one " +
		"about. Public: sglang 30233 (the incident), 30325, 38704, 36988, 35421; vllm 41269. Stopped by coverage, " +
		"claimed length and the sender's check of what it owes; by the checks of a refusal only at other stages. " +
		"Seen by token accounting and outcome, then by canary and coverage; never by the status code."
}

// Validate judges its own fields.
func (f *DroppedRejectionFlag) Validate() error {
	if f.Stage > wire.AtCommit {
		return fmt.Errorf("stage %s: not a stage of admission", f.Stage)
	}
	return nil
}

func (*DroppedRejectionFlag) home() []wire.Role {
	return []wire.Role{wire.Prefill, wire.Decode, wire.Router, wire.Colocated}
}

func (f *DroppedRejectionFlag) install(i *instance, seams *port.Seams) {
	if seams.Admission != nil {
		seams.Admission = &forgetful{inner: seams.Admission, fault: i, source: seams.Addr, stage: f.Stage}
	}
}

// forgetful is an admission that loses what it decided at one stage.
type forgetful struct {
	inner  port.Admission
	fault  *instance
	source wire.Addr
	stage  wire.Stage
}

// At asks the inner admission and, at its stage, loses a refusal.
func (a *forgetful) At(stage wire.Stage, r port.Request, pending port.Verdict) port.Verdict {
	v := a.inner.At(stage, r, pending)
	if stage != a.stage || !v.Refused || !a.fault.active() || !a.fault.aims(r.Room) {
		return v
	}
	lost := port.Verdict{StandIn: v.StandIn, TruncateTo: v.TruncateTo}
	a.fault.take()
	a.fault.fire(a.source, r.Room, verdictName(v), verdictName(lost))
	return lost
}

func verdictName(v port.Verdict) string {
	name := "admitted"
	if v.Refused {
		name = fmt.Sprintf("refused at %s: %s", v.Stage, v.Reason)
	}
	if v.StandIn {
		name += ", with a stand-in"
	}
	return name
}
