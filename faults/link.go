package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// linkMoves is what a fault does to the messages that match picks as their sender sends them.
type linkMoves struct {
	match func(wire.Message) bool
	// edit says what is sent in its place; equal before and after mean that nothing was changed.
	edit func(wire.Message) (sent wire.Message, before, after string)
	// hold keeps the message back, and everything behind it on its channel, until the fault's release.
	hold               bool
	swallow, duplicate bool
}

// linkTap stands on the sending side of one worker's link and plays one fault's moves.
type linkTap struct {
	inner  port.Link
	fault  *instance
	source wire.Addr
	moves  linkMoves
	held   []heldMessage
	passed int
}

type heldMessage struct {
	message     wire.Message
	picked      bool
	at          wire.Tick
	seen, moved int
}

// installLinkTap puts a tap on a worker's link.
func installLinkTap(i *instance, seams *port.Seams, m linkMoves) {
	if seams.Link == nil {
		return
	}
	t := &linkTap{inner: seams.Link, fault: i, source: seams.Addr, moves: m}
	i.holders = append(i.holders, t)
	seams.Link = t
}

// Send passes the message on, or plays the moves on it.
func (t *linkTap) Send(m wire.Message) {
	picked := t.fault.active() && t.fault.aims(m.Room) && t.moves.match(m)
	if picked {
		t.pick(m)
		return
	}
	t.pass(m, false)
}

// pass delivers a message, unless its channel is held: links are first in, first out.
func (t *linkTap) pass(m wire.Message, picked bool) {
	for _, h := range t.held {
		if h.message.From == m.From && h.message.To == m.To {
			t.keep(m, picked)
			return
		}
	}
	t.passed++
	t.inner.Send(m)
}

func (t *linkTap) keep(m wire.Message, picked bool) {
	t.held = append(t.held, heldMessage{
		message: m, picked: picked, at: t.fault.injector.now, seen: t.fault.injector.events, moved: t.passed,
	})
}

func (t *linkTap) pick(m wire.Message) {
	sent := m
	if t.moves.edit != nil {
		changed, before, after := t.moves.edit(m)
		if before != after {
			t.fault.take()
			t.fire(m, before, after)
			sent = changed
		}
	}
	switch {
	case t.moves.swallow:
		t.fault.take()
		t.fire(m, messageName(m), "no message")
	case t.moves.duplicate:
		t.fault.take()
		t.fire(m, messageName(m), messageName(m)+", twice")
		t.pass(sent, false)
		t.pass(sent, false)
	case t.moves.hold:
		t.fault.take()
		t.keep(sent, true)
	default:
		t.pass(sent, false)
	}
}

// Poll is the inner link's: only what the worker sends is touched.
func (t *linkTap) Poll(out []wire.Message) int { return t.inner.Poll(out) }

func (t *linkTap) heldCount() int { return len(t.held) }

func (t *linkTap) release(why string) {
	held := t.held
	t.held = nil
	for _, h := range held {
		if h.picked && (h.seen != t.fault.injector.events || h.moved != t.passed) {
			t.fire(h.message, fmt.Sprintf("%s sent at tick %d", messageName(h.message), h.at),
				fmt.Sprintf("%s delivered at tick %d, after %s", messageName(h.message), t.fault.injector.now, why))
		}
		t.inner.Send(h.message)
	}
	t.passed += len(held)
}

func (t *linkTap) fire(m wire.Message, before, after string) {
	t.fault.fire(t.source, m.Room, before, after)
}

// messageName spells a message: "abort-ack from prefill/0#1 to decode/0#1".
func messageName(m wire.Message) string {
	return fmt.Sprintf("%s from %s to %s", m.Body.Name(), m.From, m.To)
}
