//go:build !amd64

package kernel

import "github.com/stalepage/stalepage/engine/wire"

// Available lists the variants that this machine can run, the fastest last.
func Available() []Variant { return []Variant{Go} }

func (v Variant) pageMaxima(query *Row, keys []byte, pages []wire.Page, pageRows int, maxima []int32) {
	pageMaximaGeneric(query, keys, pages, pageRows, maxima)
}

func (v Variant) scores(query *Row, rows []byte, scores []int32) { scoresGeneric(query, rows, scores) }
