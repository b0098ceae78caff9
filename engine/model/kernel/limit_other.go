//go:build !amd64

package kernel

import "github.com/stalepage/stalepage/engine/wire"

// CanLimit says whether this machine can run Load and Store at the speed of its memory.
func CanLimit() bool { return false }

// Load reads every byte of the pages; see its amd64 form.
func Load(keys []byte, pages []wire.Page, pageRows int) uint64 {
	digest := byte(0)
	for _, page := range pages {
		for _, b := range keys[int(page)*pageRows*RowBytes:][:pageRows*RowBytes] {
			digest |= b
		}
	}
	return uint64(digest)
}

// Store writes every byte of the pages; see its amd64 form.
func Store(keys []byte, pages []wire.Page, pageRows int, _ bool) {
	for _, page := range pages {
		rows := keys[int(page)*pageRows*RowBytes:][:pageRows*RowBytes]
		for i := range rows {
			rows[i] = 1
		}
	}
}
