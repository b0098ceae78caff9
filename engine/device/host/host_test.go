package host

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// The contract that any device keeps is checked in devicetest. Here is what only this one promises: what a step is, the
// events, and that it costs no memory.

var worker = wire.Addr{Role: wire.Decode, Incarnation: 1}

type bench struct {
	*Device
	pool   *kv.Pool
	events []event.Event
}

func newBench(t testing.TB, pages, pageSize int) *bench {
	t.Helper()
	b := &bench{}
	registry := &kv.Registry{}
	var err error
	b.pool, err = kv.NewPool(port.Layout{Pages: pages, PageSize: pageSize, RowBytes: code.RowDimensions},
		kv.Options{HugePages: true, Touch: true})
	if err == nil {
		err = registry.RegisterPool(worker, b.pool)
	}
	if err == nil {
		err = registry.Register(1, worker, make([]byte, 4*port.RecordBytes))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.pool.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Device = New(Config{
		Addr: worker, Pool: b.pool, Registry: registry, Model: model.New(code.New()), Queues: 2,
		Record: func(e *event.Event) {
			kept := *e
			kept.Pages = append([]wire.Page(nil), e.Pages...)
			kept.Samples = append([]event.Sample(nil), e.Samples...)
			b.events = append(b.events, kept)
		},
	})
	return b
}

func (b *bench) answers() []port.OpDone {
	out := make([]port.OpDone, 100)
	return out[:b.Poll(out)]
}

// What touches rows says so as it happens: computed rows, drawn tokens with the winning row, scrubbed pages. Nothing
// else does.
func TestOperationsAreEvents(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, 10, 16)
	prompt := make([]wire.Token, 40)
	for i := range prompt {
		prompt[i] = wire.Token(300 + i%23)
	}
	pages := []wire.Page{4, 2, 7}
	for i, op := range []port.Op{
		{Kind: port.OpPrefill, Tokens: prompt[:24]},
		{Kind: port.OpPrefill, Tokens: prompt[24:], First: 24, Sample: true},
		{Kind: port.OpStamp},
		{Kind: port.OpCheckStamp},
		{Kind: port.OpDecode, Tokens: []wire.Token{prompt[17]}, First: 40, Verify: 3},
		{Kind: port.OpDigest},
		{Kind: port.OpScrub},
		{Kind: port.OpDecode, Tokens: []wire.Token{1}, First: 41, Verify: 1},
	} {
		op.Ticket, op.Room, op.Pages = wire.Ticket(1+i), 12, pages
		b.Submit(op)
		g.Expect(b.Enabled()).To(Equal(1))
		b.Step(0)
	}
	answers := b.answers()
	g.Expect(answers).To(HaveLen(8))
	g.Expect(answers[7].Status).To(Equal(port.Failed), "the stamps were scrubbed")
	sampled := func(answer, position int) event.Event {
		drawn := answers[answer].Sampled[0]
		return event.Event{Kind: event.TokenSampled, Source: worker, Room: 12, Samples: []event.Sample{{
			Room: 12, Position: position, Token: drawn.Token, Page: drawn.Page, Slot: drawn.Slot, Score: drawn.Score,
		}}}
	}
	g.Expect(b.events).To(Equal([]event.Event{
		{Kind: event.RowsComputed, Source: worker, Room: 12, First: 0, Count: 24},
		{Kind: event.RowsComputed, Source: worker, Room: 12, First: 24, Count: 16},
		sampled(1, 39),
		sampled(4, 40),
		{Kind: event.PagesScrubbed, Source: worker, Room: 12, Pages: pages},
	}))
	g.Expect(answers[1].Sampled[0]).To(Equal(port.Sampled{Token: prompt[17], Page: 2, Slot: 1, Score: 504}),
		"the prompt has period 23: position 40 continues like position 17")
}

// A step runs one operation of one queue; Step(i) is the i-th queue whose head may run.
func TestAStepIsAnOperation(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, 10, 16)
	stamp := func(ticket wire.Ticket, queue uint8, after ...wire.Ticket) {
		b.Submit(port.Op{Ticket: ticket, Queue: queue, Kind: port.OpStamp, Pages: []wire.Page{1}, After: after})
	}
	order := func() (out []wire.Ticket) {
		for _, done := range b.answers() {
			out = append(out, done.Ticket)
		}
		return out
	}
	stamp(1, 0, 3)
	stamp(2, 0)
	stamp(3, 1)
	stamp(4, 1)
	g.Expect(b.Enabled()).To(Equal(1), "2 stands behind 1, which waits")
	b.Step(0)
	g.Expect(b.Enabled()).To(Equal(2))
	b.Step(1)
	b.Step(0)
	b.Step(0)
	g.Expect(order()).To(Equal([]wire.Ticket{3, 4, 1, 2}))
	g.Expect(func() { b.Step(0) }).To(Panic(), "nothing is enabled: the scheduler lost count")
}

// A configuration that no operation could run on stops the program where it is made.
func TestNewRefusesNonsense(t *testing.T) {
	g := NewWithT(t)
	layout := port.Layout{Pages: 4, PageSize: 16, RowBytes: 64}
	narrow, err := kv.NewPoolOver(layout, make([]byte, layout.Bytes()))
	g.Expect(err).NotTo(HaveOccurred())
	sound := newBench(t, 4, 16).config
	for _, bend := range []func(*Config){
		func(c *Config) { c.Pool = narrow }, func(c *Config) { c.Model = nil },
		func(c *Config) { c.Registry = nil }, func(c *Config) { c.Queues = 0 },
	} {
		config := sound
		bend(&config)
		g.Expect(func() { New(config) }).To(PanicWith(ContainSubstring("decode/0#1")))
	}
}

// A decode step, the most frequent operation of a run, allocates nothing worth counting.
func TestDecodeAllocations(t *testing.T) {
	b := newBench(t, 70, 16)
	b.config.Record = func(*event.Event) {}
	pages := make([]wire.Page, 64)
	for i := range pages {
		pages[i] = wire.Page(1 + i)
	}
	op := port.Op{Kind: port.OpDecode, Pages: pages, First: 1000, Tokens: []wire.Token{5}, Verify: 0}
	out := make([]port.OpDone, 1)
	round := func() {
		op.Ticket++
		b.Submit(op)
		b.Step(0)
		b.Poll(out)
	}
	for range 3000 {
		round()
	}
	NewWithT(t).Expect(testing.AllocsPerRun(500, round)).To(BeNumerically("<", 0.1))
}
