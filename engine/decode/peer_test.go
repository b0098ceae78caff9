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

// The incarnation after prefillAddr, which refuses less.
var (
	nextPrefill = wire.Addr{Role: wire.Prefill, Incarnation: 2}
	nextUp      = wire.PeerUp{MaxInputTokens: 2 * peerLimit, PageSize: pageSize}
)

const peerGone = "peer prefill/0#1 is gone"

// Prefill goes, in whatever state a request is: what waits for it is answered 502, what has its "done" goes on to 200,
// nobody writes any more, so that pages and slot come back at once and once, and nobody is told to stop.
func TestPrefillGoneInEveryState(t *testing.T) {
	for _, s := range states {
		for _, guards := range []guard.Set{guard.All, guard.All &^ guard.Scrub} {
			t.Run(s.name+" "+guards.String(), func(t *testing.T) {
				if s.state == scrubbing && !guards.Has(guard.Scrub) {
					t.Skip("nothing is scrubbed")
				}
				r := newRig(t, guards)
				s.reach(r)
				request := r.worker.requests[7]
				before := len(r.Sent)
				r.Receive(routerAddr, 0, turntest.Down(prefillAddr))
				r.Expect(r.Lost()).To(Equal([]wire.Addr{prefillAddr}))
				for _, m := range r.Sent[before:] {
					r.Expect(m.To).To(Equal(routerAddr), "nobody else is there to hear it")
				}
				want := map[state]int{
					preallocating: 502, transferring: 502, verifying: 200, running: 200, draining: 499, scrubbing: 200, over: 200,
				}[s.state]
				if s.state == announced {
					r.Receive(routerAddr, 7, wire.Abort{})
					r.submit(7, 20, 3)
					want = 499
				}
				if want == 502 {
					r.Expect(r.Answers(7)[0].Reason).To(Equal(peerGone))
				}
				r.SettleOps(port.OK)
				r.ExpectStatus(7, want)
				if s.state == preallocating {
					r.ExpectStatus(1, 200)
				}
				r.Expect(request.state).To(Equal(over))
				r.Expect(r.CountOf(7, event.PagesReleased)).To(Equal(r.CountOf(7, event.PagesReserved)))
				r.Expect(r.Count(event.PagesQuarantined)).To(BeZero())
				r.expectIdle()
			})
		}
	}
}

// The next incarnation takes over while the one before may still write: what waits is answered 502 all the same, but its
// pages wait for that writer: for the word that it is gone, or for ever. What the next one says of them is worth nothing.
func TestTheOneBeforeMayStillWrite(t *testing.T) {
	for _, told := range []bool{false, true} {
		r := newRig(t, guard.All)
		r.submit(7, 20, 3)
		r.Sent = nil
		r.Receive(nextPrefill, 0, nextUp)
		r.ExpectStatus(7, 502)
		r.Expect(r.told()).To(Equal([]wire.Body{wire.Abort{}}), "the writer is asked, should it be there")
		r.Receive(nextPrefill, 7, wire.AbortAck{Drained: true})
		r.Receive(prefillAddr, 7, wire.AbortAck{Drained: true})
		r.Expect(r.worker.requests[7].writing).To(BeTrue())
		r.Expect(r.granted).NotTo(BeEmpty())
		for r.Wake > 0 && !told {
			r.Now = r.Wake - 1
			r.Turn(port.Turn{})
		}
		asked := map[bool]int{true: 1, false: 1 + retriesMax}[told]
		r.Expect(r.told()).To(HaveLen(asked))
		for _, e := range r.Events {
			if e.Kind == event.AbortSent {
				r.Expect(e.Peer).To(Equal(prefillAddr))
				asked--
			}
		}
		r.Expect(asked).To(BeZero())
		if told {
			r.Receive(routerAddr, 0, turntest.Down(prefillAddr))
			r.SettleOps(port.OK)
		}
		r.Expect(r.CountOf(7, event.PagesReleased)).To(Equal(map[bool]int{true: 1}[told]))
		r.Expect(r.Count(event.PagesQuarantined)).To(Equal(map[bool]int{false: 1}[told]))
		r.Expect(r.Lost()).To(Equal([]wire.Addr{prefillAddr}))
		r.expectIdle()
	}
}

// What prefill left behind when it went changes nothing: no message of it is believed, and none brings it back. Nor does
// the word that it is gone, said again, or said of anybody else.
func TestGonePrefillChangesNothing(t *testing.T) {
	for _, back := range []bool{false, true} {
		r := newRig(t, guard.All)
		r.Receive(routerAddr, 0, turntest.Down(prefillAddr))
		want := preallocating
		if back {
			r.Receive(nextPrefill, 0, nextUp)
			want = transferring
		}
		r.submit(7, 20, 3)
		r.Sent, r.Events = nil, nil
		for _, body := range []wire.Body{
			wire.PeerUp{MaxInputTokens: 5, PageSize: pageSize},
			r.claim(20),
			wire.AbortAck{Drained: true},
			wire.Refused{Stage: wire.AtIntake, Reason: "too long", Status: 400},
			wire.Abort{},
		} {
			r.Receive(prefillAddr, 7, body)
			r.Receive(prefillAddr, 8, body)
		}
		for _, peer := range []wire.Addr{prefillAddr, {}, routerAddr, decodeAddr, {Role: wire.Prefill, Index: 1, Incarnation: 9}} {
			r.Receive(routerAddr, 0, turntest.Down(peer))
		}
		r.Expect(r.Sent).To(BeEmpty())
		r.Expect(r.Events).To(BeEmpty())
		r.Expect(r.worker.requests).To(HaveLen(1))
		r.Expect(r.worker.requests[7].state).To(Equal(want))
		r.Expect(r.worker.requests[7].writing).To(Equal(back))
		r.Expect(r.worker.prefill.Gone).To(Equal(!back))
		r.Receive(routerAddr, 0, turntest.Down(nextPrefill))
		r.SettleOps(port.OK)
		r.Now = r.Wake // the one that was never begun waits for a prefill that does not come
		r.Turn(port.Turn{})
		r.ExpectStatus(7, map[bool]int{true: 502, false: 504}[back])
		r.expectIdle()
	}
}

// While nobody is there nothing is reserved, whatever the guards, and nobody is told of a refusal: a request that waits
// too long says for whom.
func TestNothingIsReservedForNobody(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.TellPeer, guard.All} {
		r := newRig(t, guards)
		r.Receive(routerAddr, 0, turntest.Down(prefillAddr))
		r.submit(7, 20, 3)
		r.submit(8, limit, 3)
		r.ExpectStatus(8, 400)
		r.Expect(r.Count(event.PagesReserved)).To(BeZero())
		r.Now = r.Wake
		r.Turn(port.Turn{})
		r.ExpectStatus(7, 504)
		r.Expect(r.Answers(7)[0].Reason).To(Equal("timed out waiting for prefill"))
		r.Expect(r.told()).To(BeEmpty())
		r.expectIdle()
	}
}

// The next incarnation is introduced to and served with, by its own limit, also for a request that came before it.
func TestTheNextPrefillServes(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(1, 20, 3)
	r.Receive(routerAddr, 0, turntest.Down(prefillAddr))
	r.SettleOps(port.OK)
	r.submit(7, peerLimit, 3)
	r.Expect(r.Answers(7)).To(BeEmpty(), "it was the other one's limit")
	r.Sent = nil
	r.Receive(nextPrefill, 0, nextUp)
	r.Expect(r.Sent).To(HaveLen(2))
	for i, name := range []string{"peer-up", "reserved"} {
		r.Expect(r.Sent[i].To).To(Equal(nextPrefill))
		r.Expect(r.Sent[i].Body.Name()).To(Equal(name))
	}
	r.Expect(r.Sent[0].Body).To(HaveField("RecordBase", uint16(recordBase)))
	r.Receive(nextPrefill, 7, r.claim(peerLimit))
	r.SettleOps(port.OK)
	r.ExpectStatus(7, 200)
	r.submit(8, 2*peerLimit, 3)
	r.ExpectStatus(8, 400)
	r.Expect(r.Tripped()).To(Equal([]string{"limit-exchange"}))
	last := len(r.Sent) - 2 // before the answer
	r.Expect(r.Sent[last]).To(And(HaveField("To", nextPrefill), HaveField("Body", BeAssignableToTypeOf(wire.Refused{}))))
	r.expectIdle()
}

// The limit of an incarnation that is gone binds nobody, even if the next one is heard of before it introduces itself.
func TestTheLimitGoesWithItsPrefill(t *testing.T) {
	r := newRig(t, guard.All)
	r.Receive(nextPrefill, 9, wire.AbortAck{})
	r.submit(7, peerLimit, 3)
	r.Expect(r.Count(event.PagesReserved)).To(BeZero(), "its own is not known yet")
	r.Receive(nextPrefill, 0, nextUp)
	r.Expect(r.Count(event.PagesReserved)).To(Equal(1))
	r.Receive(nextPrefill, 7, r.claim(peerLimit))
	r.SettleOps(port.OK)
	r.ExpectStatus(7, 200)
	r.expectIdle()
}

// A peer that is gone before anything of it was heard stays gone, its introduction comes too late; and that it is gone
// does not say that the one before writes no more.
func TestGoneBeforeItWasHeardOf(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(7, 20, 3)
	r.Receive(routerAddr, 0, turntest.Down(nextPrefill))
	r.ExpectStatus(7, 502)
	r.Expect(r.worker.requests[7].writing).To(BeTrue())
	r.Receive(nextPrefill, 0, nextUp)
	r.submit(8, 20, 3)
	r.Expect(r.Count(event.PagesReserved)).To(Equal(1))
	r.Receive(routerAddr, 0, turntest.Down(prefillAddr))
	r.SettleOps(port.OK)
	r.Now = r.Wake
	r.Turn(port.Turn{})
	r.ExpectStatus(8, 504)
	r.Expect(r.Lost()).To(Equal([]wire.Addr{prefillAddr}))
	r.Expect(r.CountOf(7, event.PagesReleased)).To(Equal(1))
	r.expectIdle()
}
