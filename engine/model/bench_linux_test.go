package model_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/model/kernel"
)

// millionTokens is the length of the long benchmarks: the incident's context window.
const millionTokens = 1 << 20

// mapSlab maps memory with huge pages, if the system grants them, and touches it.
func mapSlab(tb testing.TB, size int) []byte {
	tb.Helper()
	slab, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := unix.Munmap(slab); err != nil {
			tb.Error(err)
		}
	})
	if err := unix.Madvise(slab, unix.MADV_HUGEPAGE); err != nil {
		tb.Logf("no huge pages: %v", err)
	}
	for i := 0; i < len(slab); i += 4096 {
		slab[i] = 1
	}
	return slab
}

// race runs the contestants in turn, ten rounds, and returns the best time of each, in the CPU time of one thread: on a
// shared machine the best is the least disturbed, and taking turns disturbs all alike.
func race(b *testing.B, contestants ...func()) []time.Duration {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := make([]time.Duration, len(contestants))
	for i := range best {
		best[i] = math.MaxInt64
	}
	for range 10 {
		for i, run := range contestants {
			start := threadTime(b)
			run()
			best[i] = min(best[i], threadTime(b)-start)
		}
	}
	return best
}

func threadTime(b *testing.B) time.Duration {
	b.Helper()
	var spent unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &spent); err != nil {
		b.Fatal(err)
	}
	return time.Duration(spent.Nano())
}

func gigabytesPerSecond(bytes int, d time.Duration) float64 {
	return float64(bytes) / d.Seconds() / 1e9
}

// BenchmarkScan compares the scan of a million tokens, alone and as part of a decode step, with a kernel that only
// loads the same pages in the same order.
func BenchmarkScan(b *testing.B) {
	if !kernel.CanLimit() {
		b.Skip("the load-only kernel needs AVX-512")
	}
	kv, pages := mapPool(b, millionTokens+4096, millionTokens, 64)
	for _, m := range models(b) {
		b.Run(m.Variant(), func(b *testing.B) {
			variant, err := kernel.Parse(m.Variant())
			if err != nil {
				b.Fatal(err)
			}
			var scratch model.Scratch
			query := *tables.BlocksRow(7)
			maxima := make([]int32, len(pages))
			for b.Loop() {
				best := race(b,
					func() { kernel.Load(kv.K1, pages, kv.PageSize) },
					func() { variant.PageMaxima(&query, kv.K1, pages, kv.PageSize, maxima) },
					func() { m.Sample(kv, pages, millionTokens-1, &scratch) },
				)
				b.ReportMetric(gigabytesPerSecond(millionTokens*code.RowDimensions, best[0]), "load-GB/s")
				b.ReportMetric(best[1].Seconds()*1e3, "scan-ms")
				b.ReportMetric(best[2].Seconds()*1e3, "sample-ms")
				b.ReportMetric(best[0].Seconds()/best[1].Seconds(), "scan/load")
				b.ReportMetric(best[0].Seconds()/best[2].Seconds(), "sample/load")
			}
		})
	}
}

// BenchmarkPrefill compares the rows of a long prompt, in chunks, with kernels that only store the same bytes, one
// buffer of a chunk's pages after the other: with ordinary stores, as Prefill does, and with stores that bypass the
// caches.
func BenchmarkPrefill(b *testing.B) {
	if !kernel.CanLimit() {
		b.Skip("the store-only kernels need AVX-512")
	}
	const promptTokens, chunkTokens = 1 << 18, 8192
	kv, pages := mapPool(b, millionTokens, promptTokens, 64)
	prompt := tokens(rand.New(rand.NewPCG(2, 2)), promptTokens)
	m := model.New(tables)
	store := func(streaming bool) {
		for first := 0; first < promptTokens; first += chunkTokens {
			chunk := pages[first/kv.PageSize : (first+chunkTokens)/kv.PageSize]
			for _, buffer := range [][]byte{kv.K0, kv.V0, kv.K1, kv.V1} {
				kernel.Store(buffer, chunk, kv.PageSize, streaming)
			}
		}
	}
	for b.Loop() {
		best := race(b,
			func() { store(false) },
			func() { store(true) },
			func() {
				for first := 0; first < promptTokens; first += chunkTokens {
					m.Prefill(kv, pages, first, prompt[first:first+chunkTokens])
				}
			},
		)
		b.ReportMetric(gigabytesPerSecond(promptTokens*4*code.RowDimensions, best[0]), "store-GB/s")
		b.ReportMetric(gigabytesPerSecond(promptTokens*4*code.RowDimensions, best[1]), "stream-GB/s")
		b.ReportMetric(promptTokens/best[2].Seconds()/1e6, "Mtokens/s")
		b.ReportMetric(best[0].Seconds()/best[2].Seconds(), "prefill/store")
		b.ReportMetric(best[1].Seconds()/best[2].Seconds(), "prefill/stream")
	}
}
