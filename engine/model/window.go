package model

import (
	"bytes"

	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/model/kernel"
	"github.com/stalepage/stalepage/engine/wire"
)

// Layer 0. Where the rows of a window carry the keys of their own positions, every head has exactly one match, itself
// worth all the weight, and the layer is a gather. Elsewhere (pages of another position, pages never written, garbage)
// the window is evaluated.

// lastWrongKey is the latest position from first to last whose K0 row is not Walsh(position), or -1.
func (m *Model) lastWrongKey(kv *KV, pages []wire.Page, first, last int) int {
	stretch := min(kv.PageSize, code.WalshPeriod)
	for end := last + 1; end > first; {
		begin := max(first, (end-1)&^(stretch-1))
		offset, walsh := kv.locate(pages, begin), begin%code.WalshPeriod*rowBytes
		size := (end - begin) * rowBytes
		held, want := kv.K0[offset:offset+size], m.walsh[walsh:walsh+size]
		if !bytes.Equal(held, want) {
			for size -= rowBytes; bytes.Equal(held[size:size+rowBytes], want[size:size+rowBytes]); size -= rowBytes {
			}
			return begin + size/rowBytes
		}
		end = begin
	}
	return -1
}

// gatherRow sets block h of out to block h of V0 at position-firstOffset-h+1, for h = 1..16, and to zero where that
// lies before position 0. It is layer 0 of heads firstOffset.. over a window whose keys are right: the only weight is
// that of the row asked for, so its value comes out as it is, whatever bytes it holds.
func (kv *KV) gatherRow(pages []wire.Page, position, firstOffset int, out *[rowBytes]byte) {
	source := position - firstOffset
	for block := 0; block < rowBytes; {
		if source < 0 {
			clear(out[block:])
			return
		}
		// One page at a time: the rows of the page from source downwards.
		offset := kv.locate(pages, source)
		count := min(source&(kv.PageSize-1)+1, (rowBytes-block)/code.BlockBits)
		source -= count
		for ; count > 0; count-- {
			*(*[code.BlockBits]byte)(out[block:]) = *(*[code.BlockBits]byte)(kv.V0[offset+block:])
			block += code.BlockBits
			offset -= rowBytes
		}
	}
}

// evaluateWindow sets block h of out to block h of H_{firstOffset+h-1}(position), for h = 1..16, by the formula.
func (m *Model) evaluateWindow(kv *KV, pages []wire.Page, position, firstOffset int, out *[rowBytes]byte) {
	const groups = windowTokens/kernel.GroupRows + 1
	low := max(0, position-windowTokens+1)
	base := low &^ (kernel.GroupRows - 1) // groups never straddle a page
	var scores [groups * kernel.GroupRows]int32
	for block := 0; block < rowBytes; block += code.BlockBits {
		query := m.tables.Walsh(position - firstOffset - block/code.BlockBits)
		for start := base; start <= position; start += kernel.GroupRows {
			m.variant.Scores(query, kv.K0[kv.locate(pages, start):], scores[start-base:][:kernel.GroupRows])
		}
		largest := int32(sinkScore)
		for _, score := range scores[low-base : position-base+1] {
			largest = max(largest, score)
		}
		var sums [code.BlockBits]int64
		total := weight(int64(largest - sinkScore))
		for j := low; j <= position; j++ {
			w := weight(int64(largest - scores[j-base]))
			if w == 0 {
				continue
			}
			total += w
			for d, v := range valuesOf(kv.row(kv.V0, pages, j))[block : block+code.BlockBits] {
				sums[d] += w * int64(v)
			}
		}
		for d, sum := range sums {
			out[block+d] = byte(roundedMean(sum, total))
		}
	}
}

// weight is the fixed-point softmax: 2^(30-distance), or 0 beyond 30. distance is how far a score lies below the
// largest, so it is never negative.
func weight(distance int64) int64 {
	if distance > softmaxBits {
		return 0
	}
	return 1 << (softmaxBits - distance)
}

// roundedMean is sum/total rounded to the nearest integer, ties towards positive infinity, whatever the sign of sum:
// floor((2 sum + total) / (2 total)). total is positive. Every device of the engine rounds like this.
func roundedMean(sum, total int64) int8 {
	numerator, denominator := 2*sum+total, 2*total
	quotient := numerator / denominator
	if numerator < 0 && quotient*denominator != numerator {
		quotient--
	}
	return int8(quotient)
}
