package engine

import (
	"github.com/stalepage/stalepage/engine/device/host"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/memory"
	"github.com/stalepage/stalepage/engine/turn"
)

// Parts keeps what clusters are made of from one to the next, with the memory that it has grown: who runs thousands of
// small clusters one after another spends much of the time on growing it otherwise. Nothing but memory is kept: a
// cluster of used parts does what one of new parts does, byte for byte. The zero value is ready. It serves one cluster
// at a time; the last must be closed before the next is built.
type Parts struct {
	net        *memory.Net
	transports pile[memory.Transport]
	devices    pile[host.Device]
	nodes      pile[node]
	desks      pile[turn.Memory]
}

// pile is a list of parts of one sort; the first so many are in use.
type pile[T any] struct {
	list []*T
	used int
}

// take returns a part that is not in use, nil if there is none.
func (p *pile[T]) take() *T {
	if p.used == len(p.list) {
		return nil
	}
	p.used++
	return p.list[p.used-1]
}

// add puts a part that is in use on the pile.
func (p *pile[T]) add(part *T) {
	p.list = append(p.list, part)
	p.used++
}

// begin makes all parts free.
func (p *Parts) begin() {
	p.transports.used, p.devices.used, p.nodes.used, p.desks.used = 0, 0, 0, 0
	if p.net == nil {
		p.net = memory.NewNet()
	} else {
		p.net.Reset()
	}
}

func (p *Parts) transport(config memory.Config) *memory.Transport {
	t := p.transports.take()
	if t == nil {
		t = memory.NewTransport(config)
		p.transports.add(t)
	} else {
		t.Reset(config)
	}
	return t
}

func (p *Parts) device(config host.Config) *host.Device {
	d := p.devices.take()
	if d == nil {
		d = host.New(config)
		p.devices.add(d)
	} else {
		d.Reset(config)
	}
	return d
}

func (p *Parts) desk() *turn.Memory {
	m := p.desks.take()
	if m == nil {
		m = &turn.Memory{}
		p.desks.add(m)
	}
	return m
}

func (p *Parts) node(c *Cluster, w port.Worker, s port.Seams) *node {
	n := p.nodes.take()
	if n == nil {
		n = &node{}
		p.nodes.add(n)
	}
	n.cluster, n.worker, n.seams, n.wake, n.due = c, w, s, 0, true
	n.turn.Messages, n.turn.Writes, n.turn.Ops = n.turn.Messages[:0], n.turn.Writes[:0], n.turn.Ops[:0]
	return n
}
