package config

import (
	"encoding/json"
	"math"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/guard"
)

func worker() Worker {
	return Worker{
		ContextLength: 4096, MaxTotalNumTokens: 2624, PageSize: 64, ChunkedPrefillSize: 512, MaxRunningRequests: 16,
		MetadataSlots: 16, AllocatorOrder: OrderSGLang, BootstrapTimeoutTicks: 1000, AbortRetryTicks: 100,
		AbortRetriesMax: 3,
	}
}

func cluster() Cluster {
	decode := worker()
	decode.MaxTotalNumTokens = 8192
	return Cluster{Models: []Model{
		{
			Name: "pair", Mode: Disaggregated, Router: Router{Mode: DecodeOnly, EdgeLimitTokens: 2618},
			Prefill: worker(), Decode: decode, Guards: guard.All,
		},
		{Name: "single", Mode: Colocated, Router: Router{Mode: CancelOnPrefillError}, Prefill: worker()},
	}}
}

// A configuration that an engine can start with passes, and survives JSON.
func TestValid(t *testing.T) {
	g := NewWithT(t)
	c := cluster()
	g.Expect(c.Validate()).To(Succeed())
	text, err := json.Marshal(c)
	g.Expect(err).NotTo(HaveOccurred())
	var back Cluster
	g.Expect(json.Unmarshal(text, &back)).To(Succeed())
	g.Expect(back).To(Equal(c))
}

// Each bound at its last accepted value.
func TestValidAtTheBounds(t *testing.T) {
	for name, change := range map[string]func(*Worker){
		"smallest page":     func(w *Worker) { w.PageSize = PageSizeMin },
		"largest page":      func(w *Worker) { w.PageSize = PageSizeMax },
		"one page":          func(w *Worker) { w.MaxTotalNumTokens = w.PageSize },
		"least context":     func(w *Worker) { w.ContextLength = ReservedTokens + 1 },
		"greatest context":  func(w *Worker) { w.ContextLength = TokensMax },
		"greatest pool":     func(w *Worker) { w.MaxTotalNumTokens = TokensMax },
		"chunk of one page": func(w *Worker) { w.ChunkedPrefillSize = w.PageSize },
		"no abort retries":  func(w *Worker) { w.AbortRetriesMax = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster()
			change(&c.Models[1].Prefill)
			NewWithT(t).Expect(c.Validate()).To(Succeed())
		})
	}
}

// Every number that no engine could start with is reported by its path.
func TestBadWorkers(t *testing.T) {
	for name, change := range map[string]func(*Worker){
		"page_size 0":                  func(w *Worker) { w.PageSize = 0 },
		"page_size -64":                func(w *Worker) { w.PageSize = -64 },
		"page_size 8":                  func(w *Worker) { w.PageSize = 8 },
		"page_size 256":                func(w *Worker) { w.PageSize = 256 },
		"page_size 48":                 func(w *Worker) { w.PageSize, w.ChunkedPrefillSize = 48, 480 },
		"page_size -9223372036854775":  func(w *Worker) { w.PageSize = -9223372036854775 },
		"context_length 0":             func(w *Worker) { w.ContextLength = 0 },
		"context_length -1":            func(w *Worker) { w.ContextLength = -1 },
		"context_length 6":             func(w *Worker) { w.ContextLength = ReservedTokens },
		"context_length 8388609":       func(w *Worker) { w.ContextLength = TokensMax + 1 },
		"max_total_num_tokens 0":       func(w *Worker) { w.MaxTotalNumTokens = 0 },
		"max_total_num_tokens -64":     func(w *Worker) { w.MaxTotalNumTokens = -64 },
		"max_total_num_tokens 63":      func(w *Worker) { w.MaxTotalNumTokens = 63 },
		"max_total_num_tokens 9223372": func(w *Worker) { w.MaxTotalNumTokens = 9223372036854775807 },
		"chunked_prefill_size 0":       func(w *Worker) { w.ChunkedPrefillSize = 0 },
		"chunked_prefill_size -512":    func(w *Worker) { w.ChunkedPrefillSize = -512 },
		"chunked_prefill_size 100":     func(w *Worker) { w.ChunkedPrefillSize = 100 },
		"chunked_prefill_size 8388672": func(w *Worker) { w.ChunkedPrefillSize = TokensMax + 64 },
		"max_running_requests 0":       func(w *Worker) { w.MaxRunningRequests = 0 },
		"max_running_requests 65537":   func(w *Worker) { w.MaxRunningRequests = 1<<16 + 1 },
		"metadata_slots 0":             func(w *Worker) { w.MetadataSlots = 0 },
		"metadata_slots 4097":          func(w *Worker) { w.MetadataSlots = MetadataSlotsMax + 1 },
		"bootstrap_timeout_ticks 0":    func(w *Worker) { w.BootstrapTimeoutTicks = 0 },
		"bootstrap_timeout_ticks 9223": func(w *Worker) { w.BootstrapTimeoutTicks = math.MaxInt64 },
		"abort_retry_ticks 0":          func(w *Worker) { w.AbortRetryTicks = 0 },
		"abort_retry_ticks -1":         func(w *Worker) { w.AbortRetryTicks = -1 },
		"abort_retries_max -1":         func(w *Worker) { w.AbortRetriesMax = -1 },
		"abort_retries_max 1001":       func(w *Worker) { w.AbortRetriesMax = 1001 },
		`allocator_order ""`:           func(w *Worker) { w.AllocatorOrder = "" },
		`allocator_order "random"`:     func(w *Worker) { w.AllocatorOrder = "random" },
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"models[0].prefill.", "models[0].decode.", "models[1].prefill."} {
				g := NewWithT(t)
				c := cluster()
				change(map[string]*Worker{
					"models[0].prefill.": &c.Models[0].Prefill, "models[0].decode.": &c.Models[0].Decode,
					"models[1].prefill.": &c.Models[1].Prefill,
				}[path])
				g.Expect(c.Validate()).To(MatchError(ContainSubstring(path + name)))
			}
		})
	}
}

// What is wrong with a model or with the whole is reported too.
func TestBadClusters(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Cluster)
		want   string
	}{
		"nothing":       {func(c *Cluster) { c.Models = nil }, "models: at least one"},
		"too much":      {func(c *Cluster) { c.Models = make([]Model, 256) }, "models: 256 given"},
		"no name":       {func(c *Cluster) { c.Models[1].Name = "" }, `models[1].name "": must be set`},
		"a name twice":  {func(c *Cluster) { c.Models[1].Name = "pair" }, `models[1].name "pair": must be set and unique`},
		"no mode":       {func(c *Cluster) { c.Models[0].Mode = "" }, `models[0].mode ""`},
		"other mode":    {func(c *Cluster) { c.Models[0].Mode = "both" }, `models[0].mode "both"`},
		"router mode":   {func(c *Cluster) { c.Models[1].Router.Mode = "prefill" }, `models[1].router.mode "prefill"`},
		"no edge limit": {func(c *Cluster) { c.Models[0].Router.EdgeLimitTokens = 0 }, "edge_limit_tokens 0"},
		"less than no edge limit": {
			func(c *Cluster) { c.Models[0].Router.EdgeLimitTokens = -5 }, "edge_limit_tokens -5",
		},
		"unequal pages": {func(c *Cluster) { c.Models[0].Decode.PageSize = 32 }, "page_size 64 on prefill and 32 on decode"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := cluster()
			c.change(&bad)
			NewWithT(t).Expect(bad.Validate()).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

// All that is wrong is reported at once.
func TestAllErrorsAtOnce(t *testing.T) {
	c := cluster()
	c.Models[0].Prefill.PageSize, c.Models[0].Decode.MetadataSlots, c.Models[1].Mode = 0, 0, "none"
	NewWithT(t).Expect(c.Validate()).To(MatchError(And(
		ContainSubstring("models[0].prefill.page_size"), ContainSubstring("models[0].decode.metadata_slots"),
		ContainSubstring("models[1].mode"))))
}

// An empty limit at the edge is fine where no guard uses it, and the decode part where nothing is decoded apart.
func TestUnusedPartsMayBeEmpty(t *testing.T) {
	c := cluster()
	c.Models[0].Guards, c.Models[0].Router.EdgeLimitTokens = guard.All&^guard.EdgeRefusal, 0
	NewWithT(t).Expect(c.Validate()).To(Succeed())
}

// The limits of the incident, of the small fixture, and of a pool that exceeds its context.
func TestMaxInputTokens(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct{ context, pool, limit int }{
		{1_048_576, 681_280, 681_274}, {4096, 2624, 2618}, {1024, 2048, 1018}, {16, 16, 10},
	} {
		w := Worker{ContextLength: c.context, MaxTotalNumTokens: c.pool}
		g.Expect(w.MaxInputTokens()).To(Equal(c.limit))
		g.Expect(w.AnnouncedLimitTokens()).To(Equal(c.limit))
		w.AllowAutoTruncate = true
		g.Expect(w.AnnouncedLimitTokens()).To(BeZero(), "what is shortened is not refused")
	}
}

// Page 0 is extra.
func TestPoolPages(t *testing.T) {
	g := NewWithT(t)
	g.Expect(worker().PoolPages()).To(Equal(42))
	g.Expect(Worker{MaxTotalNumTokens: 64, PageSize: 64}.PoolPages()).To(Equal(2))
}
