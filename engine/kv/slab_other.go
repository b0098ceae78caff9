//go:build !linux

package kv

// mapSlab takes the slab from the Go heap where there is no Linux to map it: slower to start, the same bytes.
func mapSlab(size int64, _ bool) (slab, mapping []byte, err error) {
	slab = make([]byte, size)
	return slab, slab, nil
}

func unmapSlab([]byte) error { return nil }

func hugeBytes([]byte) int64 { return 0 }
