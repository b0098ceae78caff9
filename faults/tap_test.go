package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// probe is a fault made of bare moves, so that each can be proved on its own.
type probe struct {
	Target
	When
	moves moves[port.Write, port.WriteDone]
	ops   *moves[port.Op, port.OpDone]
	on    *Trigger
}

func (*probe) Name() string      { return "probe" }
func (*probe) Doc() string       { return "" }
func (*probe) Validate() error   { return nil }
func (*probe) home() []wire.Role { return []wire.Role{wire.Prefill, wire.Decode} }

func (f *probe) install(i *instance, seams *port.Seams) {
	if f.ops != nil {
		seams.Device = newTap(i, seams.Addr, seams.Device, &operationShape, *f.ops)
	} else {
		installWriteTap(i, seams, f.moves)
	}
	if f.on != nil {
		i.releaseOn(*f.on)
	}
}

func k0(w port.Write) bool { return w.Buffer == wire.K0 }

// keepFirst is an edit that leaves the first span.
func keepFirst(w port.Write) edited[port.Write, port.WriteDone] {
	out := edited[port.Write, port.WriteDone]{op: w, before: writeName(w)}
	out.op.Src, out.op.Dst = w.Src[:1], w.Dst[:1]
	out.after = writeName(out.op)
	return out
}

// It proves that an edit reaches the inner port, and that one that changes nothing is not a firing.
func TestEditFiresOnlyIfItChangesSomething(t *testing.T) {
	b := newBench(t, &probe{Target: Request(target), moves: moves[port.Write, port.WriteDone]{match: k0, edit: keepFirst}})
	one, two := b.page(target, wire.K0, 0, 1), b.page(target, wire.K0, 1, 2)
	b.prefill.Transport.Submit(one)
	b.expectFired(0)
	b.prefill.Transport.Submit(two)
	b.settle()
	b.expectFired(1)
	b.Expect(b.landed(target)).To(Equal([]string{"K0 of ordinals 0 to 0", "K0 of ordinals 1 to 1"}))
	b.expectOneAnswerEach([]port.Write{one, two}, port.OK)
}

// It proves that count bounds the firings, that a fault that has used them up has recovered, and never acts again.
func TestCountBoundsAFault(t *testing.T) {
	b := newBench(t, &probe{When: When{Count: 2}, moves: moves[port.Write, port.WriteDone]{match: k0, edit: keepFirst}})
	for range 4 {
		b.prefill.Transport.Submit(b.page(target, wire.K0, 0, 3))
	}
	b.settle()
	b.expectFired(2)
	b.Expect(b.injector.Status()[0].State).To(Equal(Recovered))
	b.Expect(b.events(event.FaultRecovered)).To(HaveLen(1))
	b.Expect(b.landed(target)[2:]).To(Equal([]string{"K0 of ordinals 0 to 2", "K0 of ordinals 0 to 2"}))
}

// It proves that a hold keeps dependents, at any depth, lets others pass, and delivers in order on release.
func TestHoldKeepsDependentsInOrder(t *testing.T) {
	b := newBench(t, &probe{
		Target: Request(target), moves: moves[port.Write, port.WriteDone]{match: k0, hold: true},
		on: &Trigger{Event: event.TransferCommitted, Request: number(other)},
	})
	held := b.page(target, wire.K0, 0, 2)
	behind := b.page(target, wire.Stamp, 0, 2, held.Ticket)
	last := b.record(target, 1, behind.Ticket)
	free := b.page(target, wire.V0, 0, 2)
	for _, w := range []port.Write{held, behind, last, free} {
		b.prefill.Transport.Submit(w)
	}
	b.settle()
	b.Expect(b.transport.landed).To(Equal([]port.Write{free}))
	b.Expect(b.injector.Status()[0].Held).To(Equal(3))
	b.expectFired(0) // nothing has been delivered late yet
	b.say(event.Event{Kind: event.TransferCommitted, Source: decode, Room: roomOf(target)})
	b.Expect(b.injector.Status()[0].Held).To(Equal(3), "another request's commit is awaited")
	b.say(event.Event{Kind: event.TransferCommitted, Source: decode, Room: roomOf(other)})
	b.settle()
	b.Expect(b.transport.landed).To(Equal([]port.Write{free, held, behind, last}))
	b.expectFired(1)
	b.expectOneAnswerEach([]port.Write{free, held, behind, last}, port.OK)
	b.Expect(b.injector.Status()[0]).To(And(HaveField("State", Recovered), HaveField("Held", 0),
		HaveField("ReleasedBy", ContainSubstring("transfer.committed by decode/0#1"))))
	b.prefill.Transport.Submit(b.page(target, wire.K0, 2, 1))
	b.Expect(b.injector.Status()[0].Held).To(BeZero(), "a released fault holds nothing more")
}

// It proves that a held operation is deaf to Cancel while its dependents are cancelled truthfully, and that every
// operation has one answer in the end.
func TestHoldIsDeafToCancel(t *testing.T) {
	b := newBench(t, &probe{Target: Request(target), moves: moves[port.Write, port.WriteDone]{match: k0, hold: true}})
	held := b.page(target, wire.K0, 0, 2)
	behind := b.page(target, wire.Stamp, 0, 2, held.Ticket)
	b.prefill.Transport.Submit(held)
	b.prefill.Transport.Submit(behind)
	for range 2 { // a Cancel may be repeated
		b.prefill.Transport.Cancel(held.Ticket)
		b.prefill.Transport.Cancel(behind.Ticket)
	}
	b.settle()
	b.Expect(b.answers).To(Equal(map[wire.Ticket][]port.Status{behind.Ticket: {port.Cancelled}}))
	b.Expect(b.injector.Idle()).To(BeTrue())
	b.Expect(b.injector.Idle()).To(BeFalse(), "it holds nothing now")
	b.settle()
	b.expectOneAnswerEach([]port.Write{held}, port.OK)
	b.Expect(b.transport.landed).To(Equal([]port.Write{held}))
	b.expectFired(1)
	b.Expect(b.events(event.HoldReleased)).To(ConsistOf(HaveField("Reason", ReasonIdle)))
}

// It proves that a hold released before anything else happened is no firing: nothing came late.
func TestHoldReleasedAtOnceHasNotFired(t *testing.T) {
	b := newBench(t, &probe{Target: Request(target), moves: moves[port.Write, port.WriteDone]{match: k0, hold: true}})
	held := b.page(target, wire.K0, 0, 2)
	b.prefill.Transport.Submit(held)
	b.injector.Idle()
	b.settle()
	b.expectFired(0)
	b.expectOneAnswerEach([]port.Write{held}, port.OK)
}

// It proves that to be deaf is to fire: nothing else has happened, but a Cancel had no answer.
func TestBeingDeafIsAFiring(t *testing.T) {
	b := newBench(t, &probe{Target: Request(target), moves: moves[port.Write, port.WriteDone]{match: k0, hold: true}})
	held := b.page(target, wire.K0, 0, 2)
	b.prefill.Transport.Submit(held)
	b.prefill.Transport.Cancel(held.Ticket)
	b.injector.Idle()
	b.expectFired(1)
}

// It proves that an early answer is the only one, and that with ordering stripped what names the held operation goes
// ahead of it, while what is held with it keeps its place.
func TestEarlyAnswerOfAHeldOperation(t *testing.T) {
	b := newBench(t, &probe{Target: Request(target), moves: moves[port.Write, port.WriteDone]{
		match: isPages, hold: true, unordered: true,
		early: func(w port.Write) port.WriteDone { return port.WriteDone{Ticket: w.Ticket, Status: port.OK} },
	}})
	data := b.page(target, wire.K0, 0, 2)
	stamp := b.page(target, wire.Stamp, 0, 2, data.Ticket)
	record := b.record(target, 1, data.Ticket, stamp.Ticket)
	for _, w := range []port.Write{data, stamp, record} {
		b.prefill.Transport.Submit(w)
	}
	b.settle()
	b.Expect(b.landed(target)).To(Equal([]string{"record"}))
	b.expectOneAnswerEach([]port.Write{data, stamp, record}, port.OK)
	b.prefill.Transport.Cancel(data.Ticket) // answered: nothing to cancel any more
	b.injector.Idle()
	b.prefill.Transport.Cancel(data.Ticket) // nor now that it is under way
	b.settle()
	b.Expect(b.transport.landed[1:]).To(Equal([]port.Write{data, stamp}), "they land in the end, in their own order")
	b.expectOneAnswerEach([]port.Write{data, stamp, record}, port.OK)
	b.expectFired(2 + 1 + 2) // two answers, one order, two late landings
}

// It proves that an operation that names one whose Cancel was answered falsely is cancelled, as a port promises.
func TestDependentsOfALieAreCancelled(t *testing.T) {
	b := newBench(t, &probe{Target: Request(target), moves: moves[port.Write, port.WriteDone]{
		match: k0, hold: true,
		onCancel: func(w port.Write) port.WriteDone { return port.WriteDone{Ticket: w.Ticket, Status: port.Cancelled} },
	}})
	held := b.page(target, wire.K0, 0, 2)
	stamp := b.page(target, wire.Stamp, 0, 2, held.Ticket)
	record := b.record(target, 1, stamp.Ticket)
	for _, w := range []port.Write{held, stamp, record} {
		b.prefill.Transport.Submit(w)
	}
	b.prefill.Transport.Cancel(held.Ticket)
	late := b.record(target, 1, held.Ticket)
	b.prefill.Transport.Submit(late)
	b.settle()
	b.expectOneAnswerEach([]port.Write{held, stamp, record, late}, port.Cancelled)
	b.injector.Idle()
	b.settle()
	b.Expect(b.transport.landed).To(Equal([]port.Write{held}), "and yet it lands")
	b.expectOneAnswerEach([]port.Write{held, stamp, record, late}, port.Cancelled)
}

// It proves that two faults on one port see an operation in plan order: the first sees what the worker submitted, and
// what it passes on is all that the second sees.
func TestFaultsComposeInPlanOrder(t *testing.T) {
	counted := 0
	count := &probe{moves: moves[port.Write, port.WriteDone]{
		match: func(w port.Write) bool { counted = len(w.Dst); return false },
	}}
	cut := &probe{moves: moves[port.Write, port.WriteDone]{match: k0, edit: keepFirst}}
	for _, c := range []struct {
		plan []Fault
		sees int
	}{{[]Fault{count, cut}, 3}, {[]Fault{cut, count}, 1}} {
		b := newBench(t, c.plan...)
		b.prefill.Transport.Submit(b.page(target, wire.K0, 0, 3))
		b.Expect(counted).To(Equal(c.sees))
	}
}

// It proves that a held operation may be an edited one: it lands late and cut, whichever fault stands first.
func TestHoldAndEditCompose(t *testing.T) {
	hold := func() Fault { return &LateWrite{Target: Request(target)} }
	cut := func() Fault { return &TruncatedTransfer{Target: Request(target), KeepPages: 1, Claim: ClaimOwed} }
	for _, plan := range [][]Fault{{hold(), cut()}, {cut(), hold()}} {
		b := newBench(t, plan...)
		b.reserve(decode, target, 30, 31)
		w := b.page(target, wire.K0, 0, 2)
		b.prefill.Transport.Submit(w)
		b.say(event.Event{Kind: event.RequestFinished, Source: decode, Room: roomOf(target)})
		b.settle()
		b.Expect(b.answers).To(BeEmpty())
		b.injector.Idle()
		b.settle()
		b.Expect(b.landed(target)).To(Equal([]string{"K0 of ordinals 0 to 0"}))
		b.expectOneAnswerEach([]port.Write{w}, port.OK)
		for _, s := range b.injector.Status() {
			b.Expect(s.Fired).To(BeNumerically(">", 0), s.Name)
		}
	}
}

// It proves that the moves are the same over a device: nothing in them knows what is submitted.
func TestMovesWorkOverADevice(t *testing.T) {
	isDecode := func(o port.Op) bool { return o.Kind == port.OpDecode }
	b := newBench(t, &probe{
		Target: Target{Request: number(target), Role: "decode"},
		ops:    &moves[port.Op, port.OpDone]{match: isDecode, swallow: true},
	})
	first := port.Op{Ticket: b.tickets.Next(), Room: roomOf(target), Kind: port.OpDecode, First: 40}
	second := port.Op{
		Ticket: b.tickets.Next(), Room: roomOf(target), Kind: port.OpDigest, After: []wire.Ticket{first.Ticket},
	}
	b.decode.Device.Submit(first)
	b.decode.Device.Submit(second)
	b.device.land()
	var out [4]port.OpDone
	n := b.decode.Device.Poll(out[:])
	b.Expect(out[:n]).To(Equal([]port.OpDone{{Ticket: second.Ticket}}), "the lost answer ordered what came after it")
	b.Expect(b.device.landed).To(Equal([]port.Op{first, second}))
	b.expectFired(1)
}

// It proves that Poll gives no more than it is asked for and loses nothing to a small buffer.
func TestPollKeepsWhatDoesNotFit(t *testing.T) {
	b := newBench(t, &probe{moves: moves[port.Write, port.WriteDone]{match: k0, duplicate: true}})
	b.prefill.Transport.Submit(b.page(target, wire.K0, 0, 1))
	b.prefill.Transport.Submit(b.page(target, wire.K0, 1, 1))
	b.transport.land()
	got := 0
	for range 4 {
		got += b.prefill.Transport.Poll(make([]port.WriteDone, 1))
	}
	b.Expect(got).To(Equal(4))
	b.Expect(b.prefill.Transport.Poll(make([]port.WriteDone, 4))).To(BeZero())
}

// It proves that a held operation is the one that was submitted, whatever the worker does with its slices afterwards: a
// port may not keep them.
func TestAHeldOperationOwnsItsSlices(t *testing.T) {
	b := newBench(t, &probe{Target: Request(target), moves: moves[port.Write, port.WriteDone]{match: k0, hold: true}})
	w := b.page(target, wire.K0, 0, 2)
	want := ownedWrite(w)
	b.prefill.Transport.Submit(w)
	w.Src[0], w.Dst[1] = wire.Span{}, wire.Span{}
	b.injector.Idle()
	b.settle()
	b.Expect(b.transport.landed).To(Equal([]port.Write{want}))

	step := port.Op{Ticket: 7, Room: roomOf(target), Kind: port.OpDecode, Pages: []wire.Page{4}, Tokens: []wire.Token{9}}
	d := newBench(t, &LateOperation{Target: Request(target)})
	before := ownedOperation(step)
	d.decode.Device.Submit(step)
	step.Pages[0], step.Tokens[0] = 5, 8
	d.injector.Idle()
	d.device.land()
	d.Expect(d.device.landed).To(Equal([]port.Op{before}))
}

// It proves that an answer can be edited without touching the operation, that this counts, and that it ends.
func TestAnAnswerCanBeEditedAlone(t *testing.T) {
	boast := func(_ port.Write, d port.WriteDone) (port.WriteDone, string, string) {
		told := d
		told.ClaimedBytes = 2 * d.ClaimedBytes
		return told, writeAnswer(d), writeAnswer(told)
	}
	b := newBench(t, &probe{When: When{Count: 1}, moves: moves[port.Write, port.WriteDone]{match: k0, editDone: boast}})
	for n := range 2 {
		b.prefill.Transport.Submit(b.page(target, wire.K0, n, 1))
	}
	b.transport.land()
	var out [4]port.WriteDone
	b.Expect(b.prefill.Transport.Poll(out[:])).To(Equal(2))
	page := prefillPool.BufferBytes(wire.K0)
	b.Expect([]int64{out[0].ClaimedBytes, out[1].ClaimedBytes}).To(Equal([]int64{2 * page, page}))
	b.expectFired(1)
}

// It proves that where an edit changed nothing, neither is the answer edited.
func TestAnUnchangedOperationKeepsItsAnswer(t *testing.T) {
	boast := func(_ port.Write, d port.WriteDone) (port.WriteDone, string, string) {
		return port.WriteDone{Ticket: d.Ticket}, "true", "false"
	}
	b := newBench(t, &probe{moves: moves[port.Write, port.WriteDone]{match: k0, edit: keepFirst, editDone: boast}})
	w := b.page(target, wire.K0, 0, 1)
	b.prefill.Transport.Submit(w)
	b.transport.land()
	var out [4]port.WriteDone
	b.Expect(b.prefill.Transport.Poll(out[:])).To(Equal(1))
	b.Expect(out[0].ClaimedBytes).To(Equal(writeBytes(w)))
	b.expectFired(0)
}

// It proves that what the inner port refuses has not fired: a stray write to a revoked region changes nothing.
func TestARefusedReplayHasNotFired(t *testing.T) {
	b := newBench(t, &OverwrittenPage{Target: Request(target), Page: 0})
	b.reserve(prefill, other, 40)
	b.reserve(prefill, target, 10)
	w := b.page(target, wire.K0, 0, 1)
	b.prefill.Transport.Submit(w)
	b.transport.land()
	var out [4]port.WriteDone
	b.Expect(b.prefill.Transport.Poll(out[:])).To(BeZero())
	b.Expect(b.transport.pending).To(HaveLen(1))
	b.transport.Cancel(b.transport.pending[0].Ticket)
	b.settle()
	b.expectOneAnswerEach([]port.Write{w}, port.OK)
	b.expectFired(0)
}
