package host

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/model/kernel"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// BenchmarkReceiverDigest sums shuffled pages of a pool far larger than the second-level cache, as decode does at commit,
// 128 pages an operation, against a kernel that only loads the same pages in the same order. The two are interleaved,
// and each operation is taken at its best of ten passes. The ratio is the metric: 1 is as fast as memory allows.
func BenchmarkReceiverDigest(b *testing.B) {
	if !kernel.CanLimit() {
		b.Skip("this machine has no load-only kernel")
	}
	const (
		poolPages   = 6_001
		groupPages  = wire.DigestGroupPages
		groups      = 40
		repetitions = 10
	)
	bench := newBench(b, poolPages, 64)
	var tables [groups][]wire.Page
	for i, page := range rand.New(rand.NewPCG(1, 1)).Perm(poolPages - 1)[:groups*groupPages] {
		tables[i/groupPages] = append(tables[i/groupPages], wire.Page(1+page))
	}
	answers := make([]port.OpDone, 1)
	ticket := wire.Ticket(0)
	digest := func(group int) {
		ticket++
		bench.Submit(port.Op{Ticket: ticket, Kind: port.OpDigest, First: group * groupPages, Pages: tables[group]})
		bench.Step(0)
		if bench.Poll(answers) != 1 || answers[0].Status != port.OK {
			b.Fatalf("answer %+v", answers[0])
		}
	}
	load := func(group int) {
		for buffer := wire.K0; buffer <= wire.V1; buffer++ {
			kernel.Load(bench.pool.Buffer(buffer), tables[group], 64)
		}
	}
	var bestDigest, bestLoad [groups]time.Duration
	pass := func(best *[groups]time.Duration, run func(int)) {
		for group := range groups {
			start := time.Now()
			run(group)
			if took := time.Since(start); best[group] == 0 || took < best[group] {
				best[group] = took
			}
		}
	}
	for b.Loop() {
		for range repetitions {
			pass(&bestLoad, load)
			pass(&bestDigest, digest)
		}
	}
	var viaDigest, viaLoad time.Duration
	for group := range groups {
		viaDigest += bestDigest[group]
		viaLoad += bestLoad[group]
	}
	read := float64(groups*groupPages) * float64(bench.layout.PageBytes(false))
	b.ReportMetric(float64(viaLoad)/float64(viaDigest), "ratio")
	b.ReportMetric(read/viaDigest.Seconds()/1e9, "GB/s")
	b.ReportMetric(read/viaLoad.Seconds()/1e9, "GB/s-load")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkDeviceStep is the cost of an operation that does next to nothing: submit, step, poll.
func BenchmarkDeviceStep(b *testing.B) {
	bench := newBench(b, 20, 16)
	bench.config.Record = func(*event.Event) {}
	op := port.Op{Kind: port.OpStamp, Pages: []wire.Page{1}}
	answers := make([]port.OpDone, 1)
	b.ReportAllocs()
	for b.Loop() {
		op.Ticket++
		bench.Submit(op)
		bench.Step(0)
		bench.Poll(answers)
	}
}

// BenchmarkSmallDecode is a decode step of a schedule: some pages of 16 tokens, in cache.
func BenchmarkSmallDecode(b *testing.B) {
	bench := newBench(b, 20, 16)
	bench.config.Record = func(*event.Event) {}
	op := port.Op{Kind: port.OpDecode, Pages: []wire.Page{1, 2, 3, 4}, First: 50, Tokens: []wire.Token{9}, Verify: 0}
	answers := make([]port.OpDone, 1)
	b.ReportAllocs()
	for b.Loop() {
		op.Ticket++
		bench.Submit(op)
		bench.Step(0)
		bench.Poll(answers)
	}
}
