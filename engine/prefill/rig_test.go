package prefill

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

var (
	prefillAddr = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	decodeAddr  = wire.Addr{Role: wire.Decode, Incarnation: 1}
	routerAddr  = wire.Addr{Role: wire.Router, Incarnation: 1}
)

// The pool of these tests holds eight pages of 16 tokens: 128 tokens, so 122 and more are refused at intake.
const (
	pageSize     = 16
	poolTokens   = 8 * pageSize
	limit        = poolTokens - config.ReservedTokens
	timeoutTicks = 1000
	retryTicks   = 10
	retriesMax   = 2
)

// rig stands in for everything around one worker: it keeps what the worker submitted until a test answers it.
type rig struct {
	*WithT
	worker    *Worker
	allocator *kv.Allocator
	slots     *kv.Slots
	now, wake wire.Tick
	// Not answered yet, in order of submission.
	ops    []port.Op
	writes []port.Write
	// What happened since the test last looked.
	sent                    []wire.Message
	events                  []event.Event
	cancelOps, cancelWrites []wire.Ticket
}

// newRig returns a rig whose worker knows its peer. The changes are made to its configuration before it is built.
func newRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	r := bareRig(t, guards, changes...)
	r.turn(port.Turn{Messages: []wire.Message{{From: decodeAddr, Body: wire.PeerUp{
		MaxInputTokens: 1000, PageSize: pageSize, PoolPages: 65, PoolBase: 2, RecordBase: 3,
	}}}})
	r.sent, r.events = nil, nil
	return r
}

func bareRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	w := config.Worker{
		ContextLength: 1024, MaxTotalNumTokens: poolTokens, PageSize: pageSize, ChunkedPrefillSize: 2 * pageSize,
		MaxRunningRequests: 4, MetadataSlots: 4, AllocatorOrder: config.OrderSGLang,
		BootstrapTimeoutTicks: timeoutTicks, AbortRetryTicks: retryTicks, AbortRetriesMax: retriesMax,
	}
	layout := port.Layout{Base: 0, Pages: w.PoolPages(), PageSize: pageSize, RowBytes: 128}
	r := &rig{
		WithT: NewWithT(t), allocator: kv.NewAllocator(w.AllocatorOrder, layout.Pages), slots: kv.NewSlots(w.MetadataSlots),
	}
	c := Config{
		Addr: prefillAddr, Decode: decodeAddr, Router: routerAddr, Worker: w, Guards: guards,
		Admission: kv.NewLimits(w), Allocator: r.allocator, Slots: r.slots, Pool: layout, RecordBase: 1,
	}
	for _, change := range changes {
		change(&c)
	}
	r.worker = New(c)
	t.Cleanup(func() {
		if err := r.allocator.Err(); err != nil {
			t.Error(err)
		}
		if err := r.slots.Err(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// turn gives the worker one turn, a tick after the last.
func (r *rig) turn(t port.Turn) {
	r.now++
	t.Now = r.now
	e := r.worker.Step(t)
	r.wake = e.Wake
	r.events = append(r.events, e.Events...)
	r.cancelOps = append(r.cancelOps, e.CancelOps...)
	r.cancelWrites = append(r.cancelWrites, e.CancelWrites...)
	r.ops = append(r.ops, e.Ops...)
	for _, w := range e.Writes { // who takes a write copies its spans: they are the worker's, for a turn
		w.Src, w.Dst = slices.Clone(w.Src), slices.Clone(w.Dst)
		r.writes = append(r.writes, w)
	}
	r.sent = append(r.sent, e.Send...)
}

func (r *rig) receive(from wire.Addr, room wire.Room, bodies ...wire.Body) {
	var t port.Turn
	for _, body := range bodies {
		t.Messages = append(t.Messages, wire.Message{From: from, To: prefillAddr, Room: room, Body: body})
	}
	r.turn(t)
}

// submit hands a request of so many tokens in and, from decode, so many reserved pages.
func (r *rig) submit(room wire.Room, tokens, reservedPages int) {
	r.receive(routerAddr, room, wire.Submit{Prompt: promptOf(tokens), MaxNewTokens: 4})
	r.receive(decodeAddr, room, reservation(reservedPages))
}

func promptOf(tokens int) []wire.Token {
	prompt := make([]wire.Token, tokens)
	for i := range prompt {
		prompt[i] = wire.Token(100 + i)
	}
	return prompt
}

func reservation(pages int) wire.Reserved {
	body := wire.Reserved{Slot: 5, Generation: 9}
	for i := range pages {
		body.Pages = append(body.Pages, wire.Page(20+i))
	}
	return body
}

// answerOp answers the oldest operation.
func (r *rig) answerOp(status port.Status) {
	o := r.ops[0]
	r.ops = r.ops[1:]
	r.turn(port.Turn{Ops: []port.OpDone{opDone(o, status)}})
}

func opDone(o port.Op, status port.Status) port.OpDone {
	d := port.OpDone{Ticket: o.Ticket, Status: status}
	if o.Sample && status == port.OK {
		d.Sampled = []port.Sampled{{Token: 42}}
	}
	return d
}

// answerWrite answers the oldest write.
func (r *rig) answerWrite(status port.Status) {
	w := r.writes[0]
	r.writes = r.writes[1:]
	r.turn(port.Turn{Writes: []port.WriteDone{writeDone(w, status)}})
}

func writeDone(w port.Write, status port.Status) port.WriteDone {
	d := port.WriteDone{Ticket: w.Ticket, Status: status}
	if status == port.OK {
		for _, s := range w.Src {
			d.ClaimedBytes += s.Length
		}
		if w.Digest {
			d.Digests = []uint64{1000 * uint64(w.Buffer+1)}
		}
	}
	return d
}

// settle answers everything, operations first, until nothing is outstanding.
func (r *rig) settle(status port.Status) {
	for len(r.ops)+len(r.writes) > 0 {
		if len(r.ops) > 0 {
			r.answerOp(status)
			continue
		}
		r.answerWrite(status)
	}
}

// take returns the bodies sent to one party since the last look at any.
func (r *rig) take(to wire.Addr) []wire.Body {
	var bodies []wire.Body
	for _, m := range r.sent {
		if m.To == to {
			bodies = append(bodies, m.Body)
		}
	}
	return bodies
}

// has tells whether an event of the kind was recorded since the test last looked.
func (r *rig) has(kind event.Kind) bool {
	for _, e := range r.events {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

// tripped lists the guards that tripped since the test last looked.
func (r *rig) tripped() (guards []string) {
	for _, e := range r.events {
		if e.Kind == event.GuardTripped {
			guards = append(guards, e.Guard)
		}
	}
	return guards
}

// expectIdle asserts that the worker holds nothing and waits for nothing.
func (r *rig) expectIdle() {
	r.Expect(r.worker.Held().Idle()).To(BeTrue(), "%+v", r.worker.Held())
	r.Expect(r.wake).To(BeZero(), "nothing to wait for")
}

func kinds(ops []port.Op) (list []port.OpKind) {
	for _, o := range ops {
		list = append(list, o.Kind)
	}
	return list
}

func buffers(writes []port.Write) (list []wire.Buffer) {
	for _, w := range writes {
		list = append(list, w.Buffer)
	}
	return list
}
