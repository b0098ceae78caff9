package kernel

import (
	"math"
	"unsafe"

	"github.com/stalepage/stalepage/engine/wire"
)

// pageMaximaGeneric is PageMaxima in plain Go: the definition that the assembly is tested against.
func pageMaximaGeneric(query *Row, keys []byte, pages []wire.Page, pageRows int, maxima []int32) {
	pageBytes := pageRows * RowBytes
	for i, page := range pages {
		rows := keys[int(page)*pageBytes:][:pageBytes]
		largest := int32(math.MinInt32)
		for ; len(rows) > 0; rows = rows[RowBytes:] {
			largest = max(largest, Dot(query, (*Row)(unsafe.Pointer(&rows[0]))))
		}
		maxima[i] = largest
	}
}

// scoresGeneric is Scores in plain Go.
func scoresGeneric(query *Row, rows []byte, scores []int32) {
	rows = rows[:len(scores)*RowBytes]
	for i := range scores {
		scores[i] = Dot(query, (*Row)(unsafe.Pointer(&rows[i*RowBytes])))
	}
}

// Dot is the inner product of two rows. It cannot overflow: 128 products are at most 2^21 in magnitude.
func Dot(a, b *Row) int32 {
	var s0, s1, s2, s3 int32
	for i := 0; i < RowBytes; i += 4 {
		s0 += int32(a[i]) * int32(b[i])
		s1 += int32(a[i+1]) * int32(b[i+1])
		s2 += int32(a[i+2]) * int32(b[i+2])
		s3 += int32(a[i+3]) * int32(b[i+3])
	}
	return s0 + s1 + s2 + s3
}
