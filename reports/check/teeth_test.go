package check

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
)

// Goal: every check is silent on a clean run, and looked at something in it.
func TestCleanRunIsSilent(t *testing.T) {
	g := NewWithT(t)
	s, _ := clean(t)
	report := s.judge()
	for _, result := range report.Results {
		g.Expect(result.Verdict).To(Equal(Pass), "%s: %s %s", result.Check, result.NotChecked, result.Findings.First.Text)
		g.Expect(result.Findings.Count).To(BeZero(), result.Check)
		if result.Check != "fault-fired" {
			g.Expect(result.Looked).To(BeNumerically(">", 0), result.Check)
		}
	}
	g.Expect(report.Verdict).To(Equal(Pass))
	g.Expect(report.Outcomes).To(Equal([Outcomes]int{Correct: 3}))
	g.Expect(report.PagesTransferred).To(Equal(6 + 7 + 10))
	g.Expect(report.Requests[2].Attribution).To(Equal(Attribution{Emitted: 7, Derived: 7}))
}

// tooth is one planted corruption and the check that must find it.
type tooth struct {
	name    string
	check   string
	verdict Verdict
	corrupt func(s *scene, p []*party)
	text    string // that the first finding's text, or the reason of an unknown, contains
}

func roomIs(p *party) func(*event.Event) bool {
	return func(e *event.Event) bool { return e.Room == p.room }
}

func roomAt(p *party, at wire.Addr) func(*event.Event) bool {
	return func(e *event.Event) bool { return e.Room == p.room && e.Source == at }
}

func buffer(p *party, b wire.Buffer) func(*event.Event) bool {
	return func(e *event.Event) bool { return e.Room == p.room && e.Buffer == b }
}

func sampleOf(p *party, position int) func(*event.Event) bool {
	return func(e *event.Event) bool {
		return e.Samples[0].Room == p.room && e.Samples[0].Position == position && e.Source == decode
	}
}

// requestTeeth are for the checks that look at requests and their answers.
var requestTeeth = []tooth{
	{
		name: "a page that cannot be", check: "well-formed", verdict: Unknown, text: "page 99 of a pool of 41",
		corrupt: func(s *scene, p []*party) { s.first(event.PagesReserved, roomAt(p[0], decode)).Pages[0] = 99 },
	},
	{
		name: "a journal without its end", check: "well-formed", verdict: Unknown, text: "cut short",
		corrupt: func(s *scene, _ []*party) { s.run.Incomplete = "cut short" },
	},
	{
		name: "no answer", check: "liveness", verdict: Fail, text: "room 102 (tenant 5 request 2) was answered never",
		corrupt: func(s *scene, p []*party) { s.drop(event.ResponseReceived, roomIs(p[1])) },
	},
	{
		name: "no answer yet", check: "liveness", verdict: Unknown, text: "may have come later",
		corrupt: func(s *scene, p []*party) {
			s.drop(event.ResponseReceived, roomIs(p[1]))
			s.run.Incomplete = "cut short"
		},
	},
	{
		name: "two answers", check: "liveness", verdict: Fail, text: "was answered 2 times",
		corrupt: func(s *scene, p []*party) { s.add(*s.first(event.ResponseReceived, roomIs(p[1]))) },
	},
	{
		name: "no request", check: "liveness", verdict: Unknown,
		corrupt: func(s *scene, _ []*party) { s.events = s.events[len(s.events)-2:] },
	},
	{
		name: "200 for a refused request", check: "outcome-fits-cause", verdict: Fail, text: "a worker had refused it",
		corrupt: func(s *scene, p []*party) {
			s.insert(s.index(event.RequestReceived, roomAt(p[0], prefill)), event.Event{
				Kind: event.RefusalRecorded, Source: prefill, Room: p[0].room, Reason: "too long",
			})
		},
	},
	{
		name: "400 that nobody refused", check: "outcome-fits-cause", verdict: Fail, text: "nobody refused it",
		corrupt: func(s *scene, p []*party) { setStatus(s, p[0], 400) },
	},
	{
		name: "499 that nobody aborted", check: "outcome-fits-cause", verdict: Fail, text: "nobody aborted it",
		corrupt: func(s *scene, p []*party) { setStatus(s, p[0], 499) },
	},
	{
		name: "502 though every peer is there", check: "outcome-fits-cause", verdict: Fail, text: "no peer was lost",
		corrupt: func(s *scene, p []*party) { setStatus(s, p[0], 502) },
	},
	{
		name: "504 before any deadline", check: "outcome-fits-cause", verdict: Fail, text: "no deadline",
		corrupt: func(s *scene, p []*party) { setStatus(s, p[0], 504) },
	},
	{
		name: "500 for nothing", check: "outcome-fits-cause", verdict: Fail, text: "nothing of it broke",
		corrupt: func(s *scene, p []*party) { setStatus(s, p[0], 500) },
	},
	{
		name: "302", check: "outcome-fits-cause", verdict: Fail, text: "no status of this engine",
		corrupt: func(s *scene, p []*party) { setStatus(s, p[0], 302) },
	},
	{
		name: "decode's status masked by the router", check: "outcome-fits-cause", verdict: Fail, text: "finished it with 500",
		corrupt: func(s *scene, p []*party) { s.first(event.RequestFinished, roomAt(p[0], decode)).Status = 500 },
	},
	{
		name: "usage counts another prompt", check: "token-accounting", verdict: Fail,
		text:    "the client was billed for 1 tokens of the prompt, not 96",
		corrupt: func(s *scene, p []*party) { s.first(event.ResponseReceived, roomIs(p[0])).Tokens = 1 },
	},
	{
		name: "prefill computed a placeholder", check: "token-accounting", verdict: Fail,
		text: "prefill computed rows for 1 tokens of the prompt, not 96",
		corrupt: func(s *scene, p []*party) {
			s.first(event.RowsComputed, roomIs(p[0])).Count = 1
			s.drop(event.RowsComputed, func(e *event.Event) bool { return e.Room == p[0].room && e.First == 32 })
			s.drop(event.RowsComputed, func(e *event.Event) bool { return e.Room == p[0].room && e.First == 64 })
		},
	},
	{
		name: "decode received another prompt", check: "token-accounting", verdict: Fail,
		text:    "decode/0#1 received another prompt of 96 tokens",
		corrupt: func(s *scene, p []*party) { s.first(event.RequestReceived, roomAt(p[0], decode)).Hash[3]++ },
	},
	{
		name: "the answer is short", check: "token-accounting", verdict: Fail, text: "the client got 7 tokens of the answer",
		corrupt: func(s *scene, p []*party) {
			e := s.first(event.ResponseReceived, roomIs(p[0]))
			e.Output = e.Output[:7]
		},
	},
	{
		name: "decode says no count", check: "token-accounting", verdict: Unknown, text: "the answering worker finished with",
		corrupt: func(s *scene, p []*party) { s.drop(event.RequestFinished, roomAt(p[0], decode)) },
	},
	{
		name: "a foreign canary", check: "foreign-canary", verdict: Fail, text: "with the canary of tenant 3 at place 1032",
		corrupt: func(s *scene, p []*party) {
			s.first(event.ResponseReceived, roomIs(p[1])).Output = s.run.Corpus.Append(nil, corpus.Span{Tenant: 3, First: 1032, Count: 8})
		},
	},
	{
		name: "sixteen foreign tokens", check: "foreign-canary", verdict: Fail, text: "with 19 tokens that stand in a row",
		corrupt: func(s *scene, p []*party) {
			s.first(event.ResponseReceived, roomIs(p[1])).Output = s.run.Corpus.Append(nil, corpus.Span{Tenant: 3, First: 1042, Count: 19})
		},
	},
	{
		name: "a wrong token", check: "exact-answer", verdict: Fail, text: "from token 4 on with others",
		corrupt: func(s *scene, p []*party) { s.first(event.ResponseReceived, roomIs(p[0])).Output[4] ^= 1 },
	},
	{
		name: "another corpus", check: "exact-answer", verdict: Unknown, text: "does not give the prompt that was sent",
		corrupt: func(s *scene, p []*party) { s.first(event.RequestSubmitted, roomIs(p[0])).Spans[0].First++ },
	},
	{
		name: "an answer before the prompt was computed", check: "latency-floor", verdict: Fail, text: "only 64 rows",
		corrupt: func(s *scene, p []*party) {
			s.drop(event.RowsComputed, func(e *event.Event) bool { return e.Room == p[0].room && e.First == 64 })
		},
	},
	{
		name: "a first token faster than its chunks", check: "latency-floor", verdict: Fail,
		text: "the first token came after 2 ticks, and its prompt takes 3 at least",
		corrupt: func(s *scene, p []*party) {
			s.first(event.RequestSubmitted, roomIs(p[0])).Tick =
				s.first(event.TokenSampled, func(e *event.Event) bool { return e.Samples[0].Room == p[0].room }).Tick - 2
		},
	},
	{
		name: "an answer faster than its pages", check: "latency-floor", verdict: Fail, text: "the answer came after",
		corrupt: func(s *scene, p []*party) {
			s.first(event.ResponseReceived, roomIs(p[0])).Tick = s.first(event.RequestSubmitted, roomIs(p[0])).Tick + 5
		},
	},
	{
		name: "a fault that did not fire", check: "fault-fired", verdict: Unknown, text: "fault late-write was armed and did",
		corrupt: func(s *scene, _ []*party) { s.fault("", "") },
	},
	{
		name: "a fault that changed nothing", check: "fault-fired", verdict: Unknown, text: "delivered what had been submitted",
		corrupt: func(s *scene, _ []*party) { s.fault("7 pages", "7 pages") },
	},
	{
		name: "a fault that nobody armed", check: "fault-fired", verdict: Unknown, text: "without having been armed",
		corrupt: func(s *scene, _ []*party) {
			s.add(event.Event{Kind: event.FaultFired, Fault: "late-write", Before: "a", After: "b"})
		},
	},
	{
		name: "a window that never opened", check: "fault-fired", verdict: Unknown, text: "its window never opened",
		corrupt: func(s *scene, _ []*party) {
			s.fault("now", "later")
			s.add(event.Event{Kind: event.HoldReleased, Fault: "late-write", Reason: "idle"})
		},
	},
	{
		name: "pages still held", check: "quiesce", verdict: Fail, text: "decode/0#1 still holds 2 of 40 pages",
		corrupt: func(s *scene, _ []*party) {
			s.first(event.WorkerQuiesced, func(e *event.Event) bool { return e.Source == decode }).Holdings.PagesFree -= 2
		},
	},
	{
		name: "a worker that says nothing", check: "quiesce", verdict: Unknown, text: "prefill/0 did not say",
		corrupt: func(s *scene, _ []*party) {
			s.drop(event.WorkerQuiesced, func(e *event.Event) bool { return e.Source == prefill })
		},
	},
}

func setStatus(s *scene, p *party, status int) {
	s.first(event.RequestFinished, roomAt(p, decode)).Status = status
	s.first(event.ResponseReceived, roomIs(p)).Status = status
}

func (s *scene) fault(before, after string) {
	s.add(event.Event{Kind: event.FaultArmed, Fault: "late-write"})
	if before != "" {
		s.add(event.Event{Kind: event.FaultFired, Fault: "late-write", Before: before, After: after})
	}
}

// Goal: every check finds its planted corruption and says so in the words of the domain.
func TestTeeth(t *testing.T) {
	for _, tooth := range slices.Concat(requestTeeth, pageTeeth) {
		t.Run(tooth.check+"/"+tooth.name, func(t *testing.T) {
			g := NewWithT(t)
			s, parties := clean(t)
			tooth.corrupt(s, parties)
			report := s.judge()
			result, ok := report.Result(tooth.check)
			g.Expect(ok).To(BeTrue())
			g.Expect(result.Verdict).To(Equal(tooth.verdict), "%+v", result)
			g.Expect(report.Verdict).To(BeNumerically(">=", tooth.verdict))
			if result.Findings.Count > 0 {
				g.Expect(result.Findings.First.Text).To(ContainSubstring(tooth.text))
			} else {
				g.Expect(result.NotChecked).To(ContainSubstring(tooth.text))
			}
		})
	}
}

// Goal: no check is without a tooth.
func TestEveryCheckHasATooth(t *testing.T) {
	g := NewWithT(t)
	with := map[string]bool{}
	for _, tooth := range slices.Concat(requestTeeth, pageTeeth) {
		with[tooth.check] = true
	}
	for _, name := range Checks() {
		g.Expect(with).To(HaveKey(name))
	}
}
