package code_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/wire"
)

// Two tokens share a code at no more than one of the sixteen places, so a window that matches a key at two or more
// places does so because the tokens are equal. Exhaustive.
func TestTwoTokensShareAtMostOneBlock(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	for a := range wire.Token(code.VocabularySize) {
		for b := range a {
			shared := 0
			for h := 1; h <= code.ContextTokens; h++ {
				if tables.Block(h, a) == tables.Block(h, b) {
					shared++
				}
			}
			if shared > 1 {
				g.Expect(shared).To(BeNumerically("<=", 1), "tokens %d and %d", a, b)
			}
		}
	}
}

// Every code of a place is used by exactly 16 tokens, which is what rank 8 means.
func TestBlocksAreBalanced(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	for h := 1; h <= code.ContextTokens; h++ {
		var count [256]int
		for token := range wire.Token(code.VocabularySize) {
			count[tables.Block(h, token)]++
		}
		for c, n := range count {
			g.Expect(n).To(Equal(code.VocabularySize/256), "place %d, code %d", h, c)
		}
	}
}

// Value rows of two tokens differ in at least MinimumDistance dimensions. Exhaustive over pairs, and independent of
// New's own check, which trusts linearity.
func TestValueRowsAreFarApart(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	var words [code.VocabularySize][2]uint64
	for token := range words {
		for d, v := range tables.ValueRow(wire.Token(token)) {
			g.Expect(v*v).To(Equal(int8(1)), "token %d dimension %d", token, d)
			words[token][d/64] |= uint64(uint8(v)>>7) << (d % 64)
		}
	}
	least := code.RowDimensions
	for a := range words {
		for b := range a {
			least = min(least, bits.OnesCount64(words[a][0]^words[b][0])+bits.OnesCount64(words[a][1]^words[b][1]))
		}
	}
	g.Expect(least).To(BeNumerically(">=", code.MinimumDistance))
	t.Logf("minimum distance %d", least)
}

// The reverse lookup finds each token's row, and no row that is one bit, one value or one sign away.
func TestTokenOfValueRowIsExact(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	for token := range wire.Token(code.VocabularySize) {
		row := *tables.ValueRow(token)
		found, ok := tables.TokenOfValueRow(&row)
		g.Expect(ok).To(BeTrue())
		g.Expect(found).To(Equal(token))
		d := int(token) % code.RowDimensions
		for _, wrong := range []int8{-row[d], 0, 2 * row[d], 127, -128} {
			near := row
			near[d] = wrong
			_, ok = tables.TokenOfValueRow(&near)
			g.Expect(ok).To(BeFalse(), "token %d with dimension %d set to %d", token, d, wrong)
		}
	}
}

// The rows that model and reference read are the codes that they compute with.
func TestRowsSpellTheCodes(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	for token := range wire.Token(code.VocabularySize) {
		row := tables.BlocksRow(token)
		for h := 1; h <= code.ContextTokens; h++ {
			var spelt uint8
			for b := range code.BlockBits {
				spelt |= uint8(row[(h-1)*code.BlockBits+b]) >> 7 << b
			}
			if spelt != tables.Block(h, token) {
				g.Expect(spelt).To(Equal(tables.Block(h, token)), "token %d place %d", token, h)
			}
		}
	}
	score := int32(0)
	for h := 1; h <= code.ContextTokens; h++ {
		score += tables.Alpha(h) * code.BlockBits
	}
	g.Expect(score).To(Equal(int32(504)), "score of an exact match")
}

// Position rows are orthogonal within a period and repeat after it, also below zero.
func TestWalshRowsAreOrthogonal(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	for p := -code.WalshPeriod; p < code.WalshPeriod; p++ {
		for q := range code.WalshPeriod {
			want := 0
			if (p-q)%code.WalshPeriod == 0 {
				want = code.RowDimensions
			}
			got := 0
			for d := range code.RowDimensions {
				got += int(tables.Walsh(p)[d]) * int(tables.Walsh(q)[d])
			}
			g.Expect(got).To(Equal(want), "positions %d and %d", p, q)
		}
	}
}

// The transform gives the 4,096 inner products exactly, for sums as large as weights of 2^30 can make them.
func TestLogitsEqualInnerProducts(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	state := uint64(1)
	for round := range 5 {
		var sums [code.RowDimensions]int64
		for d := range sums {
			state = state*6364136223846793005 + 1442695040888963407
			sums[d] = int64(state) >> (16 + 8*round)
		}
		var logits [code.VocabularySize]int64
		tables.Logits(&sums, &logits)
		for token := range wire.Token(code.VocabularySize) {
			want := int64(0)
			for d, v := range tables.ValueRow(token) {
				want += int64(v) * sums[d]
			}
			if logits[token] != want {
				g.Expect(logits[token]).To(Equal(want), "token %d round %d", token, round)
			}
		}
	}
}

// Two builds agree, and a build is quick enough to be done once a process without thinking about it.
func TestNewIsDeterministic(t *testing.T) {
	g := NewWithT(t)
	a, b := code.New(), code.New()
	if *a != *b { // not with a matcher: it would print both
		t.Fatal("two builds of the tables differ")
	}
	// The digest pins every row: pools, journals and fixtures of other builds depend on them.
	digest := sha256.New()
	for token := range wire.Token(code.VocabularySize) {
		for _, row := range []*code.Row{a.BlocksRow(token), a.ValueRow(token)} {
			g.Expect(binary.Write(digest, binary.LittleEndian, row)).To(Succeed())
		}
	}
	g.Expect(hex.EncodeToString(digest.Sum(nil))).To(Equal(
		"59ce12b13d773f7ae9941cde9a97dfd8648d67f38587b0c851b906a9f8a9b338"))
}

func BenchmarkNew(b *testing.B) {
	start := time.Now()
	for b.Loop() {
		code.New()
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/float64(b.N)/1000, "ms/build")
}

func BenchmarkLogits(b *testing.B) {
	tables := code.New()
	var sums [code.RowDimensions]int64
	var logits [code.VocabularySize]int64
	for d := range sums {
		sums[d] = int64(d) << 30
	}
	b.ReportAllocs()
	for b.Loop() {
		tables.Logits(&sums, &logits)
	}
}

func BenchmarkTokenOfValueRow(b *testing.B) {
	tables := code.New()
	row := *tables.ValueRow(1234)
	for b.Loop() {
		tables.TokenOfValueRow(&row)
	}
}
