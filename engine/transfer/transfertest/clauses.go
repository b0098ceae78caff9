package transfertest

import (
	"bytes"
	"math"
	"slices"

	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/porttest"
	"github.com/stalepage/stalepage/engine/wire"
)

// gate is a ticket whose write the clauses submit when they want the waiting ones to run.
const gate wire.Ticket = 500

var transportClauses = []Clause{
	{Name: "what lands is the source, and nothing else changes", Check: landsWhole},
	{Name: "a record lands in its slot", Check: landsRecord},
	{Name: "no byte lands after the answer", Check: silentAfterDone},
	{Name: "no byte lands before the dependency has ended", Check: silentBeforeDependency},
	{Name: "the source is read when it lands", Check: readsLate},
	{Name: "the digest is that of the bytes", Check: digests},
	{Name: "a region that is not granted refuses the write", Check: revoked},
	{Name: "no byte lands after a revocation", Check: silentAfterRevocation},
	{Name: "a span outside the registered bytes refuses the write", Check: outOfRange},
	{Name: "a write of no spans ends OK", Check: noSpans},
	{Name: "a malformed write is refused", Check: malformed},
	{Name: "submit copies the spans", Check: copiesSpans},
}

func landsWhole(t porttest.T, h *Harness) {
	h.fill(1)
	for b := wire.K0; b <= wire.Stamp; b++ {
		before := h.target()
		w := h.write(wire.Ticket(1+b), b, 3, 5)
		h.Transport.Submit(w)
		done := h.one(t)
		if done.Status != port.OK {
			t.Errorf("buffer %s: %s, want ok", b, done.Status)
		}
		if want := 5 * h.Target.BufferBytes(b); done.ClaimedBytes != want {
			t.Errorf("buffer %s: %d bytes claimed, want %d", b, done.ClaimedBytes, want)
		}
		h.expectTarget(t, h.landed(before, w, 5), "after the write of "+b.String())
	}
}

func landsRecord(t porttest.T, h *Harness) {
	record := make([]byte, port.RecordBytes)
	for i := range record {
		record[i] = byte(i + 1)
	}
	source, target := port.RecordSpan(h.SourceRecords, 1, 0), port.RecordSpan(h.TargetRecords, 3, 0)
	h.Write(source, record)
	h.Transport.Submit(port.Write{
		Ticket: 1, Buffer: wire.Record, Src: []wire.Span{source}, Dst: []wire.Span{target},
	})
	if done := h.one(t); done.Status != port.OK || done.ClaimedBytes != port.RecordBytes {
		t.Errorf("answer %+v, want ok and %d bytes", done, port.RecordBytes)
	}
	if !bytes.Equal(h.Read(target), record) {
		t.Errorf("slot 3 holds %v, want %v", h.Read(target), record)
	}
	if others := h.Read(port.RecordSpan(h.TargetRecords, 2, 0)); !bytes.Equal(others, make([]byte, port.RecordBytes)) {
		t.Errorf("slot 2 changed")
	}
}

// silentAfterDone cancels a write after each possible number of advances, changes the source once the answer is there,
// and sees whether anything of it still arrives.
func silentAfterDone(t porttest.T, h *Harness) {
	const pages = 30
	for advances := range pages + 2 {
		h.fill(byte(advances))
		h.Transport.Submit(h.write(wire.Ticket(1+advances), wire.K1, 0, pages))
		for range advances {
			h.Advance()
		}
		h.Transport.Cancel(wire.Ticket(1 + advances))
		s := h.subject()
		var answers [2]port.WriteDone
		count := 0
		for count == 0 {
			count = s.Port.Poll(answers[:])
			if count == 0 && !h.Advance() {
				t.Fatalf("cancelled after %d advances: no answer", advances)
			}
		}
		h.Write(wire.Span{Region: wire.Region{Base: h.Source.Base}, Length: h.Source.Bytes()}, make([]byte, h.Source.Bytes()))
		then := h.target()
		s.Expect(t)
		h.expectTarget(t, then, "after the answer to a write cancelled meanwhile")
		claimed, whole := answers[0].ClaimedBytes, pages*h.Target.BufferBytes(wire.K1)
		if claimed > whole || claimed < whole && answers[0].Status == port.OK {
			t.Errorf("status %s with %d bytes claimed of %d", answers[0].Status, claimed, whole)
		}
	}
}

func silentBeforeDependency(t porttest.T, h *Harness) {
	h.fill(2)
	before := h.target()
	w := h.write(1, wire.K0, 0, 6, gate)
	h.Transport.Submit(w)
	h.subject().Expect(t)
	h.expectTarget(t, before, "while the dependency was pending")
	h.Transport.Submit(h.write(gate, wire.V1, 0, 0))
	h.subject().Expect(t, porttest.End{Ticket: gate, Status: port.OK}, porttest.End{Ticket: 1, Status: port.OK})
	h.expectTarget(t, h.landed(before, w, 6), "after the dependency had ended")
}

// readsLate changes the source between Submit and landing: one-sided writes read memory, not a snapshot.
func readsLate(t porttest.T, h *Harness) {
	h.fill(3)
	w := h.write(1, wire.V0, 0, 3, gate)
	w.Digest = true
	h.Transport.Submit(w)
	h.subject().Expect(t)
	h.fill(4)
	before := h.target()
	h.Transport.Submit(h.write(gate, wire.V1, 0, 0))
	answers := h.subject().Expect(t, porttest.End{Ticket: gate, Status: port.OK}, porttest.End{Ticket: 1, Status: port.OK})
	h.expectTarget(t, h.landed(before, w, 3), "after the source had changed")
	for _, done := range answers {
		if done.Ticket == 1 && !slices.Equal(done.Digests, h.digests(w)) {
			t.Errorf("digests %x, want those of the bytes as they landed, %x", done.Digests, h.digests(w))
		}
	}
}

// digests is what the sender should sum up for w, from the bytes in the source now.
func (h *Harness) digests(w port.Write) []uint64 {
	sums := make([]uint64, kv.DigestGroups(int(w.First), len(w.Src)))
	for i, span := range w.Src {
		ordinal := int(w.First) + i
		sums[kv.DigestGroup(int(w.First), ordinal)] += kv.Digest(w.Buffer, ordinal, h.Read(span))
	}
	return sums
}

func digests(t porttest.T, h *Harness) {
	h.fill(5)
	for i, first := range []int{0, wire.DigestGroupPages - 3, 2*wire.DigestGroupPages - 1, 200} {
		w := h.write(wire.Ticket(1+i), wire.K1, first, 5)
		w.Digest = true
		h.Transport.Submit(w)
		if done := h.one(t); !slices.Equal(done.Digests, h.digests(w)) {
			t.Errorf("from ordinal %d: digests %x, want %x", first, done.Digests, h.digests(w))
		}
	}
	h.Transport.Submit(h.write(99, wire.K1, 0, 5))
	if done := h.one(t); done.Digests != nil {
		t.Errorf("digests %x without being asked", done.Digests)
	}
}

// under puts the target spans of w under a generation.
func under(w port.Write, generation uint32) port.Write {
	for i := range w.Dst {
		w.Dst[i].Region.Generation = generation
	}
	return w
}

func revoked(t porttest.T, h *Harness) {
	h.fill(6)
	before := h.target()
	refused := func(ticket wire.Ticket, generation uint32, when string) {
		h.Transport.Submit(under(h.write(ticket, wire.K0, 0, 4), generation))
		if done := h.one(t); done.Status != port.Rejected || done.ClaimedBytes != 0 {
			t.Errorf("%s: answer %+v, want rejected and no bytes", when, done)
		}
		h.expectTarget(t, before, when)
	}
	refused(1, 7, "a generation never granted")
	region := wire.Region{Base: h.Target.Base, Generation: 7}
	h.Memory.Grant(region)
	h.Memory.Grant(wire.Region{Base: h.Target.Base, Generation: 8})
	h.Memory.Revoke(region)
	refused(2, 7, "a generation revoked before the write")
	h.Memory.Grant(wire.Region{Base: h.Target.Base, Generation: 9})
	h.Transport.Submit(under(h.write(3, wire.K0, 0, 4, gate), 9))
	h.subject().Expect(t)
	h.Memory.Revoke(wire.Region{Base: h.Target.Base, Generation: 9})
	h.Transport.Submit(h.write(gate, wire.V1, 0, 0))
	h.subject().Expect(t, porttest.End{Ticket: gate, Status: port.OK}, porttest.End{Ticket: 3, Status: port.Rejected})
	h.expectTarget(t, before, "a generation revoked while the write waited")
	w := under(h.write(4, wire.K0, 0, 4), 8)
	h.Transport.Submit(w)
	h.subject().Expect(t, porttest.End{Ticket: 4, Status: port.OK})
	h.expectTarget(t, h.landed(before, w, 4), "a generation still granted")
}

// silentAfterRevocation revokes after each possible number of advances.
func silentAfterRevocation(t porttest.T, h *Harness) {
	const pages = 10
	for advances := range pages + 2 {
		h.fill(byte(100 + advances))
		generation := uint32(20 + advances)
		h.Memory.Grant(wire.Region{Base: h.Target.Base, Generation: generation})
		h.Transport.Submit(under(h.write(wire.Ticket(1+advances), wire.V0, 0, pages), generation))
		for range advances {
			h.Advance()
		}
		h.Memory.Revoke(wire.Region{Base: h.Target.Base, Generation: generation})
		then := h.target()
		done := h.one(t)
		h.expectTarget(t, then, "after the revocation")
		whole := pages * h.Target.BufferBytes(wire.V0)
		if (done.Status == port.OK) != (done.ClaimedBytes == whole) || done.Status == port.Rejected && done.ClaimedBytes != 0 {
			t.Errorf("revoked after %d advances: answer %+v", advances, done)
		}
	}
}

func outOfRange(t porttest.T, h *Harness) {
	h.fill(7)
	before := h.target()
	size := h.Target.BufferBytes(wire.K0)
	for i, span := range []wire.Span{
		{Region: wire.Region{Base: h.Target.Base}, Offset: h.Target.Bytes() - size + 1, Length: size},
		{Region: wire.Region{Base: h.Target.Base}, Offset: -1, Length: size},
		{Region: wire.Region{Base: h.Target.Base}, Offset: math.MaxInt64 - 1, Length: size},
		{Region: wire.Region{Base: 4_321}, Length: size},
	} {
		w := h.write(wire.Ticket(1+i), wire.K0, 0, 1)
		w.Dst[0] = span
		h.Transport.Submit(w)
		if done := h.one(t); done.Status != port.Rejected {
			t.Errorf("target span %+v: %s, want rejected", span, done.Status)
		}
	}
	w := h.write(50, wire.K0, 0, 3)
	w.Src[1].Offset = -1
	h.Transport.Submit(w)
	if done := h.one(t); done.Status != port.Failed && done.Status != port.Rejected {
		t.Errorf("a source span before the region: %s, want failed or rejected", done.Status)
	} else if done.ClaimedBytes > size {
		t.Errorf("%d bytes claimed, one page of %d could be read before the span that is no memory", done.ClaimedBytes, size)
	}
	want := h.landed(before, w, 1)
	if got := h.target(); !bytes.Equal(got, before) && !bytes.Equal(got, want) {
		t.Errorf("more than the page before the bad span landed")
	}
}

func noSpans(t porttest.T, h *Harness) {
	w := h.write(1, wire.K0, 0, 0)
	w.Digest = true
	h.Transport.Submit(w)
	if done := h.one(t); done.Status != port.OK || done.ClaimedBytes != 0 || len(done.Digests) != 0 {
		t.Errorf("answer %+v, want ok with nothing in it", done)
	}
}

func malformed(t porttest.T, h *Harness) {
	h.fill(8)
	before := h.target()
	for i, edit := range []func(*port.Write){
		func(w *port.Write) { w.Dst = w.Dst[:2] },
		func(w *port.Write) { w.Src = nil },
		func(w *port.Write) { w.Dst[2].Length-- },
		func(w *port.Write) { w.First = -1 },
		func(w *port.Write) { w.Buffer = wire.Buffers },
	} {
		w := h.write(wire.Ticket(1+i), wire.K0, 0, 3)
		edit(&w)
		h.Transport.Submit(w)
		if done := h.one(t); done.Status != port.Rejected {
			t.Errorf("malformed write %d: %s, want rejected", i, done.Status)
		}
	}
	h.expectTarget(t, before, "after malformed writes")
}

func copiesSpans(t porttest.T, h *Harness) {
	h.fill(9)
	before := h.target()
	w := h.write(1, wire.K1, 0, 4, gate)
	kept := w
	kept.Src, kept.Dst = slices.Clone(w.Src), slices.Clone(w.Dst)
	h.Transport.Submit(w)
	clear(w.Src)
	clear(w.Dst)
	h.Transport.Submit(h.write(gate, wire.V1, 0, 0))
	h.subject().Expect(t, porttest.End{Ticket: gate, Status: port.OK}, porttest.End{Ticket: 1, Status: port.OK})
	h.expectTarget(t, h.landed(before, kept, 4), "after the submitter used its slices again")
}
