package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// refusing is an admission that refuses with a stand-in at one stage, and passes on what is pending at the others.
type refusing struct{ at wire.Stage }

func (a refusing) At(stage wire.Stage, r port.Request, pending port.Verdict) port.Verdict {
	if stage == a.at && !pending.Refused {
		return port.Verdict{Refused: true, StandIn: true, Stage: stage, Reason: "too long"}
	}
	return pending
}

// It proves, for each stage, that the refusal is lost there and nowhere else, that the stand-in stays, and that what is
// lost does not come back at a later stage.
func TestTheFlagIsLostAtOneStage(t *testing.T) {
	stages := []wire.Stage{wire.AtIntake, wire.AtBootstrap, wire.AtWaiting, wire.AtForward}
	for _, lost := range stages {
		t.Run(lost.String(), func(t *testing.T) {
			fault := &DroppedRejectionFlag{Target: Request(target), Stage: lost}
			b := newBench(t, fault)
			seams := port.Seams{Addr: prefill, Admission: refusing{at: wire.AtIntake}}
			b.injector.Wrap(&seams)
			for _, request := range []int{target, other} {
				var v port.Verdict
				for _, stage := range stages {
					v = seams.Admission.At(stage, port.Request{Room: roomOf(request)}, v)
					b.Expect(v.StandIn).To(BeTrue(), "the stand-in is another effect")
					b.Expect(v.Refused).To(Equal(request == other || stage < lost), "request %d at %s", request, stage)
				}
			}
			b.expectFired(1)
			fired := b.journal[len(b.journal)-1]
			b.Expect(fired.Before).To(Equal("refused at intake: too long, with a stand-in"))
			b.Expect(fired.After).To(Equal("admitted, with a stand-in"))
			b.Expect(fired.Room).To(Equal(roomOf(target)))
		})
	}
}

// It proves that a prompt to be shortened stays one when the refusal beside it is lost.
func TestTheShorteningIsAnotherEffect(t *testing.T) {
	b := newBench(t, &DroppedRejectionFlag{Target: Request(target), Stage: wire.AtWaiting})
	seams := port.Seams{Addr: prefill, Admission: refusing{at: wire.AtIntake}}
	b.injector.Wrap(&seams)
	pending := port.Verdict{Refused: true, TruncateTo: 7, Reason: "too long"}
	v := seams.Admission.At(wire.AtWaiting, port.Request{Room: roomOf(target)}, pending)
	b.Expect(v).To(Equal(port.Verdict{TruncateTo: 7}))
}

// It proves that without a refusal the fault is called, and does not fire.
func TestWithoutARefusalThereIsNoFlagToLose(t *testing.T) {
	b := newBench(t, &DroppedRejectionFlag{Target: Request(target), Stage: wire.AtWaiting})
	seams := port.Seams{Addr: prefill, Admission: refusing{at: wire.AtCommit}}
	b.injector.Wrap(&seams)
	v := seams.Admission.At(wire.AtWaiting, port.Request{Room: roomOf(target)}, port.Verdict{})
	b.Expect(v).To(Equal(port.Verdict{}))
	b.expectFired(0)
}
