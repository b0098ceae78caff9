package faults

import (
	"testing"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// sink is the cheapest port there is: it answers each operation at the next Poll.
type sink struct{ done []port.WriteDone }

func (s *sink) Submit(w port.Write) { s.done = append(s.done, port.WriteDone{Ticket: w.Ticket}) }
func (s *sink) Cancel(wire.Ticket)  {}
func (s *sink) Poll(out []port.WriteDone) int {
	n := copy(out, s.done)
	s.done = s.done[:copy(s.done, s.done[n:])]
	return n
}

// BenchmarkPort compares a bare port with one under a tap that has nothing to do: not yet armed, or aimed at another
// request. An iteration is one Submit and one Poll.
func BenchmarkPort(b *testing.B) {
	later := When{ArmOn: &Trigger{Event: event.WorkerQuiesced}}
	for _, c := range []struct {
		name string
		plan Plan
	}{
		{"bare", Plan{}},
		{"disarmed", Plan{Faults: []Spec{{Fault: &LateWrite{Target: Request(1), When: later}}}}},
		{"aimed-elsewhere", Plan{Faults: []Spec{{Fault: &LateWrite{Target: Request(1)}}}}},
		{"three-aimed-elsewhere", Plan{Faults: []Spec{
			{Fault: &LateWrite{Target: Request(1)}},
			{Fault: &LostCompletion{Target: Request(1)}},
			{Fault: &TruncatedTransfer{Target: Request(1), Claim: ClaimOwed}},
		}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			j, err := New(c.plan, func(int) (wire.Room, bool) { return 1, true }, discard)
			if err != nil {
				b.Fatal(err)
			}
			seams := port.Seams{Addr: prefill, Transport: &sink{}}
			j.Wrap(&seams)
			var out [8]port.WriteDone
			b.ReportAllocs()
			for n := range b.N {
				seams.Transport.Submit(port.Write{Ticket: wire.Ticket(n), Room: 2})
				if seams.Transport.Poll(out[:]) != 1 {
					b.Fatal("an answer is missing")
				}
			}
		})
	}
}

// BenchmarkObserve is what one recorded event costs the fault layer: with an empty plan, and with one that follows who
// holds which pages.
func BenchmarkObserve(b *testing.B) {
	for _, c := range []struct {
		name string
		plan Plan
	}{
		{"empty", Plan{}},
		{"late-write", Plan{Faults: []Spec{{Fault: &LateWrite{Target: Request(1)}}}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			j, err := New(c.plan, noRooms, discard)
			if err != nil {
				b.Fatal(err)
			}
			seams := port.Seams{Addr: prefill, Transport: &sink{}}
			j.Wrap(&seams)
			e := event.Event{Kind: event.WriteLanded, Source: prefill, Room: 2}
			b.ReportAllocs()
			for range b.N {
				j.Observe(&e)
			}
		})
	}
}
