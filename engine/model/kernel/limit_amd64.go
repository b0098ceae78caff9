package kernel

import "github.com/stalepage/stalepage/engine/wire"

// What memory allows, measured by kernels that do nothing else, in the same run as what is compared with them.

// CanLimit says whether this machine can run Load and Store.
func CanLimit() bool { return hasAVX512() }

// Load reads every byte of the pages in the order of the table, with the prefetching of a scan and no arithmetic: what
// memory allows a scan to reach. It returns a digest so that nothing is left out, and is for benchmarks.
func Load(keys []byte, pages []wire.Page, pageRows int) uint64 {
	if len(pages) == 0 {
		return 0
	}
	checkPages(keys, pages, pageRows, make([]int32, len(pages)))
	pageBytes := pageRows * RowBytes
	return loadAVX512(&keys[0], &pages[0], len(pages), pageBytes, pagesAhead(pageBytes))
}

// Store writes every byte of the pages in the order of the table: what memory allows Prefill to reach. Streaming
// stores bypass the caches, which the rows of a chunk do not: they show what the ordinary ones cost. keys must be
// aligned to 64 bytes for them. It is for benchmarks.
func Store(keys []byte, pages []wire.Page, pageRows int, streaming bool) {
	if len(pages) == 0 {
		return
	}
	checkPages(keys, pages, pageRows, make([]int32, len(pages)))
	if streaming {
		streamAVX512(&keys[0], &pages[0], len(pages), pageRows*RowBytes)
	} else {
		storeAVX512(&keys[0], &pages[0], len(pages), pageRows*RowBytes)
	}
}

//go:noescape
func loadAVX512(keys *byte, pages *wire.Page, count, pageBytes, ahead int) uint64

//go:noescape
func storeAVX512(keys *byte, pages *wire.Page, count, pageBytes int)

//go:noescape
func streamAVX512(keys *byte, pages *wire.Page, count, pageBytes int)
