package devicetest

import (
	"bytes"
	"slices"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/porttest"
	"github.com/stalepage/stalepage/engine/wire"
)

var pageClauses = []Clause{
	{Name: "scrub zeroes every buffer of its pages and no other", Check: scrubs},
	{Name: "a stamp is room, ordinal and generation", Check: stamps},
	{Name: "a stamp check names the first wrong ordinal", Check: checksStamps},
	{Name: "a digest is that of the bytes that lie there", Check: digests},
	{Name: "load and store move registered bytes", Check: loads},
	{Name: "load and store refuse what is not granted", Check: loadsRefused},
	{Name: "a malformed operation is refused and changes nothing", Check: malformed},
}

func scrubs(t porttest.T, h *Harness) {
	h.fill(4)
	want, _ := h.shadow()
	pages := []wire.Page{wire.Page(h.Layout.Pages - 1), 1, 7}
	for _, page := range pages {
		for b := wire.K0; b <= wire.Stamp; b++ {
			clear(want.Page(b, page))
		}
	}
	h.expect(t, port.Op{Ticket: 1, Kind: port.OpScrub, Pages: pages}, port.OK)
	h.expectPool(t, want, "after a scrub")
	h.expect(t, port.Op{Ticket: 2, Kind: port.OpScrub}, port.OK)
	h.expectPool(t, want, "after a scrub of nothing")
}

func stamps(t porttest.T, h *Harness) {
	h.fill(5)
	want, _ := h.shadow()
	pages := table(3)
	for i, page := range pages {
		copy(want.Page(wire.Stamp, page), stampOf(1<<40+3, 70_000+i, 0xdeadbeef))
	}
	h.expect(t, port.Op{
		Ticket: 1, Kind: port.OpStamp, Room: 1<<40 + 3, First: 70_000, Generation: 0xdeadbeef, Pages: pages,
	}, port.OK)
	h.expectPool(t, want, "after stamping")
}

func checksStamps(t porttest.T, h *Harness) {
	pages := table(3)
	for i, page := range pages {
		h.Write(h.Layout.Span(wire.Stamp, page, 0), stampOf(6, 10+i, 2))
	}
	check := port.Op{Ticket: 1, Kind: port.OpCheckStamp, Room: 6, First: 10, Generation: 2, Pages: pages}
	h.expect(t, check, port.OK)
	for name, bend := range map[string]func(*port.Op){
		"room": func(o *port.Op) { o.Room = 7 }, "ordinal": func(o *port.Op) { o.First = 11 },
		"generation": func(o *port.Op) { o.Generation = 3 },
	} {
		wrong := check
		bend(&wrong)
		check.Ticket++
		wrong.Ticket = check.Ticket
		if done := h.expect(t, wrong, port.Failed); done.FailedOrdinal != wrong.First {
			t.Errorf("another %s: ordinal %d failed, want %d", name, done.FailedOrdinal, wrong.First)
		}
	}
	h.Write(h.Layout.Span(wire.Stamp, pages[1], 0), stampOf(6, 12, 2)) // the next page's stamp
	check.Ticket = 50
	if done := h.expect(t, check, port.Failed); done.FailedOrdinal != 11 {
		t.Errorf("ordinal %d failed, want 11", done.FailedOrdinal)
	}
}

func digests(t porttest.T, h *Harness) {
	pages := table(6)
	for i, first := range []int{0, wire.DigestGroupPages - 2, 5} {
		h.fill(uint32(10 + i)) // a fresh content each time: the bytes are read when the operation runs
		pool, _ := h.shadow()
		done := h.expect(t, port.Op{Ticket: wire.Ticket(1 + i), Kind: port.OpDigest, First: first, Pages: pages}, port.OK)
		if want := sums(pool, first, pages); !slices.Equal(done.Digests, want) {
			t.Errorf("from ordinal %d: %x, want %x", first, done.Digests, want)
		}
	}
}

func loads(t porttest.T, h *Harness) {
	record := bytes.Repeat([]byte{1, 2, 3, 4}, port.RecordBytes/4)
	span := port.RecordSpan(h.Records, 5, 0)
	h.expect(t, port.Op{Ticket: 1, Kind: port.OpStore, Span: span, Data: record}, port.OK)
	if got := h.Read(span); !bytes.Equal(got, record) {
		t.Errorf("stored %v, want %v", got, record)
	}
	if got := h.Read(port.RecordSpan(h.Records, 4, 0)); !bytes.Equal(got, make([]byte, port.RecordBytes)) {
		t.Errorf("the slot before holds %v", got)
	}
	done := h.expect(t, port.Op{Ticket: 2, Kind: port.OpLoad, Span: span}, port.OK)
	if !bytes.Equal(done.Data, record) {
		t.Errorf("loaded %v, want %v", done.Data, record)
	}
	h.Write(span, make([]byte, port.RecordBytes))
	if !bytes.Equal(done.Data, record) {
		t.Errorf("what was loaded changed with the memory: %v", done.Data)
	}
}

func loadsRefused(t porttest.T, h *Harness) {
	spans := []wire.Span{
		port.RecordSpan(h.Records, 0, 77), port.RecordSpan(h.Records, 1<<20, 0), port.RecordSpan(h.Records+1_000, 0, 0),
		{Region: wire.Region{Base: h.Records}, Offset: -1, Length: port.RecordBytes},
	}
	for i, span := range spans {
		load := port.Op{Ticket: wire.Ticket(1 + 2*i), Kind: port.OpLoad, Span: span}
		if done := h.expect(t, load, port.Rejected); done.Data != nil {
			t.Errorf("loaded %v from %+v", done.Data, span)
		}
		h.expect(t, port.Op{
			Ticket: wire.Ticket(2 + 2*i), Kind: port.OpStore, Span: span, Data: make([]byte, port.RecordBytes),
		}, port.Rejected)
	}
	h.Memory.Grant(wire.Region{Base: h.Records, Generation: 77})
	h.expect(t, port.Op{Ticket: 100, Kind: port.OpLoad, Span: spans[0]}, port.OK)
	h.Memory.Revoke(wire.Region{Base: h.Records, Generation: 77})
	h.expect(t, port.Op{Ticket: 101, Kind: port.OpLoad, Span: spans[0]}, port.Rejected)
}

func malformed(t porttest.T, h *Harness) {
	h.fill(6)
	before, _ := h.shadow()
	size, one := h.Layout.PageSize, []wire.Token{1}
	for i, op := range []port.Op{
		{Kind: port.OpScrub, Pages: []wire.Page{1, 0}},
		{Kind: port.OpScrub, Pages: []wire.Page{1, -1}},
		{Kind: port.OpDigest, Pages: []wire.Page{wire.Page(h.Layout.Pages)}},
		{Kind: port.OpStamp, Pages: table(1), First: -1},
		{Kind: port.OpPrefill, Pages: table(1), Tokens: text(size + 1)},
		{Kind: port.OpPrefill, Pages: table(2), First: size + 1, Tokens: text(size)},
		{Kind: port.OpPrefill, Pages: table(2), First: -1, Tokens: text(2)},
		{Kind: port.OpPrefill, Pages: table(1)},
		{Kind: port.OpPrefill, Pages: table(1), Tokens: []wire.Token{4_096}},
		{Kind: port.OpDecode, Pages: table(1), First: size, Tokens: one},
		{Kind: port.OpDecode, Pages: table(1), First: 1},
		{Kind: port.OpDecode, Pages: table(1), First: 1, Tokens: text(2)},
		{Kind: port.OpDecode, Pages: table(1), First: 1, Tokens: one, Verify: 2},
		{Kind: port.OpDecode, Pages: table(1), First: 1, Tokens: one, Verify: -1},
		{Kind: port.OpStore, Span: port.RecordSpan(h.Records, 0, 0), Data: make([]byte, 3)},
		{Kind: port.OpScrub, Pages: table(1), Queue: uint8(h.Queues)},
		{Kind: port.OpStore + 1, Pages: table(1)},
	} {
		op.Ticket = wire.Ticket(1 + i)
		h.Device.Submit(op)
		if answers := h.subject().Drain(t); len(answers) != 1 || answers[0].Status != port.Rejected {
			t.Errorf("malformed operation %d: answers %+v, want one, rejected", i, answers)
		}
	}
	h.expectPool(t, before, "after malformed operations")
}
