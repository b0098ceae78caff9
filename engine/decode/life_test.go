package decode

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
	"github.com/stalepage/stalepage/engine/wire"
)

// The worker introduces itself to prefill and router, once, with where its memory lies.
func TestIntroduction(t *testing.T) {
	r := bareRig(t, guard.All)
	r.Turn(port.Turn{})
	up := wire.PeerUp{
		MaxInputTokens: limit, PageSize: pageSize, PoolPages: poolPages + 1, PoolBase: 2, RecordBase: recordBase,
	}
	r.Expect(r.Sent).To(HaveLen(2))
	for i, to := range []wire.Addr{prefillAddr, routerAddr} {
		r.Expect(r.Sent[i].To).To(Equal(to))
		r.Expect(r.Sent[i].Body).To(Equal(up))
	}
	r.Sent = nil
	r.Turn(port.Turn{})
	r.Expect(r.Sent).To(BeEmpty())
}

// A healthy request with every guard on.
func TestLifeOfARequest(t *testing.T) {
	r := newRig(t, guard.All)
	const tokens = 2*pageSize + 8
	r.submit(7, tokens, 3)
	request := r.worker.requests[7]
	r.Expect(r.told()).To(Equal([]wire.Body{wire.Reserved{Pages: request.pages[:3], Slot: 0, Generation: 1}}))
	r.Expect(r.granted).To(HaveLen(2), "pool and record")
	r.Expect(r.Ops).To(BeEmpty())
	r.Expect(r.Wake).To(Equal(r.Now + timeoutTicks))

	r.Receive(prefillAddr, 7, r.claim(tokens))
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpDigest, port.OpCheckStamp, port.OpLoad}))
	for _, o := range r.Ops[:2] {
		r.Expect(o.Pages).To(Equal(request.pages[:3]))
	}
	r.Expect(r.Ops[1].Generation).To(Equal(uint32(1)))
	r.Expect(r.Ops[2].Span).To(Equal(port.RecordSpan(recordBase, 0, 0)))
	r.Expect(r.Wake).To(BeZero(), "from here on the device answers")
	r.AnswerOp(port.OK)
	r.AnswerOp(port.OK)
	r.Expect(r.Count(event.TransferCommitted)).To(BeZero())
	r.AnswerOp(port.OK)
	r.Expect(r.Count(event.TransferCommitted)).To(Equal(1))

	for step := range 2 { // prefill's token is the first of three
		r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpDecode}))
		o := r.Ops[0]
		r.Expect(o.First).To(Equal(tokens + step))
		r.Expect(o.Tokens).To(Equal([]wire.Token{[]wire.Token{42, 1000 + tokens}[step]}))
		r.Expect(o.Pages).To(Equal(request.pages))
		r.Expect([]int{o.Verify, int(o.Generation)}).To(Equal([]int{3, 1}), "the stamps are checked within the read")
		r.AnswerOp(port.OK)
	}
	r.Expect(r.Answers(7)).To(Equal([]wire.Finished{{
		Status: 200, PromptTokens: tokens, Tokens: []wire.Token{42, 1000 + tokens, 1001 + tokens}, Reason: "length",
	}}))
	r.Expect(r.granted).To(BeEmpty(), "no write lands any more")
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpScrub}))
	r.Expect(r.Count(event.PagesReleased)).To(BeZero())
	r.AnswerOp(port.OK)
	r.Expect(r.Count(event.PagesReleased)).To(Equal(1))
	r.expectIdle()
}

// The incident as shipped: one page of many was sent and one token claimed; the slot has the right room; decode commits
// and reads every page that it reserved.
func TestAsShipped(t *testing.T) {
	r := newRig(t, guard.None)
	const tokens = 8*pageSize - 1
	r.submit(7, tokens, 2)
	r.Expect(r.told()[0].(wire.Reserved).Pages).To(HaveLen(8))
	r.Receive(prefillAddr, 7, wire.Sent{Pages: 1, Tokens: 1, Bytes: 8192})
	r.Expect(turntest.Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpLoad}))
	load := r.takeOp(port.OpLoad)
	r.Turn(port.Turn{Ops: []port.OpDone{{Ticket: load.Ticket, Data: port.Record{Room: 7, Tokens: 1, First: 9}.Bytes()}}})
	r.Expect(r.Count(event.TransferCommitted)).To(Equal(1))
	r.Expect(r.Ops[0].Pages).To(HaveLen(9))
	r.Expect(r.Ops[0].First).To(Equal(tokens))
	r.Expect(r.Ops[0].Verify).To(BeZero())
	r.SettleOps(port.OK)
	r.Expect(r.Answers(7)).To(Equal([]wire.Finished{{
		Status: 200, PromptTokens: tokens, Tokens: []wire.Token{9, 1000 + tokens}, Reason: "length",
	}}))
	r.expectIdle()
}

// One token is answered without a decode step.
func TestOneToken(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(7, 5, 1)
	r.Receive(prefillAddr, 7, r.claim(5))
	r.SettleOps(port.OK)
	r.ExpectStatus(7, 200)
	r.Expect(r.Answers(7)[0].Tokens).To(Equal([]wire.Token{42}))
	r.expectIdle()
}

// Running requests share decode steps: no request starts its next one before the whole step is in, one that joins waits
// for it, and no more than the configured number run at once.
func TestDecodeStepsAreBatched(t *testing.T) {
	r := newRig(t, guard.None, func(c *Config) { c.Worker.MaxRunningRequests = 2 })
	for room := wire.Room(1); room <= 3; room++ {
		r.submit(room, 5, 3)
		r.Receive(prefillAddr, room, r.claimOf(room, 5))
	}
	load := func() {
		o := r.takeOp(port.OpLoad)
		r.Turn(port.Turn{Ops: []port.OpDone{r.opDone(o, port.OK)}})
	}
	load()
	r.Expect(r.stepping()).To(Equal([]wire.Room{1}))
	load()
	load()
	r.Expect(r.stepping()).To(Equal([]wire.Room{1}), "who joins waits for the step in flight")
	r.AnswerOp(port.OK)
	r.Expect(r.stepping()).To(Equal([]wire.Room{1, 2}))
	r.AnswerOp(port.OK)
	r.Expect(r.stepping()).To(Equal([]wire.Room{2}), "the step is not over")
	r.ExpectStatus(1, 200)
	r.AnswerOp(port.OK)
	r.Expect(r.stepping()).To(Equal([]wire.Room{2, 3}))
	r.SettleOps(port.OK)
	for room := wire.Room(1); room <= 3; room++ {
		r.ExpectStatus(room, 200)
		r.Expect(r.Answers(room)[0].Tokens).To(Equal([]wire.Token{42, 1005, 1006}))
	}
	r.expectIdle()
}

func (r *rig) stepping() (rooms []wire.Room) {
	for _, o := range r.Ops {
		if o.Kind == port.OpDecode {
			rooms = append(rooms, o.Room)
		}
	}
	return rooms
}

// Messages and completions that come twice change nothing the second time.
func TestDuplicatesChangeNothing(t *testing.T) {
	r := newRig(t, guard.All)
	r.submit(7, 20, 2)
	r.submit(7, 99, 9)
	r.Receive(prefillAddr, 7, r.claim(20), r.claim(20))
	for len(r.Ops) > 0 {
		d := r.opDone(r.Ops[0], port.OK)
		again := d
		again.Status = port.Failed
		r.Ops = r.Ops[1:]
		r.Turn(port.Turn{Ops: []port.OpDone{d, again}})
	}
	r.ExpectStatus(7, 200)
	r.Expect(r.Count(event.TransferCommitted)).To(Equal(1))
	late := []wire.Body{wire.Abort{}, r.claim(20), wire.Refused{Status: 400}, wire.AbortAck{}, wire.AbortAck{Drained: true}}
	r.Receive(prefillAddr, 7, late...)
	r.ExpectStatus(7, 200)
	r.expectIdle()
}
