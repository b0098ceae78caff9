package admission_test

import (
	"encoding/json"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine"
	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/harness"
)

var _ = DescribeTable("what no run can be made of is an error that says what is wrong, and costs nothing",
	func(change func(*harness.Case), words string) {
		c := caseOf(model(config.Disaggregated, guard.None, worker(512, 128), worker(512, 256)), 100)
		change(&c)
		path := filepath.Join(GinkgoT().TempDir(), "run"+journal.Extension)
		Expect(os.WriteFile(path, []byte("an older journal"), 0o600)).To(Succeed())
		_, err := kit().Run(c, harness.Options{Journal: path})
		Expect(err).To(MatchError(ContainSubstring(words)))
		Expect(os.ReadFile(path)).To(Equal([]byte("an older journal")))
		Expect(filepath.Glob(path + "*")).To(Equal([]string{path}))
	},
	Entry("no model", cluster(func(c *config.Cluster) { c.Models = nil }), "models: at least one is needed"),
	Entry("no context", prefill(func(w *config.Worker) { w.ContextLength = 0 }),
		"models[0].prefill.context_length 0: want 7 to 8388608"),
	Entry("a negative context", prefill(func(w *config.Worker) { w.ContextLength = -1 }),
		"models[0].prefill.context_length -1: want 7 to 8388608"),
	Entry("a huge context", prefill(func(w *config.Worker) { w.ContextLength = 1 << 62 }),
		"models[0].prefill.context_length 4611686018427387904: want 7 to 8388608"),
	Entry("a negative pool", prefill(func(w *config.Worker) { w.MaxTotalNumTokens = -64 }),
		"models[0].prefill.max_total_num_tokens -64: want 7 to 8388608"),
	Entry("a huge pool", prefill(func(w *config.Worker) { w.MaxTotalNumTokens = 1 << 40 }),
		"models[0].prefill.max_total_num_tokens 1099511627776: want 7 to 8388608"),
	Entry("a pool smaller than one page", prefill(func(w *config.Worker) { w.MaxTotalNumTokens = 15 }),
		"models[0].prefill.max_total_num_tokens 15: smaller than one page of 16 tokens"),
	Entry("unequal page sizes", prefill(func(w *config.Worker) { w.PageSize = 32 }),
		"models[0]: page_size 32 on prefill and 16 on decode: a page moves whole, so they must agree"),
	Entry("a chunk of no whole pages", prefill(func(w *config.Worker) { w.ChunkedPrefillSize = 24 }),
		"models[0].prefill.chunked_prefill_size 24: must be a multiple of page_size 16"),
	Entry("a prompt of no tokens", request(func(r *traffic.Request) { r.PromptTokens, r.Spans = 0, nil }),
		"prompt_tokens 0: a prompt has at least one token"),
	Entry("a prompt of less than no tokens", request(func(r *traffic.Request) { r.PromptTokens = -1 }),
		"prompt_tokens -1: want 1 to 8388608"),
	Entry("a huge prompt", request(func(r *traffic.Request) { r.PromptTokens = 1 << 50 }),
		"prompt_tokens 1125899906842624: want 1 to 8388608"),
	Entry("a prompt that its spans do not give", request(func(r *traffic.Request) { r.PromptTokens++ }),
		"prompt_tokens 101: its spans have 100"),
	Entry("another tenant's text in a prompt", request(func(r *traffic.Request) { r.Spans[0].Tenant = 7 }),
		"the request is of tenant 900"),
	Entry("an answer of no tokens", request(func(r *traffic.Request) { r.MaxNewTokens = 0 }),
		"max_new_tokens 0: want 1 to 8388608"),
	Entry("a request for a model that nobody serves", request(func(r *traffic.Request) { r.Model = "other" }),
		`is for model "other", which the configuration does not serve`),
	Entry("an abort at what never happens", request(func(r *traffic.Request) { r.AbortAt, r.AbortCount = "page.lost", 1 }),
		`event kind "page.lost" is not known`),
	Entry("nobody may send", func(c *harness.Case) { c.Schedule.Trace.Concurrency = 0 }, "concurrency 0: want 1 to 1024"),
	Entry("a plan cut short", plan(`{"faults":[{"fault":"late-write"`), "unexpected end of JSON input"),
	Entry("a plan with a tail", plan(`{"faults":[]} {}`), "invalid character '{' after top-level value"),
	Entry("a plan of another form", plan(`{"nemeses":[]}`), `plan: json: unknown field "nemeses"`),
	Entry("an unknown fault", plan(`{"faults":[{"fault":"gremlin"}]}`),
		`plan: faults[0]: fault "gremlin" is not known; there are lost-registration, `),
	Entry("an unknown field of a fault", plan(`{"faults":[{"fault":"late-write","how":"late"}]}`),
		`plan: faults[0]: "late-write": json: unknown field "how"`),
	Entry("a fault aimed at a request before the first", plan(`{"faults":[{"fault":"late-write","request":-1}]}`),
		`plan: faults[0] "late-write": request -1: want an index into the traffic, 0 or more`),
	Entry("a fault that holds more pages than there are",
		plan(`{"faults":[{"fault":"shrunken-pool","role":"prefill","hold_pages":99}]}`),
		"fault shrunken-pool: hold_pages 99 at prefill/0#1: only 8 pages are free, and one must be left"),
)

func cluster(change func(*config.Cluster)) func(*harness.Case) {
	return func(c *harness.Case) { change(&c.Cluster) }
}

func prefill(change func(*config.Worker)) func(*harness.Case) {
	return func(c *harness.Case) { change(&c.Cluster.Models[0].Prefill) }
}

// request changes the last request, the one in question.
func request(change func(*traffic.Request)) func(*harness.Case) {
	return func(c *harness.Case) {
		list := c.Schedule.Trace.Requests
		change(&list[len(list)-1])
	}
}

func plan(text string) func(*harness.Case) {
	return func(c *harness.Case) { c.Plan = json.RawMessage(text) }
}

// A trace cannot hold an empty prompt, but a client can send one: here, straight to the router and past it.
var _ = DescribeTable("a request of nothing is refused by whoever gets it",
	func(mode config.Mode, to wire.Role, body wire.Submit, words string) {
		var events []event.Event
		m := model(mode, guard.None, worker(512, 128), worker(512, 256))
		c, err := engine.New(config.Cluster{Models: []config.Model{m}}, engine.Options{
			Model: kit().Model, Record: func(e *event.Event) { events = append(events, *e) },
		})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(c.Close)
		client := &sender{addr: wire.Addr{Role: wire.Client, Incarnation: 1}, body: body}
		client.link, client.to = c.Link(client.addr), wire.Addr{Role: to, Incarnation: 1}
		_, err = c.Run(engine.Run{Clients: client, StepsMax: 10_000})
		Expect(err).NotTo(HaveOccurred())

		var refusals []string
		for _, e := range events {
			switch e.Kind {
			case event.RequestRejected:
				refusals = append(refusals, e.Reason)
			case event.WorkerQuiesced:
				Expect(e.Holdings.Idle()).To(BeTrue(), "%s: %+v", e.Source, e.Holdings)
			case event.PagesReserved, event.RowsComputed, event.TokenSampled:
				Fail("something was done for a request of nothing: " + e.Kind.String())
			default:
			}
		}
		Expect(refusals).To(ConsistOf(words))
		if to == wire.Router {
			Expect(client.answers).To(HaveLen(1))
			Expect(client.answers[0].Body).To(Equal(wire.Finished{Status: 400, Reason: words, PromptTokens: len(body.Prompt)}))
		}
	},
	Entry("no prompt, at the router", config.Disaggregated, wire.Router, wire.Submit{MaxNewTokens: 4},
		"a request needs at least one prompt token and one new token"),
	Entry("no answer wanted, at the router", config.Disaggregated, wire.Router, wire.Submit{Prompt: []wire.Token{1}},
		"a request needs at least one prompt token and one new token"),
	Entry("less than no answer wanted, at the router", config.Disaggregated, wire.Router,
		wire.Submit{Prompt: []wire.Token{1}, MaxNewTokens: -5}, "a request needs at least one prompt token and one new token"),
	Entry("no prompt, at the router of one worker", config.Colocated, wire.Router, wire.Submit{MaxNewTokens: 4},
		"a request needs at least one prompt token and one new token"),
	Entry("no prompt, at prefill", config.Disaggregated, wire.Prefill, wire.Submit{MaxNewTokens: 4}, "the prompt is empty"),
	Entry("no prompt, at decode", config.Disaggregated, wire.Decode, wire.Submit{MaxNewTokens: 4}, "the prompt is empty"),
	Entry("no prompt, at one worker", config.Colocated, wire.Colocated, wire.Submit{MaxNewTokens: 4}, "the prompt is empty"),
)

// sender is a client that sends one request and takes what comes.
type sender struct {
	addr, to wire.Addr
	link     port.Link
	body     wire.Submit
	sent     bool
	answers  []wire.Message
}

func (s *sender) Enabled() int {
	var polled [4]wire.Message
	for n := s.link.Poll(polled[:]); n > 0; n = s.link.Poll(polled[:]) {
		s.answers = append(s.answers, polled[:n]...)
	}
	if s.sent {
		return 0
	}
	return 1
}

func (s *sender) Step(int) {
	s.sent = true
	tickets := wire.NewTickets(s.addr)
	s.link.Send(wire.Message{Ticket: tickets.Next(), From: s.addr, To: s.to, Room: 77, Body: s.body})
}
