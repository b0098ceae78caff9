package wire

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Every address that is spelt is read back as itself.
func TestAddrRoundTrip(t *testing.T) {
	g := NewWithT(t)
	for role := Client; role <= Colocated; role++ {
		for _, a := range []Addr{{Role: role}, {Role: role, Index: 255, Incarnation: 4095}, {role, 7, 1}} {
			text, err := a.MarshalText()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(text)).To(Equal(a.String()))
			var back Addr
			g.Expect(back.UnmarshalText(text)).To(Succeed())
			g.Expect(back).To(Equal(a))
		}
	}
}

// Only a later incarnation of the same party succeeds another.
func TestSucceeds(t *testing.T) {
	older := Addr{Role: Decode, Index: 3, Incarnation: 9}
	for later, want := range map[Addr]bool{
		{Decode, 3, 10}: true, {Decode, 3, 4095}: true, {Decode, 3, 9}: false, {Decode, 3, 8}: false,
		{Decode, 4, 10}: false, {Prefill, 3, 10}: false,
	} {
		NewWithT(t).Expect(later.Succeeds(older)).To(Equal(want), "%s after %s", later, older)
	}
}

// What no MarshalText wrote is refused, and leaves the address as it was.
func TestAddrRefusesOtherText(t *testing.T) {
	for _, text := range []string{
		"", "prefill", "prefill/", "prefill/0", "prefill/0#", "prefill/#1", "prefill/-1#1", "prefill/256#1",
		"prefill/0#65536", "prefill/00#1", "prefill/0#1 ", "prefill/0#1x", "prefill/+1#1", "prefill/0x1#1", "Prefill/0#1", "role(9)/0#1",
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			a := Addr{Role: Decode, Index: 3, Incarnation: 9}
			g.Expect(a.UnmarshalText([]byte(text))).To(MatchError(ContainSubstring("address")))
			g.Expect(a).To(Equal(Addr{Role: Decode, Index: 3, Incarnation: 9}))
		})
	}
}

// Stages and buffers have one spelling each; a value that does not exist is spelt so that it is seen.
func TestNamesRoundTrip(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for s := AtEdge; s <= AtTransfer; s++ {
		text, err := s.MarshalText()
		g.Expect(err).NotTo(HaveOccurred())
		var back Stage
		g.Expect(back.UnmarshalText(text)).To(Succeed())
		g.Expect(back).To(Equal(s))
		seen[string(text)] = true
	}
	g.Expect(seen).To(HaveLen(int(AtTransfer) + 1))
	for b := K0; b < Buffers; b++ {
		text, err := b.MarshalText()
		g.Expect(err).NotTo(HaveOccurred())
		var back Buffer
		g.Expect(back.UnmarshalText(text)).To(Succeed())
		g.Expect(back).To(Equal(b))
		seen[string(text)] = true
	}
	g.Expect(seen).To(HaveLen(int(AtTransfer) + 1 + int(Buffers)))
	g.Expect([]string{(AtTransfer + 1).String(), Buffers.String(), (Colocated + 1).String()}).
		To(Equal([]string{"stage(9)", "buffer(6)", "role(5)"}))

	var stage Stage
	g.Expect(stage.UnmarshalText([]byte("elsewhere"))).To(MatchError(ContainSubstring("want one of")))
	var buffer Buffer
	g.Expect(buffer.UnmarshalText([]byte("K2"))).To(MatchError(ContainSubstring("K2")))
}

// No two tickets are equal: not within a source, and not between addresses that differ in one field, role by role,
// index by index, incarnation by incarnation.
func TestTicketsAreUnique(t *testing.T) {
	g := NewWithT(t)
	var addresses []Addr
	for role := Client; role <= Colocated; role++ {
		for _, index := range []uint8{0, 1, 15, 16, 255} {
			for _, incarnation := range []uint16{0, 1, 2, 16, 255, 256, 4095} {
				addresses = append(addresses, Addr{role, index, incarnation})
			}
		}
	}
	const draws = 50
	seen := map[Ticket]Addr{}
	for _, a := range addresses {
		source := NewTickets(a)
		last := Ticket(0)
		for range draws {
			next := source.Next()
			g.Expect(next).To(BeNumerically(">", last))
			last = next
			other, taken := seen[next]
			g.Expect(taken).To(BeFalse(), "ticket %d of %s is %s's too", next, a, other)
			seen[next] = a
		}
	}
	g.Expect(seen).To(HaveLen(len(addresses) * draws))
	g.Expect(seen).NotTo(HaveKey(Ticket(0)), "zero names no operation")
}

// The set of messages has one name each.
func TestBodiesHaveNames(t *testing.T) {
	g := NewWithT(t)
	bodies := []Body{
		Submit{}, PeerUp{}, PeerDown{}, Reserved{}, Sent{}, Refused{}, Abort{}, AbortAck{}, Finished{},
	}
	names := map[string]bool{}
	for _, b := range bodies {
		names[b.Name()] = true
	}
	g.Expect(names).To(HaveLen(len(bodies)))
	g.Expect(names).NotTo(HaveKey(""))
}
