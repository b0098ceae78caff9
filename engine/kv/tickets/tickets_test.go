package tickets

import (
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/wire"
)

// The table is compared with the map it stands for, over random puts, deletions and resets of the tickets of three owners
// and of two that share a home: same content.
func TestMapEqualsMap(t *testing.T) {
	g := NewWithT(t)
	draw := rand.New(rand.NewPCG(3, 4))
	var m Map[int]
	want := map[wire.Ticket]int{}
	ticket := func() wire.Ticket {
		return wire.Ticket(draw.IntN(3))<<60 | wire.Ticket(draw.IntN(2))<<36 | wire.Ticket(1+draw.IntN(60))
	}
	for i := range 200_000 {
		drawn := ticket()
		switch k := draw.IntN(100); {
		case k < 45-30*(i/1000%2): // by turns it fills and empties
			m.Put(drawn, i)
			want[drawn] = i
		case k == 99 && i%50 == 0:
			m.Reset()
			clear(want)
		default:
			m.Delete(drawn)
			delete(want, drawn)
		}
		asked := ticket()
		got, ok := m.Get(asked)
		expected, has := want[asked]
		if got != expected || ok != has || m.Len() != len(want) {
			g.Expect([]any{got, ok, m.Len()}).To(Equal([]any{expected, has, len(want)}), "step %d, ticket %x", i, asked)
		}
	}
	for drawn, v := range want {
		got, _ := m.Get(drawn)
		g.Expect(got).To(Equal(v))
	}
}

// Ticket zero is in no map, and asking an empty one is no mistake.
func TestNothing(t *testing.T) {
	g := NewWithT(t)
	var m Map[int]
	m.Delete(1)
	_, ok := m.Get(1)
	g.Expect(ok).To(BeFalse())
	m.Put(1, 1)
	_, ok = m.Get(0)
	g.Expect(ok).To(BeFalse())
}
