package router

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/wire"
)

// TestMonkey sends everything that may arrive in random order: each room that was asked for is answered exactly once,
// to the client that asked first, and one that was not asked for never is.
func TestMonkey(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 11))
			mode := []config.RouterMode{config.DecodeOnly, config.CancelOnPrefillError}[random.IntN(2)]
			r := newRig(t, guard.Set(random.Uint32())&guard.All, mode)
			const rooms = 5
			first, answers := map[wire.Room]wire.Addr{}, map[wire.Room]int{}
			step := func(from wire.Addr, room wire.Room, body wire.Body) {
				if _, ok := body.(wire.Submit); ok && first[room] == (wire.Addr{}) {
					first[room] = from
				}
				for _, m := range r.receive(from, room, body) {
					if m.To == first[m.Room] {
						r.Expect(m.Body).To(BeAssignableToTypeOf(wire.Finished{}))
						answers[m.Room]++
					} else if m.To.Role == wire.Client {
						r.Expect(m.Body).To(HaveField("Status", 400))
					}
				}
			}
			for range 150 {
				room := wire.Room(1 + random.IntN(rooms))
				switch random.IntN(7) {
				case 0, 1:
					step([]wire.Addr{clientAddr, otherAddr}[random.IntN(2)], room, submit(random.IntN(70)))
				case 2:
					step(clientAddr, room, wire.Abort{})
				case 3:
					step(decodeAddr, room, wire.Finished{Status: 200})
				case 4:
					step(prefillAddr, room, wire.Refused{Reason: "no", Status: 400})
				case 5:
					step(prefillAddr, 0, wire.PeerUp{MaxInputTokens: random.IntN(70)})
				case 6:
					peer := []wire.Addr{prefillAddr, decodeAddr, nextPrefill, nextDecode}[random.IntN(4)]
					switch random.IntN(20) {
					case 0:
						step(otherAddr, 0, wire.PeerDown{Peer: peer})
					case 1:
						step(peer, 0, wire.PeerUp{})
					}
				}
			}
			for room := range wire.Room(rooms + 1) {
				step(r.worker.workers[1].Addr, room, wire.Finished{Status: 200})
				want := 0
				if first[room] != (wire.Addr{}) {
					want = 1
				}
				r.Expect(answers[room]).To(Equal(want), "room %d", room)
			}
			r.ExpectIdle()
		})
	}
}
