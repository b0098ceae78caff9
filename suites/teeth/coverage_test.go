package teeth_test

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/matchers"
)

// Two ways in which pages go wrong after the sender has read them, and before decode commits. Both pages of a swap lie
// in one digest group (128 pages), so that a sum which did not know ordinals would be the same.
func overwritten(at faults.Target) faults.Fault { return &faults.OverwrittenPage{Target: at, Page: 2} }

func swapped(at faults.Target) faults.Fault {
	return &faults.MisplacedPage{Target: at, Page: 4, To: faults.ToSwapped, SwapWith: 5}
}

// lastIsAimedAt is traffic whose last request has a prompt of whole pages and nobody after it: at the end of the run, its
// prompt's pages in decode's pool are what they were at commit.
func lastIsAimedAt() traffic.Trace {
	GinkgoHelper()
	return trace(2,
		ask{tenant: 1, promptTokens: 80, answerTokens: 8}, ask{tenant: 2, promptTokens: 80, answerTokens: 8},
		ask{tenant: 3, promptTokens: 8 * pageTokens, answerTokens: 24, phase: 1})
}

// inspect makes a run whose pools outlive it, and returns decode's.
func inspect(c harness.Case) (harness.Result, []event.Event, *kv.Pool) {
	GinkgoHelper()
	w := c.Cluster.Models[0].Decode
	layout := port.Layout{Pages: w.PoolPages(), PageSize: w.PageSize, RowBytes: code.RowDimensions}
	var slab []byte
	memory := &journal.Memory{}
	result, err := kit().Run(c, harness.Options{
		Sinks: []journal.Sink{memory.Record},
		Slab: func(bytes int64) []byte {
			fresh := make([]byte, bytes)
			if bytes == layout.Bytes() {
				Expect(slab).To(BeNil(), "the pools must differ in size, to be told apart")
				slab = fresh
			}
			return fresh
		},
	})
	Expect(err).NotTo(HaveOccurred())
	pool, err := kv.NewPoolOver(layout, slab)
	Expect(err).NotTo(HaveOccurred())
	return result, memory.Events(), pool
}

// sums is the digest of a room's prompt pages as they lie in the pool: worked out here, page by page.
func sums(pool *kv.Pool, pages []wire.Page) (out [wire.KVBuffers][]uint64) {
	for b := wire.K0; b < wire.KVBuffers; b++ {
		sum := uint64(0)
		for ordinal, page := range pages {
			sum += kv.Digest(b, ordinal, pool.Page(b, page))
		}
		out[b] = []uint64{sum}
	}
	return out
}

var _ = Describe("coverage", func() {
	DescribeTable("the guard stops what no other look at the transfer sees",
		func(fault func(faults.Target) faults.Fault, guards guard.Set, want check.Outcome, reason string) {
			c := caseOf(pair(poolTokens, poolTokens), guards, lastIsAimedAt(), fault(faults.Request(2)))
			result, memory := run(c)
			Expect(result.Faults[0].Fired).To(BeNumerically(">", 0))
			Expect(result).To(matchers.HaveOutcome(2, want))
			if want == check.Failed {
				Expect(result.Report.Requests[2].Reason).To(Equal(reason))
				tripped := (&plant{events: memory.Events()}).find(event.GuardTripped)
				Expect(tripped.Guard).To(Equal(guard.Coverage.String()))
				Expect(result).To(matchers.HaveCheck("coverage", check.Pass), "nothing was committed")
				return
			}
			Expect(result).To(matchers.HaveCheck("coverage", check.Fail))
		},
		Entry("overwritten: stamps and counts are satisfied", overwritten, guard.ClaimedLength|guard.PageStamp, check.Garbage, ""),
		Entry("overwritten: coverage is not", overwritten, guard.Coverage, check.Failed,
			"digest of K0 differs from the sender's in pages 0 to 7"),
		Entry("swapped: stamps and counts are satisfied", swapped, guard.ClaimedLength|guard.PageStamp, check.Correct, ""),
		Entry("swapped: coverage is not", swapped, guard.Coverage, check.Failed,
			"digest of K0 differs from the sender's in pages 0 to 7"),
	)

	DescribeTable("the receiver's digest is of the bytes that lie in its pages at commit, buffer by buffer",
		func(fault func(faults.Target) faults.Fault, equal bool) {
			var list []faults.Fault
			if fault != nil {
				list = append(list, fault(faults.Request(2)))
			}
			_, events, pool := inspect(caseOf(pair(poolTokens, poolTokens+pageTokens), guard.None, lastIsAimedAt(), list...))
			p := &plant{events: events}
			taken := p.find(event.DigestTaken, p.of(2)).Digests
			pages := p.find(event.PagesReserved, p.of(2), by(wire.Decode)).Pages[:8]
			Expect(taken).To(Equal(sums(pool, pages)))
			received := p.find(event.TransferReceived, p.of(2)).Digests
			for b := range received {
				Expect(slices.Equal(received[b], taken[b])).To(Equal(equal), "what the sender read of %s is what lies there",
					wire.Buffer(b))
			}
		},
		Entry("a clean transfer", nil, true),
		Entry("a page that was overwritten after it had landed", overwritten, false),
		Entry("two pages swapped", swapped, false),
	)

	It("has terms that hash ordinal, buffer and bytes", func() {
		bytes := make([]byte, 2048)
		term := kv.Digest(wire.K0, 5, bytes)
		Expect(kv.Digest(wire.K0, 5, bytes)).To(Equal(term))
		Expect(kv.Digest(wire.K0, 6, bytes)).NotTo(Equal(term))
		Expect(kv.Digest(wire.V0, 5, bytes)).NotTo(Equal(term))
		for _, bit := range []int{0, 1024*8 + 3, 2048*8 - 1} {
			bytes[bit/8] ^= 1 << (bit % 8)
			Expect(kv.Digest(wire.K0, 5, bytes)).NotTo(Equal(term), "bit %d", bit)
			bytes[bit/8] ^= 1 << (bit % 8)
		}
	})

	It("cannot see what comes after commit: with the guard on, a late write leaks all the same", func() {
		c := cells()["late-write"]
		c.guards = guard.Coverage
		result, _ := c.run(false)
		Expect(result).To(matchers.HaveFired("late-write"))
		Expect(result).To(matchers.LeakAcrossTenants())
		Expect(result).To(matchers.HaveCheck("coverage", check.Pass))
		Expect(result).To(matchers.HaveCheck("ownership", check.Fail))
	})
})
