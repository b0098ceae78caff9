package decode

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

// monkey plays everything around one worker at random: it sends what may be sent in any order, acknowledges aborts late,
// falsely or never, answers what is outstanding with any status, queue by queue, and repeats answers.
type monkey struct {
	*rig
	random        *rand.Rand
	messages      []wire.Message
	answered      []port.OpDone
	maxNewTokens  map[wire.Room]int
	holds         turntest.Holdings
	looked, heard int // events, messages
}

const rooms = 7

// TestMonkey lets it play: the worker never panics, gives back or quarantines exactly what it reserved, answers every
// request once and in full or not at all, leaves no address open, and never gives pages back under deferred release
// while the device is at work on them.
func TestMonkey(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 9))
			guards := guard.Set(random.Uint32()) & guard.All
			if seed%4 == 0 {
				guards = guard.All
			}
			m := &monkey{
				rig: bareRig(t, guards), random: random, maxNewTokens: map[wire.Room]int{}, holds: turntest.Holdings{},
			}
			m.plan()
			for range 500 {
				m.move()
				m.look()
			}
			m.settleAll()
			m.expectRest()
		})
	}
}

// plan draws what comes unasked for, and whether prefill goes, and another one comes.
func (m *monkey) plan() {
	add := func(from wire.Addr, room wire.Room, body wire.Body) {
		m.messages = append(m.messages, wire.Message{From: from, Room: room, Body: body})
	}
	add(prefillAddr, 0, wire.PeerUp{MaxInputTokens: peerLimit, PageSize: pageSize})
	for room := wire.Room(1); room <= rooms; room++ {
		m.maxNewTokens[room] = 1 + m.random.IntN(5)
		add(routerAddr, room, wire.Submit{
			Prompt: turntest.Prompt(1 + m.random.IntN(peerLimit+10)), MaxNewTokens: m.maxNewTokens[room],
		})
		if m.random.IntN(3) == 0 {
			add(routerAddr, room, wire.Abort{})
		}
		if m.random.IntN(5) == 0 {
			stage := []wire.Stage{wire.AtIntake, wire.AtTransfer}[m.random.IntN(2)]
			add(prefillAddr, room, wire.Refused{Stage: stage, Reason: "no", Status: 400})
		}
	}
	if m.random.IntN(4) == 0 {
		add(routerAddr, 0, wire.PeerDown{Peer: prefillAddr})
	}
	if m.random.IntN(4) == 0 { // it may come before the word that the other is gone
		add(nextPrefill, 0, nextUp)
	}
	m.random.Shuffle(len(m.messages), func(i, j int) { m.messages[i], m.messages[j] = m.messages[j], m.messages[i] })
}

func (m *monkey) move() {
	var t port.Turn
	for range m.random.IntN(4) {
		m.draw(&t)
	}
	if m.random.IntN(25) == 0 {
		m.SkipToWake()
	}
	m.Turn(t)
	m.reply()
}

func (m *monkey) draw(t *port.Turn) {
	switch m.random.IntN(4) {
	case 0:
		if n := len(m.messages); n > 0 {
			i := m.random.IntN(n)
			t.Messages = append(t.Messages, m.messages[i])
			m.messages = append(m.messages[:i], m.messages[i+1:]...)
		}
	case 1, 2: // operations of one queue end in order
		queue := uint8(m.random.IntN(int(Queues)))
		for i, o := range m.Ops {
			if o.Queue == queue {
				m.Ops = append(m.Ops[:i:i], m.Ops[i+1:]...)
				d := m.opDone(o, m.status())
				m.answered = append(m.answered, d)
				t.Ops = append(t.Ops, d)
				break
			}
		}
	default: // an answer that was given before
		if n := len(m.answered); n > 0 {
			t.Ops = append(t.Ops, m.answered[m.random.IntN(n)])
		}
	}
}

func (m *monkey) status() port.Status { return turntest.DrawStatus(m.random.IntN) }

// reply lets prefill answer what it was told since the last turn, later: a reservation with "done" (mostly), an abort
// with an acknowledgement (mostly).
func (m *monkey) reply() {
	for _, message := range m.Sent[m.heard:] {
		var body wire.Body
		switch sent := message.Body.(type) {
		case wire.Reserved:
			body = m.claimOf(message.Room, len(sent.Pages)*pageSize)
			if tokens := len(m.worker.requests[message.Room].prompt); m.random.IntN(5) > 0 && tokens > 0 {
				body = m.claimOf(message.Room, tokens)
			}
		case wire.Abort:
			body = wire.AbortAck{Drained: m.random.IntN(3) > 0}
		default:
			continue
		}
		if m.random.IntN(6) > 0 {
			m.messages = append(m.messages, wire.Message{From: message.To, Room: message.Room, Body: body})
		}
	}
	m.heard = len(m.Sent)
}

// look follows the events since the last look.
func (m *monkey) look() {
	deferred := m.worker.config.Guards.Has(guard.DeferredRelease)
	for _, e := range m.Events[m.looked:] {
		m.holds.Follow(m.T, e)
		if deferred && e.Kind == event.PagesReleased {
			m.ExpectUntouched(e.Room)
		}
	}
	m.looked = len(m.Events)
}

// settleAll delivers and answers all that is left and lets every timer fire.
func (m *monkey) settleAll() {
	for len(m.messages)+len(m.Ops) > 0 || m.Wake > 0 {
		var t port.Turn
		t.Messages, m.messages = m.messages, nil
		for _, o := range m.Ops {
			t.Ops = append(t.Ops, m.opDone(o, port.OK))
		}
		m.Ops = nil
		m.SkipToWake()
		m.Turn(t)
		m.reply()
		m.look()
	}
}

func (m *monkey) expectRest() {
	m.expectIdle()
	for room := wire.Room(1); room <= rooms; room++ {
		m.Expect(m.holds[room]).To(BeZero())
		m.Expect(m.Answers(room)).To(HaveLen(1), "room %d", room)
		answer := m.Answers(room)[0]
		if answer.Status == 200 {
			m.Expect(answer.Tokens).To(HaveLen(m.maxNewTokens[room]))
		} else {
			m.Expect(answer.Tokens).To(BeEmpty())
			m.Expect(answer.Reason).NotTo(BeEmpty())
		}
	}
}
