// Package tickets is a map from tickets. Every operation of a run is entered and found again by its ticket several times
// over, in its worker and in its port, and few are under way at once: a table of one probe is a third of what the
// built-in map costs there.
package tickets

import (
	"math/bits"

	"github.com/stalepage/stalepage/engine/wire"
)

// Map is a hash table with linear probing that grows by doubling and never shrinks. The zero value is an empty map. It
// has no order, so it cannot be ranged over; ticket zero names nothing and must not be put. Not for concurrent use.
type Map[V any] struct {
	slots []slot[V] // length is zero or a power of two; at most half are taken
	count int
}

type slot[V any] struct {
	ticket wire.Ticket // 0 in a free one
	value  V
}

const slotsMin = 16

// Len is how many tickets are in the map.
func (m *Map[V]) Len() int { return m.count }

// Reset empties the map and keeps its memory.
func (m *Map[V]) Reset() {
	if m.count > 0 {
		clear(m.slots)
		m.count = 0
	}
}

// Get is the value of t; the zero value and false if t is not in the map.
func (m *Map[V]) Get(t wire.Ticket) (v V, ok bool) {
	if m.count == 0 || t == 0 {
		return v, false
	}
	s := &m.slots[m.find(t)]
	return s.value, s.ticket == t
}

// Put sets the value of t.
func (m *Map[V]) Put(t wire.Ticket, v V) {
	if 2*(m.count+1) > len(m.slots) {
		m.grow()
	}
	s := &m.slots[m.find(t)]
	if s.ticket == 0 {
		m.count++
	}
	*s = slot[V]{ticket: t, value: v}
}

// Delete takes t out, if it is in the map.
func (m *Map[V]) Delete(t wire.Ticket) {
	if m.count == 0 {
		return
	}
	hole := m.find(t)
	if m.slots[hole].ticket != t {
		return
	}
	m.count--
	// What stands behind the hole moves up unless that would put it before its home: no search may end too early.
	mask := len(m.slots) - 1
	for at := (hole + 1) & mask; m.slots[at].ticket != 0; at = (at + 1) & mask {
		if home := m.home(m.slots[at].ticket); (at-home)&mask >= (at-hole)&mask {
			m.slots[hole] = m.slots[at]
			hole = at
		}
	}
	m.slots[hole] = slot[V]{}
}

// find is the slot of t, or the free one where it would go. There is always a free one.
func (m *Map[V]) find(t wire.Ticket) int {
	mask := len(m.slots) - 1
	at := m.home(t)
	for m.slots[at].ticket != t && m.slots[at].ticket != 0 {
		at = (at + 1) & mask
	}
	return at
}

// home is where the search for t begins: the high bits of a product with the golden ratio, which spread what a sequence
// counts up.
func (m *Map[V]) home(t wire.Ticket) int {
	return int(uint64(t) * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(len(m.slots)-1))))
}

func (m *Map[V]) grow() {
	before := m.slots
	m.slots = make([]slot[V], max(slotsMin, 2*len(before)))
	for i := range before {
		if before[i].ticket != 0 {
			m.slots[m.find(before[i].ticket)] = before[i]
		}
	}
}
