package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// It proves that the abort, its repeats and what follows on the channel stay held until prefill has sent the room's
// "done", and that another room's "done" does not let them go.
func TestHeldAbortWaitsForTheTransferToEnd(t *testing.T) {
	b := newBench(t, &HeldAbort{Target: Request(target)})
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
	b.Expect(b.back.sent).To(Equal([]wire.Message{answer}))
	b.say(event.Event{Kind: event.TransferSent, Source: prefill, Room: roomOf(other)})
	b.Expect(b.back.sent).To(HaveLen(1))
	b.say(event.Event{Kind: event.TransferSent, Source: prefill, Room: roomOf(target)})
	b.Expect(b.back.sent[1:]).To(Equal(sends))
	b.expectFired(2) // both aborts came late
	b.decode.Link.Send(sends[0])
	b.Expect(b.back.sent).To(HaveLen(5), "over")
}
