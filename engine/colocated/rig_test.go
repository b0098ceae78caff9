package colocated

import (
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
	workerAddr = wire.Addr{Role: wire.Colocated, Incarnation: 1}
	routerAddr = wire.Addr{Role: wire.Router, Incarnation: 1}
)

// The pool of these tests holds eight pages of 16 tokens: 128 tokens, so 122 and more are refused at intake.
const (
	pageSize     = 16
	poolTokens   = 8 * pageSize
	limit        = poolTokens - config.ReservedTokens
	timeoutTicks = 1000
)

// rig stands in for everything around one worker: it keeps what the worker submitted until a test answers it.
type rig struct {
	*WithT
	worker    *Worker
	allocator *kv.Allocator
	now, wake wire.Tick
	ops       []port.Op // not answered yet, in order of submission
	sent      []wire.Message
	events    []event.Event
}

func newRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	w := config.Worker{
		ContextLength: 1024, MaxTotalNumTokens: poolTokens, PageSize: pageSize, ChunkedPrefillSize: 2 * pageSize,
		MaxRunningRequests: 4, MetadataSlots: 4, AllocatorOrder: config.OrderSGLang,
		BootstrapTimeoutTicks: timeoutTicks, AbortRetryTicks: 10, AbortRetriesMax: 2,
	}
	layout := port.Layout{Pages: w.PoolPages(), PageSize: pageSize, RowBytes: 128}
	r := &rig{WithT: NewWithT(t), allocator: kv.NewAllocator(w.AllocatorOrder, layout.Pages)}
	c := Config{
		Addr: workerAddr, Router: routerAddr, Worker: w, Guards: guards, Admission: kv.NewLimits(w),
		Allocator: r.allocator, Pool: layout,
	}
	for _, change := range changes {
		change(&c)
	}
	r.worker = New(c)
	r.turn(port.Turn{})
	r.Expect(r.sent).To(HaveLen(1))
	r.Expect(r.sent[0]).To(And(HaveField("To", routerAddr), HaveField("Body.MaxInputTokens", limit)))
	r.sent = nil
	t.Cleanup(func() {
		if err := r.allocator.Err(); err != nil {
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
	r.ops = append(r.ops, e.Ops...)
	r.sent = append(r.sent, e.Send...)
	r.Expect(len(e.Writes) + len(e.Grant) + len(e.Revoke)).To(BeZero())
}

func (r *rig) receive(room wire.Room, body wire.Body) {
	r.turn(port.Turn{Messages: []wire.Message{{From: routerAddr, To: workerAddr, Room: room, Body: body}}})
}

func (r *rig) submit(room wire.Room, tokens, maxNewTokens int) {
	prompt := make([]wire.Token, tokens)
	for i := range prompt {
		prompt[i] = wire.Token(100 + i)
	}
	r.receive(room, wire.Submit{Prompt: prompt, MaxNewTokens: maxNewTokens})
}

// answerOp answers the oldest operation.
func (r *rig) answerOp(status port.Status) {
	o := r.ops[0]
	r.ops = r.ops[1:]
	r.turn(port.Turn{Ops: []port.OpDone{opDone(o, status)}})
}

func opDone(o port.Op, status port.Status) port.OpDone {
	d := port.OpDone{Ticket: o.Ticket, Status: status}
	if status == port.OK && (o.Kind == port.OpDecode || o.Sample) {
		d.Sampled = []port.Sampled{{Token: wire.Token(1000 + o.First)}}
	}
	return d
}

func (r *rig) settle(status port.Status) {
	for len(r.ops) > 0 {
		r.answerOp(status)
	}
}

func (r *rig) answers(room wire.Room) (list []wire.Finished) {
	for _, m := range r.sent {
		if m.Room == room {
			r.Expect(m.To).To(Equal(routerAddr))
			list = append(list, m.Body.(wire.Finished))
		}
	}
	return list
}

// expectStatus asserts that the room had exactly one answer, of this status.
func (r *rig) expectStatus(room wire.Room, status int) {
	r.Expect(r.answers(room)).To(HaveLen(1))
	answer := r.answers(room)[0]
	r.Expect(answer.Status).To(Equal(status), "%s", answer.Reason)
	if status != 200 {
		r.Expect(answer.Tokens).To(BeEmpty(), "no part of an answer leaves with an error")
	}
}

func (r *rig) count(kind event.Kind) (n int) {
	for _, e := range r.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

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
