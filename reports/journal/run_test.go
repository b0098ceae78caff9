package journal

import (
	"math/rand/v2"
	"slices"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// randomRun is a history in the shape of a run: rooms reserve, pages land in bursts, tokens are drawn, rooms release.
func randomRun(seed uint64, count int) []event.Event {
	random := rand.New(rand.NewPCG(seed, 2))
	held := map[wire.Room][]wire.Page{}
	rooms := []wire.Room{0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb}
	var out []event.Event
	add := func(e event.Event) {
		e.Tick = wire.Tick(len(out))
		out = append(out, e)
	}
	for len(out) < count {
		room := rooms[random.IntN(len(rooms))]
		switch random.IntN(6) {
		case 0:
			pages := make([]wire.Page, 4+random.IntN(12))
			at := wire.Page(1 + random.IntN(1000))
			for i := range pages {
				pages[i] = at
				at += wire.Page(1 + random.IntN(2)*random.IntN(5))
			}
			held[room] = slices.Concat(held[room], pages)
			add(event.Event{Kind: event.PagesReserved, Source: decode, Room: room, Pages: pages})
		case 1:
			delete(held, room)
			add(event.Event{Kind: event.PagesReleased, Source: decode, Room: room})
		case 2:
			for range 1 + random.IntN(2) {
				for _, r := range rooms {
					add(draw(0, decode, r, random.IntN(5000)))
				}
			}
		default:
			buffer := wire.Buffer(random.IntN(int(wire.Record)))
			from := random.IntN(3)
			for i := range random.IntN(10) {
				page := wire.Page(2000 + i)
				if from+i < len(held[room]) && random.IntN(30) > 0 {
					page = held[room][from+i]
				}
				add(event.Event{
					Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: room, Buffer: buffer,
					First: from + i, Count: 1, Pages: []wire.Page{page}, Bytes: 8192,
				})
			}
		}
	}
	return out
}

// pieces takes a history apart: one event a page landed, its place looked up where left out, and one a draw; other
// events as they are, without ticks.
func pieces(events []event.Event) []event.Event {
	held := map[wire.Room][]wire.Page{}
	var out []event.Event
	for _, e := range events {
		e.Tick = 0
		switch e.Kind {
		case event.PagesReserved:
			held[e.Room] = slices.Concat(held[e.Room], e.Pages)
			out = append(out, e)
		case event.PagesReleased:
			delete(held, e.Room)
			out = append(out, e)
		case event.WriteLanded:
			for i := range e.Count {
				piece := e
				piece.First, piece.Count, piece.Bytes = e.First+i, 1, e.Bytes/int64(e.Count)
				if e.Pages == nil {
					piece.Pages = held[e.Room][piece.First : piece.First+1]
				} else {
					piece.Pages = e.Pages[i : i+1]
				}
				out = append(out, piece)
			}
		case event.TokenSampled:
			for _, s := range e.Samples {
				out = append(out, event.Event{Kind: e.Kind, Source: e.Source, Samples: []event.Sample{s}})
			}
		default:
			out = append(out, e)
		}
	}
	return out
}
