package prefill

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
	"github.com/stalepage/stalepage/engine/wire"
)

// tooLong is a prompt past the limit and past the pool; decode reserved for all of it.
const (
	tooLong      = 2*poolTokens + 1
	tooLongPages = tooLong/pageSize + 1
)

// The incident as shipped: the refusal is recorded and lost, a placeholder of one token goes through every queue, prefill
// owes one page by its own count, sends it, and says that all is well.
func TestAsShipped(t *testing.T) {
	r := newRig(t, guard.None)
	r.submit(7, tooLong, tooLongPages)
	r.Expect(r.Has(event.RefusalRecorded)).To(BeTrue())
	r.Expect(r.Has(event.RequestRejected)).To(BeFalse())
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpPrefill}))
	r.Expect(r.Ops[0].Tokens).To(Equal([]wire.Token{Placeholder}))
	r.Expect(r.Ops[0].Pages).To(HaveLen(1))
	r.AnswerOp(port.OK)
	r.Expect(r.Writes).To(HaveLen(wire.KVBuffers))
	for _, w := range r.Writes {
		r.Expect(w.Dst).To(HaveLen(1))
	}
	record, _ := port.ParseRecord(r.Ops[0].Data)
	r.Expect(record).To(Equal(port.Record{Room: 7, Tokens: 1, First: 42}))
	r.settle(port.OK)
	r.Expect(r.Told(decodeAddr)).To(Equal([]wire.Body{
		wire.Sent{Pages: 1, Bytes: r.worker.config.Pool.PageBytes(false), Tokens: 1},
	}))
	r.Expect(r.Told(routerAddr)).To(BeEmpty())
	r.ExpectIdle()
}

// What each guard that concerns a refusal does alone to a prompt that intake refuses: where it ends, and who hears.
func TestRefusalGuards(t *testing.T) {
	for _, c := range []struct {
		guards     guard.Set
		computed   bool // a placeholder's forward pass
		rejected   bool
		tellsPeer  bool
		placeAlone bool // the placeholder's page is sent and called done
	}{
		{guards: guard.None, computed: true, placeAlone: true},
		{guards: guard.TellPeer, computed: true, placeAlone: true}, // nothing was acted on, so nothing is told
		{guards: guard.DoorRefusal, rejected: true},
		{guards: guard.DoorRefusal | guard.TellPeer, rejected: true, tellsPeer: true},
		{guards: guard.HonourRefusal, rejected: true},
		{guards: guard.HonourRefusal | guard.TellPeer, rejected: true, tellsPeer: true},
		{guards: guard.SenderCheck, computed: true, tellsPeer: true}, // a failed transfer is always told
	} {
		t.Run(c.guards.String(), func(t *testing.T) {
			r := newRig(t, c.guards)
			r.Receive(routerAddr, 7, wire.Submit{Prompt: turntest.Prompt(tooLong)})
			r.Expect(r.Has(event.RequestRejected)).To(Equal(c.guards.Has(guard.DoorRefusal)), "only the door acts at intake")
			r.Receive(decodeAddr, 7, reservation(tooLongPages))
			r.Expect(r.Ops).To(HaveLen(boolCount(c.computed)))
			r.settle(port.OK)
			r.Expect(r.Has(event.RequestRejected)).To(Equal(c.rejected))
			r.Expect(r.Has(event.TransferSent)).To(Equal(c.placeAlone))
			told := false
			for _, body := range r.Told(decodeAddr) {
				if _, refused := body.(wire.Refused); refused {
					told = true
				}
			}
			r.Expect(told).To(Equal(c.tellsPeer))
			r.Expect(r.Told(routerAddr)).To(HaveLen(boolCount(c.rejected || c.guards == guard.SenderCheck)))
			r.ExpectIdle()
		})
	}
}

func boolCount(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A tombstone of a refused room answers a reservation that comes after the refusal, if the worker tells its peer.
func TestTombstoneTellsPeer(t *testing.T) {
	for _, guards := range []guard.Set{guard.DoorRefusal, guard.DoorRefusal | guard.TellPeer} {
		r := newRig(t, guards)
		r.Receive(routerAddr, 7, wire.Submit{Prompt: turntest.Prompt(tooLong)})
		r.Sent = nil
		r.Receive(decodeAddr, 7, reservation(tooLongPages))
		r.Expect(r.Told(decodeAddr)).To(HaveLen(boolCount(guards.Has(guard.TellPeer))))
		r.ExpectIdle()
	}
}

// A stand-in without its refusal (the flag was dropped) passes door and honour alike: only the sender's count tells.
func TestStandInWithoutRefusal(t *testing.T) {
	for _, guards := range []guard.Set{guard.All &^ guard.SenderCheck, guard.All} {
		r := newRig(t, guards, func(c *Config) { c.Admission = standIn{} })
		r.submit(7, tooLong, tooLongPages)
		r.settle(port.OK)
		r.Expect(r.Has(event.TransferSent)).To(Equal(!guards.Has(guard.SenderCheck)))
		if guards.Has(guard.SenderCheck) {
			r.Expect(r.Tripped()).To(Equal([]string{"sender-check"}))
			r.Expect(r.Writes).To(BeEmpty())
		}
		r.ExpectIdle()
	}
}

type standIn struct{}

func (standIn) At(wire.Stage, port.Request, port.Verdict) port.Verdict {
	return port.Verdict{StandIn: true}
}

// Owing more or less than decode reserved: without the sender's check, as many pages go as both sides know, and the
// claim says how many; with it, none goes.
func TestOwedAndReservedDiffer(t *testing.T) {
	for _, c := range []struct{ tokens, reserved, posted int }{
		{5 * pageSize, 5, 5}, {5 * pageSize, 4, 4}, {5 * pageSize, 7, 5}, {5*pageSize + 1, 5, 5}, {5, 0, 0}, {5 * pageSize, 1, 1},
	} {
		for _, guards := range []guard.Set{guard.None, guard.SenderCheck} {
			r := newRig(t, guards)
			r.submit(7, c.tokens, c.reserved)
			r.settle(port.OK)
			owed := r.worker.config.Pool.PagesFor(c.tokens)
			last := r.Told(decodeAddr)[0]
			if guards == guard.None || owed == c.reserved {
				r.Expect(last).To(HaveField("Pages", c.posted))
				r.Expect(last).To(HaveField("Tokens", c.tokens))
				r.Expect(last).To(HaveField("Bytes", int64(c.posted)*r.worker.config.Pool.PageBytes(false)))
			} else {
				r.Expect(last).To(HaveField("Stage", wire.AtTransfer))
				r.Expect(r.Tripped()).To(Equal([]string{"sender-check"}))
				r.Expect(r.Has(event.WritePosted)).To(BeFalse())
			}
			r.ExpectIdle()
		}
	}
}

// auto_truncate shortens in place of refusing, and what prefill owes follows the shortened prompt.
func TestTruncated(t *testing.T) {
	r := newRig(t, guard.None, func(c *Config) {
		c.Worker.AllowAutoTruncate = true
		c.Admission = truncating{}
	})
	r.submit(7, 300, 19)
	r.settle(port.OK)
	r.Expect(r.Has(event.RequestTruncated)).To(BeTrue())
	r.Expect(r.Told(decodeAddr)[0]).To(And(HaveField("Tokens", limit-1), HaveField("Pages", 8)))
	r.ExpectIdle()
}

type truncating struct{}

func (truncating) At(stage wire.Stage, q port.Request, pending port.Verdict) port.Verdict {
	if stage == wire.AtIntake && q.Tokens >= limit {
		pending.TruncateTo = limit - 1
	}
	return pending
}

// Without scrub pages go back as they are; with it only as zeros, and never if the zeros did not come about.
func TestScrub(t *testing.T) {
	r := newRig(t, guard.None)
	r.submit(7, 40, 3)
	r.settle(port.OK)
	r.Expect(turntest.Kinds(r.Ops)).NotTo(ContainElement(port.OpScrub))
	r.ExpectIdle()

	for _, status := range []port.Status{port.Failed, port.Rejected, port.Cancelled} {
		r := newRig(t, guard.Scrub)
		r.submit(7, 40, 3)
		for len(r.Ops) == 0 || r.Ops[0].Kind != port.OpScrub {
			r.answerNext(port.OK)
		}
		r.AnswerOp(status)
		r.Expect(r.Has(event.PagesReleased)).To(BeFalse())
		r.Expect(r.Has(event.PagesQuarantined)).To(BeTrue())
		r.Expect(r.worker.Held()).To(And(HaveField("PagesQuarantined", 3), HaveField("SlotsQuarantined", 1)))
		r.ExpectIdle()
	}
}

// With scrub alone, an aborted forward pass is still running: the scrub goes behind it on the same queue, and its own
// end, not the cancelled operation's, gives the pages back.
func TestScrubBehindARunningOperation(t *testing.T) {
	r := newRig(t, guard.Scrub)
	r.submit(7, 40, 3)
	r.Receive(routerAddr, 7, wire.Abort{})
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpPrefill, port.OpScrub}))
	r.Expect(r.Ops[1].Queue).To(Equal(r.Ops[0].Queue))
	r.AnswerOp(port.Cancelled)
	r.Expect(r.Has(event.PagesReleased)).To(BeFalse())
	r.AnswerOp(port.OK)
	r.Expect(r.Has(event.PagesReleased)).To(BeTrue())
	r.ExpectIdle()
}

// Deferred release holds the source pages until every write has ended. Without it they go back at once, and the abort's
// answer does not pretend that the room has drained.
func TestDeferredRelease(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.DeferredRelease} {
		r := newRig(t, guards)
		r.submit(7, 40, 3)
		r.AnswerOp(port.OK)
		r.Receive(decodeAddr, 7, wire.Abort{})
		deferred := guards.Has(guard.DeferredRelease)
		r.Expect(r.Has(event.PagesReleased)).To(Equal(!deferred))
		if !deferred {
			r.Expect(r.acks(7)).To(Equal([]wire.Body{wire.AbortAck{Drained: false}}))
		}
		r.settle(port.Cancelled)
		if deferred {
			r.Expect(r.acks(7)).To(Equal([]wire.Body{wire.AbortAck{Drained: true}}))
		}
		r.ExpectIdle()
		r.Sent = nil
		r.Receive(decodeAddr, 7, wire.Abort{})
		r.Expect(r.acks(7)).To(Equal([]wire.Body{wire.AbortAck{Drained: true}}))
	}
}

// A completion that never comes: cancels are repeated a bounded number of times, then the pages are quarantined and the
// abort is answered as not drained. A completion after that changes nothing.
func TestLostCompletion(t *testing.T) {
	for _, answered := range []int{0, 1, 3} { // of the four writes
		r := newRig(t, guard.All&^guard.PageStamp)
		r.submit(7, 40, 3)
		r.AnswerOp(port.OK)
		r.AnswerOp(port.Cancelled) // the second chunk fails, and ends the request
		lost := r.Writes[answered:]
		for _, w := range r.Writes[:answered] {
			r.Turn(port.Turn{Writes: []port.WriteDone{writeDone(w, port.Cancelled)}})
		}
		r.Receive(decodeAddr, 7, wire.Abort{})
		first := len(r.CancelWrites)
		r.Expect(first).To(Equal(wire.KVBuffers))
		for range retriesMax {
			r.Expect(r.Wake).To(BeNumerically(">", r.Now))
			r.Now = r.Wake - 1
			r.Turn(port.Turn{})
		}
		r.Expect(r.CancelWrites).To(HaveLen(first + retriesMax*len(lost)))
		r.Expect(r.acks(7)).To(BeEmpty())
		r.Now = r.Wake - 1
		r.Turn(port.Turn{})
		r.Expect(r.Tripped()).To(Equal([]string{"deferred-release"}))
		r.Expect(r.acks(7)).To(Equal([]wire.Body{wire.AbortAck{Drained: false}}))
		r.Expect(r.worker.Held()).To(And(HaveField("PagesQuarantined", 3), HaveField("PagesFree", 5)))
		r.ExpectIdle()

		r.Sent = nil
		r.Turn(port.Turn{Writes: []port.WriteDone{writeDone(lost[0], port.OK)}})
		r.Receive(decodeAddr, 7, wire.Abort{})
		r.Expect(r.acks(7)).To(Equal([]wire.Body{wire.AbortAck{Drained: false}}))
		r.ExpectIdle()
	}
}
