package turntest

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

var (
	here   = wire.Addr{Role: wire.Decode, Incarnation: 1}
	client = wire.Addr{Role: wire.Router, Incarnation: 1}
)

// script is a worker that does what it is told, a turn at a time, and remembers what it was given.
type script struct {
	effects []port.Effects
	turns   []port.Turn
	held    event.Holdings
}

func (s *script) Addr() wire.Addr      { return here }
func (s *script) Held() event.Holdings { return s.held }

func (s *script) Step(t port.Turn) port.Effects {
	s.turns = append(s.turns, t)
	if len(s.effects) == 0 {
		return port.Effects{}
	}
	e := s.effects[0]
	s.effects = s.effects[1:]
	return e
}

func newRig(t testing.TB, s *script) *Rig {
	t.Helper()
	return &Rig{T: t, Worker: s, Client: client, Answer: func(o port.Op, status port.Status) port.OpDone {
		return port.OpDone{Ticket: o.Ticket, Status: status}
	}}
}

// failing is a test that notes why it failed instead of failing. Fatal ends it by a panic, which complaint catches.
type failing struct {
	testing.TB
	reason string
}

func (f *failing) Helper()           {}
func (f *failing) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprint(args...)) }

func (f *failing) Fatalf(format string, args ...any) {
	f.reason = fmt.Sprintf(format, args...)
	panic(f)
}

// complaint is what a test says when it fails, "" if it does not.
func complaint(test func(f *failing)) (reason string) {
	f := &failing{}
	defer func() {
		if r := recover(); r != nil && r != any(f) {
			panic(r)
		}
		reason = f.reason
	}()
	test(f)
	return ""
}

// Turns follow each other a tick apart, messages come addressed, and what a turn came to is kept although the worker
// overwrites it; operations are answered in the order they were submitted.
func TestRigKeepsWhatWasSubmitted(t *testing.T) {
	g := NewWithT(t)
	spans := []wire.Span{{Offset: 1}}
	s := &script{effects: []port.Effects{
		{
			Ops: []port.Op{{Ticket: 1, Kind: port.OpLoad}, {Ticket: 2, Kind: port.OpScrub}}, Wake: 90,
			Writes: []port.Write{{Ticket: 3, Src: spans, Dst: spans}},
			Events: []event.Event{{Kind: event.GuardTripped, Guard: "scrub"}, {Kind: event.PeerLost, Peer: client, Room: 7}},
		},
		{Ops: []port.Op{{Ticket: 4}}, CancelOps: []wire.Ticket{1}, CancelWrites: []wire.Ticket{3}},
	}}
	r := newRig(t, s)
	checked := 0
	r.Check = func(port.Effects) { checked++ }
	r.Receive(client, 7, wire.Abort{}, wire.Submit{})
	spans[0].Offset = 2
	g.Expect(s.turns).To(Equal([]port.Turn{{Now: 1, Messages: []wire.Message{
		{From: client, To: here, Room: 7, Body: wire.Abort{}}, {From: client, To: here, Room: 7, Body: wire.Submit{}},
	}}}))
	g.Expect(Kinds(r.Ops)).To(Equal([]port.OpKind{port.OpLoad, port.OpScrub}))
	g.Expect(r.Writes).To(HaveLen(1))
	g.Expect([]int64{r.Writes[0].Src[0].Offset, r.Writes[0].Dst[0].Offset}).To(Equal([]int64{1, 1}))
	g.Expect(r.Tripped()).To(Equal([]string{"scrub"}))
	g.Expect(r.Lost()).To(Equal([]wire.Addr{client}))
	g.Expect(r.Count(event.PeerLost)).To(Equal(1))
	g.Expect([]int{r.CountOf(7, event.PeerLost), r.CountOf(8, event.PeerLost)}).To(Equal([]int{1, 0}))
	g.Expect([]bool{r.Has(event.PeerLost), r.Has(event.PagesReserved)}).To(Equal([]bool{true, false}))
	r.SkipToWake()
	r.AnswerOp(port.Failed)
	g.Expect(r.CancelOps).To(Equal([]wire.Ticket{1}))
	g.Expect(r.CancelWrites).To(Equal([]wire.Ticket{3}))
	r.SettleOps(port.OK)
	g.Expect(s.turns[1:]).To(Equal([]port.Turn{
		{Now: 90, Ops: []port.OpDone{{Ticket: 1, Status: port.Failed}}},
		{Now: 91, Ops: []port.OpDone{{Ticket: 2}}},
		{Now: 92, Ops: []port.OpDone{{Ticket: 4}}},
	}))
	g.Expect(checked).To(Equal(4))
	g.Expect(complaint(func(f *failing) { newRig(f, &script{}).AnswerOp(port.OK) })).To(ContainSubstring("no operation"))
}

// What the rig asserts holds on a worker that keeps it and is complained of on one that does not.
func TestAssertionsCanFail(t *testing.T) {
	answer := func(to wire.Addr, bodies ...wire.Body) []wire.Message {
		var sent []wire.Message
		for _, body := range bodies {
			sent = append(sent, wire.Message{To: to, Room: 7, Body: body})
		}
		return sent
	}
	half := wire.Finished{Status: 400, Tokens: []wire.Token{1}}
	ok, refused := wire.Finished{Status: 200, Tokens: []wire.Token{1}}, wire.Finished{Status: 400, Reason: "too long"}
	status := func(want int) func(r *Rig) { return func(r *Rig) { r.ExpectStatus(7, want) } }
	send := func(messages []wire.Message) port.Effects { return port.Effects{Send: messages} }
	idle := (*Rig).ExpectIdle
	untouched := func(r *Rig) { r.ExpectUntouched(7) }
	for name, c := range map[string]struct {
		effects port.Effects
		held    event.Holdings
		assert  func(r *Rig)
		want    string // "": no complaint
	}{
		"answered":                {send(answer(client, ok)), event.Holdings{}, status(200), ""},
		"refused":                 {send(answer(client, refused)), event.Holdings{}, status(400), ""},
		"never answered":          {port.Effects{}, event.Holdings{}, status(200), "0 answers"},
		"answered twice":          {send(answer(client, ok, ok)), event.Holdings{}, status(200), "2 answers"},
		"answered to another":     {send(answer(here, ok)), event.Holdings{}, status(200), "not to router/0#1"},
		"answered otherwise":      {send(answer(client, refused)), event.Holdings{}, status(200), "400 (too long)"},
		"an error with an answer": {send(answer(client, half)), event.Holdings{}, status(400), "with 1 tokens"},
		"idle":                    {port.Effects{}, event.Holdings{}, idle, ""},
		"waits for nothing":       {port.Effects{Wake: 9}, event.Holdings{}, idle, "until tick 9"},
		"holds a request":         {port.Effects{}, event.Holdings{Requests: 1}, idle, "holds something"},
		"another room at work":    {port.Effects{Ops: []port.Op{{Room: 8}}}, event.Holdings{}, untouched, ""},
		"an operation":            {port.Effects{Ops: []port.Op{{Room: 7}}}, event.Holdings{}, untouched, "prefill is under"},
		"a write":                 {port.Effects{Writes: []port.Write{{Room: 7}}}, event.Holdings{}, untouched, "a write is under"},
	} {
		t.Run(name, func(t *testing.T) {
			expectComplaint(t, c.want, complaint(func(f *failing) {
				r := newRig(f, &script{effects: []port.Effects{c.effects}, held: c.held})
				r.Turn(port.Turn{})
				c.assert(r)
			}))
		})
	}
}

func expectComplaint(t *testing.T, want, got string) {
	t.Helper()
	if want == "" {
		NewWithT(t).Expect(got).To(BeEmpty())
		return
	}
	NewWithT(t).Expect(got).To(ContainSubstring(want))
}

// Pages go back to where they came from once; anything else is complained of.
func TestHoldingsCanFail(t *testing.T) {
	reserved := event.Event{Kind: event.PagesReserved, Room: 7, Pages: []wire.Page{1, 2}}
	released := event.Event{Kind: event.PagesReleased, Room: 7}
	quarantined := func(count int) event.Event {
		return event.Event{Kind: event.PagesQuarantined, Room: 7, Count: count}
	}
	for name, c := range map[string]struct {
		events []event.Event
		want   string
	}{
		"given back":             {[]event.Event{reserved, released, reserved, released}, ""},
		"quarantined":            {[]event.Event{reserved, quarantined(2)}, ""},
		"reserved twice":         {[]event.Event{reserved, reserved}, "while it holds 2"},
		"given back twice":       {[]event.Event{reserved, released, released}, "does not hold"},
		"quarantined in part":    {[]event.Event{reserved, quarantined(1)}, "holds 2 pages and quarantined 1"},
		"quarantined of nothing": {[]event.Event{quarantined(0)}, "holds 0 pages"},
	} {
		t.Run(name, func(t *testing.T) {
			expectComplaint(t, c.want, complaint(func(f *failing) {
				holdings := Holdings{}
				for _, e := range c.events {
					holdings.Follow(f, e)
				}
			}))
		})
	}
}

// A page that is given back twice fails the test that asked for the allocator, and so does a slot.
func TestAllocatorsAreChecked(t *testing.T) {
	g := NewWithT(t)
	for name, broken := range map[string]bool{"sound": false, "broken": true} {
		c := &cleanups{}
		w := Limits(8)
		allocator, slots := Allocator(c, w), Slots(c, w)
		g.Expect(allocator.Capacity()).To(Equal(8))
		g.Expect(Pool(w, 2).Pages).To(Equal(9), "one is padding")
		pages := allocator.Reserve(2)
		slot, _ := slots.Reserve()
		allocator.Release(pages)
		slots.Release(slot)
		if broken {
			allocator.Release(pages)
			slots.Release(slot)
		}
		for _, cleanup := range c.list {
			cleanup()
		}
		g.Expect(c.errors).To(Equal(map[bool]int{true: 2}[broken]), name)
	}
}

type cleanups struct {
	testing.TB
	list   []func()
	errors int
}

func (c *cleanups) Helper()          {}
func (c *cleanups) Cleanup(f func()) { c.list = append(c.list, f) }
func (c *cleanups) Error(...any)     { c.errors++ }

// A random play answers mostly well, and with every other status now and then.
func TestDrawStatus(t *testing.T) {
	g := NewWithT(t)
	for draw, want := range map[[2]int]port.Status{
		{1, 0}: port.OK, {24, 2}: port.OK, {0, 0}: port.Cancelled, {0, 1}: port.Failed, {0, 2}: port.Rejected,
	} {
		left := draw[:]
		g.Expect(DrawStatus(func(n int) int {
			drawn := left[0]
			left = left[1:]
			g.Expect(drawn).To(BeNumerically("<", n))
			return drawn
		})).To(Equal(want))
	}
}
