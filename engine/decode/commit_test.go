package decode

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// arrival is what became of a transfer of 40 tokens: what prefill claims and what lies in memory.
type arrival struct {
	sent      func(*wire.Sent)
	record    func(*port.Record)
	digests   []uint64
	unstamped bool // the page at ordinal 2 does not carry the room's stamp
}

// What each guard stops at commit, and what it lets pass: a claim is the sender's word, a digest the content, a stamp
// only itself.
func TestGuardsAtCommit(t *testing.T) {
	const tokens = 40
	whole := arrival{}
	short := arrival{ // one page of three, and an honest claim of it
		sent:   func(s *wire.Sent) { s.Pages, s.Tokens, s.Bytes = 1, 1, 8192 },
		record: func(r *port.Record) { r.Tokens = 1 }, digests: []uint64{5, 6, 7, 8}, unstamped: true,
	}
	boasted := short // the same, but the claim is what was owed
	boasted.sent, boasted.record = nil, nil
	stamped := boasted // and the stamps came whole
	stamped.unstamped = false
	for _, c := range []struct {
		name    string
		arrival arrival
		guards  guard.Set
		trips   string // empty: decode commits
	}{
		{"whole", whole, guard.All, ""},
		{"whole", whole, guard.None, ""},

		{"short", short, guard.None, ""},
		{"short", short, guard.ClaimedLength, "claimed-length"},
		{"short", short, guard.Coverage, "coverage"},
		{"short", short, guard.PageStamp, "page-stamp"},
		{"short", short, guard.All, "claimed-length"},
		{"short", short, guard.Scrub | guard.DeferredRelease | guard.AddressGeneration | guard.TellPeer, ""},

		{"boasted", boasted, guard.ClaimedLength, ""},
		{"boasted", boasted, guard.Coverage, "coverage"},
		{"boasted", boasted, guard.PageStamp, "page-stamp"},
		{"boasted", boasted, guard.All, "page-stamp"},

		{"stamps whole", stamped, guard.ClaimedLength | guard.PageStamp, ""},
		{"stamps whole", stamped, guard.Coverage, "coverage"},
		{"stamps whole", stamped, guard.All, "coverage"},

		{"one digest differs", arrival{digests: []uint64{11, 12, 13, 15}}, guard.All, "coverage"},
		{"one digest differs", arrival{digests: []uint64{11, 12, 13, 15}}, guard.All &^ guard.Coverage, ""},
		{"no digest was sent", arrival{sent: func(s *wire.Sent) { s.Digests = [4][]uint64{} }}, guard.Coverage, "coverage"},
		{"too many digests", arrival{sent: func(s *wire.Sent) { s.Digests[2] = []uint64{13, 0} }}, guard.Coverage, "coverage"},
		{"another first token", arrival{record: func(r *port.Record) { r.First++ }}, guard.Coverage, "coverage"},
		{"another first token", arrival{record: func(r *port.Record) { r.First++ }}, guard.All &^ guard.Coverage, ""},
		{"a page less", arrival{sent: func(s *wire.Sent) { s.Pages-- }}, guard.ClaimedLength, "claimed-length"},
		{"a byte less", arrival{sent: func(s *wire.Sent) { s.Bytes-- }}, guard.ClaimedLength, "claimed-length"},
		{"a token more", arrival{record: func(r *port.Record) { r.Tokens++ }}, guard.ClaimedLength, "claimed-length"},
	} {
		t.Run(c.name+" "+c.guards.String(), func(t *testing.T) {
			r := newRig(t, c.guards)
			r.submit(7, tokens, 1)
			r.arrive(tokens, c.arrival)
			r.SettleOps(port.OK)
			if c.trips == "" {
				r.ExpectStatus(7, 200)
				r.Expect(r.Tripped()).To(BeEmpty())
				r.Expect(r.Count(event.TransferCommitted)).To(Equal(1))
			} else {
				r.ExpectStatus(7, 500)
				r.Expect(r.Tripped()).To(Equal([]string{c.trips}))
				r.Expect(r.Count(event.TransferCommitted)).To(BeZero())
			}
			r.expectIdle()
		})
	}
}

// arrive claims the transfer and answers what decode reads of it.
func (r *rig) arrive(tokens int, a arrival) {
	sent := r.claim(tokens)
	if a.sent != nil {
		a.sent(&sent)
	}
	r.Receive(prefillAddr, 7, sent)
	for r.worker.requests[7].state == verifying {
		o := r.Ops[0]
		r.Ops = r.Ops[1:]
		d := r.opDone(o, port.OK)
		switch {
		case o.Kind == port.OpDigest && a.digests != nil:
			d.Digests = a.digests
		case o.Kind == port.OpCheckStamp && a.unstamped:
			d.Status, d.FailedOrdinal = port.Failed, 2
		case o.Kind == port.OpLoad && a.record != nil:
			record, _ := port.ParseRecord(d.Data)
			a.record(&record)
			d.Data = record.Bytes()
		}
		r.Turn(port.Turn{Ops: []port.OpDone{d}})
	}
}

// A metadata slot that holds another room's record, or none, is never committed, guards or not.
func TestStaleMetadataSlot(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All} {
		for _, data := range [][]byte{port.Record{Room: 8, Tokens: 40}.Bytes(), make([]byte, port.RecordBytes), {1, 2}, {}} {
			r := newRig(t, guards)
			r.submit(7, 40, 1)
			r.Receive(prefillAddr, 7, r.claim(40))
			load := r.takeOp(port.OpLoad)
			r.Turn(port.Turn{Ops: []port.OpDone{{Ticket: load.Ticket, Data: data}}})
			r.SettleOps(port.OK)
			r.ExpectStatus(7, 500)
			r.Expect(r.Count(event.TransferCommitted)).To(BeZero())
			r.expectIdle()
		}
	}
}

// The digests are evidence for reports even where no guard acts on them.
func TestDigestsAsEvidence(t *testing.T) {
	r := newRig(t, guard.None, func(c *Config) { c.RecordDigests = true })
	r.submit(7, 40, 1)
	r.arrive(40, arrival{digests: []uint64{1, 2, 3, 4}})
	r.ExpectStatus(7, 200)
	for _, e := range r.Events {
		if e.Kind == event.DigestTaken {
			r.Expect(e.Digests).To(Equal([wire.KVBuffers][]uint64{{1}, {2}, {3}, {4}}))
			r.Expect(e.Count).To(Equal(3))
		}
	}
	r.Expect(r.Count(event.DigestTaken)).To(Equal(1))
}

// A page overwritten after commit is seen by nothing at commit; with page stamps the next read fails, names the page,
// and ends the request.
func TestStampOnRead(t *testing.T) {
	for _, guards := range []guard.Set{guard.All, guard.All &^ guard.PageStamp} {
		r := newRig(t, guards)
		r.commit(7, 40, 5)
		r.AnswerOp(port.OK)
		o := r.takeOp(port.OpDecode)
		r.Expect(o.Verify).To(Equal(map[bool]int{true: 3, false: 0}[guards.Has(guard.PageStamp)]))
		if !guards.Has(guard.PageStamp) {
			continue
		}
		r.Turn(port.Turn{Ops: []port.OpDone{{Ticket: o.Ticket, Status: port.Failed, FailedOrdinal: 1}}})
		r.ExpectStatus(7, 500)
		r.Expect(r.Tripped()).To(Equal([]string{"page-stamp"}))
		r.Expect(r.Answers(7)[0].Reason).To(ContainSubstring("ordinal 1"))
		r.SettleOps(port.OK)
		r.expectIdle()
	}
}
