package colocated

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// TestMonkey sends Submits and aborts in any order, answers operations in queue order with any status, and repeats
// answers: the worker never panics, answers every request once and in full or not at all, gives back or quarantines what
// it reserved, and gives no page back under deferred release while the device is at work on it.
func TestMonkey(t *testing.T) {
	const rooms = 7
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 13))
			guards := guard.Set(random.Uint32()) & guard.All
			r := newRig(t, guards)
			holds, looked := map[wire.Room]int{}, 0
			look := func() {
				for _, e := range r.events[looked:] {
					switch e.Kind {
					case event.PagesReserved:
						r.Expect(holds[e.Room]).To(BeZero())
						holds[e.Room] = len(e.Pages)
					case event.PagesReleased, event.PagesQuarantined:
						r.Expect(holds[e.Room]).To(BeNumerically(">", 0))
						holds[e.Room] = 0
						for _, o := range r.ops {
							r.Expect(guards.Has(guard.DeferredRelease) && o.Room == e.Room).To(BeFalse())
						}
					}
				}
				looked = len(r.events)
			}
			submitted := map[wire.Room]int{}
			var answered []port.OpDone
			for range 300 {
				room := wire.Room(1 + random.IntN(rooms))
				switch random.IntN(6) {
				case 0:
					maxNewTokens := 1 + random.IntN(4)
					if submitted[room] == 0 {
						submitted[room] = maxNewTokens
					}
					r.submit(room, 1+random.IntN(poolTokens+10), maxNewTokens)
				case 1:
					if random.IntN(3) == 0 {
						r.receive(room, wire.Abort{})
					}
				case 2:
					if len(answered) > 0 {
						r.turn(port.Turn{Ops: []port.OpDone{answered[random.IntN(len(answered))]}})
					}
				default:
					if len(r.ops) == 0 {
						continue
					}
					status := port.OK
					if random.IntN(25) == 0 {
						status = port.Status(1 + random.IntN(3))
					}
					answered = append(answered, opDone(r.ops[0], status))
					r.answerOp(status)
				}
				look()
			}
			for len(r.ops) > 0 || r.wake > 0 {
				if len(r.ops) > 0 {
					r.answerOp(port.OK)
				} else {
					r.now = r.wake - 1
					r.turn(port.Turn{})
				}
				look()
			}
			r.expectIdle()
			for room := wire.Room(1); room <= rooms; room++ {
				r.Expect(holds[room]).To(BeZero())
				if submitted[room] == 0 {
					r.Expect(r.answers(room)).To(BeEmpty())
					continue
				}
				r.Expect(r.answers(room)).To(HaveLen(1))
				if answer := r.answers(room)[0]; answer.Status == 200 {
					r.Expect(answer.Tokens).To(HaveLen(submitted[room]))
				} else {
					r.Expect(answer.Tokens).To(BeEmpty())
				}
			}
		})
	}
}
