package reference_test

import (
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/reports/reference"
)

// literal is the derivation spelled out with rows of signs and nothing saved: what the package computes, the slow way.
func literal(tables *code.Tables, tokens []wire.Token) reference.Draw {
	n := len(tokens)
	context := func(end int, gain func(h int) int32) [128]int32 {
		var row [128]int32
		for h := 1; h <= min(end, 16); h++ {
			signs := tables.BlocksRow(tokens[end-h])
			for d := 8 * (h - 1); d < 8*h; d++ {
				row[d] = gain(h) * int32(signs[d])
			}
		}
		return row
	}
	query := context(n, tables.Alpha)
	won := reference.Draw{Row: -1, Score: -1 << 31}
	for j := range n {
		key := context(j, func(int) int32 { return 1 })
		var score int32
		for d := range key {
			score += query[d] * key[d]
		}
		if score >= won.Score {
			won = reference.Draw{Token: tokens[j], Row: j, Score: score}
		}
	}
	return won
}

// Goal: the reference equals its derivation at every length, above all where contexts are incomplete. Method: random
// sequences over alphabets small enough for repeats, partial matches and ties.
func TestEqualsTheDerivation(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	r := reference.New(tables)
	random := rand.New(rand.NewPCG(1, 2))
	var s reference.Sequence
	for _, alphabet := range []int{1, 2, 3, 40, code.VocabularySize} {
		for length := 1; length < 90; length++ {
			tokens := make([]wire.Token, length)
			for i := range tokens {
				tokens[i] = wire.Token(random.IntN(alphabet) * (code.VocabularySize / alphabet) % code.VocabularySize)
			}
			s.Start(r, tokens, 3)
			for range 3 {
				got, ok := s.Next()
				g.Expect(ok).To(BeTrue())
				g.Expect(got).To(Equal(literal(tables, tokens)), "alphabet %d, tokens %v", alphabet, tokens)
				s.Append(got.Token)
				tokens = append(tokens, got.Token)
			}
		}
	}
}

// Goal: a row that matches by code and not by token wins when it is the latest, as it does in the model. Method: repeat
// sixteen tokens with one replaced by another token of the same code at its distance.
func TestMatchesByCode(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	r := reference.New(tables)
	text := corpus.New(code.NewVocabulary(), 7).Append(nil, corpus.Span{Tenant: 3, First: 100, Count: 60})
	for h := 1; h <= 16; h++ {
		quote := text[20:36]
		twin := append([]wire.Token(nil), quote...)
		for other := range wire.Token(code.VocabularySize) {
			if other != twin[16-h] && tables.Block(h, other) == tables.Block(h, twin[16-h]) {
				twin[16-h] = other
				break
			}
		}
		g.Expect(twin).NotTo(Equal(quote))
		tokens := append(append(append([]wire.Token(nil), text...), twin...), 77)
		tokens = append(tokens, quote...)
		want := literal(tables, tokens)
		g.Expect(want.Row).To(Equal(76), "distance %d", h)
		g.Expect(r.Answer(tokens, 1)).To(Equal([]wire.Token{77}), "distance %d", h)
	}
}

// Goal: a quote of a document is answered with the document, whatever its place, and an answer of many tokens equals
// one drawn token by token from scratch.
func TestContinuesTheQuote(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	r := reference.New(tables)
	c := corpus.New(code.NewVocabulary(), 7)
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		length, place := 300+random.IntN(3000), random.IntN(1<<20)
		from := random.IntN(length - 130)
		prompt := c.Append(nil, corpus.Span{Tenant: 5, First: place, Count: length},
			corpus.Span{Tenant: 5, First: place + from, Count: 24})
		answer := r.Answer(prompt, 100)
		g.Expect(answer).To(Equal(c.Append(nil, corpus.Span{Tenant: 5, First: place + from + 24, Count: 100})))
		g.Expect(answer[0]).To(Equal(literal(tables, prompt).Token))
	}
}

// Goal: nothing to attend to is no answer, and a sequence is reusable after a longer one.
func TestEdges(t *testing.T) {
	g := NewWithT(t)
	tables := code.New()
	r := reference.New(tables)
	g.Expect(r.Exact()).To(Equal(int32(504)))
	g.Expect(r.Answer(nil, 4)).To(BeNil())
	g.Expect(r.Answer([]wire.Token{9}, 3)).To(Equal([]wire.Token{9, 9, 9}))
	g.Expect(r.Answer([]wire.Token{9}, 0)).To(BeEmpty())
	c := corpus.New(code.NewVocabulary(), 7)
	long, short := c.Append(nil, corpus.Span{Tenant: 1, Count: 5000}), c.Append(nil, corpus.Span{Tenant: 2, Count: 50})
	var s reference.Sequence
	s.Answer(nil, r, long, 5)
	g.Expect(s.Answer(nil, r, short, 5)).To(Equal(r.Answer(short, 5)))
	g.Expect(testing.AllocsPerRun(10, func() { s.Start(r, short, 5); s.Next() })).To(BeZero())
}

func million(b *testing.B) (*reference.Reference, *corpus.Corpus, []wire.Token) {
	c := corpus.New(code.NewVocabulary(), 7)
	return reference.New(code.New()), c, c.Append(nil, corpus.Span{Tenant: 1, Count: 1 << 20})
}

// BenchmarkAnswer is a whole answer of 64 tokens to a prompt of a million: index and all. The engine takes about 0.8 s.
func BenchmarkAnswer(b *testing.B) {
	r, c, prompt := million(b)
	prompt = c.Append(prompt, corpus.Span{Tenant: 1, First: 1 << 19, Count: 24})
	var s reference.Sequence
	for b.Loop() {
		s.Answer(nil, r, prompt, 64)
	}
}

// BenchmarkBest is one token where nothing matches exactly, at a million. The engine takes about 13 ms.
func BenchmarkBest(b *testing.B) {
	r, c, prompt := million(b)
	var s reference.Sequence
	s.Start(r, c.Append(prompt, corpus.Span{Tenant: 2, Count: 24}), 1)
	for b.Loop() {
		s.Next()
	}
}

// BenchmarkShort is an answer of a schedule's size: 100 tokens in, 8 out.
func BenchmarkShort(b *testing.B) {
	r, c, _ := million(b)
	prompt := c.Append(nil, corpus.Span{Tenant: 1, Count: 76}, corpus.Span{Tenant: 1, First: 20, Count: 24})
	var s reference.Sequence
	var out []wire.Token
	for b.Loop() {
		out = s.Answer(out[:0], r, prompt, 8)
	}
}
