package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that a decode step is held until the page that it writes to, and no other of the request's, is committed by
// another room, and that the device's other work passes.
func TestLateOperationRunsInTheNextOwnersPage(t *testing.T) {
	b := newBench(t, &LateOperation{Target: Request(target)})
	b.reserve(decode, target, 30, 31, 32)
	step := port.Op{Ticket: b.tickets.Next(), Room: roomOf(target), Kind: port.OpDecode, First: 2*decodePool.PageSize + 3}
	load := port.Op{Ticket: b.tickets.Next(), Room: roomOf(target), Kind: port.OpLoad}
	theirs := port.Op{Ticket: b.tickets.Next(), Room: roomOf(other), Kind: port.OpDecode}
	for _, o := range []port.Op{step, load, theirs} {
		b.decode.Device.Submit(o)
	}
	b.device.land()
	b.Expect(b.device.landed).To(Equal([]port.Op{load, theirs}))
	b.say(event.Event{Kind: event.PagesReleased, Source: decode, Room: roomOf(target)})
	commit := func(request int, page wire.Page) {
		b.reserve(decode, request, page)
		b.say(event.Event{Kind: event.TransferCommitted, Source: decode, Room: roomOf(request)})
		b.device.land()
	}
	commit(1, 31)
	b.Expect(b.device.landed).To(HaveLen(2))
	commit(2, 32)
	b.Expect(b.device.landed).To(Equal([]port.Op{load, theirs, step}))
	b.expectFired(1)
	var out [8]port.OpDone
	b.Expect(b.decode.Device.Poll(out[:])).To(Equal(3))
}
