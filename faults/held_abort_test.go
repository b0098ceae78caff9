package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that the abort, its repeats and what follows on the channel stay held until prefill has sent the room's
// "done", that another room's "done" does not let them go, and that the router's word is held with decode's.
func TestHeldAbortWaitsForTheTransferToEnd(t *testing.T) {
	b := newBench(t, &HeldAbort{Target: Request(target)})
	fromRouter := &spool{}
	edge := port.Seams{Addr: router, Link: fromRouter}
	b.injector.Wrap(&edge)
	sends := []wire.Message{
		message(decode, prefill, target, wire.Abort{}),
		message(decode, prefill, other, wire.Reserved{Slot: 2}),
		message(decode, prefill, target, wire.Abort{}),
	}
	for _, m := range sends {
		b.decode.Link.Send(m)
	}
	answer := message(decode, router, target, wire.Finished{Status: 499})
	b.decode.Link.Send(answer)
	relayed, toDecode := message(router, prefill, target, wire.Abort{}), message(router, decode, target, wire.Abort{})
	edge.Link.Send(relayed)
	edge.Link.Send(toDecode)
	b.Expect(b.back.sent).To(Equal([]wire.Message{answer}))
	b.Expect(fromRouter.sent).To(Equal([]wire.Message{toDecode}), "decode is to hear of it")
	b.say(event.Event{Kind: event.TransferSent, Source: prefill, Room: roomOf(other)})
	b.Expect(b.back.sent).To(HaveLen(1))
	b.say(event.Event{Kind: event.TransferSent, Source: prefill, Room: roomOf(target)})
	b.Expect(b.back.sent[1:]).To(Equal(sends))
	b.Expect(fromRouter.sent[1:]).To(Equal([]wire.Message{relayed}))
	b.expectFired(3) // every abort came late
	b.decode.Link.Send(sends[0])
	b.Expect(b.back.sent).To(HaveLen(5), "over")
}

// It proves that a plan may hold back one of the two alone.
func TestHeldAbortOfOnePartyOnly(t *testing.T) {
	for role, want := range map[string]map[wire.Role]bool{
		"":       {wire.Decode: true, wire.Router: true},
		"router": {wire.Router: true},
		"decode": {wire.Decode: true},
	} {
		f := &HeldAbort{Target: Target{Role: role, Worker: number(2)}}
		for _, at := range []wire.Role{wire.Router, wire.Decode, wire.Prefill} {
			for index := range uint8(4) {
				stands := f.standsAt(f.home(), wire.Addr{Role: at, Index: index})
				NewWithT(t).Expect(stands).To(Equal(want[at] && index == 2), "role %q at %s/%d", role, at, index)
			}
		}
	}
}
