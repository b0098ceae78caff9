package colocated

import (
	"math"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// A healthy request: three chunks, then one token a step from the very pages they were computed into.
func TestLifeOfARequest(t *testing.T) {
	r := newRig(t, guard.All)
	const tokens = 4*pageSize + 5
	r.submit(7, tokens, 3)
	pages := r.ops[0].Pages
	r.Expect(pages).To(HaveLen(5), "prompt and answer")
	for i, first := range []int{0, 2 * pageSize, 4 * pageSize} {
		r.Expect(kinds(r.ops)).To(Equal([]port.OpKind{port.OpPrefill}))
		r.Expect(r.ops[0]).To(And(HaveField("First", first), HaveField("Sample", i == 2)))
		r.answerOp(port.OK)
	}
	for step := range 2 {
		r.Expect(kinds(r.ops)).To(Equal([]port.OpKind{port.OpDecode}))
		r.Expect(r.ops[0]).To(And(HaveField("First", tokens+step), HaveField("Pages", pages)))
		r.answerOp(port.OK)
	}
	r.Expect(r.answers(7)).To(Equal([]wire.Finished{{
		Status: 200, PromptTokens: tokens, Tokens: []wire.Token{1000 + 4*pageSize, 1000 + tokens, 1001 + tokens},
		Reason: "length",
	}}))
	r.Expect(kinds(r.ops)).To(Equal([]port.OpKind{port.OpScrub}))
	r.settle(port.OK)
	r.expectIdle()
}

// Running requests go on independently, one operation each, however many turns go by.
func TestOneOperationEach(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(1, 5, 3)
	r.submit(2, 5, 3)
	r.answerOp(port.OK)
	r.answerOp(port.OK)
	r.turn(port.Turn{})
	r.Expect(kinds(r.ops)).To(Equal([]port.OpKind{port.OpDecode, port.OpDecode}))
	r.Expect([]wire.Room{r.ops[0].Room, r.ops[1].Room}).To(Equal([]wire.Room{1, 2}))
	r.settle(port.OK)
	for room := wire.Room(1); room <= 2; room++ {
		r.Expect(r.answers(room)[0].Tokens).To(Equal([]wire.Token{1000, 1005, 1006}))
	}
	r.expectIdle()
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
			r.Expect(r.count(event.PagesReserved)).To(Equal(map[bool]int{true: 1}[c.computed]))
			r.settle(port.OK)
			r.expectStatus(7, 400)
			r.Expect(r.count(event.RefusalRecorded)).To(Equal(1))
			r.Expect(r.count(event.RequestRejected)).To(Equal(1))
			r.Expect(r.count(event.RequestReceived)).To(Equal(1))
			r.expectIdle()
		}
	}
	for _, tokens := range []int{0, 1025} { // at the front end there is no placeholder
		r := newRig(t, guard.None)
		r.submit(7, tokens, 3)
		r.expectStatus(7, 400)
		r.expectIdle()
	}
	r := newRig(t, guard.None)
	r.submit(7, limit-1, 3)
	r.settle(port.OK)
	r.expectStatus(7, 200)
}

// auto_truncate answers a shortened prompt and says so.
func TestTruncated(t *testing.T) {
	r := newRig(t, guard.All, func(c *Config) {
		w := c.Worker
		w.AllowAutoTruncate = true
		c.Admission = kv.NewLimits(w)
	})
	r.submit(7, 200, 1)
	r.settle(port.OK)
	r.expectStatus(7, 200)
	r.Expect(r.answers(7)[0]).To(And(HaveField("Truncated", true), HaveField("PromptTokens", limit-1)))
	r.expectIdle()
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
		r.Expect(r.wake).To(BeNumerically(">", 0))
		for len(r.answers(1)) == 0 {
			r.Expect(r.ops[0].Room).To(Equal(wire.Room(1)))
			r.answerOp(port.OK)
		}
		r.settle(port.OK)
		for room := wire.Room(1); room <= 3; room++ {
			r.expectStatus(room, 200)
		}
		r.expectStatus(4, 400)
		r.expectIdle()
	}
}

// A deadline ends the wait for pages.
func TestDeadline(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(1, 5*pageSize, pageSize)
	r.submit(2, 4*pageSize, 1)
	r.now = r.wake - 2
	r.turn(port.Turn{})
	r.Expect(r.count(event.RequestExpired)).To(BeZero())
	r.turn(port.Turn{})
	r.expectStatus(2, 504)
	r.settle(port.OK)
	r.expectStatus(1, 200)
	r.expectIdle()
}

// Numbers of new tokens that make no sense neither overflow nor leave a request without an answer.
func TestNewTokensAtTheBounds(t *testing.T) {
	for maxNewTokens, status := range map[int]int{0: 200, -1: 200, math.MinInt: 200, 1 << 40: 400, math.MaxInt: 400} {
		r := newRig(t, guard.All)
		r.submit(7, 20, maxNewTokens)
		r.settle(port.OK)
		r.expectStatus(7, status)
		r.expectIdle()
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
			r.expectStatus(7, 499)
		}, 499},
		"waiting": {func(r *rig) {
			r.submit(1, 7*pageSize, 1)
			r.submit(7, 20, 3)
		}, 499},
		"forwarding": {func(r *rig) { r.submit(7, 40, 3) }, 499},
		"running": {func(r *rig) {
			r.submit(7, 20, 3)
			r.answerOp(port.OK)
		}, 499},
		"draining": {func(r *rig) {
			r.submit(7, 20, 3)
			r.receive(7, wire.Abort{})
		}, 499},
		"scrubbing": {func(r *rig) {
			r.submit(7, 20, 1)
			r.answerOp(port.OK)
		}, 200},
		"over": {func(r *rig) {
			r.submit(7, 20, 1)
			r.settle(port.OK)
		}, 200},
	} {
		for _, guards := range []guard.Set{guard.None, guard.Scrub, guard.DeferredRelease, guard.All} {
			t.Run(name+" "+guards.String(), func(t *testing.T) {
				r := newRig(t, guards)
				c.reach(r)
				r.receive(7, wire.Abort{})
				r.expectStatus(7, c.status)
				if request := r.worker.requests[7]; guards.Has(guard.DeferredRelease) && request.ops > 0 {
					r.Expect(request.pages).NotTo(BeNil(), "the device may still write to them")
				}
				r.submit(7, 20, 3)
				r.settle(port.OK)
				r.expectStatus(7, c.status)
				r.expectIdle()
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
				r.answerOp(port.OK)
			}
			if d.Status == port.OK && point == 0 {
				continue // the first chunk owes no token
			}
			d.Ticket = r.ops[0].Ticket
			r.ops = nil
			r.turn(port.Turn{Ops: []port.OpDone{d}})
			r.expectStatus(7, 500)
			r.settle(port.OK)
			r.expectIdle()
		}
	}
	r := newRig(t, guard.Scrub)
	r.submit(7, 40, 1)
	r.answerOp(port.OK)
	r.answerOp(port.OK)
	r.Expect(kinds(r.ops)).To(Equal([]port.OpKind{port.OpScrub}))
	r.answerOp(port.Failed)
	r.Expect(r.count(event.PagesReleased)).To(BeZero())
	r.Expect(r.worker.Held().PagesQuarantined).To(Equal(3))
	r.expectIdle()
}
