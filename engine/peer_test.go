package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine"
	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

const (
	pageSize = 16
	requests = 12
)

var (
	clientAddr   = wire.Addr{Role: wire.Client, Incarnation: 1}
	observerAddr = wire.Addr{Role: wire.Client, Index: 1, Incarnation: 1}
	routerAddr   = wire.Addr{Role: wire.Router, Incarnation: 1}
	prefillAddr  = wire.Addr{Role: wire.Prefill, Incarnation: 1}
	decodeAddr   = wire.Addr{Role: wire.Decode, Incarnation: 1}
	aloneAddr    = wire.Addr{Role: wire.Colocated, Incarnation: 1}
)

// small is a cluster of one model whose pools are short: some requests wait while others run.
func small(mode config.Mode, guards guard.Set) config.Cluster {
	w := config.Worker{
		ContextLength: 1024, MaxTotalNumTokens: 16 * pageSize, PageSize: pageSize, ChunkedPrefillSize: 2 * pageSize,
		MaxRunningRequests: 4, MetadataSlots: 4, AllocatorOrder: config.OrderSGLang,
		BootstrapTimeoutTicks: 20_000, AbortRetryTicks: 200, AbortRetriesMax: 2,
	}
	return config.Cluster{Models: []config.Model{{
		Name: "small", Mode: mode, Guards: guards, Prefill: w, Decode: w,
		Router: config.Router{Mode: config.DecodeOnly, EdgeLimitTokens: 1024},
	}}}
}

// client submits its requests one a step and takes the answers.
type client struct {
	link    port.Link
	next    int
	answers map[wire.Room][]wire.Finished
}

func (c *client) Enabled() int {
	var arrived [8]wire.Message
	for n := c.link.Poll(arrived[:]); n > 0; n = c.link.Poll(arrived[:]) {
		for _, m := range arrived[:n] {
			c.answers[m.Room] = append(c.answers[m.Room], m.Body.(wire.Finished))
		}
	}
	if c.next < requests {
		return 1
	}
	return 0
}

func (c *client) Step(int) {
	c.next++
	prompt := make([]wire.Token, 20+9*c.next)
	for i := range prompt {
		prompt[i] = wire.Token(64 + (37*c.next+i*i)%1000)
	}
	c.link.Send(wire.Message{
		From: clientAddr, To: routerAddr, Room: wire.Room(c.next), Body: wire.Submit{Prompt: prompt, MaxNewTokens: 5},
	})
}

// outcome is what a run came to.
type outcome struct {
	rest    engine.Rest
	answers map[wire.Room][]wire.Finished
	lost    []wire.Addr // whose loss was recorded, in order
	held    []event.Holdings
}

// drive runs a cluster to rest; at step at, an outsider sends the messages.
func drive(t *testing.T, c config.Cluster, m *model.Model, seed uint64, at int, messages ...wire.Message) outcome {
	t.Helper()
	g := NewWithT(t)
	out := outcome{answers: map[wire.Room][]wire.Finished{}}
	cluster, err := engine.New(c, engine.Options{Model: m, Record: func(e *event.Event) {
		switch e.Kind {
		case event.PeerLost:
			out.lost = append(out.lost, e.Peer)
		case event.WorkerQuiesced:
			out.held = append(out.held, e.Holdings)
		default:
		}
	}})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(cluster.Close()).To(Succeed()) }()
	outsider, steps := cluster.Link(observerAddr), 0
	random := rand.New(rand.NewPCG(seed, 5))
	out.rest, err = cluster.Run(engine.Run{
		Clients: &client{link: cluster.Link(clientAddr), answers: out.answers}, StepsMax: 200_000,
		Choose: func(_, total int) int {
			if seed == 0 {
				return 0
			}
			return random.IntN(total)
		},
		Between: func() bool {
			if steps == at {
				for _, message := range messages {
					message.From = observerAddr
					outsider.Send(message)
				}
			}
			steps++
			return false
		},
	})
	g.Expect(err).NotTo(HaveOccurred(), "nothing is given back twice")
	return out
}

func down(to, peer wire.Addr) wire.Message {
	return wire.Message{To: to, Body: wire.PeerDown{Peer: peer}}
}

// TestPeerGoneMidRun has a peer said to be gone at any point of a run, under any schedule: every request has one answer,
// an error or what it would have been; every worker is idle at rest, with nothing given up; and who was said to be gone is on
// record at everybody who was told.
func TestPeerGoneMidRun(t *testing.T) {
	m := model.New(code.New())
	for name, c := range map[string]struct {
		mode     config.Mode
		messages []wire.Message
		lost     []wire.Addr
		// late is the status of a request that decode gets after the word: the router had posted it before, so the prefill
		// that it waits for never comes.
		late int
	}{
		"decode": {config.Disaggregated, []wire.Message{
			down(routerAddr, decodeAddr), down(prefillAddr, decodeAddr), down(decodeAddr, prefillAddr),
		}, []wire.Addr{prefillAddr, decodeAddr, decodeAddr}, 502},
		"prefill": {config.Disaggregated, []wire.Message{
			down(routerAddr, prefillAddr), down(decodeAddr, prefillAddr), down(prefillAddr, decodeAddr),
		}, []wire.Addr{prefillAddr, prefillAddr, decodeAddr}, 504},
		"co-located": {config.Colocated, []wire.Message{down(routerAddr, aloneAddr)}, []wire.Addr{aloneAddr}, 502},
	} {
		for _, guards := range []guard.Set{guard.All, guard.DeferredRelease | guard.AddressGeneration} {
			t.Run(name+" "+guards.String(), func(t *testing.T) {
				g := NewWithT(t)
				configuration := small(c.mode, guards)
				whole := drive(t, configuration, m, 0, -1)
				g.Expect(whole.lost).To(BeEmpty())
				statuses := map[int]int{}
				for seed := range uint64(40) {
					at := 1 + int(seed)*whole.rest.Steps/60 // not all schedules are as long as the first
					out := drive(t, configuration, m, seed, at, c.messages...)
					about := fmt.Sprintf("seed %d, step %d", seed, at)
					g.Expect(out.rest.Stuck).To(BeFalse(), about)
					g.Expect(out.lost).To(ConsistOf(c.lost), about)
					for _, held := range out.held {
						g.Expect(held.Idle()).To(BeTrue(), "%s: %+v", about, held)
						g.Expect(held.PagesQuarantined).To(BeZero(), about)
					}
					for room := wire.Room(1); room <= requests; room++ {
						g.Expect(out.answers[room]).To(HaveLen(1), "%s, room %d", about, room)
						answer := out.answers[room][0]
						statuses[answer.Status]++
						if answer.Status == 200 {
							g.Expect(answer).To(Equal(whole.answers[room][0]), about)
							continue
						}
						g.Expect(answer.Tokens).To(BeEmpty(), about)
						g.Expect(answer.Status).To(BeElementOf(502, c.late), about)
					}
				}
				g.Expect(statuses[200]).To(BeNumerically(">", 0))
				g.Expect(statuses[502]).To(BeNumerically(">", 0))
			})
		}
	}
}

// A word about an incarnation that is not there, or not a peer, changes no step of the run but those that deliver it.
func TestNobodyOfThatNameIsGone(t *testing.T) {
	m := model.New(code.New())
	whole := drive(t, small(config.Disaggregated, guard.All), m, 0, -1)
	for _, stranger := range []wire.Addr{{}, {Role: wire.Decode, Incarnation: 0}, {Role: wire.Prefill, Index: 1, Incarnation: 1}} {
		var messages []wire.Message
		for _, to := range []wire.Addr{routerAddr, prefillAddr, decodeAddr} {
			messages = append(messages, down(to, stranger))
		}
		out := drive(t, small(config.Disaggregated, guard.All), m, 0, whole.rest.Steps/2, messages...)
		NewWithT(t).Expect(out.lost).To(BeEmpty())
		NewWithT(t).Expect(out.answers).To(Equal(whole.answers))
		NewWithT(t).Expect(slices.Equal(out.held, whole.held)).To(BeTrue())
	}
}
