// Package reference says what a healthy engine answers, from token ids alone: no pages, no rows, no attention, and
// none of the engine's code but the tables of engine/model/code.
//
// The derivation. The model's second layer scores row j against the query at the end of a sequence of n tokens
// t_0 .. t_(n-1). The query is built from the last sixteen tokens, the key of row j from the sixteen before j, one
// block of eight signs for each of the distances h = 1 to 16, and the query's block h has gain alpha_h. The inner
// product of two blocks of eight signs is eight less twice the number of bits in which their codes differ, so
//
//	s_j = sum over h of  alpha_h x (8 - 2 x bits in which C_h(t_(n-h)) and C_h(t_(j-h)) differ)
//
// where a distance that reaches before the first token (h > j; the query reaches further than any row) contributes
// nothing, since the attention sink of layer 0 leaves zeros there. The row with the greatest s_j wins, the latest of
// equals, and the next token is t_j: any other row weighs less than 0.004 of it.
//
// Rows are compared by code, not by token. Two different tokens may share a code at one of the sixteen distances, so a
// row can score the maximum without its sixteen tokens being equal, and then it wins if it is the latest.
package reference

import (
	"math/bits"

	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/wire"
)

const (
	contextTokens = code.ContextTokens
	codeValues    = 1 << code.BlockBits
)

// Reference holds what the tables say, laid out for scoring. It is built once, read by many, and never changes.
type Reference struct {
	// codes[h][t] is C_h(t); gains[h][x] is what distance h contributes when two codes differ by the bits of x.
	// Index 0 is unused: distances count from 1.
	codes [contextTokens + 1][code.VocabularySize]uint8
	gains [contextTokens + 1][codeValues]int32
	// rest[h] is the most that distances beyond h can contribute; rest[0] is the score of an exact match.
	rest [contextTokens + 1]int32
}

// New lays out tables.
func New(tables *code.Tables) *Reference {
	r := new(Reference)
	for h := 1; h <= contextTokens; h++ {
		for token := range r.codes[h] {
			r.codes[h][token] = tables.Block(h, wire.Token(token))
		}
		for difference := range r.gains[h] {
			agreement := code.BlockBits - 2*bits.OnesCount8(uint8(difference))
			r.gains[h][difference] = tables.Alpha(h) * int32(agreement)
		}
	}
	for h := contextTokens; h > 0; h-- {
		r.rest[h-1] = r.rest[h] + r.gains[h][0]
	}
	return r
}

// Exact is the score of a row whose sixteen preceding tokens have the codes of the query's.
func (r *Reference) Exact() int32 { return r.rest[0] }

// Answer is the count tokens that follow prompt, each of them appended before the next is asked for. An empty prompt
// has no row to attend to and so no answer: nil.
func (r *Reference) Answer(prompt []wire.Token, count int) []wire.Token {
	var s Sequence
	return s.Answer(nil, r, prompt, count)
}
