package model

import (
	"fmt"
	"math"
	"sync"

	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/model/kernel"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Scratch is the working memory of Sample. The zero value is ready; one Scratch serves one call at a time, and grows
// to the longest page table it has seen.
type Scratch struct {
	query code.Row
	// maxima is the best score of each full page.
	maxima []int32
	// scores is the scores of one page's rows.
	scores [maximumPageRows]int32
	sums   [code.RowDimensions]int64
	logits [code.VocabularySize]int64
}

const (
	maximumPageRows = 128
	// partRows is the least that is worth a goroutine of its own.
	partRows = 1 << 15
)

// Sample attends from position over rows 0 to position and draws the token that follows, greedily. It also names the
// row that won: of the rows with the largest score the latest. The rows must have been written by Prefill, or be
// whatever the pages hold: the answer is the dense formula's on any bytes.
//
// Why so few rows matter: a score is an integer, and one point of it outweighs all ages (see MaximumTokens), so only
// rows with the largest score have weight, and of those only the winner and the three positions before it, whose ages
// the softmax still reaches. So the scan keeps one maximum a page, and only the last best page is looked at again.
func (m *Model) Sample(kv KV, pages []wire.Page, position int, s *Scratch) port.Sampled {
	if position < 0 || position >= MaximumTokens {
		panic(fmt.Sprintf("model: position %d, the most is %d", position, MaximumTokens-1))
	}
	m.query(&kv, pages, position, &s.query)
	ordinal := m.scan(&kv, pages, position+1, s)
	score, slot := m.rescore(&kv, pages, ordinal, position+1, s)
	sampled := port.Sampled{Page: pages[ordinal], Slot: int32(slot), Score: score}
	winner := ordinal*kv.PageSize + slot
	row := valuesOf(kv.row(kv.V1, pages, winner))
	// If the winner's value is a token's, no other token can overtake it. Against any other token that differs in n
	// dimensions it gains 2n times its weight of 2^30; the rows before it can take back at most 2n x 128 times
	// theirs, 2^22 + 2^14 + 2^6, which is less.
	token, ok := m.tables.TokenOfValueRow(row)
	if !ok {
		token = m.choose(&kv, pages, winner, score, s)
	}
	sampled.Token = token
	return sampled
}

// query computes Q1 at position.
func (m *Model) query(kv *KV, pages []wire.Page, position int, query *code.Row) {
	if m.lastWrongKey(kv, pages, max(0, position-windowTokens+1), position) < 0 {
		kv.gatherRow(pages, position, 0, bytesOf(query))
	} else {
		m.evaluateWindow(kv, pages, position, 0, bytesOf(query))
	}
	for d, gain := range m.gains {
		query[d] = saturate(int32(gain) * int32(query[d]))
	}
}

// saturate clamps to the query's range, -127 to 127.
func saturate(v int32) int8 { return int8(max(-saturation, min(saturation, v))) }

// scan finds the last page that holds the largest score of the first so many rows, and returns its ordinal.
func (m *Model) scan(kv *KV, pages []wire.Page, rows int, s *Scratch) int {
	full := rows / kv.PageSize
	if cap(s.maxima) < full {
		s.maxima = make([]int32, full, 2*full)
	}
	maxima := s.maxima[:full]
	m.pageMaxima(kv, pages[:full], maxima, &s.query)
	best, ordinal := int32(math.MinInt32), 0
	for i, score := range maxima {
		if score >= best {
			best, ordinal = score, i
		}
	}
	if rest := rows - full*kv.PageSize; rest > 0 {
		if score, _ := m.rescore(kv, pages, full, rows, s); score >= best {
			ordinal = full
		}
	}
	return ordinal
}

// pageMaxima scans the pages, split over goroutines if there are enough of both.
func (m *Model) pageMaxima(kv *KV, pages []wire.Page, maxima []int32, query *code.Row) {
	parts := min(m.Workers, len(pages)*kv.PageSize/partRows)
	if parts <= 1 {
		m.variant.PageMaxima(query, kv.K1, pages, kv.PageSize, maxima)
		return
	}
	m.pageMaximaInParts(*kv, pages, maxima, *query, parts)
}

// pageMaximaInParts is apart so that what its goroutines capture costs the short scans no allocation.
func (m *Model) pageMaximaInParts(kv KV, pages []wire.Page, maxima []int32, query code.Row, parts int) {
	var running sync.WaitGroup
	for part := 1; part <= parts; part++ {
		begin, end := len(pages)*(part-1)/parts, len(pages)*part/parts
		scanPart := func() {
			m.variant.PageMaxima(&query, kv.K1, pages[begin:end], kv.PageSize, maxima[begin:end])
		}
		if part == parts {
			scanPart()
			break
		}
		running.Go(scanPart)
	}
	running.Wait()
}

// rescore finds the largest score in one page, of a sequence of so many rows, and the last slot that has it.
func (m *Model) rescore(kv *KV, pages []wire.Page, ordinal, rows int, s *Scratch) (score int32, slot int) {
	held := min(kv.PageSize, rows-ordinal*kv.PageSize)
	groups := (held + kernel.GroupRows - 1) &^ (kernel.GroupRows - 1)
	m.variant.Scores(&s.query, kv.K1[kv.locate(pages, ordinal*kv.PageSize):], s.scores[:groups])
	score = math.MinInt32
	for i, v := range s.scores[:held] {
		if v >= score {
			score, slot = v, i
		}
	}
	return score, slot
}

// choose is the output formula: the token with the largest logit, the lowest id on ties, of the rows with weight.
func (m *Model) choose(kv *KV, pages []wire.Page, winner int, score int32, s *Scratch) wire.Token {
	clear(s.sums[:])
	zero := true
	for j := max(0, winner-reachTokens); j <= winner; j++ {
		if kernel.Dot(&s.query, valuesOf(kv.row(kv.K1, pages, j))) != score {
			continue
		}
		w := weight(int64(ageStep * (winner - j)))
		for d, v := range valuesOf(kv.row(kv.V1, pages, j)) {
			s.sums[d] += w * int64(v)
			zero = zero && v == 0
		}
	}
	if zero {
		return 0 // a page never written: all logits are 0
	}
	m.tables.Logits(&s.sums, &s.logits)
	return largestLogit(&s.logits)
}

// largestLogit is the token with the largest logit, the lowest id on ties.
func largestLogit(logits *[code.VocabularySize]int64) wire.Token {
	best := 0
	for token, logit := range logits {
		if logit > logits[best] {
			best = token
		}
	}
	return wire.Token(best)
}
