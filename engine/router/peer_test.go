package router

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/turn/turntest"
	"github.com/stalepage/stalepage/engine/wire"
)

var (
	nextPrefill   = wire.Addr{Role: wire.Prefill, Incarnation: 2}
	nextDecode    = wire.Addr{Role: wire.Decode, Incarnation: 2}
	colocatedAddr = wire.Addr{Role: wire.Colocated, Incarnation: 1}
)

// gone is the answer to a request of so many tokens whose worker is gone.
func gone(peer wire.Addr, tokens int) wire.Finished {
	return wire.Finished{Status: 502, PromptTokens: tokens, Reason: "peer " + peer.String() + " is gone"}
}

// The worker that answers goes: every open room is answered 502, in order of arrival, once; rooms that were answered, or
// refused, hear nothing.
func TestTheAnsweringWorkerIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		workers  []wire.Addr
		from     wire.Addr
		body     wire.Body
		answerer wire.Addr
	}{
		"decode, somebody says so":      {nil, otherAddr, turntest.Down(decodeAddr), decodeAddr},
		"decode, the next one came":     {nil, nextDecode, wire.PeerUp{}, decodeAddr},
		"decode, the next one is heard": {nil, nextDecode, wire.Finished{Status: 200}, decodeAddr},
		"decode, and so is the next":    {nil, otherAddr, turntest.Down(nextDecode), decodeAddr},
		"co-located":                    {[]wire.Addr{colocatedAddr}, otherAddr, turntest.Down(colocatedAddr), colocatedAddr},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, guard.None, config.DecodeOnly, c.workers...)
			for room := wire.Room(5); room > 0; room-- {
				r.receive(clientAddr, room, submit(int(room)))
			}
			r.receive(clientAddr, 6, submit(0))
			r.receive(c.answerer, 4, wire.Finished{Status: 200})
			sent := r.receive(c.from, 0, c.body)
			r.Expect(sent).To(HaveLen(4))
			for i, room := range []wire.Room{5, 3, 2, 1} {
				r.Expect(r.bodies(sent[i:i+1], room, clientAddr)).To(Equal([]wire.Body{gone(c.answerer, int(room))}))
			}
			r.ExpectIdle()
			r.Expect(r.receive(otherAddr, 0, turntest.Down(c.answerer))).To(BeEmpty())
			r.Expect(r.Lost()).To(Equal([]wire.Addr{c.answerer}))
		})
	}
}

// Prefill goes: decode answers what it was asked, whichever the mode; prefill is not told of an abort any more.
func TestPrefillIsGone(t *testing.T) {
	for _, mode := range []config.RouterMode{config.DecodeOnly, config.CancelOnPrefillError} {
		r := newRig(t, guard.None, mode)
		r.receive(clientAddr, 7, submit(20))
		r.Expect(r.receive(otherAddr, 0, turntest.Down(prefillAddr))).To(BeEmpty())
		r.Expect(r.Lost()).To(Equal([]wire.Addr{prefillAddr}))
		r.Expect(r.worker.Held().Requests).To(Equal(1))
		r.bodies(r.receive(clientAddr, 7, wire.Abort{}), 7, decodeAddr)
		answer := wire.Finished{Status: 200, PromptTokens: 20, Tokens: []wire.Token{1}}
		r.Expect(r.bodies(r.receive(decodeAddr, 7, answer), 7, clientAddr)).To(Equal([]wire.Body{answer}))
		r.ExpectIdle()
	}
}

// While a worker is gone nobody can serve a request: the client hears so at once, and no worker of it. What is refused at
// the edge is refused as ever. The next incarnation gets the requests that come after it.
func TestTheNextWorkerServes(t *testing.T) {
	for name, c := range map[string]struct {
		workers      []wire.Addr
		before, next wire.Addr
		after        []wire.Addr
	}{
		"prefill": {nil, prefillAddr, nextPrefill, []wire.Addr{nextPrefill, decodeAddr}},
		"decode":  {nil, decodeAddr, nextDecode, []wire.Addr{prefillAddr, nextDecode}},
		"co-located": {
			[]wire.Addr{colocatedAddr},
			colocatedAddr,
			wire.Addr{Role: wire.Colocated, Incarnation: 2},
			[]wire.Addr{{Role: wire.Colocated, Incarnation: 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, guard.EdgeRefusal, config.DecodeOnly, c.workers...)
			r.receive(otherAddr, 0, turntest.Down(c.before))
			r.Expect(r.bodies(r.receive(clientAddr, 7, submit(20)), 7, clientAddr)).To(Equal([]wire.Body{gone(c.before, 20)}))
			r.Expect(r.bodies(r.receive(clientAddr, 8, submit(50)), 8, clientAddr)[0]).To(HaveField("Status", 400))
			r.ExpectIdle()
			r.Expect(r.receive(c.next, 0, wire.PeerUp{})).To(BeEmpty())
			r.bodies(r.receive(clientAddr, 9, submit(20)), 9, c.after...)
			r.Expect(r.receive(clientAddr, 7, submit(20))).To(BeEmpty(), "a room is asked for once")
			answer := wire.Finished{Status: 200, PromptTokens: 20}
			last := c.after[len(c.after)-1]
			r.Expect(r.bodies(r.receive(last, 9, answer), 9, clientAddr)).To(Equal([]wire.Body{answer}))
			r.ExpectIdle()
		})
	}
}

// What a worker left behind when it went changes nothing, before and after the next one came: neither answer, nor error,
// nor introduction. Nor does the word that it is gone, said again, or said of anybody else.
func TestAGoneWorkerChangesNothing(t *testing.T) {
	for _, back := range []bool{false, true} {
		r := newRig(t, guard.LimitExchange, config.CancelOnPrefillError)
		r.receive(otherAddr, 0, turntest.Down(prefillAddr))
		r.receive(nextDecode, 0, wire.PeerUp{})
		if back {
			r.receive(nextPrefill, 0, wire.PeerUp{})
			r.receive(clientAddr, 7, submit(20))
		}
		r.Events = nil
		for _, from := range []wire.Addr{prefillAddr, decodeAddr} {
			for _, body := range []wire.Body{
				wire.PeerUp{MaxInputTokens: 5}, wire.Refused{Status: 400}, wire.Finished{Status: 200}, wire.Abort{},
			} {
				r.Expect(r.receive(from, 7, body)).To(BeEmpty())
			}
		}
		for _, peer := range []wire.Addr{prefillAddr, decodeAddr, {}, routerAddr, {Role: wire.Decode, Index: 1, Incarnation: 9}} {
			r.Expect(r.receive(otherAddr, 0, turntest.Down(peer))).To(BeEmpty())
		}
		r.Expect(r.Events).To(BeEmpty())
		r.Expect(r.worker.Held().Requests).To(Equal(map[bool]int{true: 1}[back]))
		if back {
			r.bodies(r.receive(clientAddr, 8, submit(20)), 8, nextPrefill, nextDecode)
		}
	}
}

// Told to cancel on a prefill's error, the router does so on one of the prefill that is there, and ends the part of the
// decode that is there.
func TestCancelGoesToTheNextDecode(t *testing.T) {
	r := newRig(t, guard.None, config.CancelOnPrefillError)
	r.receive(nextDecode, 0, wire.PeerUp{})
	r.receive(clientAddr, 7, submit(20))
	r.bodies(r.receive(prefillAddr, 7, wire.Refused{Status: 400}), 7, clientAddr, nextDecode)
}

// A limit goes with the worker that announced it; the other's stays.
func TestALimitGoesWithItsWorker(t *testing.T) {
	r := newRig(t, guard.LimitExchange, config.DecodeOnly)
	r.receive(prefillAddr, 0, wire.PeerUp{MaxInputTokens: 20})
	r.receive(decodeAddr, 0, wire.PeerUp{MaxInputTokens: 40})
	r.bodies(r.receive(clientAddr, 1, submit(20)), 1, clientAddr)
	r.receive(otherAddr, 0, turntest.Down(prefillAddr))
	r.Expect(r.bodies(r.receive(clientAddr, 2, submit(20)), 2, clientAddr)[0]).To(HaveField("Status", 502))
	r.receive(nextPrefill, 0, wire.PeerUp{MaxInputTokens: 30})
	r.bodies(r.receive(clientAddr, 3, submit(20)), 3, nextPrefill, decodeAddr)
	r.bodies(r.receive(clientAddr, 4, submit(30)), 4, clientAddr)
	r.receive(nextPrefill, 0, wire.PeerUp{MaxInputTokens: 100})
	r.bodies(r.receive(clientAddr, 5, submit(30)), 5, clientAddr)
	r.receive(wire.Addr{Role: wire.Prefill, Incarnation: 3}, 0, wire.PeerUp{})
	r.bodies(r.receive(clientAddr, 6, submit(39)), 6, wire.Addr{Role: wire.Prefill, Incarnation: 3}, decodeAddr)
	r.bodies(r.receive(clientAddr, 7, submit(40)), 7, clientAddr)
}

// A worker that is gone before anything of it was heard stays gone: its introduction comes too late.
func TestGoneBeforeItWasHeardOf(t *testing.T) {
	r := newRig(t, guard.None, config.DecodeOnly)
	r.receive(otherAddr, 0, turntest.Down(nextDecode))
	r.receive(nextDecode, 0, wire.PeerUp{})
	r.Expect(r.bodies(r.receive(clientAddr, 7, submit(20)), 7, clientAddr)).To(Equal([]wire.Body{gone(nextDecode, 20)}))
	r.ExpectIdle()
}
