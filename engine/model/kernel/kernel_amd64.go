package kernel

import (
	"golang.org/x/sys/cpu"

	"github.com/stalepage/stalepage/engine/wire"
)

// Available lists the variants that this machine can run, the fastest last.
func Available() []Variant {
	variants := []Variant{Go}
	if cpu.X86.HasAVX2 {
		variants = append(variants, AVX2)
	}
	if cpu.X86.HasAVX2 && hasAVX512() && cpu.X86.HasAVX512VNNI {
		variants = append(variants, AVX512VNNI)
	}
	return variants
}

func hasAVX512() bool { return cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW }

func (v Variant) pageMaxima(query *Row, keys []byte, pages []wire.Page, pageRows int, maxima []int32) {
	pageBytes := pageRows * RowBytes
	switch v {
	case AVX512VNNI:
		pageMaximaVNNI(query, &keys[0], &pages[0], len(pages), pageBytes, pagesAhead(pageBytes), &maxima[0])
	case AVX2:
		pageMaximaAVX2(query, &keys[0], &pages[0], len(pages), pageBytes, pagesAhead(pageBytes), &maxima[0])
	default:
		pageMaximaGeneric(query, keys, pages, pageRows, maxima)
	}
}

func (v Variant) scores(query *Row, rows []byte, scores []int32) {
	switch v {
	case AVX512VNNI:
		scoresVNNI(query, &rows[0], len(scores)/GroupRows, &scores[0])
	case AVX2:
		scoresAVX2(query, &rows[0], len(scores)/GroupRows, &scores[0])
	default:
		scoresGeneric(query, rows, scores)
	}
}

// aheadBytes is how far ahead of the rows in use a scan prefetches, through the page table, which no hardware
// prefetcher can read.
const aheadBytes = 8192

func pagesAhead(pageBytes int) int { return max(1, aheadBytes/pageBytes) }

//go:noescape
func pageMaximaVNNI(query *Row, keys *byte, pages *wire.Page, count, pageBytes, ahead int, maxima *int32)

//go:noescape
func scoresVNNI(query *Row, rows *byte, groups int, scores *int32)

//go:noescape
func pageMaximaAVX2(query *Row, keys *byte, pages *wire.Page, count, pageBytes, ahead int, maxima *int32)

//go:noescape
func scoresAVX2(query *Row, rows *byte, groups int, scores *int32)
