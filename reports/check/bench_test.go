package check

import (
	"testing"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
)

func judgeRepeatedly(b *testing.B, s *scene) {
	x := NewExaminer()
	b.ReportMetric(float64(len(s.events)), "events/run")
	b.ReportAllocs()
	for b.Loop() {
		x.Begin(s.run)
		for i := range s.events {
			x.Observe(&s.events[i])
		}
		x.Report()
	}
}

// BenchmarkScheduleRun judges a run of a schedule's size: tiny pools, ten requests, about 300 events.
func BenchmarkScheduleRun(b *testing.B) {
	s := newScene(b)
	for i := range 8 {
		s.serve(s.party(i, 3+i%3, 1000*i, 60+8*i))
	}
	s.quiesce()
	judgeRepeatedly(b, s)
}

// BenchmarkLeakingRun judges one with two leaks.
func BenchmarkLeakingRun(b *testing.B) {
	s, _, _, _ := incident(b)
	judgeRepeatedly(b, s)
}

// BenchmarkLanding is what one page costs when it lands in all four buffers, checks included, in a pool of the size of
// the incident's.
func BenchmarkLanding(b *testing.B) {
	s := newScene(b)
	const pages = 10644
	worker := &s.run.Cluster.Models[0].Decode
	worker.PageSize, worker.MaxTotalNumTokens = 64, 2_097_152
	s.run.Cluster.Models[0].Prefill = *worker
	x := NewExaminer()
	x.Begin(s.run)
	table := make([]wire.Page, pages)
	for i := range table {
		table[i] = wire.Page(1 + i*3)
	}
	x.Observe(&event.Event{Kind: event.PagesReserved, Source: prefill, Room: 1, Pages: table})
	x.Observe(&event.Event{Kind: event.PagesReserved, Source: decode, Room: 1, Pages: table})
	x.Observe(&event.Event{Kind: event.RowsComputed, Source: prefill, Room: 1, Count: pages * 64})
	for b.Loop() {
		for buffer := wire.K0; buffer <= wire.V1; buffer++ {
			x.Observe(&event.Event{
				Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: 1, Buffer: buffer, Count: pages,
			})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pages, "ns/page")
}

// BenchmarkCompare is what comparing one answer of 64 tokens to a prompt of a million costs: the prompt made again, its
// hash, the index, the answer. The engine takes about a second for the same.
func BenchmarkCompare(b *testing.B) {
	s := newScene(b)
	var h history
	h.begin(&s.run)
	q := &request{maxNewTokens: 64, promptTokens: 1<<20 + 24, spans: []corpus.Span{
		{Tenant: 1, Count: 1 << 20}, {Tenant: 1, First: 5000, Count: 24},
	}}
	q.output = s.run.Corpus.Append(nil, corpus.Span{Tenant: 1, First: 5024, Count: 64})
	q.hash = hashOf(s.run.Corpus.Append(nil, q.spans...))
	for b.Loop() {
		c := conclusion{differs: None}
		if h.compare(q, &c); !c.compared || c.differs != None {
			b.Fatal(c)
		}
	}
}
