// Package transfertest is the contract of port.Transport and port.Link as a test: every transport, whatever it moves
// bytes with, is held to it. It checks what a worker relies on: exactly one answer a write, that no byte lands after the
// answer, after a revocation, or before what the write waits for, and that what landed is what lay in the source then.
//
// What it does not check: speed, behaviour under memory pressure, what a peer's crash does.
package transfertest

import (
	"bytes"
	"testing"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/porttest"
	"github.com/stalepage/stalepage/engine/wire"
)

// Harness is one idle transport between two pools, each with a record region.
type Harness struct {
	Transport port.Transport
	// Advance is porttest.Subject's.
	Advance func() bool
	// Memory grants and revokes regions of the target.
	Memory port.Memory
	// Source and Target are pools of at least 40 pages of the same page size, at different bases.
	Source, Target port.Layout
	// SourceRecords and TargetRecords are the bases of record regions of at least 4 records.
	SourceRecords, TargetRecords uint16
	// Read copies what lies in a span of either side, Write changes it; neither goes through the transport. Both take
	// any generation for valid.
	Read  func(wire.Span) []byte
	Write func(wire.Span, []byte)
}

// Clause is one promise of the contract of a transport.
type Clause = porttest.Clause[*Harness]

// Contract holds a transport to its contract. build is called once a clause and cleans up through its argument.
func Contract(t *testing.T, build func(testing.TB) *Harness) {
	t.Helper()
	porttest.Run(t, Clauses(), build)
}

// Clauses returns the contract: that of any port, and that of a transport.
func Clauses() []Clause {
	var clauses []Clause
	for _, c := range porttest.Clauses[port.Write, port.WriteDone]() {
		clauses = append(clauses, Clause{Name: c.Name, Check: func(t porttest.T, h *Harness) {
			subject := h.subject()
			c.Check(t, subject)
		}})
	}
	return append(clauses, transportClauses...)
}

type subject = porttest.Subject[port.Write, port.WriteDone]

// subject is the harness as the generic clauses see it. It is a view: advancing it advances the harness.
func (h *Harness) subject() *subject {
	return &subject{
		Port:    h.Transport,
		Advance: func() bool { return h.Advance() },
		Good: func(ticket wire.Ticket, after ...wire.Ticket) port.Write {
			return h.write(ticket, wire.V0, 0, 2, after...)
		},
		Bad: func(ticket wire.Ticket) port.Write {
			w := h.write(ticket, wire.V0, 0, 2)
			w.Dst = w.Dst[:1]
			return w
		},
		Status: func(d port.WriteDone) port.Status { return d.Status },
	}
}

// sourcePage and targetPage place an ordinal in either pool: scattered, differently on each side, never page 0.
func sourcePage(ordinal int) wire.Page { return wire.Page(1 + ordinal*7%37) }
func targetPage(ordinal int) wire.Page { return wire.Page(1 + ordinal*5%37) }

// write moves count pages of one buffer, at most 37 (the placement is one to one up to there).
func (h *Harness) write(ticket wire.Ticket, b wire.Buffer, first, count int, after ...wire.Ticket) port.Write {
	w := port.Write{Ticket: ticket, Room: 5, Buffer: b, First: wire.Ordinal(first), After: after}
	for ordinal := first; ordinal < first+count; ordinal++ {
		w.Src = append(w.Src, h.Source.Span(b, sourcePage(ordinal), 0))
		w.Dst = append(w.Dst, h.Target.Span(b, targetPage(ordinal), 0))
	}
	return w
}

// fill gives every byte of both pools a value that its place and side determine.
func (h *Harness) fill(salt byte) {
	for _, layout := range []port.Layout{h.Source, h.Target} {
		span := wire.Span{Region: wire.Region{Base: layout.Base}, Length: layout.Bytes()}
		content := make([]byte, span.Length)
		state := uint32(salt) + uint32(layout.Base)<<8 + 1
		for i := range content {
			state = state*1_664_525 + 1_013_904_223 // Numerical Recipes' generator: cheap, and no two pages alike
			content[i] = byte(state >> 24)
		}
		h.Write(span, content)
	}
}

// target copies the whole pool of the target.
func (h *Harness) target() []byte {
	return h.Read(wire.Span{Region: wire.Region{Base: h.Target.Base}, Length: h.Target.Bytes()})
}

// landed is the pool of the target as it should be once the first count spans of w have landed on before.
func (h *Harness) landed(before []byte, w port.Write, count int) []byte {
	after := bytes.Clone(before)
	for i := range count {
		copy(after[w.Dst[i].Offset:], h.Read(w.Src[i]))
	}
	return after
}

// expectTarget compares the target's pool with want and names the first page that differs.
func (h *Harness) expectTarget(t porttest.T, want []byte, when string) {
	t.Helper()
	got := h.target()
	if bytes.Equal(got, want) {
		return
	}
	for i := range got {
		if got[i] != want[i] {
			b := min(wire.Buffer(int64(i)/(int64(h.Target.Pages)*h.Target.BufferBytes(wire.K0))), wire.Stamp)
			page := (int64(i) - h.Target.Span(b, 0, 0).Offset) / h.Target.BufferBytes(b)
			t.Errorf("%s: the target differs from what it should hold, first in buffer %s of page %d", when, b, page)
			return
		}
	}
}

// one drains the transport and returns its only answer.
func (h *Harness) one(t porttest.T) port.WriteDone {
	t.Helper()
	answers := h.subject().Drain(t)
	if len(answers) != 1 {
		t.Fatalf("%d answers, want one: %+v", len(answers), answers)
	}
	return answers[0]
}
