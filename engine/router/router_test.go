package router

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
	"github.com/stalepage/stalepage/engine/wire"
)

var (
	clientAddr  = wire.Addr{Role: wire.Client, Incarnation: 1}
	otherAddr   = wire.Addr{Role: wire.Client, Index: 1, Incarnation: 1}
	routerAddr  = wire.Addr{Role: wire.Router, Incarnation: 1}
	prefillAddr = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	decodeAddr  = wire.Addr{Role: wire.Decode, Incarnation: 1}
)

// rig is one router and what stands in for all that is around it.
type rig struct {
	*WithT
	*turntest.Rig
	worker *Worker
}

// newRig returns a rig whose router posts to workers: prefill and decode, unless others are given.
func newRig(t *testing.T, guards guard.Set, mode config.RouterMode, workers ...wire.Addr) *rig {
	t.Helper()
	if workers == nil {
		workers = []wire.Addr{prefillAddr, decodeAddr}
	}
	worker := New(Config{
		Addr: routerAddr, Workers: workers, Guards: guards,
		Router: config.Router{Mode: mode, EdgeLimitTokens: 50},
	})
	r := &rig{WithT: NewWithT(t), worker: worker}
	r.Rig = &turntest.Rig{T: t, Worker: worker, Check: r.check}
	return r
}

// check holds every turn to this: a router has no memory and no device, and waits for nothing.
func (r *rig) check(e port.Effects) {
	r.Expect(len(e.Ops) + len(e.Writes) + len(e.Grant) + len(e.Revoke)).To(BeZero())
	r.Expect(e.Wake).To(BeZero())
}

// receive gives the router one message and returns what it sent in answer.
func (r *rig) receive(from wire.Addr, room wire.Room, body wire.Body) []wire.Message {
	r.Sent = nil
	r.Receive(from, room, body)
	return r.Sent
}

func submit(tokens int) wire.Submit {
	return wire.Submit{Prompt: make([]wire.Token, tokens), MaxNewTokens: 4}
}

// bodies asserts to whom messages of one room went, and returns what they say.
func (r *rig) bodies(messages []wire.Message, room wire.Room, to ...wire.Addr) (bodies []wire.Body) {
	r.Expect(messages).To(HaveLen(len(to)))
	for i, m := range messages {
		r.Expect(m.From).To(Equal(routerAddr))
		r.Expect(m.To).To(Equal(to[i]))
		r.Expect(m.Room).To(Equal(room))
		bodies = append(bodies, m.Body)
	}
	return bodies
}

// The same body goes to both workers at once, and the client gets decode's answer, whatever prefill says.
func TestLifeOfARequest(t *testing.T) {
	r := newRig(t, guard.All, config.DecodeOnly)
	r.Expect(r.bodies(r.receive(clientAddr, 7, submit(20)), 7, prefillAddr, decodeAddr)).
		To(Equal([]wire.Body{submit(20), submit(20)}))
	r.Expect(r.receive(prefillAddr, 7, wire.Refused{Stage: wire.AtIntake, Reason: "too long", Status: 400})).To(BeEmpty())
	r.Expect(r.worker.Held().Requests).To(Equal(1))
	answer := wire.Finished{Status: 200, PromptTokens: 20, Tokens: []wire.Token{1, 2}, Reason: "length"}
	r.Expect(r.bodies(r.receive(decodeAddr, 7, answer), 7, clientAddr)).To(Equal([]wire.Body{answer}))
	r.ExpectIdle()
	r.Expect(r.receive(decodeAddr, 7, answer)).To(BeEmpty(), "nobody waits for a second answer")
}

// A request that asks for nothing, or of nothing, is refused with a reason, guards or not.
func TestBadInput(t *testing.T) {
	for _, body := range []wire.Submit{
		{MaxNewTokens: 1},
		{Prompt: []wire.Token{}, MaxNewTokens: 1},
		{Prompt: []wire.Token{1}},
		{Prompt: []wire.Token{1}, MaxNewTokens: -1},
		{},
	} {
		r := newRig(t, guard.None, config.DecodeOnly)
		answers := r.bodies(r.receive(clientAddr, 7, body), 7, clientAddr)
		r.Expect(answers[0]).To(And(HaveField("Status", 400), HaveField("Reason", ContainSubstring("at least one"))))
		r.ExpectIdle()
	}
}

// Edge refusal looks at what the operator set, limit-exchange at the smallest limit that a worker announced.
func TestEdgeGuards(t *testing.T) {
	for name, c := range map[string]struct {
		guards    guard.Set
		announced []int
		tokens    int
		trips     string
	}{
		"below the edge":        {guard.EdgeRefusal, nil, 49, ""},
		"at the edge":           {guard.EdgeRefusal, nil, 50, "edge-refusal"},
		"edge guard off":        {guard.None, []int{30, 40}, 60, ""},
		"limits not known yet":  {guard.LimitExchange, nil, 60, ""},
		"below the smallest":    {guard.LimitExchange, []int{40, 30, 45}, 29, ""},
		"at the smallest":       {guard.LimitExchange, []int{40, 30, 45}, 30, "limit-exchange"},
		"one truncates":         {guard.LimitExchange, []int{0, 45}, 44, ""},
		"one truncates, longer": {guard.LimitExchange, []int{45, 0}, 45, "limit-exchange"},
		"all truncate":          {guard.LimitExchange, []int{0, 0}, 1000, ""},
		"the edge comes first":  {guard.All, []int{30}, 50, "edge-refusal"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.guards, config.DecodeOnly)
			for _, limit := range c.announced {
				r.Expect(r.receive(prefillAddr, 0, wire.PeerUp{MaxInputTokens: limit})).To(BeEmpty())
			}
			r.Events = nil
			sent := r.receive(clientAddr, 7, submit(c.tokens))
			if c.trips == "" {
				r.bodies(sent, 7, prefillAddr, decodeAddr)
				return
			}
			r.Expect(r.bodies(sent, 7, clientAddr)[0]).
				To(And(HaveField("Status", 400), HaveField("PromptTokens", c.tokens)))
			r.Expect(r.Events[1]).To(And(HaveField("Kind", event.GuardTripped), HaveField("Guard", c.trips)))
			r.Expect(r.Events[2]).To(And(HaveField("Kind", event.RequestRejected), HaveField("Stage", wire.AtEdge)))
			r.ExpectIdle()
		})
	}
}

// A client's abort reaches both workers while the room is open, and nobody once it is answered, or never was asked for.
func TestAbort(t *testing.T) {
	r := newRig(t, guard.All, config.DecodeOnly)
	r.Expect(r.receive(clientAddr, 7, wire.Abort{})).To(BeEmpty())
	r.receive(clientAddr, 7, submit(20))
	for range 2 {
		r.bodies(r.receive(clientAddr, 7, wire.Abort{}), 7, prefillAddr, decodeAddr)
	}
	r.Expect(r.worker.Held().Requests).To(Equal(1), "the answer is decode's to give")
	r.bodies(r.receive(decodeAddr, 7, wire.Finished{Status: 499}), 7, clientAddr)
	r.Expect(r.receive(clientAddr, 7, wire.Abort{})).To(BeEmpty())
}

// Told to, the router answers prefill's error at once, with its status, and ends decode's part; decode's answer then
// finds nobody.
func TestCancelOnPrefillError(t *testing.T) {
	for _, status := range []int{400, 500, 504} {
		r := newRig(t, guard.All, config.CancelOnPrefillError)
		r.Expect(r.receive(prefillAddr, 7, wire.Refused{Status: status})).To(BeEmpty(), "no such room")
		r.receive(clientAddr, 7, submit(20))
		sent := r.receive(prefillAddr, 7, wire.Refused{Reason: "no", Status: status})
		r.Expect(r.bodies(sent, 7, clientAddr, decodeAddr)).
			To(Equal([]wire.Body{wire.Finished{Status: status, PromptTokens: 20, Reason: "no"}, wire.Abort{}}))
		r.Expect(r.receive(prefillAddr, 7, wire.Refused{Status: status})).To(BeEmpty())
		r.Expect(r.receive(decodeAddr, 7, wire.Finished{Status: 499})).To(BeEmpty())
		r.ExpectIdle()
	}
}

// A client that gave up gets decode's answer, not what prefill says of a transfer that was cut off for it.
func TestAbortOutranksPrefillError(t *testing.T) {
	r := newRig(t, guard.All, config.CancelOnPrefillError)
	r.receive(clientAddr, 7, submit(20))
	r.receive(clientAddr, 7, wire.Abort{})
	r.Expect(r.receive(prefillAddr, 7, wire.Refused{Reason: "write of K0 rejected", Status: 500})).To(BeEmpty())
	r.bodies(r.receive(decodeAddr, 7, wire.Finished{Status: 499}), 7, clientAddr)
	r.ExpectIdle()
}

// A room has one client for good: a repetition changes nothing, and another client that asks for a room that is taken is
// refused and gets nothing of the first one's answer.
func TestARoomIsTakenOnce(t *testing.T) {
	for _, answered := range []bool{false, true} {
		r := newRig(t, guard.None, config.DecodeOnly)
		answer := wire.Finished{Status: 200, Tokens: []wire.Token{1}}
		r.receive(clientAddr, 7, submit(20))
		if answered {
			r.receive(decodeAddr, 7, answer)
		}
		r.Expect(r.receive(clientAddr, 7, submit(20))).To(BeEmpty())
		r.Expect(r.bodies(r.receive(otherAddr, 7, submit(3)), 7, otherAddr)[0]).
			To(And(HaveField("Status", 400), HaveField("Tokens", BeEmpty()), HaveField("PromptTokens", 3)))
		if !answered {
			r.Expect(r.bodies(r.receive(decodeAddr, 7, answer), 7, clientAddr)).To(Equal([]wire.Body{answer}))
		}
		r.ExpectIdle()
	}
}

// A co-located worker gets each request alone.
func TestColocated(t *testing.T) {
	colocated := wire.Addr{Role: wire.Colocated, Incarnation: 1}
	r := newRig(t, guard.None, config.CancelOnPrefillError, colocated)
	r.bodies(r.receive(clientAddr, 7, submit(20)), 7, colocated)
	r.bodies(r.receive(clientAddr, 7, wire.Abort{}), 7, colocated)
}
