package memory

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/wire"
)

// The contract of links is checked in transfertest. Here is what only this net promises: what a step is, in which order
// channels count, and that what is dropped is counted.

func send(n *Net, from, to wire.Addr, number int) {
	n.End(from).Send(wire.Message{Ticket: wire.Ticket(number), From: from, To: to})
}

func polled(n *Net, at wire.Addr) []int {
	buffer := make([]wire.Message, 10)
	var out []int
	for _, m := range buffer[:n.End(at).Poll(buffer)] {
		out = append(out, int(m.Ticket))
	}
	return out
}

// Step(i) delivers one message of the i-th channel that holds one, in order of creation, emptied channels included once
// they hold something again.
func TestNetSteps(t *testing.T) {
	g := NewWithT(t)
	n := NewNet()
	router := wire.Addr{Role: wire.Router, Incarnation: 1}
	send(n, writer, reader, 1)
	send(n, router, reader, 2)
	send(n, reader, writer, 3)
	send(n, writer, reader, 4)
	g.Expect(n.Enabled()).To(Equal(3))
	n.Step(1)
	g.Expect(polled(n, reader)).To(Equal([]int{2}))
	g.Expect(n.Enabled()).To(Equal(2))
	n.Step(1)
	g.Expect(polled(n, writer)).To(Equal([]int{3}))
	send(n, router, reader, 5)
	n.Step(0)
	n.Step(0)
	g.Expect(polled(n, reader)).To(Equal([]int{1, 4}))
	g.Expect(n.Enabled()).To(Equal(1))
	n.Step(0)
	g.Expect(polled(n, reader)).To(Equal([]int{5}))
	g.Expect(n.Enabled()).To(BeZero())
}

// Messages to an older incarnation are counted, whether they lay delivered, were under way, or are sent later still.
func TestNetCountsWhatItDrops(t *testing.T) {
	g := NewWithT(t)
	n := NewNet()
	newer := reader
	newer.Incarnation = 3
	send(n, writer, reader, 1)
	n.Step(0)
	send(n, writer, reader, 2)
	n.End(newer)
	send(n, writer, reader, 3)
	g.Expect(n.Dropped()).To(Equal(1))
	n.Step(0)
	n.Step(0)
	g.Expect(n.Dropped()).To(Equal(3))
	g.Expect(polled(n, newer)).To(BeEmpty())
	n.End(reader)
	send(n, writer, newer, 4)
	n.Step(0)
	g.Expect(polled(n, newer)).To(Equal([]int{4}), "an older one that asks late changes nothing")
}

// Between workers that run, a message costs no allocation.
func TestNetAllocations(t *testing.T) {
	n := NewNet()
	a, b := n.End(writer), n.End(reader)
	buffer := make([]wire.Message, 4)
	body := wire.Body(wire.Abort{})
	NewWithT(t).Expect(testing.AllocsPerRun(1000, func() {
		a.Send(wire.Message{From: writer, To: reader, Body: body})
		n.Step(0)
		b.Poll(buffer)
	})).To(BeZero())
}
