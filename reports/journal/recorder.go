package journal

import (
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// Sink takes events in order. The event and its lists are the giver's: valid, and not to be changed, during the call.
type Sink = func(*event.Event)

// stepSamplesMax bounds how many tokens one joined event holds: rooms are compared pairwise.
const stepSamplesMax = 256

// Recorder is where a run records: it joins adjacent events that are one thing told in pieces, and hands the result
// to its sinks in order. The place in that order is an event's only number.
//
// # What is joined
//
// Only an event and the one directly before it, so that joining never reorders: nothing that happened between two
// events can ever stand before or after both. Two kinds are joined, and these are more than half of all events:
//   - write.landed, page after page of one buffer of one write: same source, peer, room and buffer, next ordinal.
//   - token.sampled, request after request of one decode step: same source, each room at most once. Its Room is 0, as
//     it is of several.
//
// A joined event has the tick of its last piece: by then all of it had happened.
//
// A write.landed whose pages are those that the room holds on that peer at those ordinals loses its list, since
// pages.reserved gave it: what that (source, room) has reserved since its last pages.released, ordinals counting on
// from one pages.reserved to the next. A write that lands elsewhere, or late, keeps its list and so names where it
// went.
//
// The zero Recorder is not ready; see NewRecorder. It is not safe for concurrent use.
type Recorder struct {
	observers []Sink
	sinks     []Sink
	// held is the last event, still open to be joined; its lists are this Recorder's own storage.
	held    event.Event
	holding bool
	pages   []wire.Page
	samples []event.Sample

	reserved map[holder][]wire.Page
	// latest is the reservation that was looked up last, and latestPages its pages: the pages of a write land one after
	// the other.
	latest      holder
	latestPages []wire.Page
	spare       [][]wire.Page
	events      int64
}

// holder names one reservation: whose pool, which room.
type holder struct {
	source wire.Addr
	room   wire.Room
}

// NewRecorder returns a Recorder that hands each event to sinks, in the order given.
func NewRecorder(sinks ...Sink) *Recorder {
	return &Recorder{sinks: sinks, reserved: make(map[holder][]wire.Page)}
}

// Observe adds a function that sees every event at once and as it was recorded, before joining. It is for what must act
// on an event before the next step, as the arming of a fault does; what an observer sees is not what the journal holds.
func (r *Recorder) Observe(observer Sink) { r.observers = append(r.observers, observer) }

// Record takes one event. It keeps no part of e.
func (r *Recorder) Record(e *event.Event) {
	for _, observe := range r.observers {
		observe(e)
	}
	switch e.Kind {
	case event.WriteLanded:
		r.landed(e)
		return
	case event.TokenSampled:
		r.sampled(e)
		return
	case event.PagesReserved:
		r.reserve(holder{e.Source, e.Room}, e.Pages)
	case event.PagesReleased:
		r.release(holder{e.Source, e.Room})
	default:
	}
	r.Flush()
	r.pass(e)
}

// Flush hands on the event that is still open. Call it at the end of a run, before any sink is closed or read.
func (r *Recorder) Flush() {
	if r.holding {
		r.holding = false
		r.pass(&r.held)
	}
}

// Events is how many events the sinks were given.
func (r *Recorder) Events() int64 { return r.events }

// Reset forgets everything but sinks and observers, and keeps its storage for the next run.
func (r *Recorder) Reset() {
	r.holding, r.events, r.latest = false, 0, holder{}
	for _, pages := range r.reserved {
		r.spare = append(r.spare, pages)
	}
	clear(r.reserved)
}

func (r *Recorder) pass(e *event.Event) {
	r.events++
	for _, sink := range r.sinks {
		sink(e)
	}
}

// reservedBy is what h has reserved.
func (r *Recorder) reservedBy(h holder) []wire.Page {
	if r.latest != h {
		r.latest, r.latestPages = h, r.reserved[h]
	}
	return r.latestPages
}

func (r *Recorder) reserve(h holder, pages []wire.Page) {
	r.latest = holder{}
	list, held := r.reserved[h]
	if !held && len(r.spare) > 0 {
		list = r.spare[len(r.spare)-1][:0]
		r.spare = r.spare[:len(r.spare)-1]
	}
	r.reserved[h] = append(list, pages...)
}

func (r *Recorder) release(h holder) {
	r.latest = holder{}
	if pages, held := r.reserved[h]; held {
		delete(r.reserved, h)
		r.spare = append(r.spare, pages)
	}
}

// landed joins or holds a write.landed.
func (r *Recorder) landed(e *event.Event) {
	pages := e.Pages
	if r.asReserved(e) {
		pages = nil
	}
	if r.continues(e, pages) {
		r.held.Tick = e.Tick
		r.held.Count += e.Count
		r.held.Bytes += e.Bytes
		if pages != nil {
			r.pages = append(r.pages, pages...)
			r.held.Pages = r.pages
		}
		return
	}
	r.Flush()
	r.held, r.holding = *e, true
	r.held.Pages = nil
	if pages != nil {
		r.pages = append(r.pages[:0], pages...)
		r.held.Pages = r.pages
	}
}

// continues reports whether e, a write.landed into pages, is the next piece of the event held.
func (r *Recorder) continues(e *event.Event, pages []wire.Page) bool {
	h := &r.held
	return r.holding && h.Kind == event.WriteLanded && e.Buffer != wire.Record &&
		h.Room == e.Room && h.Buffer == e.Buffer && h.Source == e.Source && h.Peer == e.Peer &&
		h.First+h.Count == e.First && (h.Pages == nil) == (pages == nil) &&
		(pages == nil || len(h.Pages) == h.Count && len(pages) == e.Count) &&
		h.Slot == e.Slot && h.Generation == e.Generation && h.Flag == e.Flag &&
		h.Fault == e.Fault && h.Reason == e.Reason
}

// asReserved reports whether e landed exactly where the peer's reservation for the room says.
func (r *Recorder) asReserved(e *event.Event) bool {
	if e.Buffer == wire.Record || len(e.Pages) == 0 || len(e.Pages) != e.Count || e.First < 0 {
		return false
	}
	list := r.reservedBy(holder{e.Peer, e.Room})
	return e.First <= len(list)-e.Count && slices.Equal(list[e.First:e.First+e.Count], e.Pages)
}

// sampled joins or holds a token.sampled.
func (r *Recorder) sampled(e *event.Event) {
	h := &r.held
	if r.holding && h.Kind == event.TokenSampled && h.Source == e.Source && r.disjoint(e.Samples) {
		h.Tick = e.Tick
		r.samples = append(r.samples, e.Samples...)
		h.Samples = r.samples
		if h.Room != e.Room {
			h.Room = 0
		}
		return
	}
	r.Flush()
	r.held, r.holding = *e, true
	r.samples = append(r.samples[:0], e.Samples...)
	h.Samples = r.samples
}

// disjoint reports whether none of samples is of a room that the event held has already: then both are one step.
func (r *Recorder) disjoint(samples []event.Sample) bool {
	if len(r.samples)+len(samples) > stepSamplesMax {
		return false
	}
	for i := range samples {
		for j := range r.samples {
			if samples[i].Room == r.samples[j].Room {
				return false
			}
		}
	}
	return true
}
