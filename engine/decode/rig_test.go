package decode

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
	prefillAddr = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	decodeAddr  = wire.Addr{Role: wire.Decode, Incarnation: 1}
	routerAddr  = wire.Addr{Role: wire.Router, Incarnation: 1}
)

// The pool of these tests holds 16 pages of 16 tokens: 256 tokens, so 250 and more are refused at intake. Prefill said
// that it refuses 122.
const (
	pageSize     = 16
	poolPages    = 16
	limit        = poolPages*pageSize - config.ReservedTokens
	peerLimit    = 122
	timeoutTicks = 1000
	retryTicks   = 10
	retriesMax   = 2
	recordBase   = 3
)

// rig stands in for everything around one worker: it keeps what the worker submitted until a test answers it.
type rig struct {
	*WithT
	worker    *Worker
	allocator *kv.Allocator
	slots     *kv.Slots
	now, wake wire.Tick
	ops       []port.Op // not answered yet, in order of submission
	granted   map[wire.Region]bool
	// What happened since the test last looked.
	sent   []wire.Message
	events []event.Event
}

// newRig returns a rig whose worker knows its peer. The changes are made to its configuration before it is built.
func newRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	r := bareRig(t, guards, changes...)
	r.introduce()
	r.sent, r.events = nil, nil
	return r
}

func (r *rig) introduce() {
	r.receive(prefillAddr, 0, wire.PeerUp{MaxInputTokens: peerLimit, PageSize: pageSize})
}

func bareRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	w := config.Worker{
		ContextLength: 1024, MaxTotalNumTokens: poolPages * pageSize, PageSize: pageSize, ChunkedPrefillSize: 2 * pageSize,
		MaxRunningRequests: 4, MetadataSlots: 4, AllocatorOrder: config.OrderSGLang,
		BootstrapTimeoutTicks: timeoutTicks, AbortRetryTicks: retryTicks, AbortRetriesMax: retriesMax,
	}
	layout := port.Layout{Base: 2, Pages: w.PoolPages(), PageSize: pageSize, RowBytes: 128}
	r := &rig{
		WithT: NewWithT(t), allocator: kv.NewAllocator(w.AllocatorOrder, layout.Pages), slots: kv.NewSlots(w.MetadataSlots),
		granted: map[wire.Region]bool{},
	}
	c := Config{
		Addr: decodeAddr, Prefill: prefillAddr, Router: routerAddr, Worker: w, Guards: guards,
		Admission: kv.NewLimits(w), Allocator: r.allocator, Slots: r.slots, Pool: layout, RecordBase: recordBase,
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
	r.ops = append(r.ops, e.Ops...)
	r.sent = append(r.sent, e.Send...)
	for _, region := range e.Revoke {
		r.Expect(r.granted).To(HaveKey(region), "revoked what was not granted")
		delete(r.granted, region)
	}
	for _, region := range e.Grant {
		r.Expect(r.granted).NotTo(HaveKey(region), "granted twice")
		r.granted[region] = true
	}
	r.Expect(e.Writes).To(BeEmpty(), "decode writes to nobody")
}

func (r *rig) receive(from wire.Addr, room wire.Room, bodies ...wire.Body) {
	var t port.Turn
	for _, body := range bodies {
		t.Messages = append(t.Messages, wire.Message{From: from, To: decodeAddr, Room: room, Body: body})
	}
	r.turn(t)
}

func (r *rig) submit(room wire.Room, tokens, maxNewTokens int) {
	r.receive(routerAddr, room, wire.Submit{Prompt: promptOf(tokens), MaxNewTokens: maxNewTokens})
}

func promptOf(tokens int) []wire.Token {
	prompt := make([]wire.Token, tokens)
	for i := range prompt {
		prompt[i] = wire.Token(100 + i)
	}
	return prompt
}

// record is what prefill leaves in the metadata slot of a room with so many tokens.
func record(room wire.Room, tokens int) port.Record {
	return port.Record{Room: room, Tokens: tokens, First: 42}
}

// claim is what prefill says of a whole transfer of so many tokens to room 7.
func (r *rig) claim(tokens int) wire.Sent { return r.claimOf(7, tokens) }

func (r *rig) claimOf(room wire.Room, tokens int) wire.Sent {
	layout := r.worker.config.Pool
	pages := layout.PagesFor(tokens)
	return wire.Sent{
		Pages: pages, Tokens: tokens, Bytes: int64(pages) * layout.PageBytes(r.worker.config.Guards.Has(guard.PageStamp)),
		Digests: [wire.KVBuffers][]uint64{{11}, {12}, {13}, {14}}, Record: record(room, tokens).Sum(),
	}
}

// takeOp takes the oldest operation of a kind off the unanswered ones.
func (r *rig) takeOp(kind port.OpKind) port.Op {
	for i, o := range r.ops {
		if o.Kind == kind {
			r.ops = append(r.ops[:i:i], r.ops[i+1:]...)
			return o
		}
	}
	r.Expect(kinds(r.ops)).To(ContainElement(kind))
	return port.Op{}
}

// answerOp answers the oldest operation.
func (r *rig) answerOp(status port.Status) {
	o := r.ops[0]
	r.ops = r.ops[1:]
	r.turn(port.Turn{Ops: []port.OpDone{r.opDone(o, status)}})
}

// opDone is what a device with healthy memory answers.
func (r *rig) opDone(o port.Op, status port.Status) port.OpDone {
	d := port.OpDone{Ticket: o.Ticket, Status: status, FailedOrdinal: -1}
	if status != port.OK {
		return d
	}
	switch o.Kind {
	case port.OpDecode:
		d.Sampled = []port.Sampled{{Token: wire.Token(1000 + o.First)}}
	case port.OpDigest:
		d.Digests = []uint64{11, 12, 13, 14}
	case port.OpLoad:
		request := r.worker.requests[o.Room]
		d.Data = record(o.Room, len(request.prompt)).Bytes()
	default:
	}
	return d
}

// settle answers everything until nothing is outstanding.
func (r *rig) settle(status port.Status) {
	for len(r.ops) > 0 {
		r.answerOp(status)
	}
}

// commit brings a request of so many tokens to its first decode step.
func (r *rig) commit(room wire.Room, tokens, maxNewTokens int) {
	r.submit(room, tokens, maxNewTokens)
	r.receive(prefillAddr, room, r.claimOf(room, tokens))
	for r.worker.requests[room].state == verifying {
		r.answerOp(port.OK)
	}
	r.Expect(r.worker.requests[room].state).To(Equal(running))
}

// answers lists the answers to the client of one room since the test last looked.
func (r *rig) answers(room wire.Room) (list []wire.Finished) {
	for _, m := range r.sent {
		if body, ok := m.Body.(wire.Finished); ok && m.Room == room {
			r.Expect(m.To).To(Equal(routerAddr))
			list = append(list, body)
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

// told lists what was sent to prefill since the test last looked.
func (r *rig) told() (bodies []wire.Body) {
	for _, m := range r.sent {
		if m.To == prefillAddr {
			bodies = append(bodies, m.Body)
		}
	}
	return bodies
}

func (r *rig) count(kind event.Kind) (n int) {
	for _, e := range r.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (r *rig) tripped() (guards []string) {
	for _, e := range r.events {
		if e.Kind == event.GuardTripped {
			guards = append(guards, e.Guard)
		}
	}
	return guards
}

// expectIdle asserts that the worker holds nothing, waits for nothing, and keeps no address open.
func (r *rig) expectIdle() {
	r.Expect(r.worker.Held().Idle()).To(BeTrue(), "%+v", r.worker.Held())
	r.Expect(r.wake).To(BeZero(), "nothing to wait for")
	r.Expect(r.granted).To(BeEmpty())
}

func kinds(ops []port.Op) (list []port.OpKind) {
	for _, o := range ops {
		list = append(list, o.Kind)
	}
	return list
}
