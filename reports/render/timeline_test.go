package render

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/reports/check"
)

var (
	client  = wire.Addr{Role: wire.Client, Incarnation: 1}
	prefill = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	decode  = wire.Addr{Role: wire.Decode, Incarnation: 1}
)

func cluster() config.Cluster {
	return config.Cluster{Models: []config.Model{{
		Mode: config.Disaggregated, Prefill: config.Worker{PageSize: 16}, Decode: config.Worker{PageSize: 16},
	}}}
}

func submitted(room wire.Room, tenant int) event.Event {
	return event.Event{Kind: event.RequestSubmitted, Source: client, Room: room, Tenant: tenant}
}

func reserved(room wire.Room, pages ...wire.Page) event.Event {
	return event.Event{Kind: event.PagesReserved, Source: decode, Room: room, Pages: pages}
}

func released(room wire.Room) event.Event {
	return event.Event{Kind: event.PagesReleased, Source: decode, Room: room}
}

func landed(room wire.Room, first, count int, pages ...wire.Page) event.Event {
	return event.Event{
		Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: room, Buffer: wire.V1, First: first, Count: count,
		Pages: pages,
	}
}

func sampled(room wire.Room, position int, page wire.Page) event.Event {
	return event.Event{
		Kind: event.TokenSampled, Source: decode, Room: room,
		Samples: []event.Sample{{Room: room, Position: position, Page: page}},
	}
}

// eightPages is the published walk-through: eight pages reserved, one written, seven stale.
func eightPages() ([]event.Event, check.Finding) {
	events := []event.Event{
		submitted(1, 5), reserved(1, 1, 2, 3, 4), landed(1, 0, 4), released(1),
		submitted(2, 7), reserved(2, 5, 6, 7), landed(2, 0, 3), sampled(2, 47, 7), sampled(2, 48, 7), released(2),
		{Kind: event.PagesScrubbed, Source: decode, Pages: []wire.Page{5}},
		{Kind: event.FaultArmed, Fault: "truncated-transfer"},
		submitted(3, 3), reserved(3, 1, 2, 3, 4, 5, 6, 7, 8),
		{Kind: event.FaultFired, Fault: "truncated-transfer", Room: 3},
		{Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: 3, Buffer: wire.K1, Count: 1},
		landed(3, 0, 1), sampled(3, 112, 4), landed(3, 2, 1, 6), released(3),
	}
	return events, check.Finding{Room: 3, Tenant: 3, Request: 17, Page: 4, Ordinal: check.None, Event: 17}
}

// The picture of the published walk-through.
func TestTimeline(t *testing.T) {
	g := NewWithT(t)
	events, finding := eightPages()
	timeline, ok := NewTimeline(cluster(), events, finding)
	g.Expect(ok).To(BeTrue())
	golden(t, "timeline", timeline.draw(style{}))
	golden(t, "timeline-colour", timeline.draw(style{colour: true}))
}

// A request of many pages shows its first ones and those around the finding, and counts the rest; many events show
// those around the finding; tenants past the last letter are others.
func TestTimelineElides(t *testing.T) {
	g := NewWithT(t)
	var events []event.Event
	var pages []wire.Page
	for i := range 60 {
		room := wire.Room(100 + i)
		page := wire.Page(1 + i)
		pages = append(pages, page)
		events = append(events, submitted(room, i), reserved(room, page), landed(room, 0, 1), released(room))
	}
	events = append(events, submitted(9, 70), reserved(9, pages...), landed(9, 0, 1))
	finding := check.Finding{Room: 9, Tenant: 70, Page: 41, Event: len(events)}
	events = append(events, sampled(9, 960, 41))
	for i := range 30 {
		events = append(events, landed(wire.Room(100+i), 0, 1, 40))
	}
	timeline, ok := NewTimeline(cluster(), events, finding)
	g.Expect(ok).To(BeTrue())
	g.Expect(timeline.Rows).To(HaveLen(rowsMax))
	g.Expect(len(timeline.Columns)).To(BeNumerically("<=", columnsBefore+1+columnsAfter))
	golden(t, "timeline-elided", timeline.draw(style{}))

	many := make([]event.Event, 0, 40)
	for tenant := range 40 {
		many = append(many, submitted(wire.Room(1+tenant), tenant), landed(wire.Room(1+tenant), 0, 1, wire.Page(1+tenant%8)))
	}
	many = append(many, submitted(99, 99), reserved(99, 1, 2, 3, 4, 5, 6, 7, 8))
	many = append(many, many[:80]...)
	timeline, ok = NewTimeline(cluster(), many, check.Finding{Room: 99, Event: 81})
	g.Expect(ok).To(BeTrue())
	g.Expect(timeline.Owners).To(HaveLen(lettersMax))
	g.Expect(timeline.draw(style{})).To(ContainSubstring("*"))
}

// A co-located worker computes rows into its one pool.
func TestTimelineColocated(t *testing.T) {
	g := NewWithT(t)
	worker := wire.Addr{Role: wire.Colocated, Incarnation: 1}
	c := config.Cluster{Models: []config.Model{{Mode: config.Colocated, Prefill: config.Worker{PageSize: 16}}}}
	events := []event.Event{
		submitted(4, 8),
		{Kind: event.PagesReserved, Source: worker, Room: 4, Pages: []wire.Page{3, 9}},
		{Kind: event.RowsComputed, Source: worker, Room: 4, First: 0, Count: 17},
	}
	timeline, ok := NewTimeline(c, events, check.Finding{Room: 4, Event: 2})
	g.Expect(ok).To(BeTrue())
	last := len(timeline.Columns) - 1
	for _, row := range timeline.Rows {
		g.Expect(row.Cells[last]).To(Equal(Cell{Owner: 0, Held: true}))
	}
	g.Expect(timeline.Owners).To(Equal([]int{8}))
}

// Where there is nothing to show it says so, and events that make no sense do no harm.
func TestTimelineOfNothing(t *testing.T) {
	g := NewWithT(t)
	events, finding := eightPages()
	for name, broken := range map[string]func() ([]event.Event, check.Finding){
		"no room":       func() ([]event.Event, check.Finding) { return events, check.Finding{Event: 1} },
		"unknown room":  func() ([]event.Event, check.Finding) { return events, check.Finding{Room: 77, Event: 1} },
		"event too far": func() ([]event.Event, check.Finding) { return events[:17], finding },
		"before pages":  func() ([]event.Event, check.Finding) { return events, check.Finding{Room: 3, Event: 12} },
	} {
		list, f := broken()
		_, ok := NewTimeline(cluster(), list, f)
		g.Expect(ok).To(BeFalse(), name)
	}
	_, ok := NewTimeline(config.Cluster{}, events, finding)
	g.Expect(ok).To(BeFalse(), "no such model")

	const huge = int(^uint(0) >> 1)
	hostile := append([]event.Event{
		landed(3, -1, 4), landed(3, huge, huge), landed(3, 1, huge), landed(3, 0, -5),
		{Kind: event.RowsComputed, Source: decode, Room: 3, First: huge, Count: huge},
		{Kind: event.RowsComputed, Source: decode, Room: 3, First: -huge, Count: huge},
		sampled(3, -huge, -1), sampled(3, huge, -1),
	}, events...)
	hostile = append(hostile, hostile[:8]...)
	finding.Event += 8
	_, ok = NewTimeline(cluster(), hostile, finding)
	g.Expect(ok).To(BeTrue())
}
