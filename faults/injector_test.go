package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

func discard(*event.Event) {}

func noRooms(int) (wire.Room, bool) { return 0, false }

// It proves that an empty plan costs nothing: every seam is the very one that the engine made.
func TestEmptyPlanWrapsNothing(t *testing.T) {
	b := newBench(t)
	b.Expect(b.prefill.Transport).To(BeIdenticalTo(b.transport))
	b.Expect(b.prefill.Link).To(BeIdenticalTo(b.link))
	b.Expect(b.decode.Device).To(BeIdenticalTo(b.device))
	b.Expect(b.decode.Allocator).To(BeIdenticalTo(b.pages))
	b.Expect(b.injector.Between()).To(BeFalse())
	b.Expect(b.injector.Idle()).To(BeFalse())
	b.Expect(b.injector.Status()).To(BeEmpty())
}

// It proves that each fault wraps only the seam it stands at, only at workers of its role and, if it names one, of its
// index.
func TestFaultsLeaveOtherSeamsAlone(t *testing.T) {
	for _, entry := range Catalog() {
		t.Run(entry.Name, func(t *testing.T) {
			g := NewWithT(t)
			fault := entry.New()
			at := Target{Worker: number(1)}
			fault.Aim(at)
			if s, is := fault.(*Squatter); is {
				s.ArmOn = &Trigger{Event: event.TransferCommitted}
			}
			j, err := New(Plan{Faults: []Spec{{Fault: fault}}}, noRooms, discard)
			g.Expect(err).NotTo(HaveOccurred())
			wrapped := map[wire.Role]int{}
			for _, role := range []wire.Role{wire.Router, wire.Prefill, wire.Decode, wire.Colocated} {
				for index := range uint8(2) {
					before := port.Seams{
						Addr: wire.Addr{Role: role, Index: index, Incarnation: 1}, Link: &spool{}, Transport: newTransport(),
						Device: &honest[port.Op, port.OpDone]{}, Allocator: newPages(8), Admission: refusing{}, Pool: decodePool,
					}
					after := before
					j.Wrap(&after)
					for _, same := range []bool{
						after.Link == before.Link, after.Transport == before.Transport, after.Device == before.Device,
						after.Allocator == before.Allocator, after.Admission == before.Admission,
					} {
						if !same {
							g.Expect(index).To(Equal(uint8(1)), "a worker of another index was wrapped")
							wrapped[role]++
						}
					}
				}
			}
			want := map[wire.Role]int{fault.home()[0]: 1}
			if entry.Name == "held-abort" {
				want[wire.Router] = 1 // the one fault that stands at two homes
			}
			g.Expect(wrapped).To(Equal(want))
			g.Expect(j.Err()).NotTo(HaveOccurred())
		})
	}
}

// It proves that the mis-aimed control of every fault is in place, sees the traffic that the fault would bite, and
// does nothing: what reaches the inner seams, and every answer, is as without it.
func TestMisAimedFaultsStayQuiet(t *testing.T) {
	for _, entry := range Catalog() {
		t.Run(entry.Name, func(t *testing.T) {
			fault := entry.New()
			fault.Aim(Target{Request: number(target), MisAimed: true})
			if s, is := fault.(*Squatter); is {
				s.ArmOn = &Trigger{Event: event.PagesReserved}
			}
			b := newBench(t, fault)
			b.reserve(decode, target, 30, 31, 32, 33)
			writes := b.transfer(target, 4)
			b.prefill.Link.Send(message(prefill, decode, target, wire.Refused{}))
			b.prefill.Link.Send(message(prefill, decode, target, wire.AbortAck{}))
			b.prefill.Link.Send(message(prefill, decode, target, wire.PeerUp{}))
			b.decode.Link.Send(message(decode, prefill, target, wire.Abort{}))
			b.decode.Device.Submit(port.Op{Ticket: 5, Room: roomOf(target), Kind: port.OpDecode})
			b.settle()
			b.Expect(b.transport.landed).To(Equal(writes))
			b.expectOneAnswerEach(writes, port.OK)
			b.Expect(b.link.bodies()).To(Equal([]string{"refused", "abort-ack", "peer-up"}))
			b.Expect(b.back.bodies()).To(Equal([]string{"abort"}))
			b.Expect(b.device.pending).To(HaveLen(1))
			b.Expect(b.decode.Allocator.Free()).To(Equal(20))
			b.Expect(b.injector.Idle()).To(BeFalse())
			b.Expect(b.injector.Status()[0]).To(
				And(HaveField("MisAimed", true), HaveField("Armed", true), HaveField("Fired", 0)))
			b.Expect(b.events(event.FaultFired)).To(BeEmpty())
		})
	}
}

// It proves that a fault waits for the event that arms it, of the right party and request, the n-th time, and that it
// is armed between turns, not while the event is recorded.
func TestATriggerArmsBetweenTurns(t *testing.T) {
	b := newBench(t, &LostCompletion{Target: Request(target), When: When{ArmOn: &Trigger{
		Event: event.RoomBootstrapped, By: "prefill", Nth: 2,
	}}})
	happened := func(by wire.Addr, request int) event.Event {
		return event.Event{Kind: event.RoomBootstrapped, Source: by, Room: roomOf(request)}
	}
	for _, e := range []event.Event{happened(decode, target), happened(prefill, other), happened(prefill, target)} {
		b.say(e)
		b.Expect(b.injector.Status()[0].State).To(Equal(Planned))
	}
	second := happened(prefill, target)
	b.injector.Observe(&second)
	b.Expect(b.injector.Status()[0].State).To(Equal(Planned), "Observe only queues")
	b.Expect(b.injector.Between()).To(BeTrue())
	b.Expect(b.injector.Between()).To(BeFalse())
	b.Expect(b.injector.Status()[0].State).To(Equal(Armed))
	b.Expect(b.events(event.FaultArmed)).To(ConsistOf(HaveField("Reason", ContainSubstring("room.bootstrapped"))))
}

// It proves that a room which is drawn only when the request is sent is found then.
func TestARoomMayBeDrawnLate(t *testing.T) {
	g := NewWithT(t)
	known := false
	j, err := New(Plan{Faults: []Spec{{Fault: &LateWrite{Target: Request(target)}}}},
		func(int) (wire.Room, bool) { return 77, known }, discard)
	g.Expect(err).NotTo(HaveOccurred())
	seams := port.Seams{Addr: prefill, Transport: newTransport()}
	j.Wrap(&seams)
	seams.Transport.Submit(port.Write{Ticket: 1, Room: 77})
	g.Expect(j.Status()[0].Held).To(BeZero())
	known = true
	seams.Transport.Submit(port.Write{Ticket: 2, Room: 77})
	g.Expect(j.Status()[0].Held).To(Equal(1))
}

// It proves that New refuses what it could not run.
func TestNewRefusesABadPlan(t *testing.T) {
	g := NewWithT(t)
	_, err := New(Plan{Faults: []Spec{{Fault: &ShrunkenPool{}}}}, noRooms, discard)
	g.Expect(err).To(MatchError(ContainSubstring("faults[0] \"shrunken-pool\": hold_pages 0")))
	_, err = New(Plan{Faults: []Spec{{}}}, noRooms, discard)
	g.Expect(err).To(MatchError(ContainSubstring("faults[0]: no fault given")))
	_, err = New(Plan{}, nil, discard)
	g.Expect(err).To(HaveOccurred())
}
