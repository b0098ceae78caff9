package memory

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// The contract that any transport keeps is checked in transfertest. Here is what only this one promises: what a step is,
// which write it falls to, and the events.

var (
	writer = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	reader = wire.Addr{Role: wire.Decode, Incarnation: 1}
)

// bench is a transport from one pool to another, and what it said happened.
type bench struct {
	*Transport
	registry       *kv.Registry
	source, target *kv.Pool
	events         []event.Event
}

func newBench(t testing.TB, pages, pageSize int) *bench {
	t.Helper()
	b := &bench{registry: &kv.Registry{}}
	pools := [2]*kv.Pool{}
	for i := range pools {
		layout := port.Layout{Base: uint16(i), Pages: pages, PageSize: pageSize, RowBytes: 128}
		pool, err := kv.NewPool(layout, kv.Options{HugePages: true, Touch: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := b.registry.RegisterPool([]wire.Addr{writer, reader}[i], pool); err != nil {
			t.Fatal(err)
		}
		pools[i] = pool
	}
	if err := b.registry.Register(2, reader, make([]byte, 4*port.RecordBytes)); err != nil {
		t.Fatal(err)
	}
	b.source, b.target = pools[0], pools[1]
	b.Transport = NewTransport(Config{Addr: writer, Registry: b.registry, Record: func(e *event.Event) {
		kept := *e
		kept.Pages = append([]wire.Page(nil), e.Pages...)
		b.events = append(b.events, kept)
	}})
	return b
}

// write moves ordinals first to first+count-1 from the pages of the same number to pages from to on.
func (b *bench) write(ticket wire.Ticket, buffer wire.Buffer, first, count int, to wire.Page) port.Write {
	w := port.Write{Ticket: ticket, Room: wire.Room(100 + ticket), Buffer: buffer, First: wire.Ordinal(first)}
	for i := range count {
		w.Src = append(w.Src, b.source.Layout.Span(buffer, wire.Page(first+i), 0))
		w.Dst = append(w.Dst, b.target.Layout.Span(buffer, to+wire.Page(i), 0))
	}
	return w
}

func (b *bench) answers() []port.WriteDone {
	out := make([]port.WriteDone, 100)
	return out[:b.Poll(out)]
}

// A step lands one page of one buffer; the write ends with the step of its last page.
func TestAStepIsAPage(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, 20, 16)
	b.Submit(b.write(1, wire.K0, 1, 3, 10))
	for i := range 3 {
		g.Expect(b.Enabled()).To(Equal(1))
		g.Expect(b.answers()).To(BeEmpty())
		g.Expect(b.events).To(HaveLen(i))
		b.Step(0)
	}
	g.Expect(b.Enabled()).To(BeZero())
	g.Expect(b.answers()).To(Equal([]port.WriteDone{{Ticket: 1, ClaimedBytes: 3 * 2048}}))
}

// Each landing is an event that says from where, to whom, which ordinal, and into which page.
func TestLandingsAreEvents(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, 20, 16)
	b.Submit(b.write(1, wire.Stamp, 3, 2, 10))
	b.Step(0)
	b.Step(0)
	landed := event.Event{
		Kind: event.WriteLanded, Source: writer, Peer: reader, Room: 101, Buffer: wire.Stamp, First: 3, Count: 1,
		Pages: []wire.Page{10},
	}
	second := landed
	second.First, second.Pages = 4, []wire.Page{11}
	g.Expect(b.events).To(Equal([]event.Event{landed, second}))

	b.events = nil
	b.Submit(port.Write{
		Ticket: 2, Room: 7, Buffer: wire.Record, Src: []wire.Span{{Length: port.RecordBytes}},
		Dst: []wire.Span{port.RecordSpan(2, 3, 0)},
	})
	b.Step(0)
	g.Expect(b.events).To(Equal([]event.Event{{
		Kind: event.WriteLanded, Source: writer, Peer: reader, Room: 7, Buffer: wire.Record, Count: 1, Slot: 3,
	}}))
}

// A span that is no whole page of the buffer lands, as it would on real hardware, and the event does not name a page.
func TestLandingBesideAPage(t *testing.T) {
	for name, bend := range map[string]func(*wire.Span){
		"another buffer": func(s *wire.Span) { s.Offset += 20 * 2048 },
		"half a page":    func(s *wire.Span) { s.Offset += 1024 },
		"the records":    func(s *wire.Span) { s.Region.Base, s.Offset, s.Length = 2, 0, 64 },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b := newBench(t, 20, 16)
			w := b.write(1, wire.K0, 1, 1, 10)
			bend(&w.Dst[0])
			w.Src[0].Length = w.Dst[0].Length
			b.Submit(w)
			b.Step(0)
			g.Expect(b.answers()[0].Status).To(Equal(port.OK))
			g.Expect(b.events[0].Pages).To(Equal([]wire.Page{-1}))
		})
	}
}

// A refused span ends the write: Rejected if it was the first, Failed with what landed if not; the event counts the rest.
func TestRefusalsAreEvents(t *testing.T) {
	for landed, status := range []port.Status{port.Rejected, port.Failed, port.Failed} {
		g := NewWithT(t)
		b := newBench(t, 20, 16)
		region := wire.Region{Base: 1, Generation: 9}
		b.registry.Grant(region)
		w := b.write(1, wire.K1, 2, 4, 10)
		for i := range w.Dst {
			w.Dst[i].Region = region
		}
		b.Submit(w)
		for range landed {
			b.Step(0)
		}
		b.registry.Revoke(region)
		b.Step(0)
		g.Expect(b.Enabled()).To(BeZero())
		g.Expect(b.answers()).To(Equal([]port.WriteDone{{Ticket: 1, Status: status, ClaimedBytes: int64(landed) * 2048}}))
		g.Expect(b.events[landed:]).To(Equal([]event.Event{{
			Kind: event.WriteRefused, Source: writer, Room: 101, Buffer: wire.K1, First: 2 + landed, Count: 4 - landed,
		}}))
	}
}

// Step(i) falls to the i-th enabled write in order of submission, however long each waited for others.
func TestStepsGoByOrderOfSubmission(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, 20, 16)
	waits := b.write(1, wire.K0, 1, 1, 1)
	waits.After = []wire.Ticket{3}
	b.Submit(waits)
	b.Submit(b.write(2, wire.K0, 2, 2, 2))
	b.Submit(b.write(3, wire.K0, 4, 1, 4))
	b.Submit(b.write(4, wire.K0, 5, 1, 5))
	g.Expect(b.Enabled()).To(Equal(3))
	rooms := func(steps ...int) []wire.Room {
		b.events = nil
		for _, i := range steps {
			b.Step(i)
		}
		var out []wire.Room
		for _, e := range b.events {
			out = append(out, e.Room)
		}
		return out
	}
	g.Expect(rooms(0, 1)).To(Equal([]wire.Room{102, 103}))
	g.Expect(b.Enabled()).To(Equal(3), "3 has ended, so 1 is enabled, before 2")
	g.Expect(rooms(2, 1, 0)).To(Equal([]wire.Room{104, 102, 101}))
	g.Expect(b.Enabled()).To(BeZero())
}

// Cancel answers with what has landed, and what has landed stays.
func TestCancelMidway(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, 20, 16)
	b.source.Page(wire.V1, 1)[0] = 42
	w := b.write(1, wire.V1, 1, 3, 10)
	w.Digest = true
	b.Submit(b.write(2, wire.K0, 1, 1, 10))
	b.Submit(w)
	b.Step(1)
	b.Cancel(1)
	g.Expect(b.Enabled()).To(Equal(1), "the other one")
	g.Expect(b.answers()).To(Equal([]port.WriteDone{{
		Ticket: 1, Status: port.Cancelled, ClaimedBytes: 2048, Digests: []uint64{kv.Digest(wire.V1, 1, b.source.Page(wire.V1, 1))},
	}}))
	g.Expect(b.target.Page(wire.V1, 10)[0]).To(Equal(byte(42)))
}

// With ten thousand writes waiting, asking and stepping still cost the same few instructions and no allocation.
func TestManyWaitingWrites(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, 20, 16)
	b.config.Record = func(*event.Event) {}
	for ticket := wire.Ticket(2); ticket < 10_002; ticket++ {
		w := b.write(ticket, wire.K0, 1, 1, 1)
		w.After = []wire.Ticket{1}
		b.Submit(w)
	}
	g.Expect(b.Enabled()).To(BeZero())
	b.Submit(b.write(1, wire.K0, 1, 1, 1))
	b.Step(0)
	g.Expect(b.Enabled()).To(Equal(10_000))
	b.Cancel(5_000)
	b.Step(b.Enabled() - 1)
	g.Expect(b.Enabled()).To(Equal(9_998))
}

// A run moves tens of millions of pages: a landing allocates nothing, a write without digests neither.
func TestTransportAllocations(t *testing.T) {
	b := newBench(t, 200, 16)
	b.config.Record = func(*event.Event) {}
	w := b.write(0, wire.K0, 1, 100, 50)
	out := make([]port.WriteDone, 1)
	round := func() {
		w.Ticket++
		b.Submit(w)
		for b.Enabled() > 0 {
			b.Step(0)
		}
		b.Poll(out)
	}
	for range 5000 {
		round()
	}
	NewWithT(t).Expect(testing.AllocsPerRun(200, round)).To(BeNumerically("<", 0.5))
}
