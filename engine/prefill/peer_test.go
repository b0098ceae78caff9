package prefill

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// The incarnation after decodeAddr, and where its memory lies.
var (
	nextDecode = wire.Addr{Role: wire.Decode, Incarnation: 2}
	nextUp     = wire.PeerUp{MaxInputTokens: 1000, PageSize: pageSize, PoolPages: 33, PoolBase: 8, RecordBase: 9}
)

var peerGone = wire.Refused{Stage: wire.AtTransfer, Reason: "peer decode/0#1 is gone", Status: 502}

func down(peer wire.Addr) wire.PeerDown { return wire.PeerDown{Peer: peer} }

// lossOf lists whose loss was recorded since the test last looked.
func (r *rig) lossOf() (peers []wire.Addr) {
	for _, e := range r.events {
		if e.Kind == event.PeerLost {
			peers = append(peers, e.Peer)
		}
	}
	return peers
}

func (r *rig) countPages(kind event.Kind) (n int) {
	for _, e := range r.events {
		if e.Kind == kind && e.Room == 7 {
			n++
		}
	}
	return n
}

// However decode goes, and in whatever state a request is then: one that had not ended fails towards the router alone,
// what it has outstanding is cancelled once, no acknowledgement is sent, and pages and slot come back once, behind what
// still reads them.
func TestDecodeGoneInEveryState(t *testing.T) {
	for _, s := range states {
		for name, message := range map[string]struct {
			from wire.Addr
			body wire.Body
		}{
			"somebody says so":  {routerAddr, down(decodeAddr)},
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
						r.receive(decodeAddr, 7, wire.Abort{})
					}
					ended := request.state == over
					r.sent, r.cancelOps, r.cancelWrites = nil, nil, nil
					ops, writes := append([]wire.Ticket(nil), request.ops...), append([]wire.Ticket(nil), request.writes...)
					r.receive(message.from, 0, message.body)
					r.Expect(r.lossOf()).To(Equal([]wire.Addr{decodeAddr}))
					if fails {
						r.Expect(r.cancelOps).To(ContainElements(ops))
						r.Expect(r.cancelWrites).To(HaveExactElements(writes))
						r.Expect(r.refusals(7)).To(Equal([]wire.Message{{From: prefillAddr, To: routerAddr, Room: 7, Body: peerGone}}))
					} else {
						r.Expect(r.refusals(7)).To(BeEmpty())
					}
					if reserved && !ended && s.state < scrubbing && len(ops)+len(writes) > 0 {
						r.Expect(r.countPages(event.PagesReleased)).To(BeZero(), "what is under way still reads them")
					}
					r.settleEnding()
					r.Expect(request.state).To(Equal(over))
					r.Expect(r.countPages(event.PagesReleased)).To(Equal(r.countPages(event.PagesReserved)))
					r.Expect(r.countPages(event.RequestFinished)).To(Equal(1))
					r.Expect(r.acks(7)).To(BeEmpty())
					r.Expect(r.take(decodeAddr)).To(BeEmpty(), "nobody is there to hear it")
					r.expectIdle()
				})
			}
		}
	}
}

// refusals lists who was told that a room is over since the test last looked, without tickets.
func (r *rig) refusals(room wire.Room) (list []wire.Message) {
	for _, m := range r.sent {
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
		r.receive(routerAddr, 0, down(decodeAddr))
		if back {
			r.receive(nextDecode, 0, nextUp)
		}
		r.settleEnding()
		r.receive(routerAddr, 7, wire.Submit{Prompt: promptOf(20)})
		r.sent, r.events = nil, nil
		for _, body := range []wire.Body{
			wire.PeerUp{PageSize: pageSize},
			reservation(2),
			wire.Abort{},
			wire.Refused{Stage: wire.AtIntake, Status: 400},
			wire.AbortAck{Drained: true},
		} {
			r.receive(decodeAddr, 7, body)
			r.receive(decodeAddr, 1, body)
		}
		for _, peer := range []wire.Addr{decodeAddr, {}, routerAddr, prefillAddr, {Role: wire.Decode, Index: 1, Incarnation: 9}} {
			r.receive(routerAddr, 0, down(peer))
		}
		r.Expect(r.sent).To(BeEmpty())
		r.Expect(r.events).To(BeEmpty())
		r.Expect(r.worker.requests[7].state).To(Equal(bootstrapping))
		r.Expect(r.worker.peerKnown).To(Equal(back))
		r.Expect(r.worker.decodeGone).To(Equal(!back))
		r.receive(routerAddr, 8, wire.Submit{Prompt: promptOf(limit)})
		r.now = r.wake
		r.turn(port.Turn{})
		r.Expect(r.take(routerAddr)).To(HaveLen(2), "one is refused, one waited too long")
		r.Expect(r.take(decodeAddr)).To(BeEmpty())
		r.expectIdle()
	}
}

// A word about another incarnation than the present one ends nothing.
func TestAnotherIncarnationIsGone(t *testing.T) {
	r := newRig(t, guard.All, func(c *Config) { c.Decode = nextDecode })
	r.receive(nextDecode, 0, nextUp)
	r.submitTo(nextDecode, 7)
	r.receive(routerAddr, 0, down(decodeAddr))
	r.Expect(r.lossOf()).To(BeEmpty())
	r.settle(port.OK)
	r.Expect(r.take(nextDecode)).To(ContainElement(BeAssignableToTypeOf(wire.Sent{})))
	r.expectIdle()
}

func (r *rig) submitTo(decode wire.Addr, room wire.Room) {
	r.receive(routerAddr, room, wire.Submit{Prompt: promptOf(40), MaxNewTokens: 4})
	r.receive(decode, room, reservation(3))
}

// The next incarnation is introduced to and served, where its own memory lies; a request of the one before stays over.
func TestTheNextDecodeIsServed(t *testing.T) {
	for name, told := range map[string]bool{"after the word that the other is gone": true, "without it": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, guard.All)
			r.submit(1, 40, 3)
			if told {
				r.receive(routerAddr, 0, down(decodeAddr))
			}
			r.receive(nextDecode, 0, nextUp)
			r.Expect(r.take(nextDecode)).To(Equal([]wire.Body{wire.PeerUp{MaxInputTokens: limit, PageSize: pageSize}}))
			r.settleEnding()
			r.sent, r.events = nil, nil

			r.submitTo(nextDecode, 7)
			r.receive(nextDecode, 1, reservation(3))
			r.Expect(r.take(nextDecode)).To(Equal([]wire.Body{peerGone}), "the room of the one before is over")
			r.Expect(r.worker.requests[1].state).To(Equal(over))
			r.answerOp(port.OK)
			r.answerOp(port.OK)
			layout := port.Layout{Base: 8, Pages: 33, PageSize: pageSize, RowBytes: 128}
			r.Expect(r.writes[0].Dst[0]).To(Equal(layout.Span(wire.K0, 20, 9)))
			r.receive(routerAddr, 0, down(decodeAddr))
			r.settle(port.OK)
			r.Expect(r.take(nextDecode)[1]).To(BeAssignableToTypeOf(wire.Sent{}))
			r.receive(nextDecode, 7, wire.Abort{})
			r.Expect(r.acks(7)).To(Equal([]wire.Body{wire.AbortAck{Drained: true}}))
			r.Expect(r.lossOf()).To(BeEmpty())
			r.expectIdle()
		})
	}
}

// A later incarnation that does not introduce itself is told so, rather than written to where the one before lay.
func TestTheNextDecodeIsNotTheOneBefore(t *testing.T) {
	r := newRig(t, guard.All)
	r.receive(nextDecode, 7, reservation(3))
	r.receive(routerAddr, 7, wire.Submit{Prompt: promptOf(40)})
	r.Expect(r.take(nextDecode)[1]).To(And(HaveField("Status", 500), HaveField("Stage", wire.AtTransfer)))
	r.Expect(r.ops).To(BeEmpty())
	r.expectIdle()
}

// A peer that is gone before anything of it was heard stays gone: its introduction comes too late. The one after it is
// served.
func TestGoneBeforeItWasHeardOf(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(1, 40, 3)
	r.receive(routerAddr, 0, down(nextDecode))
	r.Expect(r.refusals(1)).To(HaveLen(1))
	r.receive(nextDecode, 0, nextUp)
	r.submitTo(nextDecode, 7)
	r.Expect(r.worker.requests[7].reserved).To(BeFalse())
	third := wire.Addr{Role: wire.Decode, Incarnation: 3}
	r.receive(third, 0, nextUp)
	r.settleEnding()
	r.submitTo(third, 8)
	r.settleEnding()
	r.Expect(r.worker.requests[8].reserved).To(BeTrue())
	r.Expect(r.take(nextDecode)).To(BeEmpty())
	r.Expect(r.lossOf()).To(Equal([]wire.Addr{decodeAddr}))
	r.now = r.wake
	r.turn(port.Turn{})
	r.expectIdle()
}
