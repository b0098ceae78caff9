package reference

import (
	"math/bits"

	"github.com/stalepage/stalepage/engine/wire"
)

// Draw is one token drawn, and why.
type Draw struct {
	Token wire.Token
	// Row is the position of the row that won.
	Row int
	// Score is its s_j.
	Score int32
}

// Sequence answers prompt after prompt without allocating anew. The zero value is ready. It keeps an index of its rows
// by some of their codes: nearly every token of a healthy answer follows an exact match, which the index finds without
// looking at other rows.
type Sequence struct {
	reference *Reference
	tokens    []wire.Token
	// heads[k] is one more than the latest indexed row of bucket k, and earlier[j] the same for the row of j's bucket
	// that precedes row j; zero is none.
	heads   []int32
	earlier []int32
	shift   int
}

// firstLook is how many distances best looks at before it decides whether a row can still win.
const firstLook = 6

// indexed are the distances whose codes make up an index key: spread over the context, so that rows that share a few
// words do not share a bucket. Any choice gives the same answers.
var indexed = [...]int{1, 4, 7, 10, 13, 16}

// bucketsMax bounds the buckets so that they stay in a core's cache while a long prompt is indexed. A bucket of a
// million-token prompt then holds some sixteen rows; to look at them is cheaper than to miss the cache once a row.
const bucketsMax = 1 << 16

// Answer appends to dst the count tokens that follow prompt.
func (s *Sequence) Answer(dst []wire.Token, r *Reference, prompt []wire.Token, count int) []wire.Token {
	s.Start(r, prompt, count)
	for range count {
		draw, ok := s.Next()
		if !ok {
			return dst
		}
		s.Append(draw.Token)
		dst = append(dst, draw.Token)
	}
	return dst
}

// Start makes s the sequence prompt, with room for count more tokens. The prompt is copied.
func (s *Sequence) Start(r *Reference, prompt []wire.Token, count int) {
	s.reference = r
	s.tokens = append(s.tokens[:0], prompt...)
	buckets := min(1<<bits.Len(uint(len(prompt)+count)), bucketsMax)
	s.shift = 64 - bits.TrailingZeros(uint(buckets))
	if cap(s.heads) < buckets {
		s.heads = make([]int32, buckets)
	}
	s.heads = s.heads[:buckets]
	clear(s.heads)
	if cap(s.earlier) < len(prompt)+count {
		s.earlier = make([]int32, 0, len(prompt)+count)
	}
	s.earlier = s.earlier[:len(prompt)]
	for row := contextTokens; row < len(prompt); row++ {
		s.index(row)
	}
}

// Append adds one token to the end.
func (s *Sequence) Append(token wire.Token) {
	s.tokens = append(s.tokens, token)
	s.earlier = append(s.earlier, 0)
	if row := len(s.tokens) - 1; row >= contextTokens {
		s.index(row)
	}
}

// index enters row, whose context is complete, as the latest of its bucket.
func (s *Sequence) index(row int) {
	bucket := &s.heads[s.bucket(row)]
	s.earlier[row] = *bucket
	*bucket = int32(row) + 1
}

// bucket is the bucket of the codes before position.
func (s *Sequence) bucket(position int) int {
	context := (*[contextTokens]wire.Token)(s.tokens[position-contextTokens:])
	var key uint64
	for _, h := range indexed {
		key = key<<8 | uint64(s.reference.codes[h][context[contextTokens-h]])
	}
	// Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio.
	return int(key * 0x9e3779b97f4a7c15 >> s.shift)
}

// Next draws the token that follows; false if the sequence is empty. It does not append it.
func (s *Sequence) Next() (Draw, bool) {
	if len(s.tokens) == 0 {
		return Draw{}, false
	}
	if row, ok := s.match(); ok {
		return Draw{Token: s.tokens[row], Row: row, Score: s.reference.Exact()}, true
	}
	row, score := s.best()
	return Draw{Token: s.tokens[row], Row: row, Score: score}, true
}

// match finds the latest row that scores an exact match. No row can score more, so it is the winner.
func (s *Sequence) match() (int, bool) {
	n := len(s.tokens)
	if n < contextTokens {
		return 0, false
	}
	for next := s.heads[s.bucket(n)]; next > 0; next = s.earlier[next-1] {
		if row := int(next) - 1; s.sameCodes(row, n) {
			return row, true
		}
	}
	return 0, false
}

func (s *Sequence) sameCodes(a, b int) bool {
	for h := 1; h <= contextTokens; h++ {
		codes := &s.reference.codes[h]
		if codes[s.tokens[a-h]] != codes[s.tokens[b-h]] {
			return false
		}
	}
	return true
}

// best scores every row, latest first, so that only a greater score replaces the winner. Most rows are given up after
// the first distances, which have the largest gains: even a perfect rest would not save them.
func (s *Sequence) best() (row int, score int32) {
	var query [contextTokens + 1]uint8
	n, r := len(s.tokens), s.reference
	for h := 1; h <= min(n, contextTokens); h++ {
		query[h] = r.codes[h][s.tokens[n-h]]
	}
	row, score = -1, -1<<31
	for j := n - 1; j >= contextTokens; j-- {
		context := (*[contextTokens]wire.Token)(s.tokens[j-contextTokens:])
		var sum int32
		for h := 1; h <= firstLook; h++ {
			sum += r.gains[h][query[h]^r.codes[h][context[contextTokens-h]]]
		}
		if sum+r.rest[firstLook] <= score {
			continue
		}
		for h := firstLook + 1; h <= contextTokens; h++ {
			sum += r.gains[h][query[h]^r.codes[h][context[contextTokens-h]]]
		}
		if sum > score {
			row, score = j, sum
		}
	}
	for j := min(n, contextTokens) - 1; j >= 0; j-- {
		var sum int32
		for h := 1; h <= j; h++ {
			sum += r.gains[h][query[h]^r.codes[h][s.tokens[j-h]]]
		}
		if sum > score {
			row, score = j, sum
		}
	}
	return row, score
}
