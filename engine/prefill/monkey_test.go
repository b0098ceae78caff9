package prefill

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
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
	holds    turntest.Holdings
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
				rig: newRig(t, guards), random: random, holds: turntest.Holdings{}, sentDone: map[wire.Room]int{},
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
		add(routerAddr, wire.Submit{Prompt: turntest.Prompt(tokens), MaxNewTokens: 1})
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
	if m.random.IntN(20) == 0 {
		m.SkipToWake()
	}
	m.Turn(t)
}

func (m *monkey) draw(t *port.Turn) {
	switch m.random.IntN(5) {
	case 0:
		if n := len(m.messages); n > 0 {
			t.Messages = append(t.Messages, m.messages[n-1])
			m.messages = m.messages[:n-1]
		}
	case 1, 2: // operations of one queue end in order
		if len(m.Ops) > 0 {
			d := opDone(m.Ops[0], m.status())
			m.Ops = m.Ops[1:]
			m.give(t, port.Turn{Ops: []port.OpDone{d}})
		}
	case 3: // writes end in any order
		if n := len(m.Writes); n > 0 {
			i := m.random.IntN(n)
			d := writeDone(m.Writes[i], m.status())
			m.Writes = append(m.Writes[:i], m.Writes[i+1:]...)
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

func (m *monkey) status() port.Status { return turntest.DrawStatus(m.random.IntN) }

// look follows the events since the last look.
func (m *monkey) look() {
	for _, e := range m.Events[m.looked:] {
		m.holds.Follow(m.T, e)
		switch e.Kind {
		case event.PagesReleased:
			if m.worker.config.Guards.Has(guard.DeferredRelease) {
				m.ExpectUntouched(e.Room)
			}
		case event.TransferSent:
			m.sentDone[e.Room]++
		case event.RequestFinished:
			m.ended[e.Room]++
		}
	}
	m.looked = len(m.Events)
}

// settleAll delivers and answers all that is left and lets every timer fire. A room whose write completion was lost is
// aborted, as decode does when it has waited long enough.
func (m *monkey) settleAll() {
	for quiet := false; !quiet; {
		var t port.Turn
		t.Messages, m.messages = m.messages, nil
		for _, o := range m.Ops {
			t.Ops = append(t.Ops, opDone(o, port.OK))
		}
		for _, w := range m.Writes {
			t.Writes = append(t.Writes, writeDone(w, port.OK))
		}
		m.Ops, m.Writes = nil, nil
		quiet = len(t.Messages)+len(t.Ops)+len(t.Writes) == 0 && m.Wake == 0
		if quiet && m.lost > 0 {
			m.lost, quiet = 0, false
			for room := wire.Room(1); room <= rooms; room++ {
				t.Messages = append(t.Messages, wire.Message{From: decodeAddr, Room: room, Body: wire.Abort{}})
			}
		}
		m.SkipToWake()
		m.Turn(t)
		m.look()
	}
}

func (m *monkey) expectRest() {
	m.ExpectIdle()
	held := 0
	for room := wire.Room(1); room <= rooms; room++ {
		held += m.holds[room]
		m.Expect(m.ended[room]).To(Equal(1), "room %d", room)
		m.Expect(m.sentDone[room]).To(BeNumerically("<=", 1), "room %d", room)
	}
	m.Expect(held).To(BeZero())
}
