package devicetest

import (
	"slices"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/porttest"
	"github.com/stalepage/stalepage/engine/wire"
)

// gate is a ticket whose operation the clauses submit when they want the waiting ones to run.
const gate wire.Ticket = 500

var orderClauses = []Clause{
	{Name: "a queue is first in, first out", Check: queueOrder},
	{Name: "queues are independent", Check: queuesApart},
	{Name: "a dependency holds across queues", Check: acrossQueues},
	{Name: "a cancelled operation leaves no trace", Check: cancelLeavesNoTrace},
	{Name: "submit copies what it is given", Check: copiesSlices},
}

// queueOrder has a waiting head: what stands behind it in its queue waits as well.
func queueOrder(t porttest.T, h *Harness) {
	h.Device.Submit(port.Op{Ticket: 1, Kind: port.OpScrub, Pages: table(2), After: []wire.Ticket{gate}})
	for ticket := wire.Ticket(2); ticket <= 4; ticket++ {
		h.Device.Submit(port.Op{Ticket: ticket, Kind: port.OpStamp, Pages: table(2)})
	}
	h.subject().Expect(t)
	h.Device.Submit(port.Op{Ticket: gate, Kind: port.OpStamp, Queue: 1, Pages: table(1)})
	answers := h.subject().Drain(t)
	var order []wire.Ticket
	for _, done := range answers {
		order = append(order, done.Ticket)
	}
	if want := []wire.Ticket{gate, 1, 2, 3, 4}; !slices.Equal(order, want) {
		t.Errorf("answers came as %v, want %v", order, want)
	}
}

func queuesApart(t porttest.T, h *Harness) {
	h.Device.Submit(port.Op{Ticket: 1, Kind: port.OpScrub, Pages: table(2), After: []wire.Ticket{gate}})
	h.Device.Submit(port.Op{Ticket: 2, Kind: port.OpStamp, Queue: 1, Pages: table(2)})
	h.subject().Expect(t, porttest.End{Ticket: 2, Status: port.OK})
	h.Device.Cancel(1)
	h.subject().Expect(t, porttest.End{Ticket: 1, Status: port.Cancelled})
}

// acrossQueues scrubs a page on one queue and stamps it on another, each queue once the one that has to wait: only one
// order leaves the stamp.
func acrossQueues(t porttest.T, h *Harness) {
	for waiting := range uint8(2) {
		page := wire.Page(2 + waiting)
		scrub, stamp := wire.Ticket(1+10*waiting), wire.Ticket(2+10*waiting)
		h.Device.Submit(port.Op{
			Ticket: stamp, Queue: waiting, Kind: port.OpStamp, Room: 7, Pages: []wire.Page{page}, After: []wire.Ticket{scrub},
		})
		h.Device.Submit(port.Op{Ticket: scrub, Queue: 1 - waiting, Kind: port.OpScrub, Pages: []wire.Page{page}})
		h.subject().Expect(t, porttest.End{Ticket: scrub}, porttest.End{Ticket: stamp})
		if got, want := h.Read(h.Layout.Span(wire.Stamp, page, 0)), stampOf(7, 0, 0); !slices.Equal(got, want) {
			t.Errorf("queue %d waits: the stamp is %v, want %v, which was to be written last", waiting, got, want)
		}
	}
}

func cancelLeavesNoTrace(t porttest.T, h *Harness) {
	h.fill(7)
	before, _ := h.shadow()
	h.Device.Submit(port.Op{Ticket: 1, Kind: port.OpScrub, Pages: table(5), After: []wire.Ticket{gate}})
	h.Device.Submit(port.Op{Ticket: 2, Queue: 1, Kind: port.OpScrub, Pages: table(5), After: []wire.Ticket{1}})
	h.Device.Cancel(1)
	h.Device.Submit(port.Op{Ticket: gate, Kind: port.OpDigest, Pages: table(1)})
	h.subject().Expect(t, porttest.End{Ticket: gate}, porttest.End{Ticket: 1, Status: port.Cancelled},
		porttest.End{Ticket: 2, Status: port.Cancelled})
	h.expectPool(t, before, "after cancelled scrubs")
}

// copiesSlices uses the slices again between Submit and running, as a worker does with its own.
func copiesSlices(t porttest.T, h *Harness) {
	h.fill(8)
	want, kv := h.shadow()
	pages, tokens := table(3), text(2*h.Layout.PageSize)
	h.Reference.Prefill(kv, pages, 0, tokens)
	data := []byte{9, 9, 9}
	span := wire.Span{Region: wire.Region{Base: h.Records}, Length: 3}
	after := []wire.Ticket{gate}
	h.Device.Submit(port.Op{Ticket: 1, Kind: port.OpPrefill, Pages: pages, Tokens: tokens, After: after})
	h.Device.Submit(port.Op{Ticket: 2, Kind: port.OpStore, Span: span, Data: data, After: after})
	for i := range pages {
		pages[i] = 20
	}
	clear(tokens)
	clear(data)
	h.Device.Submit(port.Op{Ticket: gate, Queue: 1, Kind: port.OpDigest})
	h.subject().Expect(t, porttest.End{Ticket: gate}, porttest.End{Ticket: 1}, porttest.End{Ticket: 2})
	h.expectPool(t, want, "after the submitter used its slices again")
	if got := h.Read(span); !slices.Equal(got, []byte{9, 9, 9}) {
		t.Errorf("stored %v, want what was submitted", got)
	}
}
