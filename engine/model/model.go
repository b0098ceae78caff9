// Package model is the integer induction transformer: two layers of attention over a paged int8 KV pool, built by
// formula, greedy. It copies: given the last sixteen tokens it finds where they occurred before and emits what
// followed. On a healthy engine that is an exact, checkable answer; over stale pages it is the stale pages' text.
//
// All arithmetic is on integers and every rounding is defined once, so that each variant, any tiling and any chunking
// give the same bytes. The formulae, with D = 128 dimensions, one KV head and rows of int8:
//
//	layer 0   K0_j = Walsh(j)       V0_j = [block_1(t_j) .. block_16(t_j)]         window of 32 rows, sink logit 64
//	          head o = 0..16:       Q_o(i) = Walsh(i-o), scores Q_o(i).K0_j
//	          H_o(i) = rounded mean of V0 under the weights, the sink counting as a row of zeros
//	layer 1   K1_j = concat_h H_h(j)[block h]                                      the sixteen tokens before j
//	          V1_j = EV(t_j)
//	          Q1_i = concat_h sat(alpha_h H_{h-1}(i)[block h])                     the last sixteen tokens
//	          s_j = Q1_i.K1_j       S_j = 2^25 s_j - 8 (i-j)                       of equal matches the latest wins
//	softmax   weight 2^(30 - (Smax - S)) where Smax - S <= 30, else 0, in both layers
//	output    A = sum_j w_j V1_j    logit_t = EV(t).A    the largest logit, the lowest id on ties
//
// Files: prefill.go writes rows, window.go is layer 0, sample.go is layer 1 and the choice of a token, dense.go is the
// formulae word for word, which everything else is tested against.
package model

import (
	"fmt"
	"unsafe"

	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/model/kernel"
	"github.com/stalepage/stalepage/engine/wire"
)

const (
	// windowTokens is layer 0's sliding window: a query at position i sees rows i-31 to i.
	windowTokens = 32
	// sinkScore is the logit of layer 0's attention sink. A right row scores 128, all others 0: both are further
	// from the sink than the softmax reaches.
	sinkScore = 64
	// softmaxBits is the range of the fixed-point softmax: weights are powers of two from 2^30 down to 1.
	softmaxBits = 30
	// matchShift and ageStep make one number of score and age: S = score << 25 - 8 (i-j).
	matchShift = 25
	ageStep    = 8
	// reachTokens is how far before the winner an equal match still has weight.
	reachTokens = softmaxBits / ageStep
	// MaximumTokens is the longest sequence on which a worse match has no weight at all, whatever the bytes: one
	// point of score, 2^25, must outweigh all ages by more than the softmax reaches.
	MaximumTokens = 1<<(matchShift-3) - 3
	// saturation is the largest magnitude of a query's value.
	saturation = 127

	rowBytes = code.RowDimensions
)

// KV is one worker's pool as the model sees it: four buffers of [page][slot][128] int8, and the page size in tokens,
// a power of two from 16 to 128.
type KV struct {
	K0, V0, K1, V1 []byte
	PageSize       int
}

// Model computes. It never changes after New, save Workers, and is safe for concurrent use.
type Model struct {
	tables  *code.Tables
	variant kernel.Variant
	// walsh is the position rows one after the other, so that a stretch of them can be compared at once.
	walsh [code.WalshPeriod * rowBytes]byte
	// gains is alpha, once per dimension.
	gains code.Row
	// Workers is how many goroutines may share one scan of a long sequence; 0 and 1 mean none but the caller's. The
	// result does not depend on it.
	Workers int
}

// New returns a model over the code tables that runs the fastest kernels of this machine.
func New(tables *code.Tables) *Model {
	available := kernel.Available()
	return newModel(tables, available[len(available)-1])
}

// NewVariant returns a model that runs the named kernels, one of Variants.
func NewVariant(tables *code.Tables, variant string) (*Model, error) {
	v, err := kernel.Parse(variant)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return newModel(tables, v), nil
}

// Variants names the kernels that this machine can run, the fastest last.
func Variants() []string {
	var names []string
	for _, v := range kernel.Available() {
		names = append(names, v.String())
	}
	return names
}

// Variant names the kernels that m runs.
func (m *Model) Variant() string { return m.variant.String() }

func newModel(tables *code.Tables, variant kernel.Variant) *Model {
	m := &Model{tables: tables, variant: variant}
	for p := range code.WalshPeriod {
		copy(m.walsh[p*rowBytes:], bytesOf(tables.Walsh(p))[:])
	}
	for d := range m.gains {
		m.gains[d] = int8(tables.Alpha(1 + d/code.BlockBits))
	}
	return m
}

// bytesOf and valuesOf look at a row as the pool holds it and as the arithmetic reads it.
func bytesOf(row *code.Row) *[rowBytes]byte  { return (*[rowBytes]byte)(unsafe.Pointer(row)) }
func valuesOf(row *[rowBytes]byte) *code.Row { return (*code.Row)(unsafe.Pointer(row)) }

// locate is the byte offset in any buffer of the row of a position.
func (kv *KV) locate(pages []wire.Page, position int) int {
	page, slot := pages[uint(position)/uint(kv.PageSize)], uint(position)%uint(kv.PageSize)
	return (int(page)*kv.PageSize + int(slot)) * rowBytes
}

// row is the row of a position in one of kv's buffers.
func (kv *KV) row(buffer []byte, pages []wire.Page, position int) *[rowBytes]byte {
	return (*[rowBytes]byte)(buffer[kv.locate(pages, position):])
}
