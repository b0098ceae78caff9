package faults

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

var (
	prefill = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	decode  = wire.Addr{Role: wire.Decode, Incarnation: 1}
	router  = wire.Addr{Role: wire.Router, Incarnation: 1}
)

// target is the request that the tests aim at; other is its innocent neighbour.
const (
	target = 9
	other  = 4
)

// roomOf is the room of a request: what an engine would have drawn.
func roomOf(request int) wire.Room { return wire.Room(100 + request) }

// honest is a port that keeps the contract: operations land in order of submission once what they name in After has
// landed, each has one Done, and none lands after its Done.
type honest[O operation, D answer] struct {
	pending   []O
	landed    []O // in order
	cancelled []wire.Ticket
	ended     map[wire.Ticket]port.Status
	done      []D
	answer    func(O, port.Status) D
}

func (p *honest[O, D]) Submit(o O) { p.pending = append(p.pending, o) }

func (p *honest[O, D]) Cancel(id wire.Ticket) {
	p.cancelled = append(p.cancelled, id)
	for n, o := range p.pending {
		if o.ID() == id {
			p.pending = slices.Delete(p.pending, n, n+1)
			p.end(o, port.Cancelled)
			return
		}
	}
}

func (p *honest[O, D]) Poll(out []D) int {
	n := copy(out, p.done)
	p.done = p.done[n:]
	return n
}

func (p *honest[O, D]) end(o O, status port.Status) {
	p.ended[o.ID()] = status
	p.done = append(p.done, p.answer(o, status))
}

// land moves everything that can move.
func (p *honest[O, D]) land() {
	for n := 0; n < len(p.pending); {
		o := p.pending[n]
		ready, doomed := true, false
		for _, after := range o.Dependencies() {
			status, known := p.ended[after]
			ready = ready && known
			doomed = doomed || known && status != port.OK
		}
		if !ready {
			n++
			continue
		}
		p.pending = slices.Delete(p.pending, n, n+1)
		if doomed {
			p.end(o, port.Cancelled)
		} else {
			p.landed = append(p.landed, o)
			p.end(o, port.OK)
		}
		n = 0
	}
}

func newTransport() *honest[port.Write, port.WriteDone] {
	return &honest[port.Write, port.WriteDone]{
		ended: map[wire.Ticket]port.Status{},
		answer: func(w port.Write, s port.Status) port.WriteDone {
			d := port.WriteDone{Ticket: w.Ticket, Status: s}
			if s == port.OK {
				d.ClaimedBytes = writeBytes(w)
			}
			return d
		},
	}
}

// spool is a link that keeps what was sent.
type spool struct{ sent []wire.Message }

func (l *spool) Send(m wire.Message)     { l.sent = append(l.sent, m) }
func (l *spool) Poll([]wire.Message) int { return 0 }
func (l *spool) bodies() (names []string) {
	for _, m := range l.sent {
		names = append(names, m.Body.Name())
	}
	return names
}

// pages is a first-in, first-out allocator.
type pages struct {
	free     []wire.Page
	capacity int
}

func newPages(n int) *pages {
	p := &pages{capacity: n}
	for i := 1; i <= n; i++ {
		p.free = append(p.free, wire.Page(i))
	}
	return p
}

func (p *pages) Reserve(n int) []wire.Page {
	if n > len(p.free) {
		return nil
	}
	out := slices.Clone(p.free[:n])
	p.free = p.free[n:]
	return out
}
func (p *pages) Release(back []wire.Page) { p.free = append(p.free, back...) }
func (p *pages) Free() int                { return len(p.free) }
func (p *pages) Capacity() int            { return p.capacity }

// bench is one prefill and one decode worker's seams with a plan over them, and a journal.
type bench struct {
	*WithT
	injector  *Injector
	journal   []event.Event
	tick      wire.Tick
	tickets   wire.Tickets
	prefill   port.Seams
	decode    port.Seams
	transport *honest[port.Write, port.WriteDone]
	device    *honest[port.Op, port.OpDone]
	link      *spool // prefill's
	back      *spool // decode's
	pages     *pages // decode's
	answers   map[wire.Ticket][]port.Status
}

var (
	prefillPool = port.Layout{Base: 1, Pages: 64, PageSize: 16, RowBytes: 128}
	decodePool  = port.Layout{Base: 2, Pages: 128, PageSize: 16, RowBytes: 128}
)

const (
	prefillRecords = 3
	decodeRecords  = 4
)

// newBench arms the faults of specs over honest stubs.
func newBench(t *testing.T, specs ...Fault) *bench {
	t.Helper()
	b := &bench{
		WithT: NewWithT(t), tickets: wire.NewTickets(prefill), transport: newTransport(), link: &spool{}, back: &spool{},
		device: &honest[port.Op, port.OpDone]{
			ended:  map[wire.Ticket]port.Status{},
			answer: func(o port.Op, s port.Status) port.OpDone { return port.OpDone{Ticket: o.Ticket, Status: s} },
		},
		pages: newPages(20), answers: map[wire.Ticket][]port.Status{},
	}
	var plan Plan
	for _, f := range specs {
		plan.Faults = append(plan.Faults, Spec{Fault: f})
	}
	var err error
	b.injector, err = New(plan, func(request int) (wire.Room, bool) { return roomOf(request), request < 100 },
		func(e *event.Event) {
			b.journal = append(b.journal, *e)
			b.injector.Observe(e)
		})
	b.Expect(err).NotTo(HaveOccurred())
	b.prefill = port.Seams{Addr: prefill, Link: b.link, Transport: b.transport, Pool: prefillPool}
	b.decode = port.Seams{Addr: decode, Link: b.back, Device: b.device, Allocator: b.pages, Pool: decodePool}
	b.injector.Wrap(&b.prefill)
	b.injector.Wrap(&b.decode)
	t.Cleanup(func() {
		if err := b.injector.Err(); err != nil {
			t.Errorf("the fault layer itself went wrong: %v", err)
		}
	})
	return b
}

// say records an event as a worker would, and lets the injector act on it.
func (b *bench) say(e event.Event) {
	b.tick++
	e.Tick = b.tick
	b.journal = append(b.journal, e)
	b.injector.Observe(&e)
	b.injector.Between()
}

// reserve says that a request holds pages at a worker.
func (b *bench) reserve(at wire.Addr, request int, held ...wire.Page) {
	b.say(event.Event{Kind: event.PagesReserved, Source: at, Room: roomOf(request), Pages: held})
}

// page makes the write of one buffer of consecutive ordinals, from prefill's page 10+ordinal to decode's 30+ordinal.
func (b *bench) page(request int, buffer wire.Buffer, first, count int, after ...wire.Ticket) port.Write {
	w := port.Write{
		Ticket: b.tickets.Next(), Room: roomOf(request), Buffer: buffer, First: wire.Ordinal(first), After: after,
	}
	for n := first; n < first+count; n++ {
		w.Src = append(w.Src, prefillPool.Span(buffer, wire.Page(10+n), 0))
		w.Dst = append(w.Dst, decodePool.Span(buffer, wire.Page(30+n), 0))
	}
	return w
}

// record makes the write of a metadata record into a slot.
func (b *bench) record(request, slot int, after ...wire.Ticket) port.Write {
	return port.Write{
		Ticket: b.tickets.Next(), Room: roomOf(request), Buffer: wire.Record, After: after,
		Src: []wire.Span{port.RecordSpan(prefillRecords, slot, 0)},
		Dst: []wire.Span{port.RecordSpan(decodeRecords, slot, 0)},
	}
}

// transfer submits what a prefill worker submits for a prompt of so many pages: two chunks of four buffers and a
// stamp, and the record behind them all.
func (b *bench) transfer(request, count int) (writes []port.Write) {
	var all []wire.Ticket
	half := count / 2
	for _, chunk := range [][2]int{{0, half}, {half, count - half}} {
		var data []wire.Ticket
		for buffer := wire.K0; buffer <= wire.Stamp; buffer++ {
			w := b.page(request, buffer, chunk[0], chunk[1])
			if buffer == wire.Stamp {
				w.After = slices.Clone(data)
			}
			data = append(data, w.Ticket)
			writes = append(writes, w)
		}
		all = append(all, data...)
	}
	writes = append(writes, b.record(request, 3, all...))
	for _, w := range writes {
		b.prefill.Transport.Submit(w)
	}
	return writes
}

// settle lands what can land and polls until nothing comes, a few answers at a time.
func (b *bench) settle() {
	var out [3]port.WriteDone
	for quiet := 0; quiet < 2; {
		b.transport.land()
		n := b.prefill.Transport.Poll(out[:])
		for _, d := range out[:n] {
			b.answers[d.Ticket] = append(b.answers[d.Ticket], d.Status)
		}
		if quiet++; n > 0 {
			quiet = 0
		}
	}
}

// expectOneAnswerEach is the port's promise as the worker sees it.
func (b *bench) expectOneAnswerEach(writes []port.Write, status port.Status) {
	for _, w := range writes {
		b.Expect(b.answers[w.Ticket]).To(Equal([]port.Status{status}), "answers of %s", writeName(w))
	}
}

// expectCompletions lets a transfer of the target run beside one of its neighbour under a fault that only answers, and
// asserts that all of it lands in order, how often each completion of the target comes, OK each time, that the
// neighbour's come once, and how often the fault fired.
func (b *bench) expectCompletions(times func(port.Write) int, fired int) {
	writes := b.transfer(target, 4)
	theirs := b.transfer(other, 4)
	b.settle()
	b.Expect(b.landed(target)).To(Equal(names(writes)))
	b.expectOneAnswerEach(theirs, port.OK)
	for _, w := range writes {
		want := slices.Repeat([]port.Status{port.OK}, times(w))
		b.Expect(b.answers[w.Ticket]).To(HaveExactElements(want), "answers of %s", writeName(w))
	}
	b.expectFired(fired)
}

// events are the fault layer's own, of one kind.
func (b *bench) events(kind event.Kind) (out []event.Event) {
	for _, e := range b.journal {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// expectFired holds the first fault to having fired n times, with evidence each time.
func (b *bench) expectFired(n int) {
	b.Expect(b.injector.Status()[0].Fired).To(Equal(n), "firings of the first fault")
	fired := b.events(event.FaultFired)
	for _, e := range fired {
		b.Expect(e.Before).NotTo(Equal(e.After))
		b.Expect(e.Before).NotTo(BeEmpty())
		b.Expect(e.After).NotTo(BeEmpty())
		b.Expect(e.Fault).NotTo(BeEmpty())
	}
}

// landed lists what reached the inner transport and landed, as "K0 of ordinals 0 to 3", for one request.
func (b *bench) landed(request int) (names []string) {
	for _, w := range b.transport.landed {
		if w.Room == roomOf(request) {
			names = append(names, writeName(w))
		}
	}
	return names
}

func names(writes []port.Write) (out []string) {
	for _, w := range writes {
		out = append(out, writeName(w))
	}
	return out
}

func message(from, to wire.Addr, request int, body wire.Body) wire.Message {
	return wire.Message{From: from, To: to, Room: roomOf(request), Body: body}
}

func number(n int) *int { return &n }

func pageOf(w port.Write, n int) string {
	p, _ := decodePool.PageAt(w.Buffer, w.Dst[n])
	return fmt.Sprintf("%s ordinal %d at %d", w.Buffer, int(w.First)+n, p)
}
