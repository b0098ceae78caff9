package prefill

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
	"github.com/stalepage/stalepage/engine/wire"
)

// states says how a request comes into each state, on a worker with scrub and deferred release.
var states = []struct {
	name  string
	state state
	reach func(*rig)
}{
	{"bootstrapping", bootstrapping, func(r *rig) {
		r.Receive(routerAddr, 7, wire.Submit{Prompt: turntest.Prompt(40)})
	}},
	{"waiting", waiting, func(r *rig) {
		r.submit(1, 7*pageSize, 7)
		r.submit(7, 40, 3)
	}},
	{"forwarding, first chunk", forwarding, func(r *rig) { r.submit(7, 40, 3) }},
	{"forwarding, writes under way", forwarding, func(r *rig) {
		r.submit(7, 40, 3)
		r.AnswerOp(port.OK)
		r.AnswerOp(port.OK)
	}},
	{"forwarding, storing the record", forwarding, func(r *rig) {
		r.submit(7, 10, 1)
		r.AnswerOp(port.OK)
		r.AnswerOp(port.OK)
	}},
	{"inflight", inflight, func(r *rig) {
		r.submit(7, 10, 1)
		for range 3 {
			r.AnswerOp(port.OK)
		}
	}},
	{"draining", draining, func(r *rig) {
		r.submit(7, 40, 3)
		r.Receive(routerAddr, 7, wire.Abort{})
	}},
	{"scrubbing", scrubbing, func(r *rig) {
		r.submit(7, 10, 1)
		for len(r.Ops) == 0 || r.Ops[0].Kind != port.OpScrub {
			r.answerNext(port.OK)
		}
	}},
	{"over", over, func(r *rig) {
		r.submit(7, 10, 1)
		r.settle(port.OK)
	}},
}

// Whoever ends a request, and whenever: what is outstanding is cancelled once, decode's abort is answered once, as
// drained, and only when nothing is outstanding; pages and slot come back.
func TestAbortInEveryState(t *testing.T) {
	for _, s := range states {
		for name, message := range map[string]struct {
			from wire.Addr
			body wire.Body
		}{
			"decode's abort":     {decodeAddr, wire.Abort{}},
			"the client's abort": {routerAddr, wire.Abort{}},
			"decode's refusal":   {decodeAddr, wire.Refused{Stage: wire.AtReserve, Status: 400}},
		} {
			t.Run(s.name+", "+name, func(t *testing.T) {
				r := newRig(t, guard.All)
				s.reach(r)
				request := r.worker.requests[7]
				r.Expect(request.state).To(Equal(s.state))
				r.Sent, r.Events, r.CancelOps, r.CancelWrites = nil, nil, nil, nil
				ops, writes := append([]wire.Ticket(nil), request.ops...), append([]wire.Ticket(nil), request.writes...)
				r.Receive(message.from, 7, message.body)
				if s.state < draining {
					r.Expect(r.CancelOps).To(HaveExactElements(ops))
					r.Expect(r.CancelWrites).To(HaveExactElements(writes))
				} else {
					r.Expect(len(r.CancelOps) + len(r.CancelWrites)).To(BeZero())
				}
				acknowledges := name == "decode's abort"
				for request.state != over {
					r.Expect(r.acks(7)).To(BeEmpty())
					r.settleNextEnding()
				}
				if acknowledges {
					r.Expect(r.acks(7)).To(Equal([]wire.Body{wire.AbortAck{Drained: true}}))
					r.Expect(r.Has(event.AbortAcknowledged)).To(BeTrue())
				} else {
					r.Expect(r.acks(7)).To(BeEmpty())
				}
				r.settleEnding()
				r.ExpectIdle()
			})
		}
	}
}

func (r *rig) settleNextEnding() {
	if len(r.Ops) > 0 && r.Ops[0].Kind == port.OpScrub {
		r.AnswerOp(port.OK)
		return
	}
	r.answerNext(port.Cancelled)
}

func (r *rig) acks(room wire.Room) (acks []wire.Body) {
	for _, m := range r.Sent {
		if ack, ok := m.Body.(wire.AbortAck); ok && m.Room == room {
			acks = append(acks, ack)
		}
	}
	return acks
}

// An abort that is repeated is answered as often, a tombstone's answer included.
func TestRepeatedAborts(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(7, 40, 3)
	r.Receive(decodeAddr, 7, wire.Abort{})
	r.Receive(decodeAddr, 7, wire.Abort{})
	r.settleEnding()
	r.Receive(decodeAddr, 7, wire.Abort{})
	drained := wire.AbortAck{Drained: true}
	r.Expect(r.acks(7)).To(Equal([]wire.Body{drained, drained, drained}))
	r.ExpectIdle()
}

// A refusal of one stage is acted on there, whatever the guards, wherever the request is by then: nothing stays behind.
func TestRefusedAtEachStage(t *testing.T) {
	for _, stage := range []wire.Stage{wire.AtHTTP, wire.AtBootstrap, wire.AtWaiting, wire.AtForward} {
		for _, guards := range []guard.Set{guard.None, guard.All} {
			t.Run(stage.String()+" "+guards.String(), func(t *testing.T) {
				r := newRig(t, guards, func(c *Config) { c.Admission = refusing{at: stage} })
				r.submit(7, 40, 3)
				for !r.Has(event.RequestRejected) {
					r.answerNext(port.OK)
				}
				refused := wire.Refused{Stage: stage, Reason: "no", Status: 400}
				r.Expect(r.Told(routerAddr)).To(Equal([]wire.Body{refused}))
				if guards.Has(guard.TellPeer) {
					r.Expect(r.Told(decodeAddr)[0]).To(Equal(refused))
				} else {
					r.Expect(r.Told(decodeAddr)).To(BeEmpty())
				}
				r.settleEnding()
				r.ExpectIdle()
			})
		}
	}
}

// refusing says no at one stage, and with a stand-in if asked to.
type refusing struct {
	at      wire.Stage
	standIn bool
}

func (a refusing) At(stage wire.Stage, _ port.Request, pending port.Verdict) port.Verdict {
	if stage == a.at && !pending.Refused {
		return port.Verdict{Refused: true, StandIn: a.standIn, Stage: stage, Reason: "no"}
	}
	return pending
}
