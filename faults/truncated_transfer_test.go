package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that exactly the first pages move, stamps included or not, that every write is answered OK, and that the
// bytes claimed are the ones that the plan says.
func TestTruncatedTransferMovesTheFirstPagesOnly(t *testing.T) {
	page := prefillPool.BufferBytes(wire.K0)
	for _, c := range []struct {
		name           string
		fault          TruncatedTransfer
		landed         []string // of the first chunk's K0 and stamp, and of the second chunk's
		claimed, cuts  int64    // bytes over all KV buffers; firings
		stampsOfSecond int
	}{
		{
			"one page, claiming it",
			TruncatedTransfer{KeepPages: 1, Claim: ClaimKept},
			[]string{"K0 of ordinals 0 to 0", "stamp of ordinals 0 to 0"},
			4 * page, 10, 0,
		},
		{
			"one page, claiming all",
			TruncatedTransfer{KeepPages: 1, Claim: ClaimOwed},
			[]string{"K0 of ordinals 0 to 0", "stamp of ordinals 0 to 0"},
			4 * 5 * page, 10 + 5, 0,
		},
		{
			"the same, stamps whole",
			TruncatedTransfer{KeepPages: 1, Claim: ClaimOwed, StampsWhole: true},
			[]string{"K0 of ordinals 0 to 0", "stamp of ordinals 0 to 1", "stamp of ordinals 2 to 4"},
			4 * 5 * page, 8 + 4, 1,
		},
		{"nothing at all", TruncatedTransfer{KeepPages: 0, Claim: ClaimOwed}, nil, 4 * 5 * page, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.fault.Aim(Request(target))
			b := newBench(t, &c.fault)
			writes := b.transfer(target, 5)
			claimed := map[wire.Buffer]int64{}
			var out [32]port.WriteDone
			b.transport.land()
			n := b.prefill.Transport.Poll(out[:])
			b.Expect(n).To(Equal(len(writes)))
			for _, d := range out[:n] {
				b.Expect(d.Status).To(Equal(port.OK))
				for _, w := range writes {
					if w.Ticket == d.Ticket {
						claimed[w.Buffer] += d.ClaimedBytes
					}
				}
			}
			b.Expect(claimed[wire.K0]+claimed[wire.V0]+claimed[wire.K1]+claimed[wire.V1]).To(Equal(c.claimed), "claimed bytes")
			var seen []string
			for _, name := range b.landed(target) {
				if name[:2] == "K0" || name[:2] == "st" {
					seen = append(seen, name)
				}
			}
			b.Expect(seen).To(Equal(c.landed))
			b.Expect(b.landed(target)).To(ContainElement("record"), "the record goes out behind what is left")
			b.expectFired(int(c.cuts))
		})
	}
}

// It proves that the fault touches neither another request nor a target that is short enough.
func TestTruncatedTransferLeavesTheRestAlone(t *testing.T) {
	b := newBench(t, &TruncatedTransfer{Target: Request(target), KeepPages: 5, Claim: ClaimOwed})
	writes := append(b.transfer(other, 8), b.transfer(target, 5)...)
	b.settle()
	b.expectOneAnswerEach(writes, port.OK)
	b.Expect(b.transport.landed).To(Equal(writes))
	b.expectFired(0)
}
