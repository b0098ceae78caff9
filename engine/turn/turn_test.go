package turn

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

var here = wire.Addr{Role: wire.Decode, Index: 2, Incarnation: 3}

// What is asked for in one turn is all there is in its effects, and the next turn begins with none of it.
func TestDeskCollectsOneTurn(t *testing.T) {
	g := NewWithT(t)
	d := New(here, nil)
	there := wire.Addr{Role: wire.Prefill, Incarnation: 1}
	for turn := range wire.Tick(3) {
		d.Begin(turn)
		g.Expect(d.Now()).To(Equal(turn))
		e := d.Effects()
		g.Expect(len(e.Events) + len(e.Revoke) + len(e.Grant) + len(e.CancelOps) + len(e.CancelWrites) + len(e.Ops) +
			len(e.Writes) + len(e.Send)).To(BeZero())
		g.Expect(e.Wake).To(BeZero())

		op, write := d.Op(port.Op{Ticket: 99, Room: 5}), d.Write(port.Write{Ticket: 99, Room: 6})
		d.Event(&event.Event{Kind: event.PagesReleased, Room: 5})
		d.Send(there, 7, wire.Abort{})
		d.CancelOp(1)
		d.CancelWrite(2)
		d.Grant(wire.Region{Generation: 3})
		d.Revoke(wire.Region{Generation: 4})

		e = d.Effects()
		g.Expect(e.Ops).To(Equal([]port.Op{{Ticket: op, Room: 5}}))
		g.Expect(e.Writes).To(Equal([]port.Write{{Ticket: write, Room: 6}}))
		g.Expect(e.Events).To(Equal([]event.Event{{Kind: event.PagesReleased, Room: 5, Source: here}}))
		g.Expect(e.Send).To(HaveLen(1))
		m := e.Send[0]
		g.Expect(m.Ticket).NotTo(Or(Equal(op), Equal(write)))
		g.Expect(m).To(Equal(wire.Message{Ticket: m.Ticket, From: here, To: there, Room: 7, Body: wire.Abort{}}))
		g.Expect(e.CancelOps).To(Equal([]wire.Ticket{1}))
		g.Expect(e.CancelWrites).To(Equal([]wire.Ticket{2}))
		g.Expect(e.Grant).To(Equal([]wire.Region{{Generation: 3}}))
		g.Expect(e.Revoke).To(Equal([]wire.Region{{Generation: 4}}))
	}
}

// Of several wishes to be woken the earliest counts.
func TestWakeByTheEarliest(t *testing.T) {
	g := NewWithT(t)
	d := New(here, nil)
	d.Begin(10)
	for _, at := range []wire.Tick{30, 20, 40} {
		d.WakeBy(at)
	}
	g.Expect(d.Effects().Wake).To(Equal(wire.Tick(20)))
	d.ForgetWake()
	g.Expect(d.Effects().Wake).To(BeZero())
	d.WakeBy(30)
	g.Expect(d.Effects().Wake).To(Equal(wire.Tick(30)))
}

// A turn of the same size as the one before allocates nothing.
func TestDeskKeepsItsMemory(t *testing.T) {
	d := New(here, nil)
	turn := func() {
		d.Begin(1)
		for range 10 {
			d.Op(port.Op{})
			d.Write(port.Write{})
			d.Send(here, 1, wire.Abort{})
			d.Event(&event.Event{})
		}
	}
	turn()
	NewWithT(t).Expect(testing.AllocsPerRun(10, turn)).To(BeZero())
}

// The hash of a prompt is that of its tokens as two bytes each, little endian.
func TestHashOf(t *testing.T) {
	g := NewWithT(t)
	for _, prompt := range [][]wire.Token{nil, {}, {0}, {1, 256, 65535}, make([]wire.Token, 1000)} {
		var bytes []byte
		for _, token := range prompt {
			bytes = binary.LittleEndian.AppendUint16(bytes, uint16(token))
		}
		g.Expect(HashOf(prompt)).To(Equal(sha256.Sum256(bytes)))
	}
	g.Expect(HashOf([]wire.Token{1, 2})).NotTo(Equal(HashOf([]wire.Token{2, 1})))
}
