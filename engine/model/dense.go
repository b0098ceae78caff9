package model

import (
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// The formulae word for word: every row of a window scored and weighed, every score of a sequence, every logit, with
// loops of its own. It is what Prefill and Sample must equal on any bytes, and slow.

// PrefillDense writes what Prefill writes.
func (m *Model) PrefillDense(kv KV, pages []wire.Page, first int, tokens []wire.Token) {
	for i, token := range tokens {
		position := first + i
		*kv.row(kv.K0, pages, position) = *bytesOf(m.tables.Walsh(position))
		*kv.row(kv.V0, pages, position) = *bytesOf(m.tables.BlocksRow(token))
		*kv.row(kv.V1, pages, position) = *bytesOf(m.tables.ValueRow(token))
		key := kv.row(kv.K1, pages, position)
		for h := 1; h <= code.ContextTokens; h++ {
			head := m.denseHead(&kv, pages, position, h)
			for d := (h - 1) * code.BlockBits; d < h*code.BlockBits; d++ {
				key[d] = byte(head[d])
			}
		}
	}
}

// SampleDense draws what Sample draws.
func (m *Model) SampleDense(kv KV, pages []wire.Page, position int) port.Sampled {
	var query code.Row
	for h := 1; h <= code.ContextTokens; h++ {
		head := m.denseHead(&kv, pages, position, h-1)
		for d := (h - 1) * code.BlockBits; d < h*code.BlockBits; d++ {
			query[d] = saturate(m.tables.Alpha(h) * int32(head[d]))
		}
	}
	scores := make([]int32, position+1)
	matches := make([]int64, position+1)
	winner := 0
	for j := range matches {
		scores[j] = denseDot(&query, valuesOf(kv.row(kv.K1, pages, j)))
		matches[j] = int64(scores[j])<<matchShift - int64(ageStep*(position-j))
		if matches[j] > matches[winner] {
			winner = j
		}
	}
	var sums [code.RowDimensions]int64
	for j, match := range matches {
		w := weight(matches[winner] - match)
		for d, v := range valuesOf(kv.row(kv.V1, pages, j)) {
			sums[d] += w * int64(v)
		}
	}
	var logits [code.VocabularySize]int64
	for token := range logits {
		for d, v := range m.tables.ValueRow(wire.Token(token)) {
			logits[token] += int64(v) * sums[d]
		}
	}
	return port.Sampled{
		Token: largestLogit(&logits), Page: pages[winner/kv.PageSize], Slot: int32(winner % kv.PageSize),
		Score: scores[winner],
	}
}

// denseHead is H_offset(position), all 128 dimensions.
func (m *Model) denseHead(kv *KV, pages []wire.Page, position, offset int) code.Row {
	query := m.tables.Walsh(position - offset)
	low := max(0, position-windowTokens+1)
	var scores [windowTokens]int32
	largest := int32(sinkScore)
	for j := low; j <= position; j++ {
		scores[j-low] = denseDot(query, valuesOf(kv.row(kv.K0, pages, j)))
		largest = max(largest, scores[j-low])
	}
	var sums [code.RowDimensions]int64
	total := weight(int64(largest - sinkScore))
	for j := low; j <= position; j++ {
		w := weight(int64(largest - scores[j-low]))
		total += w
		for d, v := range valuesOf(kv.row(kv.V0, pages, j)) {
			sums[d] += w * int64(v)
		}
	}
	var head code.Row
	for d, sum := range sums {
		head[d] = roundedMean(sum, total)
	}
	return head
}

func denseDot(a, b *code.Row) int32 {
	sum := int32(0)
	for d, v := range a {
		sum += int32(v) * int32(b[d])
	}
	return sum
}
