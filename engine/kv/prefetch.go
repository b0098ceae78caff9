package kv

const cacheLineBytes = 64

// Prefetch asks the processor to bring the first lines of bytes nearer, 64 bytes each, while the caller still works on
// something else. Pages lie anywhere in a pool, so the processor's own prefetcher starts afresh with each; who walks a
// page table knows better. It changes nothing but the time taken.
func Prefetch(bytes []byte, lines int) {
	if lines = min(lines, len(bytes)/cacheLineBytes); lines > 0 {
		prefetchLines(&bytes[0], lines)
	}
}
