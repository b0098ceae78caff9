package kv

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePageBytes = 2 << 20

// mapSlab maps anonymous memory and returns the slab in it and the whole mapping. With huge pages the slab starts on a
// huge page's boundary: otherwise the kernel could not back its first and last part by them.
func mapSlab(size int64, huge bool) (slab, mapping []byte, err error) {
	mapped := size
	if huge {
		mapped += hugePageBytes
	}
	mapping, err = unix.Mmap(-1, 0, int(mapped), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, err
	}
	start := int64(0)
	if huge {
		address := int64(uintptr(unsafe.Pointer(unsafe.SliceData(mapping))))
		start = -address & (hugePageBytes - 1)
		// A kernel without huge pages refuses the advice. The pool works all the same, and HugePages says no.
		_ = unix.Madvise(mapping, unix.MADV_HUGEPAGE)
	}
	return mapping[start : start+size : start+size], mapping, nil
}

func unmapSlab(mapping []byte) error { return unix.Munmap(mapping) }

// hugeBytes is how much of the slab's mappings lies on huge pages, by /proc/self/smaps; 0 where that cannot be read.
func hugeBytes(slab []byte) int64 {
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0
	}
	defer file.Close()
	start := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(slab))))
	return anonymousHugeBytes(file, start, start+uint64(len(slab)))
}

// anonymousHugeBytes sums AnonHugePages over the mappings of an smaps listing that overlap [start, end). The kernel may
// have joined the slab's mapping with a neighbour; what it counts for the neighbour is then counted too.
func anonymousHugeBytes(smaps io.Reader, start, end uint64) int64 {
	var total int64
	inside := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		line := lines.Bytes()
		if low, high, ok := mappingBounds(line); ok {
			inside = low < end && start < high
			continue
		}
		value, found := bytes.CutPrefix(line, []byte("AnonHugePages:"))
		if !inside || !found {
			continue
		}
		kibibytes, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(value, []byte("kB")))), 10, 64)
		if err == nil {
			total += kibibytes << 10
		}
	}
	return total
}

// mappingBounds reads "start-end perms ..." at the head of a mapping's entry, both hexadecimal.
func mappingBounds(line []byte) (low, high uint64, ok bool) {
	bounds, _, _ := bytes.Cut(line, []byte(" "))
	first, last, found := bytes.Cut(bounds, []byte("-"))
	if !found {
		return 0, 0, false
	}
	low, lowErr := strconv.ParseUint(string(first), 16, 64)
	high, highErr := strconv.ParseUint(string(last), 16, 64)
	return low, high, lowErr == nil && highErr == nil
}
