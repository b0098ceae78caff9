package check

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// brittle panics where it is told to.
type brittle struct {
	tally
	at event.Kind
}

func (*brittle) name() string { return "brittle" }
func (*brittle) kinds() []event.Kind {
	return []event.Kind{event.RequestSubmitted, event.WorkerQuiesced}
}

func (c *brittle) observe(_ *history, e *event.Event) {
	c.Looked++
	if e.Kind == c.at {
		panic("planted")
	}
}

func (c *brittle) finish(*history) {
	if c.at == event.ResponseReceived {
		panic("planted")
	}
}

// Goal: a check that panics is unknown and takes no other check with it.
func TestPanicIsUnknown(t *testing.T) {
	for _, at := range []event.Kind{event.RequestSubmitted, event.WorkerQuiesced, event.ResponseReceived} {
		g := NewWithT(t)
		s, _ := clean(t)
		x := newExaminer(append(oracles(), &brittle{at: at}, &quiesce{}))
		x.Begin(s.run)
		for i := range s.events {
			x.Observe(&s.events[i])
		}
		report := x.Report()
		g.Expect(report.Verdict).To(Equal(Unknown))
		for _, result := range report.Results {
			if result.Check != "brittle" {
				g.Expect(result.Verdict).To(Equal(Pass), result.Check)
				continue
			}
			if at != event.ResponseReceived {
				g.Expect(result.Verdict).To(Equal(Unknown))
				g.Expect(result.NotChecked).To(ContainSubstring("planted"))
			}
		}
	}
}

// Goal: a history that cannot go on makes everything unknown, whatever it was. Method: take its corpus's ground away.
func TestHistoryPanicIsUnknown(t *testing.T) {
	g := NewWithT(t)
	s, _ := clean(t)
	x := NewExaminer()
	x.Begin(s.run)
	for i := range s.events {
		if i == 40 {
			x.history.requests = x.history.requests[:1] // no event can do this
		}
		x.Observe(&s.events[i])
	}
	report := x.Report()
	g.Expect(report.Verdict).To(Equal(Unknown))
	for _, result := range report.Results {
		g.Expect(result.Verdict).To(BeNumerically(">=", Unknown), result.Check)
		g.Expect(result.NotChecked).To(ContainSubstring("the history could not follow event 40"))
	}
}

// Goal: an examiner forgets. Method: judge a leak, then a clean run, then the leak again.
func TestExaminerIsReusable(t *testing.T) {
	g := NewWithT(t)
	leaking, _, _, _ := incident(t)
	healthy, _ := clean(t)
	x := NewExaminer()
	judge := func(s *scene) *Report {
		x.Begin(s.run)
		for i := range s.events {
			x.Observe(&s.events[i])
		}
		return x.Report()
	}
	for range 2 {
		g.Expect(judge(leaking)).To(Equal(leaking.judge()))
		g.Expect(judge(healthy)).To(Equal(healthy.judge()))
	}
}

// Goal: without the evidence that a check needs it says so, and nothing passes for want of looking.
func TestMissingEvidence(t *testing.T) {
	g := NewWithT(t)
	s, _ := clean(t)
	s.run.Missing = Landings | Draws | Digests | Texts | Residue
	var kept []event.Event
	for _, e := range s.events {
		switch e.Kind {
		case event.WriteLanded, event.RowsComputed, event.TokenSampled, event.DigestTaken, event.WorkerQuiesced:
		default:
			e.Digests = [wire.KVBuffers][]uint64{}
			kept = append(kept, e)
		}
	}
	s.events = kept
	report := s.judge()
	for _, name := range []string{"coverage", "ownership", "attribution", "foreign-canary", "exact-answer", "quiesce"} {
		result, _ := report.Result(name)
		g.Expect(result.Verdict).To(Equal(Unknown), name)
		g.Expect(result.NotChecked).NotTo(BeEmpty(), name)
	}
	// With digests alone, coverage has something to go by.
	s, _ = clean(t)
	s.run.Missing = Landings
	result, _ := s.judge().Result("coverage")
	g.Expect(result.Verdict).To(Equal(Pass))
	g.Expect(result.NotChecked).To(ContainSubstring("landings"))
}

// Goal: names survive JSON, and the orders are the ones that are published.
func TestNames(t *testing.T) {
	g := NewWithT(t)
	for o := range Outcomes {
		text, err := Outcome(o).MarshalText()
		g.Expect(err).NotTo(HaveOccurred())
		var back Outcome
		g.Expect(back.UnmarshalText(text)).To(Succeed())
		g.Expect(back).To(Equal(Outcome(o)))
	}
	for _, v := range []Verdict{Pass, Unknown, Fail} {
		text, _ := v.MarshalText()
		var back Verdict
		g.Expect(back.UnmarshalText(text)).To(Succeed())
		g.Expect(back).To(Equal(v))
	}
	g.Expect(new(Outcome).UnmarshalText([]byte("fine"))).To(MatchError(ContainSubstring("want one of")))
	order := []Outcome{Correct, Shortened, Aborted, Rejected, TimedOut, Failed, Lost, Garbage, Stale, Leak}
	for i, o := range order {
		g.Expect(int(o)).To(Equal(i))
	}
	g.Expect([]Verdict{Pass, Unknown, Fail}).To(Equal([]Verdict{0, 1, 2}))
}
