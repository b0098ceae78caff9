package journal

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// Memory is a sink that keeps a run's events for checks in the same process. It owns copies, and Reset keeps their
// storage for the next run. The zero Memory is ready.
type Memory struct {
	events  []event.Event
	pages   arena[wire.Page]
	output  arena[wire.Token]
	samples arena[event.Sample]
	spans   arena[event.Span]
	digests arena[uint64]
	line    []byte
	sum     hash.Hash
	hash    [32]byte
}

// Record keeps a copy of e.
func (m *Memory) Record(e *event.Event) {
	m.events = append(m.events, *e)
	kept := &m.events[len(m.events)-1]
	kept.Pages = m.pages.keep(e.Pages)
	kept.Output = m.output.keep(e.Output)
	kept.Samples = m.samples.keep(e.Samples)
	kept.Spans = m.spans.keep(e.Spans)
	for b := range e.Digests {
		kept.Digests[b] = m.digests.keep(e.Digests[b])
	}
}

// Events is everything recorded since the last Reset, in order; valid until the next.
func (m *Memory) Events() []event.Event { return m.events }

// Reset forgets all events; those handed out before are overwritten.
func (m *Memory) Reset() {
	m.events = m.events[:0]
	m.pages.reset()
	m.output.reset()
	m.samples.reset()
	m.spans.reset()
	m.digests.reset()
}

// AppendLines appends the events to dst as a journal spells them, one a line.
func (m *Memory) AppendLines(dst []byte) []byte {
	for i := range m.events {
		dst = append(AppendEvent(dst, &m.events[i]), '\n')
	}
	return dst
}

// Hash is the SHA-256 of what AppendLines appends: equal for equal runs.
func (m *Memory) Hash() [32]byte {
	if m.sum == nil {
		m.sum = sha256.New()
	}
	m.sum.Reset()
	m.line = m.line[:0]
	for i := range m.events {
		m.line = append(AppendEvent(m.line, &m.events[i]), '\n')
		if len(m.line) >= 1<<14 {
			m.sum.Write(m.line)
			m.line = m.line[:0]
		}
	}
	m.sum.Write(m.line)
	m.sum.Sum(m.hash[:0])
	return m.hash
}

// Difference says where two runs part: the first event that differs, as both have it, or "" if they are equal.
func Difference(a, b []event.Event) string {
	for i := range max(len(a), len(b)) {
		lines := [2]string{"(no event)", "(no event)"}
		for j, events := range [2][]event.Event{a, b} {
			if i < len(events) {
				lines[j] = string(AppendEvent(nil, &events[i]))
			}
		}
		if lines[0] != lines[1] {
			return fmt.Sprintf("event %d differs:\n  %s\n  %s", i, lines[0], lines[1])
		}
	}
	return ""
}

// arena keeps lists one after the other in a block that is used again after reset. When a block is full the next is
// larger; the lists in the old one stay where they are.
type arena[T any] struct{ block []T }

const arenaEntriesMin = 256

func (a *arena[T]) keep(list []T) []T {
	if list == nil {
		return nil
	}
	start := len(a.block)
	if cap(a.block)-start < len(list) {
		a.block = make([]T, 0, max(2*cap(a.block), len(list), arenaEntriesMin))
		start = 0
	}
	a.block = append(a.block, list...)
	return a.block[start:len(a.block):len(a.block)]
}

func (a *arena[T]) reset() { a.block = a.block[:0] }
