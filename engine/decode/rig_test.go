package decode

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
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
	pageSize     = turntest.PageSize
	poolPages    = 16
	limit        = poolPages*pageSize - config.ReservedTokens
	peerLimit    = 122
	timeoutTicks = turntest.TimeoutTicks
	retryTicks   = turntest.RetryTicks
	retriesMax   = turntest.RetriesMax
	recordBase   = 3
)

// rig is one worker and what stands in for all that is around it.
type rig struct {
	*WithT
	*turntest.Rig
	worker    *Worker
	allocator *kv.Allocator
	slots     *kv.Slots
	granted   map[wire.Region]bool
}

// newRig returns a rig whose worker knows its peer. The changes are made to its configuration before it is built.
func newRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	r := bareRig(t, guards, changes...)
	r.introduce()
	r.Sent, r.Events = nil, nil
	return r
}

func (r *rig) introduce() {
	r.Receive(prefillAddr, 0, wire.PeerUp{MaxInputTokens: peerLimit, PageSize: pageSize})
}

func bareRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	w := turntest.Limits(poolPages)
	r := &rig{
		WithT: NewWithT(t), allocator: turntest.Allocator(t, w), slots: turntest.Slots(t, w), granted: map[wire.Region]bool{},
	}
	c := Config{
		Addr: decodeAddr, Prefill: prefillAddr, Router: routerAddr, Worker: w, Guards: guards,
		Admission: kv.NewLimits(w), Allocator: r.allocator, Slots: r.slots, Pool: turntest.Pool(w, 2), RecordBase: recordBase,
	}
	for _, change := range changes {
		change(&c)
	}
	r.worker = New(c)
	r.Rig = &turntest.Rig{T: t, Worker: r.worker, Client: routerAddr, Answer: r.opDone, Check: r.check}
	return r
}

// check follows which addresses are open.
func (r *rig) check(e port.Effects) {
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

func (r *rig) submit(room wire.Room, tokens, maxNewTokens int) {
	r.Receive(routerAddr, room, wire.Submit{Prompt: turntest.Prompt(tokens), MaxNewTokens: maxNewTokens})
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
	for i, o := range r.Ops {
		if o.Kind == kind {
			r.Ops = append(r.Ops[:i:i], r.Ops[i+1:]...)
			return o
		}
	}
	r.Expect(turntest.Kinds(r.Ops)).To(ContainElement(kind))
	return port.Op{}
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

// commit brings a request of so many tokens to its first decode step.
func (r *rig) commit(room wire.Room, tokens, maxNewTokens int) {
	r.submit(room, tokens, maxNewTokens)
	r.Receive(prefillAddr, room, r.claimOf(room, tokens))
	for r.worker.requests[room].state == verifying {
		r.AnswerOp(port.OK)
	}
	r.Expect(r.worker.requests[room].state).To(Equal(running))
}

// told lists what was sent to prefill since the test last looked.
func (r *rig) told() []wire.Body { return r.Told(prefillAddr) }

// expectIdle asserts that the worker holds nothing, waits for nothing, and keeps no address open.
func (r *rig) expectIdle() {
	r.ExpectIdle()
	r.Expect(r.granted).To(BeEmpty())
}
