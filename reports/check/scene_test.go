package check

import (
	"testing"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/reports/reference"
)

// The scene builds the events of a run as a healthy engine of one model would record them, one step of a request's life
// a method. A test then leaves a step out, adds one, or edits an event.
type scene struct {
	run    Run
	events []event.Event
	tick   wire.Tick
	free   map[wire.Role][]wire.Page
}

const (
	testPageSize = 16
	testPages    = 40
	testChunk    = 32
)

var (
	client  = wire.Addr{Role: wire.Client, Incarnation: 1}
	router  = wire.Addr{Role: wire.Router, Incarnation: 1}
	prefill = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	decode  = wire.Addr{Role: wire.Decode, Incarnation: 1}
	alone   = wire.Addr{Role: wire.Colocated, Incarnation: 1}
)

// materials are what every scene shares, built once a test.
func materials() (*corpus.Corpus, *reference.Reference) {
	return corpus.New(code.NewVocabulary(), 7), reference.New(code.New())
}

func newScene(t testing.TB) *scene {
	t.Helper()
	worker := config.Worker{
		ContextLength: 512, MaxTotalNumTokens: testPages * testPageSize, PageSize: testPageSize,
		ChunkedPrefillSize: testChunk, MaxRunningRequests: 8, MetadataSlots: 8,
	}
	s := &scene{free: map[wire.Role][]wire.Page{}}
	s.run.Corpus, s.run.Reference = materials()
	s.run.Cluster = config.Cluster{Models: []config.Model{{
		Name: "m", Mode: config.Disaggregated, Router: config.Router{Mode: config.DecodeOnly}, Prefill: worker,
		Decode: worker, RecordDigests: true,
	}}}
	for _, role := range []wire.Role{wire.Prefill, wire.Decode, wire.Colocated} {
		for page := wire.Page(1); page <= testPages; page++ {
			s.free[role] = append(s.free[role], page)
		}
	}
	return s
}

// party is one request as the scene follows it.
type party struct {
	room            wire.Room
	tenant, request int
	spans           []corpus.Span
	prompt, answer  []wire.Token
	rows            []int // that each token of the answer was drawn from
	slot            int
	pages           map[wire.Role][]wire.Page
}

// party makes a request of a tenant: so many tokens of its document from a place on, and a quote of it, with an answer
// of eight tokens.
func (s *scene) party(request, tenant, place, tokens int) *party {
	p := &party{
		room: wire.Room(100 + request), tenant: tenant, request: request, slot: request % 8,
		pages: map[wire.Role][]wire.Page{},
		spans: []corpus.Span{
			{Tenant: tenant, First: place, Count: tokens - 24}, {Tenant: tenant, First: place + 5, Count: 24},
		},
	}
	p.prompt = s.run.Corpus.Append(nil, p.spans...)
	var sequence reference.Sequence
	sequence.Start(s.run.Reference, p.prompt, 8)
	for range 8 {
		draw, _ := sequence.Next()
		sequence.Append(draw.Token)
		p.answer, p.rows = append(p.answer, draw.Token), append(p.rows, draw.Row)
	}
	return p
}

func (s *scene) add(e event.Event) *event.Event {
	s.tick++
	e.Tick = s.tick
	s.events = append(s.events, e)
	return &s.events[len(s.events)-1]
}

func hashOf(tokens []wire.Token) [32]byte {
	var h history
	h.begin(&Run{})
	return h.hash(tokens)
}

func (s *scene) submit(p *party) {
	e := event.Event{
		Kind: event.RequestSubmitted, Source: client, Room: p.room, Tenant: p.tenant, Request: p.request,
		Tokens: len(p.prompt), MaxNewTokens: len(p.answer), Hash: hashOf(p.prompt),
	}
	for _, span := range p.spans {
		e.Spans = append(e.Spans, event.Span(span))
	}
	s.add(e)
}

func (s *scene) receive(p *party, by ...wire.Addr) {
	for _, source := range by {
		s.add(event.Event{
			Kind: event.RequestReceived, Source: source, Room: p.room, Tokens: len(p.prompt), MaxNewTokens: len(p.answer),
			Hash: hashOf(p.prompt),
		})
	}
}

// reserve gives p pages for so many tokens, the longest free first.
func (s *scene) reserve(p *party, at wire.Addr, tokens int) {
	n := pages(tokens, testPageSize)
	p.pages[at.Role] = append([]wire.Page(nil), s.free[at.Role][:n]...)
	s.free[at.Role] = s.free[at.Role][n:]
	s.add(event.Event{
		Kind: event.PagesReserved, Source: at, Room: p.room, Pages: p.pages[at.Role], Slot: p.slot,
	})
}

func (s *scene) release(p *party, at wire.Addr) {
	s.free[at.Role] = append(s.free[at.Role], p.pages[at.Role]...)
	s.add(event.Event{Kind: event.PagesReleased, Source: at, Room: p.room})
}

// compute writes the prompt's rows chunk by chunk and draws the first token.
func (s *scene) compute(p *party, at wire.Addr) {
	for first := 0; first < len(p.prompt); first += testChunk {
		s.add(event.Event{
			Kind: event.RowsComputed, Source: at, Room: p.room, First: first, Count: min(testChunk, len(p.prompt)-first),
		})
	}
	s.draw(p, at, 0)
}

// draw draws token i of the answer from the row that the reference names.
func (s *scene) draw(p *party, at wire.Addr, i int) {
	row := p.rows[i]
	s.add(event.Event{Kind: event.TokenSampled, Source: at, Samples: []event.Sample{{
		Room: p.room, Position: len(p.prompt) + i - 1, Token: p.answer[i],
		Page: p.pages[at.Role][row/testPageSize], Slot: int32(row % testPageSize), Score: 504,
	}}})
}

// transfer lands every page of the prompt in every buffer, then the record, and says so.
func (s *scene) transfer(p *party) {
	n := pages(len(p.prompt), testPageSize)
	for b := wire.K0; b <= wire.V1; b++ {
		s.add(event.Event{Kind: event.WritePosted, Source: prefill, Room: p.room, Buffer: b, Count: n})
		s.add(event.Event{Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: p.room, Buffer: b, Count: n})
		s.tick += wire.Tick(n)
		s.add(event.Event{Kind: event.WriteEnded, Source: prefill, Room: p.room, Buffer: b, Count: n, Reason: "ok"})
	}
	s.add(event.Event{
		Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: p.room, Buffer: wire.Record, Count: 1, Slot: p.slot,
	})
	s.claim(p, event.TransferSent, prefill)
	s.add(event.Event{
		Kind: event.RequestFinished, Source: prefill, Room: p.room, Status: 200, Tokens: len(p.prompt), Count: 1,
	})
}

func (s *scene) claim(p *party, kind event.Kind, source wire.Addr) {
	e := event.Event{
		Kind: kind, Source: source, Room: p.room, Count: pages(len(p.prompt), testPageSize), Tokens: len(p.prompt),
	}
	for b := range e.Digests {
		e.Digests[b] = []uint64{uint64(p.room) << b}
	}
	s.add(e)
}

func (s *scene) commit(p *party) {
	s.claim(p, event.TransferReceived, decode)
	s.claim(p, event.DigestTaken, decode)
	s.add(event.Event{
		Kind: event.TransferCommitted, Source: decode, Room: p.room, Tokens: len(p.prompt),
		Count: pages(len(p.prompt), testPageSize), Slot: p.slot,
	})
}

func (s *scene) generate(p *party, at wire.Addr) {
	for i := 1; i < len(p.answer); i++ {
		s.draw(p, at, i)
	}
}

func (s *scene) answer(p *party, from wire.Addr) {
	s.finish(p, from, 200, p.answer)
}

func (s *scene) finish(p *party, from wire.Addr, status int, output []wire.Token) {
	s.add(event.Event{
		Kind: event.RequestFinished, Source: from, Room: p.room, Status: status, Tokens: len(p.prompt), Count: len(output),
	})
	s.add(event.Event{
		Kind: event.ResponseReceived, Source: client, Room: p.room, Status: status, Tokens: len(p.prompt),
		Output: append([]wire.Token(nil), output...),
	})
}

// begin takes p to where both workers hold pages for it.
func (s *scene) begin(p *party) {
	s.submit(p)
	s.receive(p, router, prefill, decode)
	s.reserve(p, decode, len(p.prompt)+len(p.answer))
	s.add(event.Event{Kind: event.RoomBootstrapped, Source: prefill, Room: p.room})
	s.reserve(p, prefill, len(p.prompt))
}

// serve is the whole life of p.
func (s *scene) serve(p *party) {
	s.begin(p)
	s.compute(p, prefill)
	s.transfer(p)
	s.release(p, prefill)
	s.commit(p)
	s.generate(p, decode)
	s.answer(p, decode)
	s.release(p, decode)
}

func (s *scene) quiesce() {
	for _, at := range []wire.Addr{prefill, decode} {
		s.add(event.Event{Kind: event.WorkerQuiesced, Source: at, Holdings: event.Holdings{
			PagesFree: testPages, PagesCapacity: testPages, SlotsFree: 8, SlotsCapacity: 8,
		}})
	}
}

func (s *scene) judge() *Report { return Judge(s.run, s.events) }

// first is the first event of a kind that match takes (any, if nil).
func (s *scene) first(kind event.Kind, match func(*event.Event) bool) *event.Event {
	return &s.events[s.index(kind, match)]
}

func (s *scene) index(kind event.Kind, match func(*event.Event) bool) int {
	for i := range s.events {
		if e := &s.events[i]; e.Kind == kind && (match == nil || match(e)) {
			return i
		}
	}
	panic("the scene has no such event: " + kind.String())
}

func (s *scene) drop(kind event.Kind, match func(*event.Event) bool) {
	i := s.index(kind, match)
	s.events = append(s.events[:i], s.events[i+1:]...)
}

// insert adds e after the event at index i.
func (s *scene) insert(i int, e event.Event) {
	e.Tick = s.events[i].Tick
	s.events = append(s.events[:i+1], append([]event.Event{e}, s.events[i+1:]...)...)
}

// clean is the run that every check is to be silent on: three requests of two tenants, the third on pages that the first
// had, with prompts that end on a page, one past it, and inside a chunk.
func clean(t testing.TB) (*scene, []*party) {
	t.Helper()
	s := newScene(t)
	parties := []*party{s.party(1, 3, 1000, 96), s.party(2, 5, 2000, 97), s.party(3, 3, 5000, 150)}
	for _, at := range []wire.Addr{router, prefill, decode} {
		s.add(event.Event{Kind: event.PeerRegistered, Source: at, Peer: prefill, Tokens: 506})
	}
	s.free[wire.Prefill], s.free[wire.Decode] = s.free[wire.Prefill][:12], s.free[wire.Decode][:14]
	for _, p := range parties {
		s.serve(p)
	}
	s.quiesce()
	return s, parties
}
