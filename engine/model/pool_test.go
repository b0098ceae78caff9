package model_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/wire"
)

// tables are built once for all tests; they never change.
var tables = code.New()

var pageSizes = []int{16, 32, 64, 128}

// newPool is a zeroed pool of so many pages.
func newPool(pages, pageSize int) model.KV {
	return sliceKV(make([]byte, 4*pages*pageSize*code.RowDimensions), pageSize)
}

// sliceKV lays the four buffers of a pool one after the other.
func sliceKV(slab []byte, pageSize int) model.KV {
	size := len(slab) / 4
	return model.KV{
		K0: slab[:size:size], V0: slab[size : 2*size : 2*size], K1: slab[2*size : 3*size : 3*size], V1: slab[3*size:],
		PageSize: pageSize,
	}
}

// mapPool is a large pool, filled with a random prompt. The page table is shuffled, as a pool's free list is after
// some traffic.
func mapPool(tb testing.TB, poolTokens, promptTokens, pageSize int) (model.KV, []wire.Page) {
	tb.Helper()
	kv := sliceKV(mapSlab(tb, 4*poolTokens*code.RowDimensions), pageSize)
	random := rand.New(rand.NewPCG(1, uint64(pageSize)))
	pages := table(random, poolTokens/pageSize, promptTokens/pageSize)
	model.New(tables).Prefill(kv, pages, 0, tokens(random, promptTokens))
	return kv, pages
}

func clonePool(kv model.KV) model.KV {
	return model.KV{
		K0: bytes.Clone(kv.K0), V0: bytes.Clone(kv.V0), K1: bytes.Clone(kv.K1), V1: bytes.Clone(kv.V1),
		PageSize: kv.PageSize,
	}
}

func samePool(a, b model.KV) bool {
	return bytes.Equal(a.K0, b.K0) && bytes.Equal(a.V0, b.V0) && bytes.Equal(a.K1, b.K1) && bytes.Equal(a.V1, b.V1)
}

// table draws a page table of so many distinct pages, page 0 excluded, in no order.
func table(random *rand.Rand, poolPages, pages int) []wire.Page {
	drawn := make([]wire.Page, 0, pages)
	for _, p := range random.Perm(poolPages - 1)[:pages] {
		drawn = append(drawn, wire.Page(p+1))
	}
	return drawn
}

// tokens draws so many random tokens.
func tokens(random *rand.Rand, count int) []wire.Token {
	drawn := make([]wire.Token, count)
	for i := range drawn {
		drawn[i] = wire.Token(random.IntN(code.VocabularySize))
	}
	return drawn
}

// spoil fills a pool with one kind of content that a damaged engine may hold.
func spoil(random *rand.Rand, m *model.Model, kv model.KV, kind string) {
	pool := len(kv.K0) / (kv.PageSize * code.RowDimensions)
	switch kind {
	case "zero":
	case "random":
		for _, buffer := range [][]byte{kv.K0, kv.V0, kv.K1, kv.V1} {
			for i := range buffer {
				buffer[i] = byte(random.Uint32())
			}
		}
	case "extreme":
		for _, buffer := range [][]byte{kv.K0, kv.V0, kv.K1, kv.V1} {
			for i := range buffer {
				buffer[i] = []byte{0x80, 0x7f, 0x81, 0, 1, 0xff}[random.IntN(6)]
			}
		}
	case "near": // small values: scores of layer 0 close to each other and to the sink's, so that weights mix
		for _, buffer := range [][]byte{kv.K0, kv.V0, kv.K1, kv.V1} {
			for i := range buffer {
				buffer[i] = byte(random.IntN(3) - 1)
			}
		}
	case "stale": // other prompts' rows, at positions of their own
		for page := range pool {
			ordinal := random.IntN(8)
			pages := make([]wire.Page, ordinal+1)
			for i := range pages {
				pages[i] = wire.Page(page)
			}
			m.Prefill(kv, pages, ordinal*kv.PageSize, tokens(random, kv.PageSize))
		}
	case "blurred": // keys that match a head by 20 to 128, so that rows and sink share the weight, ties included
		spoil(random, m, kv, "stale")
		for at := 0; at < len(kv.K0); at += code.RowDimensions {
			blanks := []int{0, 30 + random.IntN(78), 64, 64}[random.IntN(4)]
			for _, d := range random.Perm(code.RowDimensions)[:blanks] {
				kv.K0[at+d] = 0
			}
			for d := range code.RowDimensions {
				kv.V0[at+d] = byte(random.Uint32())
			}
		}
	case "patched": // stale, with single rows and bytes damaged
		spoil(random, m, kv, "stale")
		for range pool * 4 {
			buffer := [][]byte{kv.K0, kv.V0, kv.K1, kv.V1}[random.IntN(4)]
			buffer[random.IntN(len(buffer))] ^= byte(1 << random.IntN(8))
		}
	default:
		panic(kind)
	}
}

var spoils = []string{"zero", "random", "extreme", "near", "stale", "blurred", "patched"}

// models returns one model per variant of this machine.
func models(t testing.TB) []*model.Model {
	t.Helper()
	var all []*model.Model
	for _, name := range model.Variants() {
		m, err := model.NewVariant(tables, name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}
