package model

import (
	"bytes"
	"math/bits"

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

// evaluateWindow sets block h of out to block h of H_{firstOffset+h-1}(position), for h = 1..16, over any window. Where
// every key is some position's, or zero, each row either matches a head exactly or not at all; else the scores decide.
func (m *Model) evaluateWindow(kv *KV, pages []wire.Page, position, firstOffset int, out *[rowBytes]byte) {
	low := max(0, position-windowTokens+1)
	var matching [code.WalshPeriod]uint32 // per position mod 64, a bit for each row of the window with its key
	for j := low; j <= position; j++ {
		key := kv.row(kv.K0, pages, j)
		if p, ok := m.positionOfKey(key); ok {
			matching[p] |= 1 << (j - low)
		} else if *key != ([rowBytes]byte{}) {
			m.scoreWindow(kv, pages, position, firstOffset, out)
			return
		}
	}
	for block := 0; block < rowBytes; block += code.BlockBits {
		rows := matching[(position-firstOffset-block/code.BlockBits)&(code.WalshPeriod-1)]
		meanOfRows(kv, pages, low, rows, (*[code.BlockBits]byte)(out[block:]), block)
	}
}

// meanOfRows sets out to the mean of V0 over the rows whose bits are set, counted from position low, in the eight
// dimensions from block on. Such rows all score 128 and share the weight; others and the sink are out of reach. A head
// that nothing matches gives all its weight to the sink, which is zero.
func meanOfRows(kv *KV, pages []wire.Page, low int, rows uint32, out *[code.BlockBits]byte, block int) {
	switch count := bits.OnesCount32(rows); count {
	case 0:
		*out = [code.BlockBits]byte{}
	case 1:
		*out = [code.BlockBits]byte(kv.row(kv.V0, pages, low+bits.TrailingZeros32(rows))[block:])
	default:
		var sums [code.BlockBits]int64
		for ; rows != 0; rows &= rows - 1 {
			for d, v := range kv.row(kv.V0, pages, low+bits.TrailingZeros32(rows))[block : block+code.BlockBits] {
				sums[d] += int64(int8(v))
			}
		}
		for d, sum := range sums {
			out[d] = byte(roundedMean(sum, int64(count)))
		}
	}
}

// positionOfKey inverts Walsh: the position mod 64 whose row is exactly key, or false.
func (m *Model) positionOfKey(key *[rowBytes]byte) (int, bool) {
	position := 0
	for b := range 6 {
		position |= int(key[1<<b]>>7) << b
	}
	return position, *key == *(*[rowBytes]byte)(m.walsh[position*rowBytes:])
}

// scoreWindow is evaluateWindow by the formula.
func (m *Model) scoreWindow(kv *KV, pages []wire.Page, position, firstOffset int, out *[rowBytes]byte) {
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
