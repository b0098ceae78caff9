package decode

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

// Pages for prompt and answer are reserved in the order of arrival: a long request that waits is not overtaken, and gets
// its pages in the very turn in which they come free, since no other turn may follow.
func TestPagesAreGivenInOrder(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All} {
		r := newRig(t, guards)
		r.submit(1, 7*pageSize, 3*pageSize) // ten pages
		r.submit(2, 6*pageSize, pageSize)   // seven
		r.submit(3, 5, 1)
		r.Expect(r.reservations()).To(Equal([]wire.Room{1}))
		r.Expect(r.Wake).To(BeNumerically(">", 0))
		r.Receive(routerAddr, 1, wire.Abort{})
		r.Receive(prefillAddr, 1, wire.AbortAck{Drained: true})
		r.SettleOps(port.OK)
		r.Expect(r.Count(event.PagesReleased)).To(Equal(1))
		r.Expect(r.reservations()).To(Equal([]wire.Room{1, 2, 3}))
	}
}

func (r *rig) reservations() (rooms []wire.Room) {
	for _, m := range r.Sent {
		if _, ok := m.Body.(wire.Reserved); ok {
			rooms = append(rooms, m.Room)
		}
	}
	return rooms
}

// A metadata slot is as scarce as pages, and is used again.
func TestSlotsAreReused(t *testing.T) {
	r := newRig(t, guard.All, func(c *Config) { c.Slots = kv.NewSlots(1) })
	for room := wire.Room(1); room <= 3; room++ {
		r.submit(room, 5, 1)
	}
	for room := wire.Room(1); room <= 3; room++ {
		r.Expect(r.reservations()).To(HaveLen(int(room)))
		r.Receive(prefillAddr, room, r.claimOf(room, 5))
		r.SettleOps(port.OK)
		r.ExpectStatus(room, 200)
	}
	r.expectIdle()
}

// What can never fit is refused at once and holds nobody back; nothing overflows.
func TestNeverFits(t *testing.T) {
	for _, maxNewTokens := range []int{poolPages * pageSize, 1 << 40, math.MaxInt} {
		r := newRig(t, guard.All)
		r.submit(1, 5, maxNewTokens)
		r.submit(2, 5, 1)
		r.ExpectStatus(1, 400)
		r.Expect(r.Answers(1)[0].Reason).To(ContainSubstring("of a pool of 16"))
		r.Expect(r.reservations()).To(Equal([]wire.Room{2}))
	}
}

// Less than one new token is one: the router refuses it, and here it must not cut pages off the prompt.
func TestNoNewTokens(t *testing.T) {
	for _, maxNewTokens := range []int{0, -1, math.MinInt} {
		r := newRig(t, guard.All)
		r.submit(7, 20, maxNewTokens)
		r.Receive(prefillAddr, 7, r.claim(20))
		r.SettleOps(port.OK)
		r.ExpectStatus(7, 200)
		r.expectIdle()
	}
}

// A request that gets no pages, or no transfer, ends at its deadline with a timeout, whatever the guards.
func TestDeadlines(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.All} {
		r := newRig(t, guards)
		r.commit(1, 7*pageSize, 8*pageSize)
		r.submit(2, 5*pageSize, 1)
		r.submit(3, 5, 1) // behind it
		r.Now = r.Wake - 2
		r.Turn(port.Turn{})
		r.Expect(r.Count(event.RequestExpired)).To(BeZero())
		r.Turn(port.Turn{})
		r.ExpectStatus(2, 504)
		r.Expect(r.reservations()).To(Equal([]wire.Room{1, 3}), "who was behind it goes on in the same turn")

		r.Now = r.Wake - 1
		r.Turn(port.Turn{})
		r.ExpectStatus(3, 504)
		r.Expect(r.told()[len(r.told())-1]).To(Equal(wire.Abort{}), "prefill may still write")
		r.Receive(prefillAddr, 3, wire.AbortAck{Drained: true})
		r.Expect(r.Count(event.RequestExpired)).To(Equal(2))
		r.Receive(routerAddr, 1, wire.Abort{})
		r.SettleOps(port.OK)
		r.expectIdle()
	}
}

// Limit-exchange refuses what prefill said it refuses, before a page is reserved, wherever the registration comes in.
func TestLimitExchange(t *testing.T) {
	for name, c := range map[string]struct {
		guards guard.Set
		early  bool // the Submit overtakes the registration
		tokens int
		status int // 0: it goes on
	}{
		"below":             {guard.LimitExchange, false, peerLimit - 1, 0},
		"at the limit":      {guard.LimitExchange, false, peerLimit, 400},
		"early, below":      {guard.LimitExchange, true, peerLimit - 1, 0},
		"early, at it":      {guard.LimitExchange, true, peerLimit, 400},
		"guard off":         {guard.None, false, peerLimit, 0},
		"guard off, early":  {guard.None, true, peerLimit, 0},
		"and told, if told": {guard.LimitExchange | guard.TellPeer, false, peerLimit, 400},
	} {
		t.Run(name, func(t *testing.T) {
			r := bareRig(t, c.guards)
			r.Turn(port.Turn{})
			r.Sent = nil
			if c.early {
				r.submit(7, c.tokens, 1)
				r.Expect(r.reservations()).To(HaveLen(map[bool]int{true: 1}[c.guards == guard.None]))
				r.introduce()
			} else {
				r.introduce()
				r.submit(7, c.tokens, 1)
			}
			if c.status == 0 {
				r.Expect(r.reservations()).To(HaveLen(1))
				return
			}
			r.ExpectStatus(7, c.status)
			r.Expect(r.Tripped()).To(Equal([]string{"limit-exchange"}))
			r.Expect(r.told()).To(HaveLen(map[bool]int{true: 1}[c.guards.Has(guard.TellPeer)]))
			r.expectIdle()
		})
	}
}

// A prefill that announced no limit, because it truncates, is known all the same; one that was never heard of is not
// served with: its requests time out.
func TestRegistrationWithoutLimit(t *testing.T) {
	r := bareRig(t, guard.LimitExchange)
	r.Receive(prefillAddr, 0, wire.PeerUp{PageSize: pageSize})
	r.submit(7, 200, 1)
	r.Expect(r.reservations()).To(HaveLen(1))

	r = bareRig(t, guard.LimitExchange)
	r.submit(7, 5, 1)
	r.Now = r.Wake - 1
	r.Turn(port.Turn{})
	r.ExpectStatus(7, 504)
	r.expectIdle()
}

// Decode's own limits: at intake with its own length, at reserve against its pool; its refusal is the client's answer,
// guards or not, and prefill hears of it only with tell-peer.
func TestOwnRefusal(t *testing.T) {
	for _, guards := range []guard.Set{guard.None, guard.TellPeer} {
		for _, tokens := range []int{0, limit, limit + 1, 1025} {
			r := newRig(t, guards)
			r.submit(7, tokens, 1)
			r.ExpectStatus(7, 400)
			r.Expect(r.Answers(7)[0].PromptTokens).To(Equal(tokens))
			r.Expect(r.told()).To(HaveLen(map[bool]int{true: 1}[guards.Has(guard.TellPeer)]))
			r.expectIdle()
		}
		r := newRig(t, guards)
		r.submit(7, limit-1, 1)
		r.Expect(r.reservations()).To(HaveLen(1))
	}
}

// auto_truncate answers a shortened prompt and says so.
func TestTruncated(t *testing.T) {
	r := newRig(t, guard.All, func(c *Config) {
		c.Worker.AllowAutoTruncate = true
		c.Worker.MaxTotalNumTokens = 64 // what the limits look at; the pool itself is larger
		c.Admission = kv.NewLimits(c.Worker)
	})
	r.submit(7, 100, 1)
	r.Expect(r.Count(event.RequestTruncated)).To(Equal(1))
	r.Expect(r.told()[0].(wire.Reserved).Pages).To(HaveLen(4))
	r.Receive(prefillAddr, 7, r.claim(57))
	r.SettleOps(port.OK)
	r.ExpectStatus(7, 200)
	r.Expect(r.Answers(7)[0]).To(And(HaveField("Truncated", true), HaveField("PromptTokens", 57)))
	r.expectIdle()
}
