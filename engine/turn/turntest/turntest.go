// Package turntest stands in for everything around one worker, in that worker's own tests: it gives the turns, keeps what
// the worker submitted until a test answers it, and keeps what the worker said until a test looks at it. What a worker
// computes, and what its messages mean, is the business of the tests that use it.
package turntest

import (
	"testing"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// The limits of the workers that are tested with a rig.
const (
	PageSize     = 16
	TimeoutTicks = 1000
	RetryTicks   = 10
	RetriesMax   = 2
)

// Limits is the configuration of a worker with a pool of so many pages: four requests at a time, four metadata slots,
// chunks of two pages.
func Limits(poolPages int) config.Worker {
	return config.Worker{
		ContextLength: 1024, MaxTotalNumTokens: poolPages * PageSize, PageSize: PageSize, ChunkedPrefillSize: 2 * PageSize,
		MaxRunningRequests: 4, MetadataSlots: 4, AllocatorOrder: config.OrderSGLang,
		BootstrapTimeoutTicks: TimeoutTicks, AbortRetryTicks: RetryTicks, AbortRetriesMax: RetriesMax,
	}
}

// Pool is the layout at base of the pool that w asks for.
func Pool(w config.Worker, base uint16) port.Layout {
	return port.Layout{Base: base, Pages: w.PoolPages(), PageSize: PageSize, RowBytes: 128}
}

// Allocator is one for w's pool. At the end of the test it must not have been given back what it had not handed out.
func Allocator(t testing.TB, w config.Worker) *kv.Allocator {
	t.Helper()
	a := kv.NewAllocator(w.AllocatorOrder, w.PoolPages())
	cleanupErr(t, a.Err)
	return a
}

// Slots has w's metadata slots, under the same condition.
func Slots(t testing.TB, w config.Worker) *kv.Slots {
	t.Helper()
	s := kv.NewSlots(w.MetadataSlots)
	cleanupErr(t, s.Err)
	return s
}

func cleanupErr(t testing.TB, err func() error) {
	t.Helper()
	t.Cleanup(func() {
		t.Helper()
		if err := err(); err != nil {
			t.Error(err)
		}
	})
}

// Prompt is one of so many tokens, no two of them the same.
func Prompt(tokens int) []wire.Token {
	prompt := make([]wire.Token, tokens)
	for i := range prompt {
		prompt[i] = wire.Token(100 + i)
	}
	return prompt
}

// Kinds lists the kinds of operations, in order.
func Kinds(ops []port.Op) (kinds []port.OpKind) {
	for _, o := range ops {
		kinds = append(kinds, o.Kind)
	}
	return kinds
}

// Down is the word that a peer is gone.
func Down(peer wire.Addr) wire.PeerDown { return wire.PeerDown{Peer: peer} }

// DrawStatus is a status for a random play: one answer of 25 is none that a submitter hopes for.
func DrawStatus(intN func(int) int) port.Status {
	if intN(25) == 0 {
		return port.Status(1 + intN(int(port.Rejected)))
	}
	return port.OK
}

// Holdings are the pages that each room holds, by what its worker recorded.
type Holdings map[wire.Room]int

// Follow takes the next event, and fails the test if it gives back or quarantines anything else than a reservation, or
// reserves twice.
func (h Holdings) Follow(t testing.TB, e event.Event) {
	t.Helper()
	switch e.Kind {
	case event.PagesReserved:
		if h[e.Room] != 0 {
			t.Fatalf("room %d reserved pages while it holds %d", e.Room, h[e.Room])
		}
		h[e.Room] = len(e.Pages)
	case event.PagesReleased:
		if h[e.Room] == 0 {
			t.Fatalf("room %d gave back what it does not hold", e.Room)
		}
		h[e.Room] = 0
	case event.PagesQuarantined:
		if h[e.Room] == 0 || e.Count != h[e.Room] {
			t.Fatalf("room %d holds %d pages and quarantined %d", e.Room, h[e.Room], e.Count)
		}
		h[e.Room] = 0
	default:
	}
}
