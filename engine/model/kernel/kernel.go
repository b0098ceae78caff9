// Package kernel holds the inner loops of layer 1: integer inner products of one query with many key rows, in plain
// Go and, on amd64, in assembly. All variants give the same numbers for every input; which one runs is a matter of
// speed alone.
package kernel

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/wire"
)

const (
	// RowBytes is the size of one key row: 128 dimensions of int8.
	RowBytes = 128
	// GroupRows is how many consecutive rows a kernel takes at once. Page sizes are multiples of it.
	GroupRows = 16
)

// Row is a query or one key row.
type Row = [RowBytes]int8

// Variant is one implementation of the kernels.
type Variant uint8

// The variants, from the one that runs anywhere to the fastest.
const (
	// Go is plain Go.
	Go Variant = iota
	// AVX2 widens to 16 bits and multiplies and adds pairs (VPMADDWD), which cannot saturate on widened bytes.
	AVX2
	// AVX512VNNI multiplies unsigned by signed bytes and adds fours (VPDPBUSD): the key's sign bit is flipped, which
	// adds 128 to it, and 128 times the query's sum is taken off again.
	AVX512VNNI
)

var variantNames = [...]string{"go", "avx2", "avx512-vnni"}

func (v Variant) String() string { return variantNames[v] }

// Parse finds a variant by name, if this machine can run it.
func Parse(name string) (Variant, error) {
	for _, v := range Available() {
		if v.String() == name {
			return v, nil
		}
	}
	return Go, fmt.Errorf("kernel variant %q: this machine runs %v", name, Available())
}

// PageMaxima sets maxima[i] to the largest inner product of query with a row of pages[i], for every page in the
// table. keys is the whole key buffer, [page][row of pageRows][128]; pageRows is a multiple of GroupRows; maxima is as
// long as pages. It panics if a page lies outside keys.
func (v Variant) PageMaxima(query *Row, keys []byte, pages []wire.Page, pageRows int, maxima []int32) {
	if len(pages) == 0 {
		return
	}
	checkPages(keys, pages, pageRows, maxima)
	v.pageMaxima(query, keys, pages, pageRows, maxima[:len(pages)])
}

// Scores sets scores[i] to the inner product of query with row i of rows. len(scores) is a multiple of GroupRows, and
// rows holds that many.
func (v Variant) Scores(query *Row, rows []byte, scores []int32) {
	if len(scores) == 0 {
		return
	}
	if len(scores)%GroupRows != 0 || len(rows) < len(scores)*RowBytes {
		panic(fmt.Sprintf("kernel: %d scores of %d bytes of rows", len(scores), len(rows)))
	}
	v.scores(query, rows, scores)
}

// checkPages keeps the assembly, which checks nothing, inside the buffer.
func checkPages(keys []byte, pages []wire.Page, pageRows int, maxima []int32) {
	if pageRows <= 0 || pageRows%GroupRows != 0 || len(maxima) < len(pages) {
		panic(fmt.Sprintf("kernel: page size of %d rows, %d pages, %d maxima", pageRows, len(pages), len(maxima)))
	}
	poolPages := uint32(len(keys) / (pageRows * RowBytes))
	for i, page := range pages {
		if uint32(page) >= poolPages {
			panic(fmt.Sprintf("kernel: page %d at place %d of the table: the pool has %d pages", page, i, poolPages))
		}
	}
}
