package prefill

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// monkey plays everything around one worker at random: it sends what may be sent in any order, answers what is
// outstanding with any status, in the order that ports allow, repeats answers, and loses some for ever.
type monkey struct {
	*rig
	random   *rand.Rand
	loses    bool // some completions never come
	messages []wire.Message
	lost     int
	answered []port.Turn // single answers already given
	holds    map[wire.Room]int
	sentDone map[wire.Room]int
	ended    map[wire.Room]int
	looked   int // events
}

const rooms = 6

// TestMonkey lets it play: the worker never panics, gives back or quarantines exactly what it reserved, ends every room
// once, claims "done" at most once, and never gives pages back under deferred release while something of the room is
// outstanding.
func TestMonkey(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			guards := guard.Set(random.Uint32()) & guard.All
			if seed%4 == 0 {
				guards = guard.All
			}
			m := &monkey{
				rig: newRig(t, guards), random: random, holds: map[wire.Room]int{}, sentDone: map[wire.Room]int{},
				ended: map[wire.Room]int{}, loses: seed%3 == 0 && guards.Has(guard.DeferredRelease),
			}
			m.plan()
			for range 400 {
				m.move()
				m.look()
			}
			m.settleAll()
			m.expectRest()
		})
	}
}

// plan draws the messages of every room, and whether decode goes, and another one comes.
func (m *monkey) plan() {
	for room := wire.Room(1); room <= rooms; room++ {
		tokens := 1 + m.random.IntN(2*poolTokens)
		add := func(from wire.Addr, body wire.Body) {
			m.messages = append(m.messages, wire.Message{From: from, Room: room, Body: body})
		}
		add(routerAddr, wire.Submit{Prompt: promptOf(tokens), MaxNewTokens: 1})
		if m.random.IntN(8) > 0 {
			add(decodeAddr, reservation(m.worker.config.Pool.PagesFor(tokens)+m.random.IntN(2)))
		}
		for range m.random.IntN(3) {
			add(decodeAddr, wire.Abort{})
		}
		if m.random.IntN(4) == 0 {
			add(routerAddr, wire.Abort{})
		}
		if m.random.IntN(6) == 0 {
			add(decodeAddr, wire.Refused{Stage: wire.AtReserve, Reason: "no", Status: 400})
		}
	}
	if m.random.IntN(4) == 0 {
		m.messages = append(m.messages, wire.Message{From: routerAddr, Body: wire.PeerDown{Peer: decodeAddr}})
	}
	if m.random.IntN(4) == 0 { // it may come before the word that the other is gone, and may find rooms of its own to serve
		m.messages = append(m.messages, wire.Message{From: nextDecode, Body: nextUp})
		for room := wire.Room(1); room <= rooms; room++ {
			m.messages = append(m.messages, wire.Message{From: nextDecode, Room: room, Body: reservation(2)})
		}
	}
	m.random.Shuffle(len(m.messages), func(i, j int) { m.messages[i], m.messages[j] = m.messages[j], m.messages[i] })
}

// move gives the worker one turn with up to three things in it.
func (m *monkey) move() {
	var t port.Turn
	for range m.random.IntN(4) {
		m.draw(&t)
	}
	if m.random.IntN(20) == 0 && m.wake > m.now {
		m.now = m.wake - 1
	}
	m.turn(t)
}

func (m *monkey) draw(t *port.Turn) {
	switch m.random.IntN(5) {
	case 0:
		if n := len(m.messages); n > 0 {
			t.Messages = append(t.Messages, m.messages[n-1])
			m.messages = m.messages[:n-1]
		}
	case 1, 2: // operations of one queue end in order
		if len(m.ops) > 0 {
			d := opDone(m.ops[0], m.status())
			m.ops = m.ops[1:]
			m.give(t, port.Turn{Ops: []port.OpDone{d}})
		}
	case 3: // writes end in any order
		if n := len(m.writes); n > 0 {
			i := m.random.IntN(n)
			d := writeDone(m.writes[i], m.status())
			m.writes = append(m.writes[:i], m.writes[i+1:]...)
			m.give(t, port.Turn{Writes: []port.WriteDone{d}})
		}
	default: // an answer that was given before
		if n := len(m.answered); n > 0 {
			again := m.answered[m.random.IntN(n)]
			t.Ops, t.Writes = append(t.Ops, again.Ops...), append(t.Writes, again.Writes...)
		}
	}
}

// give delivers an answer, unless it is one of those that are lost.
func (m *monkey) give(t *port.Turn, answer port.Turn) {
	if m.loses && m.random.IntN(30) == 0 && len(answer.Writes) > 0 {
		m.lost++
		return
	}
	m.answered = append(m.answered, answer)
	t.Ops, t.Writes = append(t.Ops, answer.Ops...), append(t.Writes, answer.Writes...)
}

func (m *monkey) status() port.Status {
	if m.random.IntN(25) == 0 {
		return port.Status(1 + m.random.IntN(3))
	}
	return port.OK
}

// look follows the events since the last look.
func (m *monkey) look() {
	for _, e := range m.events[m.looked:] {
		switch e.Kind {
		case event.PagesReserved:
			m.Expect(m.holds[e.Room]).To(BeZero())
			m.holds[e.Room] = len(e.Pages)
		case event.PagesReleased:
			m.Expect(m.holds[e.Room]).To(BeNumerically(">", 0), "room %d gave back what it does not hold", e.Room)
			m.holds[e.Room] = 0
			m.expectUntouched(e.Room)
		case event.PagesQuarantined:
			m.Expect(m.holds[e.Room]).To(Equal(e.Count))
			m.holds[e.Room] = 0
		case event.TransferSent:
			m.sentDone[e.Room]++
		case event.RequestFinished:
			m.ended[e.Room]++
		}
	}
	m.looked = len(m.events)
}

func (m *monkey) expectUntouched(room wire.Room) {
	if !m.worker.config.Guards.Has(guard.DeferredRelease) {
		return
	}
	for _, o := range m.ops {
		m.Expect(o.Room).NotTo(Equal(room), "%s is under way on pages given back", o.Kind)
	}
	for _, w := range m.writes {
		m.Expect(w.Room).NotTo(Equal(room), "a write is under way from pages given back")
	}
}

// settleAll delivers and answers all that is left and lets every timer fire. A room whose write completion was lost is
// aborted, as decode does when it has waited long enough.
func (m *monkey) settleAll() {
	for quiet := false; !quiet; {
		var t port.Turn
		t.Messages, m.messages = m.messages, nil
		for _, o := range m.ops {
			t.Ops = append(t.Ops, opDone(o, port.OK))
		}
		for _, w := range m.writes {
			t.Writes = append(t.Writes, writeDone(w, port.OK))
		}
		m.ops, m.writes = nil, nil
		quiet = len(t.Messages)+len(t.Ops)+len(t.Writes) == 0 && m.wake == 0
		if quiet && m.lost > 0 {
			m.lost, quiet = 0, false
			for room := wire.Room(1); room <= rooms; room++ {
				t.Messages = append(t.Messages, wire.Message{From: decodeAddr, Room: room, Body: wire.Abort{}})
			}
		}
		if m.wake > m.now {
			m.now = m.wake - 1
		}
		m.turn(t)
		m.look()
	}
}

func (m *monkey) expectRest() {
	m.expectIdle()
	held := 0
	for room := wire.Room(1); room <= rooms; room++ {
		held += m.holds[room]
		m.Expect(m.ended[room]).To(Equal(1), "room %d", room)
		m.Expect(m.sentDone[room]).To(BeNumerically("<=", 1), "room %d", room)
	}
	m.Expect(held).To(BeZero())
}
