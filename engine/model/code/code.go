// Package code holds what the integer induction transformer is made of: the seeded code tables that turn tokens into
// rows of keys and values, and the vocabulary. Model, corpus and the symbolic reference share these tables and nothing
// else. It is a leaf: the standard library and engine/wire.
//
// A row has 128 dimensions of int8. Bits become signs: 0 is +1 and 1 is -1, so that an inner product of two such rows
// is 128 minus twice their Hamming distance.
package code

import (
	"fmt"
	"math/bits"

	"github.com/stalepage/stalepage/engine/wire"
)

// The model's shape.
const (
	// VocabularySize counts the tokens: ids 0 to 4095, 12 bits.
	VocabularySize = 1 << tokenBits
	// RowDimensions is the width of every row, in int8 values and so in bytes.
	RowDimensions = 128
	// ContextTokens is how many preceding tokens a key describes, and a query asks for.
	ContextTokens = 16
	// BlockBits is the width of one token's code in a key: 16 blocks of 8 dimensions make a row.
	BlockBits = RowDimensions / ContextTokens
	// WalshPeriod is the number of position rows: positions p and p+64 share one.
	WalshPeriod = 64
	// MinimumDistance is a lower bound, verified by New, of the Hamming distance between the value rows of two tokens.
	MinimumDistance = 36

	tokenBits = 12
)

// Row is one row of a key or value buffer.
type Row = [RowDimensions]int8

// alpha is the gain of the block that compares the h-th last token, alpha[h-1]: recent tokens weigh more, and an exact
// match of all sixteen scores 8 x 63 = 504.
var alpha = [ContextTokens]int32{12, 10, 8, 6, 5, 4, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1}

// Tables is the set of code tables. It is built once, read by many, and never changes.
type Tables struct {
	// codes[t][h-1] is C_h(t).
	codes [VocabularySize][ContextTokens]uint8
	// blocks[t] is codes[t] as signs: the layer-0 value row.
	blocks [VocabularySize]Row
	// values[t] is EV(t): the layer-1 value row and the unembedding row.
	values [VocabularySize]Row
	walsh  [WalshPeriod]Row
	// columns and offset define EV: bit d of EV(t) is the parity of t AND columns[d], plus bit d of offset.
	columns [RowDimensions]uint16
	offset  word
}

// New builds the tables. The seeds are fixed: every build gives the same bytes.
func New() *Tables {
	t := new(Tables)
	t.buildBlocks()
	t.buildValues()
	for p := range t.walsh {
		for d := range t.walsh[p] {
			t.walsh[p][d] = sign(uint64(bits.OnesCount(uint(p & d))))
		}
	}
	return t
}

// Block is C_h(token), the 8-bit code of a token that stands h places back; h is 1 to 16.
func (t *Tables) Block(h int, token wire.Token) uint8 { return t.codes[token][h-1] }

// Alpha is the query's gain for block h, 1 to 16.
func (t *Tables) Alpha(h int) int32 { return alpha[h-1] }

// BlocksRow is [block_1(token) .. block_16(token)]: dimension 8(h-1)+b is bit b of Block(h, token) as a sign. The row
// belongs to the tables and must not be written.
func (t *Tables) BlocksRow(token wire.Token) *Row { return &t.blocks[token] }

// ValueRow is EV(token). The row belongs to the tables and must not be written.
func (t *Tables) ValueRow(token wire.Token) *Row { return &t.values[token] }

// Walsh is the row of position p: Walsh function p mod 64, repeated once to fill 128 dimensions. Two rows of
// different p mod 64 are orthogonal, a row with itself gives 128. p may be negative. The row must not be written.
func (t *Tables) Walsh(p int) *Row { return &t.walsh[p&(WalshPeriod-1)] }

// TokenOfValueRow inverts ValueRow: the token whose value row is exactly row, or false. EV is systematic, so that
// twelve signs name the only candidate.
func (t *Tables) TokenOfValueRow(row *Row) (wire.Token, bool) {
	var token wire.Token
	for d := range tokenBits {
		token |= wire.Token(uint8(row[d])>>7) << d
	}
	token ^= wire.Token(t.offset[0] & (VocabularySize - 1))
	return token, *row == t.values[token]
}

// Logits sets logits[t] to the inner product of EV(t) and sums, exactly. Because EV is affine the 4,096 products are
// one Walsh-Hadamard transform: 49,152 additions in place of 524,288 multiplications. Every |sums[d]| must stay below
// 2^56, or 128 of them might overflow.
func (t *Tables) Logits(sums *[RowDimensions]int64, logits *[VocabularySize]int64) {
	clear(logits[:])
	for d, sum := range sums {
		if t.offset.bit(d) == 1 {
			sum = -sum
		}
		logits[t.columns[d]] += sum
	}
	for step := 1; step < VocabularySize; step *= 4 {
		for block := 0; block < VocabularySize; block += 4 * step {
			a, b := logits[block:block+step], logits[block+step:block+2*step]
			c, d := logits[block+2*step:block+3*step], logits[block+3*step:block+4*step]
			for i := range a {
				ab, amb, cd, cmd := a[i]+b[i], a[i]-b[i], c[i]+d[i], c[i]-d[i]
				a[i], b[i], c[i], d[i] = ab+cd, amb+cmd, ab-cd, amb-cmd
			}
		}
	}
}

// buildBlocks draws C_h(t) = A_h t xor r_h. Each A_h has rank 8, so that a code says as much about a token as eight
// bits can, and no two kernels share a nonzero vector, so that two different tokens have equal codes at no more than
// one of the sixteen places.
func (t *Tables) buildBlocks() {
	var inKernel [VocabularySize]bool
	var image [VocabularySize]uint8
	draw := draws{purpose: purposeBlocks}
	for h := range ContextTokens {
		for !fillImage(&image, draw.next(), draw.next(), &inKernel) {
		}
		offset := uint8(draw.next())
		for token, code := range image {
			if token > 0 && code == 0 {
				inKernel[token] = true
			}
			code ^= offset
			t.codes[token][h] = code
			for b := range BlockBits {
				t.blocks[token][h*BlockBits+b] = sign(uint64(code >> b))
			}
		}
	}
}

// fillImage sets image[t] to A t for the 8x12 matrix whose columns are the bytes of low and high. It reports false if
// A has not rank 8 or its kernel meets taken.
func fillImage(image *[VocabularySize]uint8, low, high uint64, taken *[VocabularySize]bool) bool {
	kernel := 0
	for token := 1; token < VocabularySize; token++ {
		column := bits.TrailingZeros(uint(token))
		word := low
		if column >= 8 {
			word = high
		}
		image[token] = image[token&(token-1)] ^ uint8(word>>(column%8*8))
		if image[token] == 0 {
			if taken[token] {
				return false
			}
			kernel++
		}
	}
	return kernel == 1<<(tokenBits-BlockBits)-1
}

// buildValues draws systematic [128,12] codes until one has the minimum distance, and shifts it by a drawn word.
func (t *Tables) buildValues() {
	draw := draws{purpose: purposeValues}
	for attempt := 0; ; attempt++ {
		if attempt == 64 {
			panic(fmt.Sprintf("code: no linear code of distance %d in %d draws: the drawing is broken",
				MinimumDistance, attempt))
		}
		var generators [tokenBits]word
		for i := range generators {
			generators[i] = word{draw.next()&^(VocabularySize-1) | 1<<i, draw.next()}
		}
		words, distance := span(&generators)
		if distance < MinimumDistance {
			continue
		}
		t.offset = word{draw.next(), draw.next()}
		for d := range t.columns {
			for i, g := range generators {
				t.columns[d] |= uint16(g.bit(d) << i)
			}
		}
		for token, w := range words {
			for d := range RowDimensions {
				t.values[token][d] = sign(w.bit(d) ^ t.offset.bit(d))
			}
		}
		return
	}
}

// word is a vector of GF(2)^128.
type word [2]uint64

func (w word) bit(d int) uint64 { return w[d>>6] >> (d & 63) & 1 }

// span lists the code that the generators span, word t being the sum of the generators of t's bits, and its minimum
// distance: of a linear code, the least weight of a nonzero word.
func span(generators *[tokenBits]word) (*[VocabularySize]word, int) {
	words := new([VocabularySize]word)
	distance := RowDimensions
	for token := 1; token < VocabularySize; token++ {
		rest, g := words[token&(token-1)], generators[bits.TrailingZeros(uint(token))]
		words[token] = word{rest[0] ^ g[0], rest[1] ^ g[1]}
		distance = min(distance, bits.OnesCount64(words[token][0])+bits.OnesCount64(words[token][1]))
	}
	return words, distance
}

// sign turns the lowest bit into +1 (0) or -1 (1).
func sign(bit uint64) int8 { return 1 - 2*int8(bit&1) }
