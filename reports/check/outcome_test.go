package check

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
)

// Goal: each outcome is told from the others, and only evidence makes a leak.
func TestOutcomes(t *testing.T) {
	cases := []struct {
		want    Outcome
		corrupt func(s *scene, p []*party)
	}{
		{Correct, func(*scene, []*party) {}},
		{Shortened, func(s *scene, p []*party) { s.first(event.ResponseReceived, roomIs(p[0])).Flag = true }},
		{Aborted, func(s *scene, p []*party) { empty(s, p[0], 499) }},
		{Rejected, func(s *scene, p []*party) { empty(s, p[0], 400) }},
		{Rejected, func(s *scene, p []*party) { empty(s, p[0], 413) }},
		{TimedOut, func(s *scene, p []*party) { empty(s, p[0], 504) }},
		{Failed, func(s *scene, p []*party) { empty(s, p[0], 500) }},
		{Lost, func(s *scene, p []*party) { s.drop(event.ResponseReceived, roomIs(p[0])) }},
		{Garbage, func(s *scene, p []*party) { s.first(event.ResponseReceived, roomIs(p[0])).Output[3] ^= 1 }},
		{Garbage, func(s *scene, p []*party) { empty(s, p[0], 200) }},
		{Stale, func(s *scene, p []*party) { // own tenant's text that is not in the prompt
			s.first(event.ResponseReceived, roomIs(p[0])).Output = s.run.Corpus.Append(nil, corpus.Span{Tenant: 3, First: 6000, Count: 16})
		}},
		{Stale, func(s *scene, p []*party) { // rows of the same tenant's first request, on the same pages
			s.drop(event.WriteLanded, buffer(p[2], wire.V1))
		}},
		{Leak, func(s *scene, p []*party) { // a row of another tenant's request
			s.first(event.TokenSampled, sampleOf(p[1], 99)).Samples[0].Page = p[0].pages[wire.Decode][1]
		}},
		{Leak, func(s *scene, p []*party) { // another tenant's canary, whatever the trace says, whatever the status
			empty(s, p[0], 504)
			s.first(event.ResponseReceived, roomIs(p[0])).Output = s.run.Corpus.Append(nil, corpus.Span{Tenant: 4, First: 0, Count: 8})
		}},
		{Leak, func(s *scene, p []*party) { // another tenant's first token, by way of its record
			s.first(event.TransferCommitted, roomIs(p[1])).Slot = 1
		}},
	}
	for _, c := range cases {
		g := NewWithT(t)
		s, parties := clean(t)
		c.corrupt(s, parties)
		g.Expect(s.judge().Worst()).To(Equal(c.want))
	}
}

func empty(s *scene, p *party, status int) {
	setStatus(s, p, status)
	s.first(event.ResponseReceived, roomIs(p)).Output = nil
}

// Goal: the co-located control needs no transfer, and its tokens are followed all the same.
func TestColocated(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	s.run.Cluster.Models[0].Mode = config.Colocated
	p := s.party(1, 3, 1000, 100)
	s.submit(p)
	s.receive(p, router, alone)
	s.reserve(p, alone, 108)
	s.compute(p, alone)
	s.generate(p, alone)
	s.answer(p, alone)
	s.release(p, alone)
	s.add(event.Event{Kind: event.WorkerQuiesced, Source: alone, Holdings: event.Holdings{PagesFree: 40, PagesCapacity: 40}})
	report := s.judge()
	for _, result := range report.Results {
		g.Expect(result.Verdict).To(Equal(Pass), "%+v", result)
	}
	g.Expect(report.Requests[0].Attribution).To(Equal(Attribution{Emitted: 7, Derived: 7}))
}
