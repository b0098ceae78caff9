package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/model/kernel"
	"github.com/stalepage/stalepage/engine/wire"
)

// product is the inner product in 64 bits, with no code in common with the kernels.
func product(query *kernel.Row, row []byte) int64 {
	sum := int64(0)
	for d, v := range query {
		sum += int64(v) * int64(int8(row[d]))
	}
	return sum
}

// fills are contents that reach the ends of every intermediate type: a saturating or 16-bit kernel fails on them.
var fills = map[string]func(random *rand.Rand) byte{
	"random":  func(random *rand.Rand) byte { return byte(random.Uint32()) },
	"signs":   func(random *rand.Rand) byte { return byte(1 - 2*random.IntN(2)) },
	"least":   func(*rand.Rand) byte { return 0x80 },
	"most":    func(*rand.Rand) byte { return 0x7f },
	"ends":    func(random *rand.Rand) byte { return byte(0x7f + random.IntN(2)) },
	"nothing": func(*rand.Rand) byte { return 0 },
}

func fill(random *rand.Rand, name string, size int) []byte {
	filled := make([]byte, size)
	for i := range filled {
		filled[i] = fills[name](random)
	}
	return filled
}

// Every variant gives the exact products, in the order of the rows, for all pairs of contents and any number of
// groups, wherever the rows lie in memory.
func TestScoresAreExact(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(1, 1))
	for _, variant := range kernel.Available() {
		for left := range fills {
			for right := range fills {
				for groups := range 9 {
					var query kernel.Row
					for d, b := range fill(random, left, len(query)) {
						query[d] = int8(b)
					}
					count := groups * kernel.GroupRows
					unaligned := random.IntN(64)
					rows := fill(random, right, unaligned+count*kernel.RowBytes)[unaligned:]
					scores := make([]int32, count+1)
					scores[count] = 99 // a sentinel: nothing is written past the end
					variant.Scores(&query, rows, scores[:count])
					g.Expect(scores[count]).To(Equal(int32(99)))
					for i, score := range scores[:count] {
						if want := product(&query, rows[i*kernel.RowBytes:]); int64(score) != want {
							g.Expect(int64(score)).To(Equal(want), "%s, %s by %s, row %d", variant, left, right, i)
						}
					}
				}
			}
		}
	}
}

// Every variant gives each page's maximum, for each page size, table length and position of the largest row, with
// pages named twice, the pool's first and last page among them.
func TestPageMaximaAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for _, pageRows := range []int{16, 32, 64, 128} {
		for name := range fills {
			t.Run(fmt.Sprintf("%d/%s", pageRows, name), func(t *testing.T) {
				for _, count := range []int{0, 1, 2, 3, 4, 5, 9, 30} {
					comparePageMaxima(t, random, pageRows, count, name)
				}
			})
		}
	}
}

func comparePageMaxima(t *testing.T, random *rand.Rand, pageRows, count int, name string) {
	t.Helper()
	g := NewWithT(t)
	const poolPages = 12
	pageBytes := pageRows * kernel.RowBytes
	keys := fill(random, name, poolPages*pageBytes)
	var query kernel.Row
	for d := range query {
		query[d] = int8(random.IntN(255) - 127)
	}
	pages := make([]wire.Page, count)
	for i := range pages {
		pages[i] = wire.Page(random.IntN(poolPages))
	}
	if count > 1 {
		pages[0], pages[count-1] = poolPages-1, 0
	}
	for range 6 { // a row that wins by far, anywhere
		row := keys[random.IntN(poolPages*pageRows)*kernel.RowBytes:]
		for d, v := range query {
			row[d] = byte(v)
		}
	}
	for _, variant := range kernel.Available() {
		maxima := make([]int32, count+1)
		maxima[count] = 99
		variant.PageMaxima(&query, keys, pages, pageRows, maxima[:count])
		g.Expect(maxima[count]).To(Equal(int32(99)))
		for i, page := range pages {
			want := product(&query, keys[int(page)*pageBytes:])
			for row := range pageRows {
				want = max(want, product(&query, keys[int(page)*pageBytes+row*kernel.RowBytes:]))
			}
			if int64(maxima[i]) != want {
				g.Expect(int64(maxima[i])).To(Equal(want), "%s: place %d of %d", variant, i, count)
			}
		}
	}
}

// A page outside the pool, an odd page size or a short output is refused before any assembly runs.
func TestWrongArgumentsPanic(t *testing.T) {
	g := NewWithT(t)
	var query kernel.Row
	keys := make([]byte, 4*16*kernel.RowBytes)
	for _, variant := range kernel.Available() {
		for _, pages := range [][]wire.Page{{4}, {0, -1}, {1, 2, 1 << 30}} {
			g.Expect(func() { variant.PageMaxima(&query, keys, pages, 16, make([]int32, 3)) }).To(Panic())
		}
		g.Expect(func() { variant.PageMaxima(&query, keys, []wire.Page{0}, 24, make([]int32, 1)) }).To(Panic())
		g.Expect(func() { variant.PageMaxima(&query, keys, []wire.Page{0}, 0, make([]int32, 1)) }).To(Panic())
		g.Expect(func() { variant.PageMaxima(&query, keys, []wire.Page{0, 1}, 16, make([]int32, 1)) }).To(Panic())
		g.Expect(func() { variant.Scores(&query, keys, make([]int32, 15)) }).To(Panic())
		g.Expect(func() { variant.Scores(&query, keys[:2047], make([]int32, 16)) }).To(Panic())
	}
}

// The limits that benchmarks compare with do what they claim: Load sees every byte of every page of the table and no
// other, Store writes exactly those.
func TestLoadAndStoreTouchEveryByte(t *testing.T) {
	if !kernel.CanLimit() {
		t.Skip("the limits need AVX-512")
	}
	g := NewWithT(t)
	for _, pageRows := range []int{16, 32} {
		pageBytes := pageRows * kernel.RowBytes
		pages := []wire.Page{3, 1}
		keys := make([]byte, 5*pageBytes)
		g.Expect(kernel.Load(keys, pages, pageRows)).To(BeZero())
		for i := range keys {
			keys[i] = 1
			inTable := i/pageBytes == 1 || i/pageBytes == 3
			if seen := kernel.Load(keys, pages, pageRows) != 0; seen != inTable {
				g.Expect(seen).To(Equal(inTable), "byte %d", i)
			}
			keys[i] = 0
		}
		for _, streaming := range []bool{false, true} {
			clear(keys)
			kernel.Store(keys, pages, pageRows, streaming)
			for i, b := range keys {
				inTable := i/pageBytes == 1 || i/pageBytes == 3
				if (b != 0) != inTable {
					t.Fatalf("byte %d is %d, within the pages of the table: %t", i, b, inTable)
				}
			}
		}
	}
}

// Names are parsed back, and unknown ones are refused with what there is.
func TestParse(t *testing.T) {
	g := NewWithT(t)
	for _, variant := range kernel.Available() {
		parsed, err := kernel.Parse(variant.String())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(parsed).To(Equal(variant))
	}
	_, err := kernel.Parse("sse")
	g.Expect(err).To(MatchError(ContainSubstring(`"sse"`)))
}
