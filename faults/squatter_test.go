package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

func squatter(release *Trigger) *Squatter {
	return &Squatter{
		Target: Target{Role: "decode"}, HoldPages: 15, ReleaseOn: release,
		When: When{ArmOn: &Trigger{Event: event.TransferCommitted, Request: number(other)}},
	}
}

// It proves that the squatter takes what is free when its event comes and the rest as it comes free, and gives all of
// it back on its other event.
func TestSquatterTakesAndGivesBack(t *testing.T) {
	b := newBench(t, squatter(&Trigger{Event: event.RequestFinished, Request: number(target)}))
	pool := b.decode.Allocator
	mine := pool.Reserve(10)
	b.Expect(pool.Free()).To(Equal(10), "not armed yet")
	b.say(event.Event{Kind: event.RequestFinished, Source: decode, Room: roomOf(target)}) // too early to count
	b.say(event.Event{Kind: event.TransferCommitted, Source: decode, Room: roomOf(other)})
	b.Expect(b.injector.Status()[0].Held).To(Equal(10))
	b.Expect(pool.Reserve(3)).To(BeNil())
	b.expectFired(1)
	pool.Release(mine)
	b.Expect(b.injector.Status()[0].Held).To(Equal(15))
	b.Expect(pool.Capacity()).To(Equal(20), "the pool is as large as ever")
	b.Expect(pool.Reserve(3)).To(HaveLen(3))
	b.say(event.Event{Kind: event.RequestFinished, Source: decode, Room: roomOf(target)})
	b.Expect(pool.Free()).To(Equal(17))
	b.Expect(b.injector.Status()[0]).To(And(HaveField("State", Recovered), HaveField("Held", 0),
		HaveField("ReleasedBy", ContainSubstring("request.finished"))))
	pool.Release([]wire.Page{1})
	b.Expect(b.injector.Status()[0].Held).To(BeZero(), "it takes no more")
}

// It proves that a squatter with no event to leave on leaves when nothing else can move, and that this is not mistaken
// for a window that never opened.
func TestSquatterLeavesAtIdle(t *testing.T) {
	b := newBench(t, squatter(nil))
	b.say(event.Event{Kind: event.TransferCommitted, Source: decode, Room: roomOf(other)})
	b.Expect(b.decode.Allocator.Reserve(6)).To(BeNil())
	b.Expect(b.injector.Idle()).To(BeTrue())
	b.Expect(b.decode.Allocator.Reserve(6)).To(HaveLen(6))
	b.Expect(b.injector.Status()[0].ReleasedBy).NotTo(Equal(ReasonIdle))
	b.expectFired(1)
}
