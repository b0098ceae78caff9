package turn

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/wire"
)

// Who is heard and who has taken over, of every incarnation beside the one that is known, there and gone.
func TestPeer(t *testing.T) {
	known := wire.Addr{Role: wire.Decode, Index: 1, Incarnation: 5}
	before, next := known, known
	before.Incarnation, next.Incarnation = 4, 7
	neighbour, other := known, known
	neighbour.Index, neighbour.Incarnation = 2, 9
	other.Role, other.Incarnation = wire.Prefill, 1
	for name, c := range map[string]struct {
		addr                              wire.Addr
		succeeds, heard, heardIfGone, its bool
	}{
		"the one known":        {known, false, true, false, true},
		"the one before":       {before, false, false, false, false},
		"a later one":          {next, true, true, true, true},
		"its neighbour":        {neighbour, false, true, true, false},
		"of another role":      {other, false, true, true, false},
		"nobody, as in a turn": {wire.Addr{}, false, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, gone := range []bool{false, true} {
				p := Peer{Addr: known, Gone: gone}
				g.Expect(p.SucceededBy(c.addr)).To(Equal(c.succeeds))
				g.Expect(p.Hears(c.addr)).To(Equal(map[bool]bool{false: c.heard, true: c.heardIfGone}[gone]))
				g.Expect(p.Concerns(c.addr)).To(Equal(c.its))
			}
		})
	}
}
