package check

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// pageTeeth are for the checks that look at pages and rows.
var pageTeeth = []tooth{
	{
		name: "one buffer did not land", check: "coverage", verdict: Fail,
		text:    "though 7 of its 7 prompt pages are not its own, the first at ordinal 0: K1 did not land in page 8",
		corrupt: func(s *scene, p []*party) { s.drop(event.WriteLanded, buffer(p[1], wire.K1)) },
	},
	{
		name: "the last page did not land", check: "coverage", verdict: Fail, text: "the first at ordinal 6: K0 did not land",
		corrupt: func(s *scene, p []*party) { s.first(event.WriteLanded, buffer(p[1], wire.K0)).Count = 6 },
	},
	{
		name: "the last row was not computed", check: "coverage", verdict: Fail, text: "should hold position 96",
		corrupt: func(s *scene, p []*party) {
			s.drop(event.RowsComputed, func(e *event.Event) bool { return e.Room == p[1].room && e.First == 96 })
		},
	},
	{
		name: "a landed page was overwritten before commit", check: "coverage", verdict: Fail,
		text: "room 102 (tenant 5 request 2) was committed though 1 of its 7 prompt pages are not its own, the first at " +
			"ordinal 2: V1 did not land in page 10 of decode/0#1, which holds tokens 32-47 of tenant 3 request 1",
		corrupt: func(s *scene, p []*party) {
			s.insert(s.index(event.WriteEnded, buffer(p[1], wire.V1)), event.Event{
				Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: p[0].room, Buffer: wire.V1, First: 2, Count: 1,
				Pages: []wire.Page{10},
			})
		},
	},
	{
		name: "two pages of one digest group were swapped", check: "coverage", verdict: Fail,
		text: "2 of its 7 prompt pages are not its own, the first at ordinal 3: K0 did not land",
		corrupt: func(s *scene, p []*party) {
			for b := wire.K0; b <= wire.V1; b++ {
				s.first(event.WriteLanded, buffer(p[1], b)).Pages = []wire.Page{8, 9, 10, 12, 11, 13, 14}
			}
		},
	},
	{
		name: "the bytes differ though all landed", check: "coverage", verdict: Fail,
		text:    "sender and receiver have different sums of V0 over ordinals 0 to 127",
		corrupt: func(s *scene, p []*party) { s.first(event.DigestTaken, roomIs(p[1])).Digests[wire.V0][0]++ },
	},
	{
		name: "digests were asked for and are missing", check: "coverage", verdict: Unknown, text: "not recorded",
		corrupt: func(s *scene, p []*party) { s.drop(event.DigestTaken, roomIs(p[1])) },
	},
	{
		name: "decode computed the prompt itself", check: "coverage", verdict: Fail, text: "no page of its prompt crossed",
		corrupt: func(s *scene, p []*party) { s.drop(event.TransferCommitted, roomIs(p[1])) },
	},
	{
		name: "a late write in another's page", check: "ownership", verdict: Fail,
		text: "room 101 (tenant 3 request 1) at event 116, ordinal 0: its page of V0 landed in page 1 of decode/0#1, " +
			"which room 103 (tenant 3 request 3) holds",
		corrupt: func(s *scene, p []*party) {
			s.insert(s.index(event.TransferCommitted, roomIs(p[2])), event.Event{
				Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: p[0].room, Buffer: wire.V0, Count: 1,
				Pages: []wire.Page{p[2].pages[wire.Decode][0]},
			})
		},
	},
	{
		name: "a page given to two rooms", check: "ownership", verdict: Fail,
		text:    "was given to room 102 (tenant 5 request 2) at event",
		corrupt: func(s *scene, p []*party) { s.drop(event.PagesReleased, roomAt(p[0], decode)); s.again(p) },
	},
	{
		name: "a token drawn from a page that the room does not hold", check: "ownership", verdict: Fail,
		text: "a token was drawn in page 40 of decode/0#1, which nobody holds",
		corrupt: func(s *scene, p []*party) {
			s.first(event.TokenSampled, sampleOf(p[1], 99)).Samples[0].Page = 40
		},
	},
	{
		name: "rows computed in pages that were given back", check: "ownership", verdict: Fail, text: "a row was computed",
		corrupt: func(s *scene, p []*party) {
			s.insert(s.index(event.PagesReleased, roomAt(p[0], prefill)), event.Event{
				Kind: event.RowsComputed, Source: prefill, Room: p[0].room, First: 0, Count: 96,
			})
		},
	},
	{
		name: "the record of another room was committed", check: "ownership", verdict: Fail,
		text:    "with the record of room 101 (tenant 3 request 1) in metadata slot 1",
		corrupt: func(s *scene, p []*party) { s.first(event.TransferCommitted, roomIs(p[1])).Slot = 1 },
	},
	{
		name: "a token drawn from another tenant's row", check: "attribution", verdict: Fail,
		text: "page 2, room 102, written by tenant 3 request 1 tokens 16-31 at event 24, read by tenant 5 request 2 at event",
		corrupt: func(s *scene, p []*party) {
			s.first(event.TokenSampled, sampleOf(p[1], 99)).Samples[0].Page = p[0].pages[wire.Decode][1]
		},
	},
	{
		name: "a row is not what events say", check: "attribution", verdict: Fail, text: "a token that is not what page",
		corrupt: func(s *scene, p []*party) { s.first(event.TokenSampled, sampleOf(p[1], 99)).Samples[0].Token ^= 1 },
	},
	{
		name: "tokens without a trace", check: "attribution", verdict: Unknown, text: "tokens that no event traces",
		corrupt: func(s *scene, p []*party) { s.drop(event.TokenSampled, sampleOf(p[1], 103)) },
	},
}

// again gives the second request the pages that the first still has.
func (s *scene) again(p []*party) {
	s.first(event.PagesReserved, roomAt(p[1], decode)).Pages[0] = p[0].pages[wire.Decode][0]
}
