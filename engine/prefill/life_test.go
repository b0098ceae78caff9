package prefill

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
	"github.com/stalepage/stalepage/engine/wire"
)

// The worker introduces itself to decode and router, once.
func TestIntroduction(t *testing.T) {
	r := bareRig(t, guard.All)
	r.Turn(port.Turn{})
	up := wire.PeerUp{MaxInputTokens: limit, PageSize: pageSize}
	r.Expect(r.Told(decodeAddr)).To(Equal([]wire.Body{up}))
	r.Expect(r.Told(routerAddr)).To(Equal([]wire.Body{up}))
	r.Sent = nil
	r.Turn(port.Turn{})
	r.Expect(r.Sent).To(BeEmpty())
}

// A healthy request with every guard on: two chunks of two pages and a last one of half a page.
func TestLifeOfARequest(t *testing.T) {
	r := newRig(t, guard.All)
	const tokens = 4*pageSize + 8
	r.submit(7, tokens, 5)
	r.Expect(r.Has(event.RoomBootstrapped)).To(BeTrue())
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpStamp, port.OpPrefill}))
	r.Expect(r.Ops[0].Pages).To(HaveLen(5))
	r.Expect(r.Ops[0].Generation).To(Equal(uint32(9)), "pages are stamped with the generation of decode's reservation")
	r.Expect(r.Ops[1].Tokens).To(Equal(turntest.Prompt(tokens)[:2*pageSize]))
	r.Expect(r.Ops[1].Sample).To(BeFalse())
	r.Expect(r.worker.Held().PagesFree).To(Equal(3))

	r.AnswerOp(port.OK) // the stamps
	r.Expect(r.Writes).To(BeEmpty(), "the rows are not there yet")
	r.AnswerOp(port.OK)
	r.Expect(buffers(r.Writes)).To(Equal([]wire.Buffer{wire.K0, wire.V0, wire.K1, wire.V1, wire.Stamp}))
	r.expectWhole(r.Writes[:5], 0, 2)

	r.AnswerOp(port.OK) // the second chunk, while the first one's writes are under way
	r.Expect(r.Writes).To(HaveLen(10))
	r.expectWhole(r.Writes[5:], 2, 2)
	r.Expect(r.Ops[0].First).To(Equal(4 * pageSize))
	r.Expect(r.Ops[0].Sample).To(BeTrue())

	r.AnswerOp(port.OK) // the last chunk: what is left is a part of a page
	r.expectWhole(r.Writes[10:], 4, 1)
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpStore}))
	record, ok := port.ParseRecord(r.Ops[0].Data)
	r.Expect(ok).To(BeTrue())
	r.Expect(record).To(Equal(port.Record{Room: 7, Tokens: tokens, First: 42}))

	r.AnswerOp(port.OK)
	r.Expect(r.Writes).To(HaveLen(16))
	r.Expect(r.Writes[15].Buffer).To(Equal(wire.Record))
	r.Expect(r.Writes[15].After).To(HaveLen(15), "the record goes behind every page")
	r.Expect(r.Writes[15].Src).To(Equal([]wire.Span{port.RecordSpan(1, 0, 0)}))
	r.Expect(r.Writes[15].Dst).To(Equal([]wire.Span{port.RecordSpan(3, 5, 9)}))
	r.Expect(r.Told(decodeAddr)).To(BeEmpty(), "nothing is done yet")

	for range 16 {
		r.answerWrite(port.OK)
	}
	layout := r.worker.config.Pool
	r.Expect(r.Told(decodeAddr)).To(Equal([]wire.Body{wire.Sent{
		Pages: 5, Bytes: 5 * layout.PageBytes(true), Tokens: tokens,
		Digests: [wire.KVBuffers][]uint64{{3000}, {6000}, {9000}, {12000}},
		Record:  port.Record{Room: 7, Tokens: tokens, First: 42}.Sum(),
	}}))
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpScrub}))
	r.Expect(r.Has(event.PagesReleased)).To(BeFalse(), "not before they are zeros")
	r.AnswerOp(port.OK)
	r.Expect(r.Has(event.PagesReleased)).To(BeTrue())
	r.ExpectIdle()
}

// expectWhole asserts that writes carry all buffers of ordinals first to first+count-1 from this pool to the peer's.
func (r *rig) expectWhole(writes []port.Write, first, count int) {
	held := r.worker.requests[7]
	source, target := r.worker.config.Pool, port.Layout{Base: 2, Pages: 65, PageSize: pageSize, RowBytes: 128}
	for i, w := range writes {
		b := wire.Buffer(i)
		r.Expect(w.Buffer).To(Equal(b))
		r.Expect(w.First).To(Equal(wire.Ordinal(first)))
		r.Expect(w.Digest).To(Equal(b != wire.Stamp))
		r.Expect(w.Src).To(HaveLen(count))
		for n := range count {
			r.Expect(w.Src[n]).To(Equal(source.Span(b, held.pages[first+n], 0)))
			r.Expect(w.Dst[n]).To(Equal(target.Span(b, wire.Page(20+first+n), 9)))
		}
	}
	var rows []wire.Ticket
	for _, w := range writes[:wire.KVBuffers] {
		rows = append(rows, w.Ticket)
	}
	r.Expect(writes[wire.Stamp].After).To(Equal(rows), "the stamp goes behind the rows it vouches for")
}

// Nothing is stamped, digested or scrubbed unless a guard, or the wish for evidence, asks for it.
func TestWithoutGuardsOnlyRowsMove(t *testing.T) {
	for _, recordDigests := range []bool{false, true} {
		r := newRig(t, guard.None, func(c *Config) { c.RecordDigests = recordDigests })
		r.submit(7, pageSize, 1)
		r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpPrefill}))
		r.AnswerOp(port.OK)
		r.Expect(buffers(r.Writes)).To(Equal([]wire.Buffer{wire.K0, wire.V0, wire.K1, wire.V1}))
		for _, w := range r.Writes {
			r.Expect(w.Digest).To(Equal(recordDigests))
		}
		r.settle(port.OK)
		r.ExpectIdle()
	}
}

// The handshake has two halves, and either may come first; so may an abort or a refusal.
func TestAnythingMayComeBeforeSubmit(t *testing.T) {
	submit := wire.Submit{Prompt: turntest.Prompt(20), MaxNewTokens: 1}
	for name, c := range map[string]struct {
		from wire.Addr
		body wire.Body
		runs bool
	}{
		"reservation":          {decodeAddr, reservation(2), true},
		"abort by decode":      {decodeAddr, wire.Abort{}, false},
		"abort by the client":  {routerAddr, wire.Abort{}, false},
		"refusal by decode":    {decodeAddr, wire.Refused{Stage: wire.AtIntake, Status: 400}, false},
		"an answer to nothing": {decodeAddr, wire.AbortAck{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, guard.All)
			r.Receive(c.from, 7, c.body)
			r.Receive(routerAddr, 7, submit)
			r.Expect(r.Has(event.RoomBootstrapped)).To(Equal(c.runs))
			r.settle(port.OK)
			if name == "an answer to nothing" {
				r.Receive(decodeAddr, 7, reservation(2))
				r.settle(port.OK)
			}
			r.ExpectIdle()
		})
	}
}

// Messages and completions that come twice change nothing the second time.
func TestDuplicatesChangeNothing(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(7, 20, 2)
	r.submit(7, 99, 9)
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpStamp, port.OpPrefill}))
	for len(r.Ops)+len(r.Writes) > 0 {
		if len(r.Ops) > 0 {
			d := opDone(r.Ops[0], port.OK)
			r.Ops = r.Ops[1:]
			r.Turn(port.Turn{Ops: []port.OpDone{d, d}})
			continue
		}
		d := writeDone(r.Writes[0], port.OK)
		r.Writes = r.Writes[1:]
		again := d
		again.Status = port.Failed
		r.Turn(port.Turn{Writes: []port.WriteDone{d, again}})
	}
	r.Expect(r.Told(decodeAddr)).To(HaveLen(1))
	r.Expect(r.Sent[0].Body).To(BeAssignableToTypeOf(wire.Sent{}))
	r.Expect(r.Sent[0].Body.(wire.Sent).Bytes).To(Equal(2 * r.worker.config.Pool.PageBytes(true)))
	r.ExpectIdle()
}
