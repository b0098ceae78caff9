package transfertest

import (
	"testing"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/porttest"
	"github.com/stalepage/stalepage/engine/wire"
)

// Links is a set of links without messages.
type Links struct {
	// End is the link of one address, the same one at each call.
	End func(wire.Addr) port.Link
	// Advance moves something, or returns false when nothing will move without a further call.
	Advance func() bool
	// Choose, where the links can be stepped, moves the i-th thing that can move; else it is nil.
	Choose func(i int) bool
}

// LinkClause is one promise of the contract of links.
type LinkClause = porttest.Clause[*Links]

// LinkContract holds links to their contract.
func LinkContract(t *testing.T, build func(testing.TB) *Links) {
	t.Helper()
	porttest.Run(t, LinkClauses(), build)
}

// LinkClauses returns the contract of links.
func LinkClauses() []LinkClause {
	return []LinkClause{
		{Name: "a channel is first in, first out", Check: linkOrder},
		{Name: "a message arrives once, at its address, unchanged", Check: linkOnce},
		{Name: "a message waits for an address that nobody has asked for", Check: linkWaits},
		{Name: "nothing reaches a newer incarnation than it was sent to", Check: linkIncarnation},
		{Name: "poll hands out in pieces", Check: linkPieces},
	}
}

var (
	alice = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	bob   = wire.Addr{Role: wire.Decode, Incarnation: 1}
	carol = wire.Addr{Role: wire.Router, Index: 1, Incarnation: 1}
)

func message(from, to wire.Addr, number int) wire.Message {
	return wire.Message{
		Ticket: wire.Ticket(number), From: from, To: to, Room: wire.Room(number), Body: wire.Submit{MaxNewTokens: number},
	}
}

func (l *Links) drain(t porttest.T) {
	for range 100_000 {
		if !l.Advance() {
			return
		}
	}
	t.Fatalf("the links still move after 100,000 advances")
}

func poll(link port.Link) []wire.Message {
	buffer := make([]wire.Message, 10_000)
	return buffer[:link.Poll(buffer)]
}

// linkOrder interleaves channels into one address, and stepping them, and checks each one's order.
func linkOrder(t porttest.T, l *Links) {
	const count = 40
	for n := range count {
		l.End(alice).Send(message(alice, bob, n))
		l.End(carol).Send(message(carol, bob, n))
		l.End(alice).Send(message(alice, carol, n))
		if l.Choose != nil && n%3 == 0 {
			l.Choose(n % 2)
		}
	}
	l.drain(t)
	next := map[wire.Addr]int{}
	for _, m := range poll(l.End(bob)) {
		if int(m.Ticket) != next[m.From] {
			t.Errorf("from %s: message %d where %d was due", m.From, m.Ticket, next[m.From])
			return
		}
		next[m.From]++
	}
	if next[alice] != count || next[carol] != count {
		t.Errorf("%d and %d messages arrived, want %d of each", next[alice], next[carol], count)
	}
}

func linkOnce(t porttest.T, l *Links) {
	l.End(alice).Send(message(alice, bob, 1))
	l.End(bob).Send(message(bob, alice, 2))
	l.End(alice).Send(message(alice, alice, 3))
	l.drain(t)
	for _, c := range []struct {
		at   wire.Addr
		want []wire.Message
	}{
		{alice, []wire.Message{message(bob, alice, 2), message(alice, alice, 3)}},
		{bob, []wire.Message{message(alice, bob, 1)}},
		{carol, nil},
	} {
		got := poll(l.End(c.at))
		same := len(got) == len(c.want)
		for _, want := range c.want {
			found := false
			for _, m := range got {
				body, ok := m.Body.(wire.Submit)
				found = found || ok && m.Ticket == want.Ticket && m.From == want.From && m.To == want.To &&
					m.Room == want.Room && body.MaxNewTokens == int(want.Ticket)
			}
			same = same && found
		}
		if !same {
			t.Errorf("%s polled %v, want %v in any order", c.at, got, c.want)
		}
		if again := poll(l.End(c.at)); len(again) != 0 {
			t.Errorf("%s polled %v a second time", c.at, again)
		}
	}
}

func linkWaits(t porttest.T, l *Links) {
	l.End(alice).Send(message(alice, bob, 1))
	l.drain(t)
	l.End(alice).Send(message(alice, bob, 2))
	l.drain(t)
	if got := poll(l.End(bob)); len(got) != 2 {
		t.Errorf("%v arrived, want both messages sent before anybody asked for the address", got)
	}
}

func linkIncarnation(t porttest.T, l *Links) {
	newer := bob
	newer.Incarnation = 2
	l.End(bob)
	l.End(alice).Send(message(alice, bob, 1))
	l.drain(t) // delivered, not polled
	l.End(alice).Send(message(alice, bob, 2))
	link := l.End(newer)
	l.End(alice).Send(message(alice, bob, 3))
	l.End(alice).Send(message(alice, newer, 4))
	l.drain(t)
	if got := poll(link); len(got) != 1 || got[0].Ticket != 4 {
		t.Errorf("the new incarnation polled %v, want message 4 alone", got)
	}
	if got := poll(l.End(bob)); len(got) != 0 {
		t.Errorf("the old incarnation, which is gone, polled %v", got)
	}
}

func linkPieces(t porttest.T, l *Links) {
	for n := range 5 {
		l.End(alice).Send(message(alice, bob, n))
	}
	l.drain(t)
	var got []wire.Message
	for _, size := range []int{0, 1, 3, 0, 3} {
		buffer := make([]wire.Message, size)
		got = append(got, buffer[:l.End(bob).Poll(buffer)]...)
	}
	for n, m := range got {
		if int(m.Ticket) != n {
			t.Errorf("message %d polled as number %d", m.Ticket, n)
		}
	}
	if len(got) != 5 {
		t.Errorf("%d messages polled in pieces, want 5", len(got))
	}
}
