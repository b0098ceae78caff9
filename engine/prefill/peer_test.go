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

// The incarnation after decodeAddr, and where its memory lies.
var (
	nextDecode = wire.Addr{Role: wire.Decode, Incarnation: 2}
	nextUp     = wire.PeerUp{MaxInputTokens: 1000, PageSize: pageSize, PoolPages: 33, PoolBase: 8, RecordBase: 9}
)

var peerGone = wire.Refused{Stage: wire.AtTransfer, Reason: "peer decode/0#1 is gone", Status: 502}

// However decode goes, and in whatever state a request is then: one that had not ended fails towards the router alone,
// what it has outstanding is cancelled once, no acknowledgement is sent, and pages and slot come back once, behind what
// still reads them.
func TestDecodeGoneInEveryState(t *testing.T) {
	for _, s := range states {
		for name, message := range map[string]struct {
			from wire.Addr
			body wire.Body
		}{
			"somebody says so":  {routerAddr, turntest.Down(decodeAddr)},
			"the next one came": {nextDecode, nextUp},
		} {
			for _, aborted := range []bool{false, true} {
				t.Run(s.name+", "+name+map[bool]string{true: ", aborted before"}[aborted], func(t *testing.T) {
					r := newRig(t, guard.All)
					s.reach(r)
					request := r.worker.requests[7]
					fails := s.state < draining && !aborted
					reserved := len(request.pages) > 0
					if aborted && s.state < over {
						r.Receive(decodeAddr, 7, wire.Abort{})
					}
					ended := request.state == over
					r.Sent, r.CancelOps, r.CancelWrites = nil, nil, nil
					ops, writes := append([]wire.Ticket(nil), request.ops...), append([]wire.Ticket(nil), request.writes...)
					r.Receive(message.from, 0, message.body)
					r.Expect(r.Lost()).To(Equal([]wire.Addr{decodeAddr}))
					if fails {
						r.Expect(r.CancelOps).To(ContainElements(ops))
						r.Expect(r.CancelWrites).To(HaveExactElements(writes))
						r.Expect(r.refusals(7)).To(Equal([]wire.Message{{From: prefillAddr, To: routerAddr, Room: 7, Body: peerGone}}))
					} else {
						r.Expect(r.refusals(7)).To(BeEmpty())
					}
					if reserved && !ended && s.state < scrubbing && len(ops)+len(writes) > 0 {
						r.Expect(r.CountOf(7, event.PagesReleased)).To(BeZero(), "what is under way still reads them")
					}
					r.settleEnding()
					r.Expect(request.state).To(Equal(over))
					r.Expect(r.CountOf(7, event.PagesReleased)).To(Equal(r.CountOf(7, event.PagesReserved)))
					r.Expect(r.CountOf(7, event.RequestFinished)).To(Equal(1))
					r.Expect(r.acks(7)).To(BeEmpty())
					r.Expect(r.Told(decodeAddr)).To(BeEmpty(), "nobody is there to hear it")
					r.ExpectIdle()
				})
			}
		}
	}
}

// refusals lists who was told that a room is over since the test last looked, without tickets.
func (r *rig) refusals(room wire.Room) (list []wire.Message) {
	for _, m := range r.Sent {
		if _, ok := m.Body.(wire.Refused); ok && m.Room == room {
			m.Ticket = 0
			list = append(list, m)
		}
	}
	return list
}

// What decode left behind when it went changes nothing: no message of it is answered, and none brings it back. Nor does
// the word that it is gone, said again, or said of anybody else.
func TestGoneDecodeChangesNothing(t *testing.T) {
	for _, back := range []bool{false, true} {
		r := newRig(t, guard.All)
		r.submit(1, 40, 3)
		r.Receive(routerAddr, 0, turntest.Down(decodeAddr))
		if back {
			r.Receive(nextDecode, 0, nextUp)
		}
		r.settleEnding()
		r.Receive(routerAddr, 7, wire.Submit{Prompt: turntest.Prompt(20)})
		r.Sent, r.Events = nil, nil
		for _, body := range []wire.Body{
			wire.PeerUp{PageSize: pageSize},
			reservation(2),
			wire.Abort{},
			wire.Refused{Stage: wire.AtIntake, Status: 400},
			wire.AbortAck{Drained: true},
		} {
			r.Receive(decodeAddr, 7, body)
			r.Receive(decodeAddr, 1, body)
		}
		for _, peer := range []wire.Addr{decodeAddr, {}, routerAddr, prefillAddr, {Role: wire.Decode, Index: 1, Incarnation: 9}} {
			r.Receive(routerAddr, 0, turntest.Down(peer))
		}
		r.Expect(r.Sent).To(BeEmpty())
		r.Expect(r.Events).To(BeEmpty())
		r.Expect(r.worker.requests[7].state).To(Equal(bootstrapping))
		r.Expect(r.worker.peerKnown).To(Equal(back))
		r.Expect(r.worker.decode.Gone).To(Equal(!back))
		r.Receive(routerAddr, 8, wire.Submit{Prompt: turntest.Prompt(limit)})
		r.Now = r.Wake
		r.Turn(port.Turn{})
		r.Expect(r.Told(routerAddr)).To(HaveLen(2), "one is refused, one waited too long")
		r.Expect(r.Told(decodeAddr)).To(BeEmpty())
		r.ExpectIdle()
	}
}

// A word about another incarnation than the present one ends nothing.
func TestAnotherIncarnationIsGone(t *testing.T) {
	r := newRig(t, guard.All, func(c *Config) { c.Decode = nextDecode })
	r.Receive(nextDecode, 0, nextUp)
	r.submitTo(nextDecode, 7)
	r.Receive(routerAddr, 0, turntest.Down(decodeAddr))
	r.Expect(r.Lost()).To(BeEmpty())
	r.settle(port.OK)
	r.Expect(r.Told(nextDecode)).To(ContainElement(BeAssignableToTypeOf(wire.Sent{})))
	r.ExpectIdle()
}

func (r *rig) submitTo(decode wire.Addr, room wire.Room) {
	r.Receive(routerAddr, room, wire.Submit{Prompt: turntest.Prompt(40), MaxNewTokens: 4})
	r.Receive(decode, room, reservation(3))
}

// The next incarnation is introduced to and served, where its own memory lies; a request of the one before stays over.
func TestTheNextDecodeIsServed(t *testing.T) {
	for name, told := range map[string]bool{"after the word that the other is gone": true, "without it": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, guard.All)
			r.submit(1, 40, 3)
			if told {
				r.Receive(routerAddr, 0, turntest.Down(decodeAddr))
			}
			r.Receive(nextDecode, 0, nextUp)
			r.Expect(r.Told(nextDecode)).To(Equal([]wire.Body{wire.PeerUp{MaxInputTokens: limit, PageSize: pageSize}}))
			r.settleEnding()
			r.Sent, r.Events = nil, nil

			r.submitTo(nextDecode, 7)
			r.Receive(nextDecode, 1, reservation(3))
			r.Expect(r.Told(nextDecode)).To(Equal([]wire.Body{peerGone}), "the room of the one before is over")
			r.Expect(r.worker.requests[1].state).To(Equal(over))
			r.AnswerOp(port.OK)
			r.AnswerOp(port.OK)
			layout := port.Layout{Base: 8, Pages: 33, PageSize: pageSize, RowBytes: 128}
			r.Expect(r.Writes[0].Dst[0]).To(Equal(layout.Span(wire.K0, 20, 9)))
			r.Receive(routerAddr, 0, turntest.Down(decodeAddr))
			r.settle(port.OK)
			r.Expect(r.Told(nextDecode)[1]).To(BeAssignableToTypeOf(wire.Sent{}))
			r.Receive(nextDecode, 7, wire.Abort{})
			r.Expect(r.acks(7)).To(Equal([]wire.Body{wire.AbortAck{Drained: true}}))
			r.Expect(r.Lost()).To(BeEmpty())
			r.ExpectIdle()
		})
	}
}

// A later incarnation that does not introduce itself is told so, rather than written to where the one before lay.
func TestTheNextDecodeIsNotTheOneBefore(t *testing.T) {
	r := newRig(t, guard.All)
	r.Receive(nextDecode, 7, reservation(3))
	r.Receive(routerAddr, 7, wire.Submit{Prompt: turntest.Prompt(40)})
	r.Expect(r.Told(nextDecode)[1]).To(And(HaveField("Status", 500), HaveField("Stage", wire.AtTransfer)))
	r.Expect(r.Ops).To(BeEmpty())
	r.ExpectIdle()
}

// A peer that is gone before anything of it was heard stays gone: its introduction comes too late. The one after it is
// served.
func TestGoneBeforeItWasHeardOf(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(1, 40, 3)
	r.Receive(routerAddr, 0, turntest.Down(nextDecode))
	r.Expect(r.refusals(1)).To(HaveLen(1))
	r.Receive(nextDecode, 0, nextUp)
	r.submitTo(nextDecode, 7)
	r.Expect(r.worker.requests[7].reserved).To(BeFalse())
	third := wire.Addr{Role: wire.Decode, Incarnation: 3}
	r.Receive(third, 0, nextUp)
	r.settleEnding()
	r.submitTo(third, 8)
	r.settleEnding()
	r.Expect(r.worker.requests[8].reserved).To(BeTrue())
	r.Expect(r.Told(nextDecode)).To(BeEmpty())
	r.Expect(r.Lost()).To(Equal([]wire.Addr{decodeAddr}))
	r.Now = r.Wake
	r.Turn(port.Turn{})
	r.ExpectIdle()
}
