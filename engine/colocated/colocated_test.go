package colocated

import (
	"math"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
	"github.com/stalepage/stalepage/engine/wire"
)

// A healthy request: three chunks, then one token a step from the very pages they were computed into.
func TestLifeOfARequest(t *testing.T) {
	r := newRig(t, guard.All)
	const tokens = 4*pageSize + 5
	r.submit(7, tokens, 3)
	pages := r.Ops[0].Pages
	r.Expect(pages).To(HaveLen(5), "prompt and answer")
	for i, first := range []int{0, 2 * pageSize, 4 * pageSize} {
		r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpPrefill}))
		r.Expect(r.Ops[0]).To(And(HaveField("First", first), HaveField("Sample", i == 2)))
		r.AnswerOp(port.OK)
	}
	for step := range 2 {
		r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpDecode}))
		r.Expect(r.Ops[0]).To(And(HaveField("First", tokens+step), HaveField("Pages", pages)))
		r.AnswerOp(port.OK)
	}
	r.Expect(r.Answers(7)).To(Equal([]wire.Finished{{
		Status: 200, PromptTokens: tokens, Tokens: []wire.Token{1000 + 4*pageSize, 1000 + tokens, 1001 + tokens},
		Reason: "length",
	}}))
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpScrub}))
	r.SettleOps(port.OK)
	r.ExpectIdle()
}

// Running requests go on independently, one operation each, however many turns go by.
func TestOneOperationEach(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(1, 5, 3)
	r.submit(2, 5, 3)
	r.AnswerOp(port.OK)
	r.AnswerOp(port.OK)
	r.Turn(port.Turn{})
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpDecode, port.OpDecode}))
	r.Expect([]wire.Room{r.Ops[0].Room, r.Ops[1].Room}).To(Equal([]wire.Room{1, 2}))
	r.SettleOps(port.OK)
	for room := wire.Room(1); room <= 2; room++ {
		r.Expect(r.Answers(room)[0].Tokens).To(Equal([]wire.Token{1000, 1005, 1006}))
	}
	r.ExpectIdle()
}

// The very refusal that leaks in a disaggregated deployment is the client's answer here, with any guards or none: at the
// door, at a later queue, or after the placeholder's forward pass.
func TestRefusalIsTheAnswer(t *testing.T) {
	for _, c := range []struct {
		guards   guard.Set
		computed bool
	}{
		{guard.None, true}, {guard.DoorRefusal, false}, {guard.HonourRefusal, false}, {guard.All, false},
	} {
		for _, tokens := range []int{limit, poolTokens + 1, 1024} {
			r := newRig(t, c.guards)
			r.submit(7, tokens, 3)
			r.Expect(r.Count(event.PagesReserved)).To(Equal(map[bool]int{true: 1}[c.computed]))
			r.SettleOps(port.OK)
			r.ExpectStatus(7, 400)
			r.Expect(r.Count(event.RefusalRecorded)).To(Equal(1))
			r.Expect(r.Count(event.RequestRejected)).To(Equal(1))
			r.Expect(r.Count(event.RequestReceived)).To(Equal(1))
			r.ExpectIdle()
		}
	}
	for _, tokens := range []int{0, 1025} { // at the front end there is no placeholder
		r := newRig(t, guard.None)
		r.submit(7, tokens, 3)
		r.ExpectStatus(7, 400)
		r.ExpectIdle()
	}
	r := newRig(t, guard.None)
	r.submit(7, limit-1, 3)
	r.SettleOps(port.OK)
	r.ExpectStatus(7, 200)
}

// auto_truncate answers a shortened prompt and says so.
func TestTruncated(t *testing.T) {
	r := newRig(t, guard.All, func(c *Config) {
		w := c.Worker
		w.AllowAutoTruncate = true
		c.Admission = kv.NewLimits(w)
	})
	r.submit(7, 200, 1)
	r.SettleOps(port.OK)
	r.ExpectStatus(7, 200)
	r.Expect(r.Answers(7)[0]).To(And(HaveField("Truncated", true), HaveField("PromptTokens", limit-1)))
	r.ExpectIdle()
}

// Pages are given in the order of arrival, in the very turn in which they come free; who waits has a deadline; what can
// never fit holds nobody back.
func TestWaitingForPages(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All} {
		r := newRig(t, guards)
		r.submit(1, 5*pageSize, pageSize) // six pages
		r.submit(2, 4*pageSize, 1)        // five
		r.submit(3, 5, 1)
		r.submit(4, 100, 100) // more than there are
		r.Expect(r.Wake).To(BeNumerically(">", 0))
		for len(r.Answers(1)) == 0 {
			r.Expect(r.Ops[0].Room).To(Equal(wire.Room(1)))
			r.AnswerOp(port.OK)
		}
		r.SettleOps(port.OK)
		for room := wire.Room(1); room <= 3; room++ {
			r.ExpectStatus(room, 200)
		}
		r.ExpectStatus(4, 400)
		r.ExpectIdle()
	}
}

// A deadline ends the wait for pages.
func TestDeadline(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(1, 5*pageSize, pageSize)
	r.submit(2, 4*pageSize, 1)
	r.Now = r.Wake - 2
	r.Turn(port.Turn{})
	r.Expect(r.Count(event.RequestExpired)).To(BeZero())
	r.Turn(port.Turn{})
	r.ExpectStatus(2, 504)
	r.SettleOps(port.OK)
	r.ExpectStatus(1, 200)
	r.ExpectIdle()
}

// Numbers of new tokens that make no sense neither overflow nor leave a request without an answer.
func TestNewTokensAtTheBounds(t *testing.T) {
	for maxNewTokens, status := range map[int]int{0: 200, -1: 200, math.MinInt: 200, 1 << 40: 400, math.MaxInt: 400} {
		r := newRig(t, guard.All)
		r.submit(7, 20, maxNewTokens)
		r.SettleOps(port.OK)
		r.ExpectStatus(7, status)
		r.ExpectIdle()
	}
}

// An abort in every state is answered once, and all comes back when the device is done with it.
func TestAbortInEveryState(t *testing.T) {
	for name, c := range map[string]struct {
		reach  func(*rig)
		status int
	}{
		"before Submit": {func(r *rig) {
			r.receive(7, wire.Abort{})
			r.submit(7, 20, 3)
			r.ExpectStatus(7, 499)
		}, 499},
		"waiting": {func(r *rig) {
			r.submit(1, 7*pageSize, 1)
			r.submit(7, 20, 3)
		}, 499},
		"forwarding": {func(r *rig) { r.submit(7, 40, 3) }, 499},
		"running": {func(r *rig) {
			r.submit(7, 20, 3)
			r.AnswerOp(port.OK)
		}, 499},
		"draining": {func(r *rig) {
			r.submit(7, 20, 3)
			r.receive(7, wire.Abort{})
		}, 499},
		"scrubbing": {func(r *rig) {
			r.submit(7, 20, 1)
			r.AnswerOp(port.OK)
		}, 200},
		"over": {func(r *rig) {
			r.submit(7, 20, 1)
			r.SettleOps(port.OK)
		}, 200},
	} {
		for _, guards := range []guard.Set{guard.None, guard.Scrub, guard.DeferredRelease, guard.All} {
			t.Run(name+" "+guards.String(), func(t *testing.T) {
				r := newRig(t, guards)
				c.reach(r)
				r.receive(7, wire.Abort{})
				r.ExpectStatus(7, c.status)
				if request := r.worker.requests[7]; guards.Has(guard.DeferredRelease) && request.ops > 0 {
					r.Expect(request.pages).NotTo(BeNil(), "the device may still write to them")
				}
				r.submit(7, 20, 3)
				r.SettleOps(port.OK)
				r.ExpectStatus(7, c.status)
				r.ExpectIdle()
			})
		}
	}
}

// An operation that fails, or answers without a token, ends its request with 500 and nobody else's; a scrub that fails
// gives nothing back.
func TestDeviceFailures(t *testing.T) {
	for _, point := range []int{0, 1, 2} {
		for _, d := range []port.OpDone{{Status: port.Cancelled}, {Status: port.Failed}, {Status: port.Rejected}, {}} {
			r := newRig(t, guard.All)
			r.submit(7, 40, 3)
			for range point {
				r.AnswerOp(port.OK)
			}
			if d.Status == port.OK && point == 0 {
				continue // the first chunk owes no token
			}
			d.Ticket = r.Ops[0].Ticket
			r.Ops = nil
			r.Turn(port.Turn{Ops: []port.OpDone{d}})
			r.ExpectStatus(7, 500)
			r.SettleOps(port.OK)
			r.ExpectIdle()
		}
	}
	r := newRig(t, guard.Scrub)
	r.submit(7, 40, 1)
	r.AnswerOp(port.OK)
	r.AnswerOp(port.OK)
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpScrub}))
	r.AnswerOp(port.Failed)
	r.Expect(r.Count(event.PagesReleased)).To(BeZero())
	r.Expect(r.worker.Held().PagesQuarantined).To(Equal(3))
	r.ExpectIdle()
}
