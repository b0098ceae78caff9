package model_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/wire"
)

// BenchmarkDecode is one decode step, a row written and a token drawn, at the lengths and page size of the stepped
// schedules: over right rows, over stale pages whose keys are of other positions, and over pages never written.
func BenchmarkDecode(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, m := range models(b) {
		for _, length := range []int{10, 40, 150, 1000} {
			for _, kind := range []string{"right", "stale", "zero", "random"} {
				b.Run(fmt.Sprintf("%s/%d/%s", m.Variant(), length, kind), func(b *testing.B) {
					kv := newPool(80, 16)
					pages := table(random, 80, 79)
					if kind == "right" {
						m.Prefill(kv, pages, 0, tokens(random, length))
					} else {
						spoil(random, m, kv, kind)
					}
					var scratch model.Scratch
					token := []wire.Token{7}
					b.ReportAllocs()
					for b.Loop() {
						m.Prefill(kv, pages, length, token)
						m.Sample(kv, pages, length, &scratch)
					}
				})
			}
		}
	}
}

// BenchmarkShortPrefill is a prompt of a schedule, 100 tokens in pages of 16.
func BenchmarkShortPrefill(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	kv := newPool(20, 16)
	pages := table(random, 20, 19)
	prompt := tokens(random, 100)
	m := model.New(tables)
	b.ReportAllocs()
	for b.Loop() {
		m.Prefill(kv, pages, 0, prompt)
	}
}
