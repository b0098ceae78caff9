package harness_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/fixtures/topologies"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/harness"
)

// small is a case of four requests of four tenants on equal pools, with a fault that holds a write back.
func small(t *testing.T) harness.Case {
	t.Helper()
	g := NewWithT(t)
	cluster := topologies.Small(3, topologies.EqualPools)
	trace := traffic.Trace{Concurrency: 3}
	for i := range 4 {
		spans, err := traffic.Prompt(i+1, traffic.Draw(9, "harness", 0, i), 70+i, 6)
		g.Expect(err).NotTo(HaveOccurred())
		trace.Requests = append(trace.Requests, traffic.Request{
			Index: i, Model: "small", Kind: "ordinary", Tenant: i + 1, Spans: spans, PromptTokens: 70 + i, MaxNewTokens: 6,
		})
	}
	return harness.Case{
		Seed: 9, Cluster: cluster, Command: "go test ./suites/harness",
		Plan: json.RawMessage(`{"faults":[{"fault":"early-completion","request":1}]}`),
		Schedule: harness.Schedule{
			Trace: trace, StepsMax: 50_000, Deviations: []harness.Deviation{{Step: 5, Choice: 2}, {Step: 40, Choice: 1}},
		},
	}
}

// record makes the run with a journal in a folder of its own.
func record(t *testing.T, c harness.Case) (harness.Result, string) {
	t.Helper()
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "run"+journal.Extension)
	result, err := harness.NewKit().Run(c, harness.Options{Journal: path})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.JournalError).NotTo(HaveOccurred())
	return result, path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return data
}

// Goal: the same case gives the same journal, byte for byte, whoever makes the run: a fresh kit, or a session that has
// made another run before, and failed to make a third.
func TestSameCaseSameBytes(t *testing.T) {
	g := NewWithT(t)
	c := small(t)
	_, first := record(t, c)
	_, second := record(t, c)
	g.Expect(read(t, second)).To(Equal(read(t, first)))

	session := harness.NewSession(harness.NewKit())
	other := small(t)
	other.Seed, other.Plan = 10, nil
	_, err := session.Run(other, harness.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	broken := small(t)
	broken.Schedule.Trace.Requests[3].Model = "large"
	_, err = session.Run(broken, harness.Options{})
	g.Expect(err).To(HaveOccurred())
	third := filepath.Join(t.TempDir(), "run"+journal.Extension)
	_, err = session.Run(c, harness.Options{Journal: third})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read(t, third)).To(Equal(read(t, first)))

	other = small(t)
	other.Schedule.Deviations = nil
	_, fourth := record(t, other)
	g.Expect(read(t, fourth)).NotTo(Equal(read(t, first)), "a schedule that changes nothing proves nothing")
}

// Goal: a journal alone is enough to make its run again, event by event.
func TestReplayIsEqual(t *testing.T) {
	g := NewWithT(t)
	made, path := record(t, small(t))
	g.Expect(made.Report.Verdict).To(Equal(check.Fail), "the fault is part of the run")
	replay, err := harness.NewKit().Replay(path, harness.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(replay.Difference).To(BeEmpty())
	g.Expect(replay.Events).To(Equal(made.Report.Events))
	g.Expect(replay.Result.Report.Outcomes).To(Equal(made.Report.Outcomes))
}

// rewrite writes a journal's events again, altered, with a hash that fits.
func rewrite(t *testing.T, path string, alter func(*journal.Header, []event.Event) []event.Event) string {
	t.Helper()
	g := NewWithT(t)
	header, events, footer, err := journal.Load(path)
	g.Expect(err).NotTo(HaveOccurred())
	altered := filepath.Join(t.TempDir(), "altered"+journal.Extension)
	list := alter(&header, events.Events())
	file, err := journal.Create(altered, header, journal.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	for i := range list {
		file.Record(&list[i])
	}
	g.Expect(file.Close(journal.End{Steps: footer.Steps, Tick: footer.Tick})).To(Succeed())
	return altered
}

// Goal: a hash only finds accidents. Whoever rewrites it with the events is found by making the run again, which says
// where the two part.
func TestReplayFindsOneAlteredEvent(t *testing.T) {
	for name, alter := range map[string]func(events []event.Event, at int) []event.Event{
		"a token": func(events []event.Event, at int) []event.Event {
			events[at].Output[2] ^= 1
			return events
		},
		"a tick": func(events []event.Event, at int) []event.Event {
			events[at].Tick++
			return events
		},
		"an event that is not there": func(events []event.Event, at int) []event.Event {
			return slices.Delete(events, at, at+1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, path := record(t, small(t))
			at := 0
			altered := rewrite(t, path, func(_ *journal.Header, events []event.Event) []event.Event {
				at = slices.IndexFunc(events, func(e event.Event) bool { return e.Kind == event.ResponseReceived })
				return alter(events, at)
			})
			replay, err := harness.NewKit().Replay(altered, harness.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(replay.Difference).To(ContainSubstring("event %d differs", at))
			g.Expect(replay.Difference).To(ContainSubstring("response.received"))
		})
	}
}

// Goal: CaseOf gives the case back that the header was made from.
func TestCaseOfInvertsHeader(t *testing.T) {
	g := NewWithT(t)
	c := small(t)
	header, err := c.Header()
	g.Expect(err).NotTo(HaveOccurred())
	back, err := harness.CaseOf(header)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(back).To(Equal(c))
}

// Goal: what this build could not make again is refused, and the error says why and what to do.
func TestCaseOfRefuses(t *testing.T) {
	schedule := func(text string) func(*journal.Header) {
		return func(h *journal.Header) { h.Schedule = json.RawMessage(text) }
	}
	deviations := func(text string) func(*journal.Header) {
		return func(h *journal.Header) {
			h.Schedule = append(h.Schedule[:len(h.Schedule)-1:len(h.Schedule)-1], `,"deviations":`+text+`}`...)
		}
	}
	for name, c := range map[string]struct {
		change func(*journal.Header)
		want   string
	}{
		"another engine's run": {func(h *journal.Header) { h.Target = "sglang" }, `of target "sglang": only runs of the embedded engine`},
		"another corpus":       {func(h *journal.Header) { h.Corpus.Version++ }, "use the build that wrote it (commit"},
		"no schedule":          {schedule(``), "the journal's schedule"},
		"no JSON":              {schedule(`{"trace":`), "the journal's schedule"},
		"an unknown field":     {schedule(`{"trace":{},"order":[]}`), `unknown field "order"`},
		"an empty trace":       {schedule(`{"trace":{"concurrency":1,"requests":[]}}`), "requests: 0 given"},
		"steps that go back":   {deviations(`[{"step":7,"choice":0},{"step":7,"choice":1}]`), "schedule.deviations[1]: step 7, choice 1: steps must rise"},
		"a negative choice":    {deviations(`[{"step":7,"choice":-1}]`), "choices be 0 or more"},
		"a negative step":      {deviations(`[{"step":-1,"choice":0}]`), "schedule.deviations[0]: step -1"},
		"an unknown fault":     {func(h *journal.Header) { h.Plan = json.RawMessage(`{"faults":[{"fault":"gremlin"}]}`) }, `fault "gremlin" is not known; there are`},
		"a plan cut short":     {func(h *journal.Header) { h.Plan = json.RawMessage(`{"faults":[`) }, "unexpected end of JSON input"},
		"a pool of no size":    {func(h *journal.Header) { h.Cluster.Models[0].Decode.MaxTotalNumTokens = 0 }, "models[0].decode.max_total_num_tokens 0"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			made := small(t)
			made.Schedule.Deviations = nil
			header, err := made.Header()
			g.Expect(err).NotTo(HaveOccurred())
			c.change(&header)
			_, err = harness.CaseOf(header)
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

// Goal: a replay of a journal that no run of this build could give is an error, not a difference.
func TestReplayRefusesAnotherCorpus(t *testing.T) {
	_, path := record(t, small(t))
	altered := rewrite(t, path, func(h *journal.Header, events []event.Event) []event.Event {
		h.Corpus.Version = corpus.Version + 1
		return events
	})
	_, err := harness.NewKit().Replay(altered, harness.Options{})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("corpus version 2, this build makes version 1")))
}

// Goal: where a journal cannot be begun, no run is made, and the error names the place.
func TestJournalThatCannotBeBegun(t *testing.T) {
	g := NewWithT(t)
	missing := filepath.Join(t.TempDir(), "missing", "run"+journal.Extension)
	_, err := harness.NewKit().Run(small(t), harness.Options{Journal: missing})
	g.Expect(err).To(MatchError(os.ErrNotExist))
	g.Expect(err).To(MatchError(ContainSubstring(missing)))
}

// Goal: a disk that is full costs the journal and nothing else: the report is whole, and an older journal is untouched.
func TestFullDisk(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "run"+journal.Extension)
	g.Expect(os.WriteFile(path, []byte("older"), 0o600)).To(Succeed())
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full on this system")
	}
	g.Expect(os.Symlink("/dev/full", path+".tmp")).To(Succeed())
	result, err := harness.NewKit().Run(small(t), harness.Options{Journal: path})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.JournalError).To(MatchError(And(
		ContainSubstring("journal "+path+" is not complete"), ContainSubstring("no space left on device"))))
	without, err := harness.NewKit().Run(small(t), harness.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.Report).To(Equal(without.Report))
	g.Expect(read(t, path)).To(Equal([]byte("older")))
}

// Goal: a run that could not be made leaves no journal that says it was, and does not touch an older one.
func TestNoJournalOfNoRun(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "run"+journal.Extension)
	g.Expect(os.WriteFile(path, []byte("older"), 0o600)).To(Succeed())
	c := small(t)
	c.Schedule.Trace.Requests[2].Model = "large"
	_, err := harness.NewKit().Run(c, harness.Options{Journal: path})
	g.Expect(err).To(MatchError(ContainSubstring(`request 2 is for model "large", which the configuration does not serve`)))
	g.Expect(read(t, path)).To(Equal([]byte("older")))
	entries, err := os.ReadDir(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1))
}

// Goal: with fresh pools every request has a cluster of its own, newly mapped, so that nothing of the one before is
// there: what leaks on shared pools is garbage.
func TestFreshPools(t *testing.T) {
	g := NewWithT(t)
	c := small(t)
	c.Plan = json.RawMessage(`{"faults":[{"fault":"truncated-transfer","request":3,"keep_pages":0}]}`)
	c.Cluster.Models[0].Guards = guard.None
	c.Schedule.Deviations, c.Schedule.Trace.Concurrency = nil, 1
	shared, err := harness.NewKit().Run(c, harness.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(shared.Report.Requests[3].Outcome).To(Equal(check.Leak))

	c.Schedule.FreshPools = true
	memory := &journal.Memory{}
	fresh, err := harness.NewKit().Run(c, harness.Options{Sinks: []journal.Sink{memory.Record}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(fresh.Report.Requests[3].Outcome).To(Equal(check.Garbage))
	g.Expect(fresh.Report.Outcomes[check.Correct]).To(Equal(3))
	var incarnations []uint16
	for _, e := range memory.Events() {
		if e.Kind == event.WorkerQuiesced && e.Source.Role == wire.Decode {
			incarnations = append(incarnations, e.Source.Incarnation)
		}
	}
	g.Expect(incarnations).To(Equal([]uint16{1, 2, 3, 4}), "each cluster says what it holds when it ends")
}

// Goal: the report of a run and that of its journal are the same.
func TestJudgeGivesTheRunsReport(t *testing.T) {
	g := NewWithT(t)
	made, path := record(t, small(t))
	judged, err := harness.NewKit().Judge(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(judged.Report).To(Equal(made.Report))
	g.Expect(judged.Incomplete).NotTo(HaveOccurred())
	g.Expect(judged.Footer.Steps).To(Equal(int64(made.Rest.Steps)))
}
