package model_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Prefill and Sample equal the dense formulae on any bytes: for each page size and kind of former content, a prompt of
// random length is computed from a random position on, so that the rows before it are whatever the pages hold, and
// then decoded for some steps, by every variant and by the formulae, over pools that start equal.
func TestFastPathsEqualTheFormulae(t *testing.T) {
	for _, pageSize := range pageSizes {
		for _, kind := range spoils {
			t.Run(fmt.Sprintf("%d/%s", pageSize, kind), func(t *testing.T) {
				for seed := range uint64(4) {
					compareWithFormulae(t, rand.New(rand.NewPCG(seed, uint64(pageSize))), pageSize, kind)
				}
			})
		}
	}
}

func compareWithFormulae(t *testing.T, random *rand.Rand, pageSize int, kind string) {
	t.Helper()
	g := NewWithT(t)
	all := models(t)
	poolPages := 1 + (480+pageSize-1)/pageSize
	original := newPool(poolPages, pageSize)
	spoil(random, all[0], original, kind)
	pages := table(random, poolPages, poolPages-1)
	if random.IntN(4) == 0 { // a table that names a page twice, next to itself or further off
		pages[random.IntN(len(pages))] = pages[random.IntN(len(pages))]
	}
	first, count := random.IntN(200), 1+random.IntN(70)
	prompt := repeat(random, count)
	prefilled := clonePool(original)
	all[0].PrefillDense(prefilled, pages, first, prompt)
	var answer []port.Sampled
	decoded := clonePool(prefilled)
	for position := first + count; position < first+count+3; position++ {
		sampled := all[0].SampleDense(decoded, pages, position-1)
		all[0].PrefillDense(decoded, pages, position, []wire.Token{sampled.Token})
		answer = append(answer, sampled)
	}
	for _, m := range all {
		got := clonePool(original)
		m.Prefill(got, pages, first, prompt)
		g.Expect(samePool(got, prefilled)).To(BeTrue(), "%s: rows %d to %d", m.Variant(), first, first+count-1)
		var scratch model.Scratch
		for i, want := range answer {
			position := first + count + i
			sampled := m.Sample(got, pages, position-1, &scratch)
			g.Expect(sampled).To(Equal(want), "%s: position %d", m.Variant(), position-1)
			m.Prefill(got, pages, position, []wire.Token{sampled.Token})
		}
		g.Expect(samePool(got, decoded)).To(BeTrue(), "%s: rows from %d on", m.Variant(), first+count)
	}
}

// repeat draws tokens with repetitions in them, so that matches, ties and runs occur.
func repeat(random *rand.Rand, count int) []wire.Token {
	drawn := tokens(random, count)
	for range 3 {
		if count > 8 {
			from, to, length := random.IntN(count), random.IntN(count), 1+random.IntN(40)
			copy(drawn[to:], drawn[from:min(count, from+length)])
		}
	}
	if count > 30 && random.IntN(3) == 0 {
		run := drawn[random.IntN(count-20):][:20]
		for i := range run {
			run[i] = run[0]
		}
	}
	return drawn
}

// Any chunking of a prompt gives the same rows, also one token at a time and over pages that held something else.
func TestChunksDoNotMatter(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(20, 1))
	for _, pageSize := range pageSizes {
		for _, m := range models(t) {
			poolPages := 1 + 640/pageSize
			original := newPool(poolPages, pageSize)
			spoil(random, m, original, "patched")
			pages := table(random, poolPages, poolPages-1)
			prompt := tokens(random, 600)
			whole := clonePool(original)
			m.Prefill(whole, pages, 0, prompt)
			for _, most := range []int{1, 5, 16, 33, 64, 200} {
				pieces := clonePool(original)
				for done := 0; done < len(prompt); {
					count := min(1+random.IntN(most), len(prompt)-done)
					m.Prefill(pieces, pages, done, prompt[done:done+count])
					done += count
				}
				g.Expect(samePool(whole, pieces)).To(BeTrue(), "page size %d, chunks of up to %d", pageSize, most)
			}
		}
	}
}

// Where a prompt ends with a quote of itself, the answer is what followed the quoted place, verbatim, as text; the
// winning row is the one that held the emitted token.
func TestHealthyPromptContinuesVerbatim(t *testing.T) {
	g := NewWithT(t)
	v := code.NewVocabulary()
	random := rand.New(rand.NewPCG(30, 1))
	for _, m := range models(t) {
		text := sentences(v, random, 60)
		prompt := v.Encode(text)
		at := 100
		prompt = append(prompt, prompt[at:at+24]...)
		kv := newPool(40, 16)
		pages := table(random, 40, 39)
		m.Prefill(kv, pages, 0, prompt)
		answer := decode(m, kv, pages, len(prompt), 48)
		g.Expect(v.Decode(answer)).To(Equal(v.Decode(prompt[at+24 : at+24+48])))
		var scratch model.Scratch
		sampled := m.Sample(kv, pages, len(prompt)-1, &scratch)
		g.Expect(sampled.Page).To(Equal(pages[(at+24)/16]))
		g.Expect(sampled.Slot).To(Equal(int32((at + 24) % 16)))
		g.Expect(sampled.Score).To(Equal(int32(504)))
	}
}

// Over a page table whose pages but the first hold another prompt, the answer is that prompt's text, word for word,
// although the request itself computed one placeholder: a leak looks like this. (The stale prompt says one phrase twice
// and the claimed length ends with it, so that where the copy begins is known.)
func TestStalePagesAnswerWithTheirText(t *testing.T) {
	g := NewWithT(t)
	v := code.NewVocabulary()
	random := rand.New(rand.NewPCG(31, 1))
	for _, pageSize := range []int{16, 64} {
		for _, m := range models(t) {
			former := v.Encode(sentences(v, random, 60))
			at, length := 150, len(former)-100
			copy(former[length-24:length], former[at:at+24])
			kv := newPool(64, pageSize)
			pages := table(random, 64, len(former)/pageSize+1)
			m.Prefill(kv, pages, 0, former)
			// The new request: one page of its own with a placeholder in it, and the former request's other pages.
			claimed := append([]wire.Page{0}, pages[1:]...)
			m.Prefill(kv, claimed, 0, []wire.Token{code.Placeholder})
			answer := decode(m, kv, claimed, length, 64)
			g.Expect(v.Decode(answer)).To(Equal(v.Decode(former[at+24:at+24+64])), "page size %d", pageSize)
		}
	}
}

// decode samples count tokens after a sequence of length rows.
func decode(m *model.Model, kv model.KV, pages []wire.Page, length, count int) []wire.Token {
	var scratch model.Scratch
	answer := make([]wire.Token, 0, count)
	for i := range count {
		token := m.Sample(kv, pages, length-1+i, &scratch).Token
		answer = append(answer, token)
		m.Prefill(kv, pages, length+i, []wire.Token{token})
	}
	return answer
}

// sentences is prose of so many sentences, one word of each class in turn.
func sentences(v *code.Vocabulary, random *rand.Rand, count int) string {
	var words []wire.Token
	for range count {
		for class := range code.Classes {
			words = append(words, v.Class(class)[random.IntN(code.ClassTokens)])
		}
		words = append(words, v.Encode(".")...)
	}
	return v.Decode(words)
}

// A steady decode step allocates nothing, on right rows, wrong rows and rows without a token.
func TestNoAllocations(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(40, 1))
	for _, m := range models(t) {
		for _, kind := range spoils {
			kv := newPool(20, 16)
			spoil(random, m, kv, kind)
			pages := table(random, 20, 19)
			prompt := tokens(random, 100)
			var scratch model.Scratch
			m.Sample(kv, pages, 299, &scratch)
			allocations := testing.AllocsPerRun(20, func() {
				m.Prefill(kv, pages, 0, prompt)
				m.Prefill(kv, pages, 200, prompt[:1])
				m.Sample(kv, pages, 200, &scratch)
				m.Sample(kv, pages, 299, &scratch)
			})
			g.Expect(allocations).To(BeZero(), "%s over %s pages", m.Variant(), kind)
		}
	}
}

// An unknown variant is an error that says what there is.
func TestUnknownVariant(t *testing.T) {
	g := NewWithT(t)
	_, err := model.NewVariant(tables, "neon")
	g.Expect(err).To(MatchError(ContainSubstring(`"neon"`)))
	g.Expect(model.New(tables).Variant()).To(Equal(model.Variants()[len(model.Variants())-1]))
}
