// Package config is the engine's configuration: plain values with SGLang's spelling in JSON, validated once. It is a
// leaf; it knows neither faults nor incidents.
package config

import (
	"errors"
	"fmt"

	"github.com/stalepage/stalepage/engine/guard"
)

// Cluster is everything that is started together. Models share nothing but the run: each has workers, pools and
// a router of its own.
type Cluster struct {
	Models []Model `json:"models"`
}

// Mode says how a model is served.
type Mode string

// The modes. Colocated is the control: one worker, one pool, no transfer.
const (
	Disaggregated Mode = "disaggregated"
	Colocated     Mode = "colocated"
)

// RouterMode says whose word the client gets.
type RouterMode string

// The router modes.
const (
	// DecodeOnly: the client gets decode's status and body; prefill's are dropped.
	DecodeOnly RouterMode = "decode-only"
	// CancelOnPrefillError: an error from prefill ends the request at once and cancels decode.
	CancelOnPrefillError RouterMode = "cancel-on-prefill-error"
)

// Model is one served model: a router with one prefill and one decode worker, or one co-located worker, described by
// Prefill alone.
type Model struct {
	Name    string `json:"name"`
	Mode    Mode   `json:"mode"`
	Router  Router `json:"router"`
	Prefill Worker `json:"prefill"`
	Decode  Worker `json:"decode"`
	// Guards are on for every party of the model.
	Guards guard.Set `json:"guards"`
	// RecordDigests makes both sides digest transferred pages as evidence, whether or not the coverage guard acts on it.
	RecordDigests bool `json:"record_digests"`
}

// Router configures the router.
type Router struct {
	Mode RouterMode `json:"mode"`
	// EdgeLimitTokens is the prompt length from which the edge-refusal guard refuses; the operator sets it from the
	// smallest pool. It must be positive when that guard is on.
	EdgeLimitTokens int `json:"edge_limit_tokens"`
}

// Order is an allocator's order of handing out freed pages.
type Order string

// The orders. SGLang's takes from the head of the free list and merges and sorts released pages when it runs short.
const (
	OrderSGLang Order = "sglang"
	OrderFIFO   Order = "first-in-first-out"
	OrderLIFO   Order = "last-in-first-out"
)

// Worker configures one worker. Tokens are tokens; ticks are steps of the scheduler.
type Worker struct {
	ContextLength      int   `json:"context_length"`
	MaxTotalNumTokens  int   `json:"max_total_num_tokens"`
	PageSize           int   `json:"page_size"`
	ChunkedPrefillSize int   `json:"chunked_prefill_size"`
	AllowAutoTruncate  bool  `json:"allow_auto_truncate"`
	MaxRunningRequests int   `json:"max_running_requests"`
	MetadataSlots      int   `json:"metadata_slots"`
	AllocatorOrder     Order `json:"allocator_order"`
	// BootstrapTimeoutTicks bounds the wait for the peer (prefill: for a reservation; decode: for pages, then for "done").
	BootstrapTimeoutTicks int64 `json:"bootstrap_timeout_ticks"`
	// AbortRetryTicks and AbortRetriesMax bound how often deferred release repeats an unanswered abort before it
	// quarantines the pages.
	AbortRetryTicks int64 `json:"abort_retry_ticks"`
	AbortRetriesMax int   `json:"abort_retries_max"`
}

// Bounds on what a configuration may ask for: enough for the largest public deployment, small enough that a typo
// cannot take the machine down.
const (
	PageSizeMin      = 16
	PageSizeMax      = 128
	TokensMax        = 1 << 23
	ReservedTokens   = 6 // SGLang keeps six tokens of the limit back: max_req_input_len = min(context, pool) - 6
	MetadataSlotsMax = 1 << 12
)

// PoolPages is how many pages the pool has, page 0 (padding) included.
func (w Worker) PoolPages() int { return w.MaxTotalNumTokens/w.PageSize + 1 }

// MaxInputTokens is SGLang's max_req_input_len: a prompt of this many tokens or more is refused at intake.
func (w Worker) MaxInputTokens() int {
	return min(w.ContextLength, w.MaxTotalNumTokens) - ReservedTokens
}

// AnnouncedLimitTokens is the prompt length that a worker's registration says it refuses: MaxInputTokens, or 0 if it
// truncates instead.
func (w Worker) AnnouncedLimitTokens() int {
	if w.AllowAutoTruncate {
		return 0
	}
	return w.MaxInputTokens()
}

// Validate reports every field that no engine could start with, each by its JSON path.
func (c Cluster) Validate() error {
	if len(c.Models) == 0 {
		return errors.New("models: at least one is needed")
	}
	if len(c.Models) > 255 {
		return fmt.Errorf("models: %d given, at most 255", len(c.Models))
	}
	var errs []error
	seen := map[string]bool{}
	for i, m := range c.Models {
		if m.Name == "" || seen[m.Name] {
			errs = append(errs, fmt.Errorf("models[%d].name %q: must be set and unique", i, m.Name))
		}
		seen[m.Name] = true
		errs = append(errs, m.validate(fmt.Sprintf("models[%d]", i)))
	}
	return errors.Join(errs...)
}

func (m Model) validate(path string) error {
	var errs []error
	switch m.Mode {
	case Disaggregated:
		errs = append(errs, m.Prefill.validate(path+".prefill"), m.Decode.validate(path+".decode"))
		if m.Prefill.PageSize != m.Decode.PageSize {
			errs = append(errs, fmt.Errorf("%s: page_size %d on prefill and %d on decode: a page moves whole, so they must agree",
				path, m.Prefill.PageSize, m.Decode.PageSize))
		}
	case Colocated:
		errs = append(errs, m.Prefill.validate(path+".prefill"))
	default:
		errs = append(errs, fmt.Errorf("%s.mode %q: want %q or %q", path, m.Mode, Disaggregated, Colocated))
	}
	if m.Router.Mode != DecodeOnly && m.Router.Mode != CancelOnPrefillError {
		errs = append(errs, fmt.Errorf("%s.router.mode %q: want %q or %q", path, m.Router.Mode, DecodeOnly, CancelOnPrefillError))
	}
	if m.Guards.Has(guard.EdgeRefusal) && m.Router.EdgeLimitTokens <= 0 {
		errs = append(errs, fmt.Errorf("%s.router.edge_limit_tokens %d: the edge-refusal guard needs a positive limit",
			path, m.Router.EdgeLimitTokens))
	}
	return errors.Join(errs...)
}

func (w Worker) validate(path string) error {
	var errs []error
	within := func(name string, value, low, high int64) {
		if value < low || value > high {
			errs = append(errs, fmt.Errorf("%s.%s %d: want %d to %d", path, name, value, low, high))
		}
	}
	within("page_size", int64(w.PageSize), PageSizeMin, PageSizeMax)
	if w.PageSize&(w.PageSize-1) != 0 {
		errs = append(errs, fmt.Errorf("%s.page_size %d: want a power of two", path, w.PageSize))
	}
	within("context_length", int64(w.ContextLength), ReservedTokens+1, TokensMax)
	within("max_total_num_tokens", int64(w.MaxTotalNumTokens), ReservedTokens+1, TokensMax)
	within("chunked_prefill_size", int64(w.ChunkedPrefillSize), 1, TokensMax)
	within("max_running_requests", int64(w.MaxRunningRequests), 1, 1<<16)
	within("metadata_slots", int64(w.MetadataSlots), 1, MetadataSlotsMax)
	within("bootstrap_timeout_ticks", w.BootstrapTimeoutTicks, 1, 1<<50)
	within("abort_retry_ticks", w.AbortRetryTicks, 1, 1<<50)
	within("abort_retries_max", int64(w.AbortRetriesMax), 0, 1000)
	if w.PageSize > 0 && w.MaxTotalNumTokens < w.PageSize {
		errs = append(errs, fmt.Errorf("%s.max_total_num_tokens %d: smaller than one page of %d tokens",
			path, w.MaxTotalNumTokens, w.PageSize))
	}
	if w.PageSize > 0 && w.ChunkedPrefillSize%w.PageSize != 0 {
		errs = append(errs, fmt.Errorf(
			"%s.chunked_prefill_size %d: must be a multiple of page_size %d, since whole pages are sent per chunk",
			path, w.ChunkedPrefillSize, w.PageSize))
	}
	switch w.AllocatorOrder {
	case OrderSGLang, OrderFIFO, OrderLIFO:
	default:
		errs = append(errs, fmt.Errorf("%s.allocator_order %q: want %q, %q or %q",
			path, w.AllocatorOrder, OrderSGLang, OrderFIFO, OrderLIFO))
	}
	return errors.Join(errs...)
}
