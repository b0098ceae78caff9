package prefill

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

// The pool of these tests holds eight pages of 16 tokens: 128 tokens, so 122 and more are refused at intake.
const (
	pageSize     = turntest.PageSize
	poolPages    = 8
	poolTokens   = poolPages * pageSize
	limit        = poolTokens - config.ReservedTokens
	timeoutTicks = turntest.TimeoutTicks
	retryTicks   = turntest.RetryTicks
	retriesMax   = turntest.RetriesMax
)

// rig is one worker and what stands in for all that is around it.
type rig struct {
	*WithT
	*turntest.Rig
	worker    *Worker
	allocator *kv.Allocator
	slots     *kv.Slots
}

// newRig returns a rig whose worker knows its peer. The changes are made to its configuration before it is built.
func newRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	r := bareRig(t, guards, changes...)
	r.Turn(port.Turn{Messages: []wire.Message{{From: decodeAddr, Body: wire.PeerUp{
		MaxInputTokens: 1000, PageSize: pageSize, PoolPages: 65, PoolBase: 2, RecordBase: 3,
	}}}})
	r.Sent, r.Events = nil, nil
	return r
}

func bareRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	w := turntest.Limits(poolPages)
	r := &rig{WithT: NewWithT(t), allocator: turntest.Allocator(t, w), slots: turntest.Slots(t, w)}
	c := Config{
		Addr: prefillAddr, Decode: decodeAddr, Router: routerAddr, Worker: w, Guards: guards,
		Admission: kv.NewLimits(w), Allocator: r.allocator, Slots: r.slots, Pool: turntest.Pool(w, 0), RecordBase: 1,
	}
	for _, change := range changes {
		change(&c)
	}
	r.worker = New(c)
	r.Rig = &turntest.Rig{T: t, Worker: r.worker, Client: routerAddr, Answer: opDone}
	return r
}

// submit hands a request of so many tokens in and, from decode, so many reserved pages.
func (r *rig) submit(room wire.Room, tokens, reservedPages int) {
	r.Receive(routerAddr, room, wire.Submit{Prompt: turntest.Prompt(tokens), MaxNewTokens: 4})
	r.Receive(decodeAddr, room, reservation(reservedPages))
}

func reservation(pages int) wire.Reserved {
	body := wire.Reserved{Slot: 5, Generation: 9}
	for i := range pages {
		body.Pages = append(body.Pages, wire.Page(20+i))
	}
	return body
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
	w := r.Writes[0]
	r.Writes = r.Writes[1:]
	r.Turn(port.Turn{Writes: []port.WriteDone{writeDone(w, status)}})
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
	for r.SettleOps(status); len(r.Writes) > 0; r.SettleOps(status) {
		r.answerWrite(status)
	}
}

func buffers(writes []port.Write) (list []wire.Buffer) {
	for _, w := range writes {
		list = append(list, w.Buffer)
	}
	return list
}
