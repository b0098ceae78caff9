package kv

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/kv/fifo"
	"github.com/stalepage/stalepage/engine/port"
)

// Slots hands out metadata slots, indices into a worker's record region; it implements port.Slots. The slot that has
// been free longest goes first, so that a stale record stays readable for as long as it can.
type Slots struct {
	free fifo.Queue[int]
	held []bool
	err  error
}

var _ port.Slots = (*Slots)(nil)

// NewSlots returns the slots 0 to count-1, all free.
func NewSlots(count int) *Slots {
	s := &Slots{held: make([]bool, max(count, 0))}
	for slot := range s.held {
		s.free.Push(slot)
	}
	return s
}

// Reserve hands out a slot; false when none is free.
func (s *Slots) Reserve() (slot int, ok bool) {
	if s.free.Len() == 0 {
		return 0, false
	}
	slot = s.free.Pop()
	s.held[slot] = true
	return slot, true
}

// Release takes a slot back. One that is not held is ignored, and kept in Err.
func (s *Slots) Release(slot int) {
	if slot < 0 || slot >= len(s.held) || !s.held[slot] {
		if s.err == nil {
			s.err = fmt.Errorf("metadata slot %d of %d was released while it was not held", slot, len(s.held))
		}
		return
	}
	s.held[slot] = false
	s.free.Push(slot)
}

// Err is the first impossible release, or nil; see Allocator.Err.
func (s *Slots) Err() error { return s.err }

// Free is how many slots could be reserved now.
func (s *Slots) Free() int { return s.free.Len() }

// Capacity is how many slots there are.
func (s *Slots) Capacity() int { return len(s.held) }
