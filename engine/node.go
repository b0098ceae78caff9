package engine

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// node is one worker with its seams: it drains the ports into a turn, calls Step and applies the effects.
type node struct {
	cluster *Cluster
	worker  port.Worker
	seams   port.Seams
	turn    port.Turn
	wake    wire.Tick
	due     bool // wants a turn though nothing arrived: the first one, or after wakeAll

	messages [16]wire.Message
	writes   [16]port.WriteDone
	ops      [16]port.OpDone
}

// Enabled is 1 when the worker has something to look at.
func (n *node) Enabled() int {
	if n.due || n.wake > 0 && n.cluster.now >= n.wake || n.drain() {
		return 1
	}
	return 0
}

// drain moves what has arrived into the turn and reports whether it holds anything.
func (n *node) drain() bool {
	for k := n.seams.Link.Poll(n.messages[:]); k > 0; k = n.seams.Link.Poll(n.messages[:]) {
		n.turn.Messages = append(n.turn.Messages, n.messages[:k]...)
	}
	if n.seams.Transport != nil {
		for k := n.seams.Transport.Poll(n.writes[:]); k > 0; k = n.seams.Transport.Poll(n.writes[:]) {
			n.turn.Writes = append(n.turn.Writes, n.writes[:k]...)
		}
	}
	if n.seams.Device != nil {
		for k := n.seams.Device.Poll(n.ops[:]); k > 0; k = n.seams.Device.Poll(n.ops[:]) {
			n.turn.Ops = append(n.turn.Ops, n.ops[:k]...)
		}
	}
	return len(n.turn.Messages)+len(n.turn.Writes)+len(n.turn.Ops) > 0
}

// Step gives the worker one turn. Events come first, so that one stands in the journal before whatever it causes.
func (n *node) Step(int) {
	n.drain()
	n.due = false
	n.turn.Now = n.cluster.now
	e := n.worker.Step(n.turn)
	n.turn.Messages, n.turn.Writes, n.turn.Ops = n.turn.Messages[:0], n.turn.Writes[:0], n.turn.Ops[:0]
	n.wake = e.Wake
	for i := range e.Events {
		n.cluster.record(&e.Events[i])
	}
	for _, r := range e.Revoke {
		n.seams.Memory.Revoke(r)
	}
	for _, t := range e.CancelWrites {
		n.seams.Transport.Cancel(t)
	}
	for _, t := range e.CancelOps {
		n.seams.Device.Cancel(t)
	}
	for _, r := range e.Grant {
		n.seams.Memory.Grant(r)
	}
	for _, o := range e.Ops {
		n.seams.Device.Submit(o)
	}
	for _, w := range e.Writes {
		n.seams.Transport.Submit(w)
	}
	for _, m := range e.Send {
		n.seams.Link.Send(m)
	}
}
