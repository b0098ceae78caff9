package model_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/wire"
)

// setRow overwrites the row of a position in one buffer of a pool.
func setRow(kv model.KV, buffer []byte, pages []wire.Page, position int, row *code.Row) {
	at := (int(pages[position/kv.PageSize])*kv.PageSize + position%kv.PageSize) * code.RowDimensions
	for d, v := range row {
		buffer[at+d] = byte(v)
	}
}

// A row whose key is another position's is seen by exactly the windows that contain it: one row at each distance
// before a chunk is given the key that one of the chunk's own heads asks for.
func TestTheWindowEndsWhereItShould(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(50, 1))
	for _, pageSize := range pageSizes {
		for _, m := range models(t) {
			const first = 100
			poolPages := 1 + (256+pageSize-1)/pageSize
			right := newPool(poolPages, pageSize)
			pages := table(random, poolPages, poolPages-1)
			m.Prefill(right, pages, 0, tokens(random, first))
			seen := 0
			for distance := 1; distance <= 36; distance++ {
				kv := clonePool(right)
				asked := random.IntN(code.ContextTokens)
				setRow(kv, kv.K0, pages, first-distance, tables.Walsh(first-1-asked))
				setRow(kv, kv.V0, pages, first-distance, tables.ValueRow(wire.Token(distance)))
				dense := clonePool(kv)
				chunk := tokens(random, 3)
				var scratch model.Scratch
				g.Expect(m.Sample(kv, pages, first-1, &scratch)).To(Equal(m.SampleDense(kv, pages, first-1)),
					"%s, page size %d, distance %d, head %d", m.Variant(), pageSize, distance, asked)
				m.Prefill(kv, pages, first, chunk)
				m.PrefillDense(dense, pages, first, chunk)
				g.Expect(samePool(kv, dense)).To(BeTrue(),
					"%s, page size %d, distance %d, head %d", m.Variant(), pageSize, distance, asked)
				clean := clonePool(right)
				m.Prefill(clean, pages, first, chunk)
				if differs(clean, kv, pages, first, len(chunk)) {
					seen++
				}
			}
			g.Expect(seen).To(BeNumerically(">", 10), "the damage must show in the rows written")
		}
	}
}

// differs says whether the K1 rows from first on differ between two pools.
func differs(a, b model.KV, pages []wire.Page, first, count int) bool {
	for position := first; position < first+count; position++ {
		at := (int(pages[position/a.PageSize])*a.PageSize + position%a.PageSize) * code.RowDimensions
		if !slices.Equal(a.K1[at:at+code.RowDimensions], b.K1[at:at+code.RowDimensions]) {
			return true
		}
	}
	return false
}

// A page named twice in the table is overwritten while a chunk is computed; the rows are still the formulae's, token
// by token, at any distance between the two places and for any chunking.
func TestPagesNamedTwice(t *testing.T) {
	random := rand.New(rand.NewPCG(51, 1))
	for _, pageSize := range pageSizes[:3] {
		for apart := 1; apart <= 3; apart++ {
			t.Run(fmt.Sprintf("%d/%d", pageSize, apart), func(t *testing.T) {
				g := NewWithT(t)
				m := model.New(tables)
				original := newPool(8, pageSize)
				spoil(random, m, original, "stale")
				pages := table(random, 8, 7)
				pages[4] = pages[4-apart]
				prompt := tokens(random, 6*pageSize)
				dense, fast, chunked := clonePool(original), clonePool(original), clonePool(original)
				m.PrefillDense(dense, pages, 0, prompt)
				m.Prefill(fast, pages, 0, prompt)
				for i := range prompt {
					m.Prefill(chunked, pages, i, prompt[i:i+1])
				}
				g.Expect(samePool(fast, dense)).To(BeTrue(), "whole")
				g.Expect(samePool(chunked, dense)).To(BeTrue(), "token by token")
			})
		}
	}
}

// Of equal matches the three before the winner still have weight, and the fourth has none: where the younger ones hold
// no value, the answer is that of the youngest that does.
func TestEqualMatchesWeighByAge(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(52, 1))
	for _, m := range models(t) {
		for age, wants := range []wire.Token{700, 700, 700, 700, 0, 0} {
			for _, last := range []int{5, 16, 17, 18, 40} { // also where the reach crosses a page
				kv := newPool(6, 16)
				pages := table(random, 6, 5)
				setRow(kv, kv.V1, pages, last-age, tables.ValueRow(700))
				var scratch model.Scratch
				sampled := m.Sample(kv, pages, last, &scratch)
				g.Expect(sampled).To(Equal(m.SampleDense(kv, pages, last)))
				g.Expect(sampled.Token).To(Equal(wants), "%s: age %d at %d", m.Variant(), age, last)
				g.Expect(int(sampled.Slot)).To(Equal(last % 16))
			}
		}
	}
}

// A scan shared by goroutines gives what one gives, at lengths where the parts are unequal, and ties across parts
// still go to the latest.
func TestWorkersDoNotMatter(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(53, 1))
	const rows = 150_000
	kv := newPool(1+rows/64+1, 64)
	one, many := model.New(tables), model.New(tables)
	pages := table(random, 1+rows/64+1, rows/64+1)
	prompt := tokens(random, rows)
	phrase := prompt[1000:1024]
	for _, at := range []int{40_000, 75_000, 110_000, rows - 24} {
		copy(prompt[at:], phrase)
	}
	one.Prefill(kv, pages, 0, prompt)
	var first, second model.Scratch
	for _, workers := range []int{0, 1, 2, 3, 4, 9} {
		many.Workers = workers
		for _, position := range []int{rows - 1, rows - 2, 99_999, 65_535, 70_000} {
			g.Expect(many.Sample(kv, pages, position, &first)).To(Equal(one.Sample(kv, pages, position, &second)),
				"%d workers, position %d", workers, position)
		}
	}
	sampled := many.Sample(kv, pages, rows-1, &first)
	g.Expect(sampled.Page).To(Equal(pages[(110_000+24)/64]), "the latest of four equal matches")
}

// At the incident's length, 1,048,536 tokens, every variant finds the quoted place, near the start, in the middle and
// near the end, and agrees with the others on an unquoted query and on the row that won.
func TestMillionTokens(t *testing.T) {
	if testing.Short() {
		t.Skip("maps 512 MiB")
	}
	g := NewWithT(t)
	const rows, pageSize = 1_048_536, 64
	random := rand.New(rand.NewPCG(54, 1))
	kv, pages := mapPool(t, 1<<20+pageSize, 1<<20, pageSize)
	prompt := tokens(random, rows)
	all := models(t)
	fastest := all[len(all)-1]
	for chunk := 0; chunk < rows; chunk += 8192 {
		fastest.Prefill(kv, pages, chunk, prompt[chunk:min(rows, chunk+8192)])
	}
	var scratch model.Scratch
	for _, at := range []int{17, rows / 2, rows - 100, -1} {
		if at >= 0 {
			copy(prompt[rows-24:], prompt[at:at+24])
		} else {
			copy(prompt[rows-24:], tokens(random, 24))
		}
		fastest.Prefill(kv, pages, rows-24, prompt[rows-24:])
		want := fastest.Sample(kv, pages, rows-1, &scratch)
		if at >= 0 {
			g.Expect(want.Token).To(Equal(prompt[at+24]), "quoted from %d", at)
			g.Expect(want.Page).To(Equal(pages[(at+24)/pageSize]))
			g.Expect(want.Slot).To(Equal(int32((at + 24) % pageSize)))
			g.Expect(want.Score).To(Equal(int32(504)))
		}
		for _, m := range all {
			g.Expect(m.Sample(kv, pages, rows-1, &scratch)).To(Equal(want), "%s, quoted from %d", m.Variant(), at)
		}
	}
}
