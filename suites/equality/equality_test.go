package equality_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/reference"
)

const (
	pageSize = 64
	// longest leaves room for an answer of 40 tokens in a context of 1,048,576.
	longest      = 1_048_536
	answerTokens = 8
)

// draw is what model and reference must agree on.
type draw struct {
	token wire.Token
	row   int // position of the row that won
	score int32
}

// prompts are the shapes at one length: a prompt that quotes itself at its end, so that sixteen tokens match exactly,
// and one that does not, so that the best partial match decides.
func prompts(text *corpus.Corpus, length int) [][]wire.Token {
	GinkgoHelper()
	plain, err := traffic.Stretch(3, 5, length)
	Expect(err).NotTo(HaveOccurred())
	list := [][]wire.Token{text.Append(nil, plain)}
	if length >= traffic.PromptTokensMin(answerTokens) {
		quoting, err := traffic.Prompt(2, 7, length, answerTokens)
		Expect(err).NotTo(HaveOccurred())
		list = append(list, text.Append(nil, quoting...))
	}
	return list
}

var _ = Describe("answers", Ordered, func() {
	var (
		tables  *code.Tables
		text    *corpus.Corpus
		oracle  *reference.Reference
		pool    *kv.Pool
		rows    model.KV
		pages   []wire.Page
		scratch model.Scratch
	)

	BeforeAll(func() {
		tables = code.New()
		text = corpus.New(code.NewVocabulary(), 1)
		oracle = reference.New(tables)
		layout := port.Layout{Pages: (longest+answerTokens)/pageSize + 2, PageSize: pageSize, RowBytes: code.RowDimensions}
		var err error
		pool, err = kv.NewPool(layout, kv.Options{HugePages: true})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(pool.Close()).To(Succeed()) })
		rows = model.KV{
			K0: pool.Buffer(wire.K0), V0: pool.Buffer(wire.V0), K1: pool.Buffer(wire.K1), V1: pool.Buffer(wire.V1),
			PageSize: pageSize,
		}
		// Pages are handed out out of order, as a used allocator does: 7919 is prime to their number.
		pages = make([]wire.Page, layout.Pages-1)
		for i := range pages {
			pages[i] = wire.Page(1 + i*7919%len(pages))
		}
	})

	fromPages := func(m *model.Model, prompt []wire.Token) []draw {
		const chunkTokens = 8192
		for first := 0; first < len(prompt); first += chunkTokens {
			m.Prefill(rows, pages, first, prompt[first:min(first+chunkTokens, len(prompt))])
		}
		position := make(map[wire.Page]int, len(prompt)/pageSize+2)
		for ordinal := 0; ordinal*pageSize < len(prompt)+answerTokens; ordinal++ {
			position[pages[ordinal]] = ordinal * pageSize
		}
		var out []draw
		for at := len(prompt); len(out) < answerTokens; at++ {
			s := m.Sample(rows, pages, at-1, &scratch)
			out = append(out, draw{s.Token, position[s.Page] + int(s.Slot), s.Score})
			m.Prefill(rows, pages, at, []wire.Token{s.Token})
		}
		return out
	}

	fromTokens := func(prompt []wire.Token) []draw {
		var out []draw
		var sequence reference.Sequence
		sequence.Start(oracle, prompt, answerTokens)
		for range answerTokens {
			d, ok := sequence.Next()
			Expect(ok).To(BeTrue())
			out = append(out, draw{d.Token, d.Row, d.Score})
			sequence.Append(d.Token)
		}
		return out
	}

	DescribeTable("from pages and from token ids alone",
		func(length int) {
			if length > 100_000 && testing.Short() {
				Skip("the longest prompts are left out of short runs")
			}
			for _, prompt := range prompts(text, length) {
				want := fromTokens(prompt)
				for _, name := range model.Variants() {
					m, err := model.NewVariant(tables, name)
					Expect(err).NotTo(HaveOccurred())
					Expect(fromPages(m, prompt)).To(Equal(want), "kernel %s, %d tokens", name, length)
				}
			}
		},
		Entry("one token", 1),
		Entry("less than a context", 15),
		Entry("one context", 16),
		Entry("one page, less one", 63),
		Entry("one page", 64),
		Entry("one page and one", 65),
		Entry("a thousand", 1000),
		Entry("one chunk and one", 8193),
		Entry("one less than prefill refuses in the incident", 681_273),
		Entry("the longest", longest),
	)
})
