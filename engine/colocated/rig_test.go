package colocated

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
	workerAddr = wire.Addr{Role: wire.Colocated, Incarnation: 1}
	routerAddr = wire.Addr{Role: wire.Router, Incarnation: 1}
)

// The pool of these tests holds eight pages of 16 tokens: 128 tokens, so 122 and more are refused at intake.
const (
	pageSize     = turntest.PageSize
	poolPages    = 8
	poolTokens   = poolPages * pageSize
	limit        = poolTokens - config.ReservedTokens
	timeoutTicks = turntest.TimeoutTicks
)

// rig is one worker and what stands in for all that is around it.
type rig struct {
	*WithT
	*turntest.Rig
	worker    *Worker
	allocator *kv.Allocator
}

func newRig(t *testing.T, guards guard.Set, changes ...func(*Config)) *rig {
	t.Helper()
	w := turntest.Limits(poolPages)
	r := &rig{WithT: NewWithT(t), allocator: turntest.Allocator(t, w)}
	c := Config{
		Addr: workerAddr, Router: routerAddr, Worker: w, Guards: guards, Admission: kv.NewLimits(w),
		Allocator: r.allocator, Pool: turntest.Pool(w, 0),
	}
	for _, change := range changes {
		change(&c)
	}
	r.worker = New(c)
	r.Rig = &turntest.Rig{T: t, Worker: r.worker, Client: routerAddr, Answer: opDone, Check: r.check}
	r.Turn(port.Turn{})
	r.Expect(r.Sent).To(HaveLen(1))
	r.Expect(r.Sent[0]).To(And(HaveField("To", routerAddr), HaveField("Body.MaxInputTokens", limit)))
	r.Sent = nil
	return r
}

// check holds every turn to this: there is no peer to write to or to be written by, and whoever asked for a room hears
// nothing but answers.
func (r *rig) check(e port.Effects) {
	r.Expect(len(e.Writes) + len(e.Grant) + len(e.Revoke)).To(BeZero())
	for _, m := range e.Send {
		r.Expect(m.To).To(Equal(routerAddr))
		if m.Room != 0 {
			r.Expect(m.Body).To(BeAssignableToTypeOf(wire.Finished{}))
		}
	}
}

func (r *rig) receive(room wire.Room, body wire.Body) { r.Receive(routerAddr, room, body) }

func (r *rig) submit(room wire.Room, tokens, maxNewTokens int) {
	r.receive(room, wire.Submit{Prompt: turntest.Prompt(tokens), MaxNewTokens: maxNewTokens})
}

func opDone(o port.Op, status port.Status) port.OpDone {
	d := port.OpDone{Ticket: o.Ticket, Status: status}
	if status == port.OK && (o.Kind == port.OpDecode || o.Sample) {
		d.Sampled = []port.Sampled{{Token: wire.Token(1000 + o.First)}}
	}
	return d
}
