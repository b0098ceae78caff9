package kv

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// Only the mappings that overlap the slab count, wherever it lies in them; lines that are no number are passed over.
func TestAnonymousHugeBytes(t *testing.T) {
	const listing = `1000-3000 rw-p 00000000 00:00 0
Size:                  8 kB
AnonHugePages:      2048 kB
VmFlags: rd wr mr
3000-5000 rw-p 00000000 00:00 0    [heap]
AnonHugePages:      4096 kB
5000-7000 r--p 00000000 08:01 42   /usr/lib/a-b c
AnonHugePages:    broken kB
`
	for _, c := range []struct {
		start, end uint64
		want       int64
	}{
		{0x1000, 0x2000, 2 << 20},
		{0x1000, 0x3000, 2 << 20},
		{0x2fff, 0x3001, 6 << 20},
		{0x3000, 0x5000, 4 << 20},
		{0x5000, 0x6000, 0},
		{0x7000, 0x8000, 0},
	} {
		NewWithT(t).Expect(anonymousHugeBytes(strings.NewReader(listing), c.start, c.end)).To(Equal(c.want))
	}
}
