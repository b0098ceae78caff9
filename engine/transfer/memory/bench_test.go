package memory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// BenchmarkPageTransfer moves the KV buffers of shuffled pages from one pool to another, both far larger than any cache,
// in writes of 128 pages: once through the transport, with submission, an event a page, completion and the sender's
// digest; and once as bare copies of the same list. The two are interleaved and each is taken at its best of ten, so
// that a busy machine disturbs both alike. The ratio is the metric: 1 would be a transport that costs nothing.
func BenchmarkPageTransfer(b *testing.B) {
	const (
		poolPages   = 6_001
		writePages  = 128
		writes      = 40
		repetitions = 10
	)
	bench := newBench(b, poolPages, 64)
	landed := 0
	bench.config.Record = func(*event.Event) { landed++ }
	draw := rand.New(rand.NewPCG(1, 1))
	from, to := draw.Perm(poolPages-1), draw.Perm(poolPages-1)
	var list []port.Write
	for i := range writes {
		for buffer := wire.K0; buffer <= wire.V1; buffer++ {
			w := port.Write{Buffer: buffer, First: wire.Ordinal(i * writePages), Digest: true}
			for ordinal := i * writePages; ordinal < (i+1)*writePages; ordinal++ {
				w.Src = append(w.Src, bench.source.Layout.Span(buffer, wire.Page(1+from[ordinal]), 0))
				w.Dst = append(w.Dst, bench.target.Layout.Span(buffer, wire.Page(1+to[ordinal]), 0))
			}
			list = append(list, w)
		}
	}
	ticket := wire.Ticket(0)
	answers := make([]port.WriteDone, 8)
	transfer := func(w port.Write) {
		ticket++
		w.Ticket = ticket
		bench.Submit(w)
		for bench.Enabled() > 0 {
			bench.Step(0)
		}
		if bench.Poll(answers) != 1 || answers[0].Status != port.OK {
			b.Fatalf("answer %+v", answers[0])
		}
	}
	source, target := bench.source.Slab(), bench.target.Slab()
	bare := func(w port.Write) {
		for i, s := range w.Src {
			d := w.Dst[i]
			copy(target[d.Offset:d.Offset+d.Length], source[s.Offset:s.Offset+s.Length])
		}
	}
	// pass runs through the whole list, so that nothing is in cache when its turn comes again, and keeps each write's best.
	pass := func(best []time.Duration, run func(port.Write)) {
		for i, w := range list {
			start := time.Now()
			run(w)
			if took := time.Since(start); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	moved := int64(writes*writePages) * bench.source.Layout.PageBytes(false)
	bestTransport, bestCopy := make([]time.Duration, len(list)), make([]time.Duration, len(list))
	for b.Loop() {
		for range repetitions {
			pass(bestCopy, bare)
			pass(bestTransport, transfer)
		}
	}
	var viaTransport, viaCopy time.Duration
	for i := range list {
		viaTransport += bestTransport[i]
		viaCopy += bestCopy[i]
	}
	b.ReportMetric(float64(viaCopy)/float64(viaTransport), "ratio")
	b.ReportMetric(float64(moved)/viaTransport.Seconds()/1e9, "GB/s")
	b.ReportMetric(float64(moved)/viaCopy.Seconds()/1e9, "GB/s-copy")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkTransportStep is the cost of landing the smallest page there is, 16 tokens, in cache: what a schedule pays.
func BenchmarkTransportStep(b *testing.B) {
	bench := newBench(b, 20, 16)
	bench.config.Record = func(*event.Event) {}
	w := bench.write(0, wire.K0, 1, 4, 10)
	answers := make([]port.WriteDone, 1)
	b.ReportAllocs()
	for steps := 0; b.Loop(); steps++ {
		if bench.Enabled() == 0 {
			bench.Poll(answers)
			w.Ticket++
			bench.Submit(w)
		}
		bench.Step(0)
	}
}

// BenchmarkNetStep is one message sent, delivered and polled.
func BenchmarkNetStep(b *testing.B) {
	n := NewNet()
	from, to := n.End(writer), n.End(reader)
	buffer := make([]wire.Message, 4)
	m := wire.Message{From: writer, To: reader, Body: wire.Abort{}}
	b.ReportAllocs()
	for b.Loop() {
		from.Send(m)
		n.Step(0)
		to.Poll(buffer)
	}
}

// BenchmarkNewTransport is what a schedule pays to begin: a registry, a transport, a net.
func BenchmarkNewTransport(b *testing.B) {
	slab := make([]byte, 1024)
	b.ReportAllocs()
	for b.Loop() {
		registry := &kv.Registry{}
		for base := range uint16(4) {
			if err := registry.Register(base, writer, slab); err != nil {
				b.Fatal(err)
			}
		}
		t := NewTransport(Config{Addr: writer, Registry: registry})
		t.Submit(port.Write{Ticket: 1})
		t.Step(0)
		NewNet().End(writer)
	}
}
