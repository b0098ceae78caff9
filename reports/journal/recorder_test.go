package journal

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

var (
	prefill = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	decode  = wire.Addr{Role: wire.Decode, Incarnation: 1}
	other   = wire.Addr{Role: wire.Decode, Index: 1, Incarnation: 1}
)

// landing is one page of room 5 landing at ordinal first.
func landing(tick wire.Tick, first int, page wire.Page) event.Event {
	return event.Event{
		Kind: event.WriteLanded, Tick: tick, Source: prefill, Peer: decode, Room: 5, First: first, Count: 1,
		Buffer: wire.V0, Bytes: 8192, Pages: []wire.Page{page},
	}
}

// run is count pages landing from ordinal first on, at pages or, if none are given, where the room reserved.
func run(tick wire.Tick, first, count int, pages ...wire.Page) event.Event {
	e := landing(tick, first, 0)
	e.Count, e.Bytes, e.Pages = count, int64(count)*8192, pages
	return e
}

func draw(tick wire.Tick, source wire.Addr, room wire.Room, position int) event.Event {
	return event.Event{
		Kind: event.TokenSampled, Tick: tick, Source: source, Room: room,
		Samples: []event.Sample{{Room: room, Position: position, Token: 9, Page: 4, Slot: 3, Score: 504}},
	}
}

func reservation(pages ...wire.Page) event.Event {
	return event.Event{Kind: event.PagesReserved, Source: decode, Room: 5, Pages: pages}
}

// with is e after a change.
func with(e event.Event, change func(*event.Event)) event.Event {
	change(&e)
	return e
}

// recorded is what a Recorder's sinks get of events.
func recorded(events []event.Event) []event.Event {
	var m Memory
	r := NewRecorder(m.Record)
	for i := range events {
		e := events[i]
		e.Pages = append([]wire.Page(nil), e.Pages...)
		e.Samples = append([]event.Sample(nil), e.Samples...)
		r.Record(&e)
		clear(e.Pages) // the caller's storage is the caller's again
		clear(e.Samples)
	}
	r.Flush()
	return m.Events()
}

// joining is one case of what is joined and what is not, named by the rule that it proves. No want is as recorded.
type joining struct {
	rule   string
	events []event.Event
	want   []event.Event
}

// landings are cases of pages that land.
func landings() []joining {
	marker := event.Event{Kind: event.WritePosted, Source: prefill, Room: 5}
	return []joining{
		{
			"pages that land one after the other are one event, at the last tick, without pages where reserved",
			[]event.Event{reservation(7, 9, 8), landing(1, 0, 7), landing(2, 1, 9), landing(3, 2, 8)},
			[]event.Event{reservation(7, 9, 8), run(3, 0, 3)},
		},
		{
			"a page that lands elsewhere keeps its place and stands alone",
			[]event.Event{reservation(7, 9, 8), landing(1, 0, 7), landing(2, 1, 30), landing(3, 2, 8)},
			[]event.Event{
				reservation(7, 9, 8), run(1, 0, 1), landing(2, 1, 30),
				run(3, 2, 1),
			},
		},
		{
			"pages that land elsewhere one after the other are one event with all places",
			[]event.Event{landing(1, 0, 30), landing(2, 1, 32)},
			[]event.Event{run(2, 0, 2, 30, 32)},
		},
		{
			"any event between ends the joining: nothing is reordered",
			[]event.Event{landing(1, 0, 30), marker, landing(2, 1, 32)},
			[]event.Event{landing(1, 0, 30), marker, landing(2, 1, 32)},
		},
		{
			"a gap, a repeat and a step back are not continued",
			[]event.Event{landing(1, 0, 30), landing(2, 2, 31), landing(3, 2, 31), landing(4, 1, 32)},
			[]event.Event{landing(1, 0, 30), landing(2, 2, 31), landing(3, 2, 31), landing(4, 1, 32)},
		},
		{
			"another room, buffer, source or peer is another event",
			[]event.Event{
				landing(1, 0, 30), with(landing(2, 1, 31), func(e *event.Event) { e.Room = 6 }),
				with(landing(3, 2, 32), func(e *event.Event) { e.Room, e.Buffer = 6, wire.K1 }),
				with(landing(4, 3, 33), func(e *event.Event) { e.Room, e.Buffer, e.Peer = 6, wire.K1, other }),
				with(landing(5, 4, 34), func(e *event.Event) { e.Room, e.Buffer, e.Peer, e.Source = 6, wire.K1, other, other }),
			},
			nil,
		},
		{
			"a write that a fault marked is not joined to one that none did",
			[]event.Event{landing(1, 0, 30), with(landing(2, 1, 31), func(e *event.Event) { e.Fault = "misplaced-page" })},
			nil,
		},
		{
			"records are not joined: each has a slot",
			[]event.Event{
				with(landing(1, 0, 0), func(e *event.Event) { e.Buffer, e.Pages, e.Slot = wire.Record, nil, 2 }),
				with(landing(2, 1, 0), func(e *event.Event) { e.Buffer, e.Pages, e.Slot = wire.Record, nil, 2 }),
			},
			nil,
		},
	}
}

// reservations are cases of whether a landing may leave its pages out.
func reservations() []joining {
	return []joining{
		{
			"after the release a late write says where it landed",
			[]event.Event{reservation(7, 9), {Kind: event.PagesReleased, Source: decode, Room: 5}, landing(4, 0, 7)},
			nil,
		},
		{
			"another worker's release, or another room's, ends nothing",
			[]event.Event{
				reservation(7, 9),
				{Kind: event.PagesReleased, Source: prefill, Room: 5},
				{Kind: event.PagesReleased, Source: decode, Room: 6},
				landing(4, 1, 9),
			},
			[]event.Event{
				reservation(7, 9),
				{Kind: event.PagesReleased, Source: prefill, Room: 5},
				{Kind: event.PagesReleased, Source: decode, Room: 6},
				run(4, 1, 1),
			},
		},
		{
			"further pages of a room that holds some are its next ordinals",
			[]event.Event{reservation(7, 9), reservation(8), landing(4, 2, 8), landing(5, 1, 9)},
			[]event.Event{
				reservation(7, 9), reservation(8), run(4, 2, 1),
				run(5, 1, 1),
			},
		},
		{
			"a reservation after a release begins anew",
			[]event.Event{
				reservation(7, 9),
				{Kind: event.PagesReleased, Source: decode, Room: 5},
				reservation(9, 8),
				landing(4, 0, 7), landing(5, 1, 8),
			},
			[]event.Event{
				reservation(7, 9),
				{Kind: event.PagesReleased, Source: decode, Room: 5},
				reservation(9, 8),
				landing(4, 0, 7), run(5, 1, 1),
			},
		},
		{
			"ordinals past the reservation, negative ones and a count without its pages keep what they say",
			[]event.Event{
				reservation(7, 9), landing(4, 2, 9), landing(5, -1, 7),
				with(landing(6, 0, 7), func(e *event.Event) { e.Count = 2 }),
			},
			nil,
		},
	}
}

// draws are cases of tokens drawn.
func draws() []joining {
	return []joining{
		{
			"the requests of one decode step are one event of no room",
			[]event.Event{draw(1, decode, 5, 80), draw(2, decode, 6, 90), draw(3, decode, 5, 81)},
			[]event.Event{
				{Kind: event.TokenSampled, Tick: 2, Source: decode, Samples: []event.Sample{
					draw(0, decode, 5, 80).Samples[0], draw(0, decode, 6, 90).Samples[0],
				}},
				draw(3, decode, 5, 81),
			},
		},
		{
			"draws of two workers are two events",
			[]event.Event{draw(1, decode, 5, 80), draw(2, prefill, 6, 90), draw(3, other, 7, 81)},
			nil,
		},
	}
}

// Each rule of joining, by a history and what is recorded of it.
func TestJoining(t *testing.T) {
	for _, test := range slices.Concat(landings(), reservations(), draws()) {
		t.Run(test.rule, func(t *testing.T) {
			if test.want == nil {
				test.want = test.events
			}
			if difference := cmp.Diff(test.want, recorded(test.events)); difference != "" {
				t.Fatalf("(-want +recorded)\n%s", difference)
			}
		})
	}
}

// Joined or not, the pieces told are the same: each (room, buffer, ordinal, place) and each draw, in the same order.
// Told by taking both histories apart again, over random walks of landings, draws, reservations and releases.
func TestJoiningLosesNothing(t *testing.T) {
	g := NewWithT(t)
	events := randomRun(7, 6000)
	joined := recorded(events)
	g.Expect(len(joined)).To(BeNumerically("<", len(events)*3/4))
	g.Expect(cmp.Diff(pieces(events), pieces(joined))).To(BeEmpty())
}

// A decode step wider than one event's bound is several events, and loses no draw.
func TestWideDecodeStep(t *testing.T) {
	g := NewWithT(t)
	var events []event.Event
	for room := range wire.Room(stepSamplesMax + 10) {
		events = append(events, draw(1, decode, room+1, 10))
	}
	joined := recorded(events)
	g.Expect(joined).To(HaveLen(2))
	g.Expect(joined[0].Samples).To(HaveLen(stepSamplesMax))
	g.Expect(joined[1].Samples).To(HaveLen(10))
}

// Sinks get each event in the order they were given, observers at once and before joining; a reset run leaves no trace.
func TestSinksObserversReset(t *testing.T) {
	g := NewWithT(t)
	var log []string
	note := func(name string) Sink { return func(e *event.Event) { log = append(log, name+" "+e.Kind.String()) } }
	r := NewRecorder(note("first"), note("second"))
	r.Observe(note("observer"))
	first, second := landing(1, 0, 3), landing(2, 1, 4)
	r.Record(&first)
	r.Record(&second)
	g.Expect(log).To(Equal([]string{"observer write.landed", "observer write.landed"}))
	r.Flush()
	r.Flush()
	g.Expect(log[2:]).To(Equal([]string{"first write.landed", "second write.landed"}))
	g.Expect(r.Events()).To(Equal(int64(1)))

	held := reservation(3, 4)
	r.Record(&held)
	r.Record(&first)
	r.Reset()
	g.Expect(r.Events()).To(BeZero())
	log = nil
	r.Record(&second)
	r.Flush()
	g.Expect(log).To(HaveLen(3), "the landing held before the reset is gone")
	var m Memory
	r = NewRecorder(m.Record)
	r.Record(&held)
	r.Reset()
	m.Reset()
	r.Record(&first)
	r.Flush()
	g.Expect(m.Events()[0].Pages).To(Equal([]wire.Page{3}), "nor is the reservation remembered")
}

// Recording a run a second time into the same storage allocates nothing.
func TestRecordingDoesNotAllocate(t *testing.T) {
	events := randomRun(8, 2000)
	var m Memory
	r := NewRecorder(m.Record)
	again := func() {
		r.Reset()
		m.Reset()
		for i := range events {
			r.Record(&events[i])
		}
		r.Flush()
		m.Hash()
	}
	for range 4 { // storage doubles until a run fits one block
		again()
	}
	NewWithT(t).Expect(testing.AllocsPerRun(5, again)).To(BeZero())
}
