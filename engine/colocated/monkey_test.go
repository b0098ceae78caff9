package colocated

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/turn/turntest"
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
			holds, looked := turntest.Holdings{}, 0
			look := func() {
				for _, e := range r.Events[looked:] {
					holds.Follow(t, e)
					ended := e.Kind == event.PagesReleased || e.Kind == event.PagesQuarantined
					if ended && guards.Has(guard.DeferredRelease) {
						r.ExpectUntouched(e.Room)
					}
				}
				looked = len(r.Events)
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
						r.Turn(port.Turn{Ops: []port.OpDone{answered[random.IntN(len(answered))]}})
					}
				default:
					if len(r.Ops) == 0 {
						continue
					}
					status := turntest.DrawStatus(random.IntN)
					answered = append(answered, opDone(r.Ops[0], status))
					r.AnswerOp(status)
				}
				look()
			}
			for len(r.Ops) > 0 || r.Wake > 0 {
				if len(r.Ops) > 0 {
					r.AnswerOp(port.OK)
				} else {
					r.SkipToWake()
					r.Turn(port.Turn{})
				}
				look()
			}
			r.ExpectIdle()
			for room := wire.Room(1); room <= rooms; room++ {
				r.Expect(holds[room]).To(BeZero())
				if submitted[room] == 0 {
					r.Expect(r.Answers(room)).To(BeEmpty())
					continue
				}
				r.Expect(r.Answers(room)).To(HaveLen(1))
				if answer := r.Answers(room)[0]; answer.Status == 200 {
					r.Expect(answer.Tokens).To(HaveLen(submitted[room]))
				} else {
					r.Expect(answer.Tokens).To(BeEmpty())
				}
			}
		})
	}
}
