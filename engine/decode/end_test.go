package decode

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
	"github.com/stalepage/stalepage/engine/wire"
)

// states says how a request comes into each state with every guard on.
var states = []struct {
	name  string
	state state
	reach func(*rig)
	// writing: prefill may still write to its pages.
	writing bool
}{
	{"announced", announced, func(r *rig) { r.Receive(prefillAddr, 7, wire.AbortAck{}) }, false},
	{"preallocating", preallocating, func(r *rig) {
		r.commit(1, 7*pageSize, 8*pageSize)
		r.submit(7, 5*pageSize, 3)
	}, false},
	{"transferring", transferring, func(r *rig) { r.submit(7, 20, 3) }, true},
	{"verifying", verifying, func(r *rig) {
		r.submit(7, 20, 3)
		r.Receive(prefillAddr, 7, r.claim(20))
		r.AnswerOp(port.OK)
	}, false},
	{"running", running, func(r *rig) { r.commit(7, 20, 3) }, false},
	{"draining", draining, func(r *rig) {
		r.submit(7, 20, 3)
		r.Receive(routerAddr, 7, wire.Abort{})
	}, true},
	{"scrubbing", scrubbing, func(r *rig) {
		r.submit(7, 20, 1)
		r.Receive(prefillAddr, 7, r.claim(20))
		for len(r.Answers(7)) == 0 {
			r.AnswerOp(port.OK)
		}
	}, false},
	{"over", over, func(r *rig) {
		r.submit(7, 20, 1)
		r.Receive(prefillAddr, 7, r.claim(20))
		r.SettleOps(port.OK)
	}, false},
}

// Whatever ends a request, and whenever: the client has exactly one answer, prefill is told to stop if it may still write,
// pages and slot come back once both writer and device are done, and nothing waits for a timer that is not needed.
func TestEndInEveryState(t *testing.T) {
	for _, s := range states {
		for name, ending := range map[string]struct {
			from   wire.Addr
			body   wire.Body
			status int
		}{
			"client's abort":    {routerAddr, wire.Abort{}, 499},
			"prefill's refusal": {prefillAddr, wire.Refused{Stage: wire.AtIntake, Reason: "too long", Status: 400}, 400},
			"failed transfer":   {prefillAddr, wire.Refused{Stage: wire.AtTransfer, Reason: "broken", Status: 500}, 500},
			"late transfer":     {prefillAddr, wire.Refused{Stage: wire.AtTransfer, Reason: "late", Status: 504}, 504},
		} {
			t.Run(s.name+", "+name, func(t *testing.T) {
				r := newRig(t, guard.All)
				s.reach(r)
				request := r.worker.requests[7]
				r.Expect(request.state).To(Equal(s.state))
				r.Receive(ending.from, 7, ending.body)
				if s.state == announced {
					r.submit(7, 20, 3)
				}
				want := ending.status
				switch {
				case s.state == running && ending.from == prefillAddr:
					r.SettleOps(port.OK) // prefill has nothing to say any more
					want = 200
				case s.state == draining:
					want = 499
				case s.state > draining:
					want = 200
				}
				r.ExpectStatus(7, want)
				if s.writing {
					r.Expect(r.told()[len(r.told())-1]).To(Equal(wire.Abort{}))
					r.Expect(request.pages).NotTo(BeNil(), "prefill may still write")
					r.Receive(prefillAddr, 7, wire.AbortAck{Drained: false})
					r.Expect(request.pages).NotTo(BeNil(), "prefill may still write")
					r.Receive(prefillAddr, 7, wire.AbortAck{Drained: true})
				}
				r.Receive(routerAddr, 1, wire.Abort{})
				r.SettleOps(port.OK)
				r.ExpectStatus(7, want)
				r.Expect(request.state).To(Equal(over))
				r.expectIdle()
			})
		}
	}
}

// "Done" may cross decode's abort: then prefill writes no more, and the pages need no other answer.
func TestDoneCrossesAbort(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(7, 20, 3)
	r.Receive(routerAddr, 7, wire.Abort{})
	r.Receive(prefillAddr, 7, r.claim(20))
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpScrub}))
	r.SettleOps(port.OK)
	r.ExpectStatus(7, 499)
	r.Receive(prefillAddr, 7, wire.AbortAck{Drained: true})
	r.expectIdle()
}

// A refusal and an abort that both come before Submit give one answer, and no page is reserved.
func TestEndedBeforeSubmit(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All} {
		r := newRig(t, guards)
		r.Receive(prefillAddr, 7, wire.Refused{Stage: wire.AtTransfer, Reason: "late", Status: 504})
		r.Receive(routerAddr, 7, wire.Abort{})
		r.submit(7, 20, 3)
		r.ExpectStatus(7, 499)
		r.Expect(r.Count(event.PagesReserved)).To(BeZero())
		r.expectIdle()
	}
}

// A decode step that ends after its request did is no token of anybody, and the next step waits for it.
func TestAbortDuringAStep(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All, guard.Scrub, guard.DeferredRelease} {
		t.Run(guards.String(), func(t *testing.T) {
			r := newRig(t, guards)
			r.commit(1, 20, 5)
			r.commit(2, 20, 2)
			r.Expect(r.stepping()).To(Equal([]wire.Room{1}))
			step := r.takeOp(port.OpDecode)
			r.Receive(routerAddr, 1, wire.Abort{})
			r.ExpectStatus(1, 499)
			early := !guards.Has(guard.DeferredRelease) && !guards.Has(guard.Scrub)
			r.Expect(r.Count(event.PagesReleased)).To(Equal(map[bool]int{true: 1}[early]))
			r.Expect(r.Ops).To(BeEmpty(), "the scrub waits for the step, and so does the next step")
			r.Turn(port.Turn{Ops: []port.OpDone{r.opDone(step, port.OK)}})
			r.Expect(r.stepping()).To(Equal([]wire.Room{2}))
			r.SettleOps(port.OK)
			r.ExpectStatus(1, 499)
			r.ExpectStatus(2, 200)
			r.expectIdle()
		})
	}
}

// Any operation that fails ends its request with 500 and nobody else's.
func TestDeviceFailures(t *testing.T) {
	for _, kind := range []port.OpKind{port.OpDigest, port.OpCheckStamp, port.OpLoad, port.OpDecode} {
		for _, status := range []port.Status{port.Cancelled, port.Failed, port.Rejected} {
			t.Run(kind.String()+" "+status.String(), func(t *testing.T) {
				r := newRig(t, guard.All)
				r.commit(1, 20, 3)
				r.submit(7, 20, 3)
				r.Receive(prefillAddr, 7, r.claim(20))
				for len(r.Answers(7)) == 0 {
					o := r.Ops[0]
					r.Ops = r.Ops[1:]
					d := r.opDone(o, port.OK)
					if o.Room == 7 && o.Kind == kind {
						d = r.opDone(o, status)
					}
					r.Turn(port.Turn{Ops: []port.OpDone{d}})
				}
				r.ExpectStatus(7, 500)
				stamps := status == port.Failed && (kind == port.OpCheckStamp || kind == port.OpDecode)
				r.Expect(r.Tripped()).To(HaveLen(map[bool]int{true: 1}[stamps]), "only a stamp that is wrong is evidence of one")
				r.SettleOps(port.OK)
				r.ExpectStatus(1, 200)
				r.expectIdle()
			})
		}
	}
}

// A decode step that is answered OK but without a token fails its request; it is no reason to fall over.
func TestAnswerWithoutToken(t *testing.T) {
	r := newRig(t, guard.All)
	r.commit(7, 20, 3)
	o := r.takeOp(port.OpDecode)
	r.Turn(port.Turn{Ops: []port.OpDone{{Ticket: o.Ticket}}})
	r.ExpectStatus(7, 500)
	r.SettleOps(port.OK)
	r.expectIdle()
}
