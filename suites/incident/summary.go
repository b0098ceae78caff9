package incident

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/incidents"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/suites/harness"
)

// Summary is what a reproduction came to. Its JSON form is the output of `stalepage reproduce --json`.
type Summary struct {
	Incident string `json:"incident"`
	Title    string `json:"title"`
	Scale    string `json:"scale"`
	Seed     uint64 `json:"seed"`
	Commit   string `json:"commit,omitempty"`
	Kernel   string `json:"kernel"`
	// Verdict says whether each variant did what the fixture records; that as-shipped leaks is recorded.
	Verdict         check.Verdict `json:"verdict"`
	Variants        []Variant     `json:"variants"`
	WallSeconds     float64       `json:"wall_seconds"`
	CoreSeconds     float64       `json:"core_seconds"`
	MemoryPeakBytes int64         `json:"memory_peak_bytes"`
}

// Variant is what one variant came to. The counts are of the incident's requests alone.
type Variant struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// Verdict: pass if every request came to what the fixture records.
	Verdict   check.Verdict `json:"verdict"`
	Responses int           `json:"responses"`
	Leaked    int           `json:"leaked"`
	Rejected  int           `json:"rejected"`
	Exact     int           `json:"exact"`
	Garbage   int           `json:"garbage"`
	TimedOut  int           `json:"timed_out"`
	Failed    int           `json:"failed"`
	HTTP200   int           `json:"http_200"`
	// Attributed counts leaks of which every emitted token after the first is the owner's corpus token at the derived
	// place, but for repeats of the first, which is the placeholder's and nobody's text. AttributedByContent counts those
	// whose text alone shows whose it is.
	Attributed          int `json:"attributed"`
	AttributedByContent int `json:"attributed_by_content"`
	// MinLeakingPromptTokens is the shortest prompt that leaked; 0 if none did.
	MinLeakingPromptTokens int `json:"min_leaking_prompt_tokens"`
	// Isolation is the verdict of the run's journal: as-shipped must fail here.
	Isolation check.Verdict `json:"isolation"`
	// PagesTransferred counts the pages that landed for the incident's requests.
	PagesTransferred int `json:"pages_transferred"`
	FaultEvents      int `json:"fault_events"`
	// OthersExact were answered exactly of the Others that must be: ordinary requests, the second model's included, but
	// for those that are too long for it.
	Others      int `json:"others"`
	OthersExact int `json:"others_exact"`
	// HoldTicksMax is the longest that decode held a reservation of the incident, in ticks.
	HoldTicksMax wire.Tick `json:"hold_ticks_max"`
	WallSeconds  float64   `json:"wall_seconds"`
	// Journal is the path of the variant's journal; JournalError says why it is not complete.
	Journal      string `json:"journal,omitempty"`
	JournalError string `json:"journal_error,omitempty"`
	// HugePages says whether the pools are in huge pages: "yes", "refused", or "not asked for".
	HugePages string `json:"huge_pages"`
	// Command makes this variant again.
	Command string `json:"command"`
	// Notes say in what the variant differs from what the fixture records.
	Notes []string `json:"notes,omitempty"`
	// FirstLeak spells out the first of them.
	FirstLeak *Leak `json:"first_leak,omitempty"`
}

// Leak is one leaked answer in clear: the tenants of the embedded engine are synthetic.
type Leak struct {
	Request      int           `json:"request"`
	Tenant       int           `json:"tenant"`
	PromptTokens int           `json:"prompt_tokens"`
	Text         string        `json:"text"`
	Owners       []check.Owner `json:"owners"`
}

func summarize(kit *harness.Kit, c incidents.Case, expected incidents.Expectation, r harness.Result) Variant {
	v := Variant{
		Name: c.Variant.Name, Summary: c.Variant.Summary, Isolation: r.Report.Verdict,
		FaultEvents: r.Report.FaultEvents, Journal: r.JournalPath, Command: r.Case.Command, HugePages: "not asked for",
	}
	if r.HugePagesAsked {
		v.HugePages = map[bool]string{true: "yes", false: "refused"}[r.HugePagesGot]
	}
	for i := range r.Report.Requests {
		request := &r.Report.Requests[i]
		v.add(kit, request, expected.Outcomes[request.Request])
	}
	v.compare(c, expected, r.Report)
	return v
}

func (v *Variant) add(kit *harness.Kit, r *check.RequestResult, expected incidents.Outcome) {
	if r.Kind != traffic.KindIncident {
		if expected != incidents.Correct {
			return
		}
		v.Others++
		if r.Outcome == check.Correct {
			v.OthersExact++
		}
		return
	}
	v.Responses++
	v.PagesTransferred += r.PagesTransferred
	if r.Status == 200 {
		v.HTTP200++
	}
	switch r.Outcome {
	case check.Correct:
		v.Exact++
	case check.Rejected:
		v.Rejected++
	case check.TimedOut:
		v.TimedOut++
	case check.Failed:
		v.Failed++
	case check.Garbage:
		v.Garbage++
	case check.Leak:
		v.addLeak(kit, r)
	case check.Shortened, check.Aborted, check.Lost, check.Stale: // in no variant: compare names them
	}
}

func (v *Variant) addLeak(kit *harness.Kit, r *check.RequestResult) {
	v.Leaked++
	if r.Attribution.Attributed() {
		v.Attributed++
	}
	if r.Attribution.AttributedByContent() {
		v.AttributedByContent++
	}
	if v.MinLeakingPromptTokens == 0 || r.PromptTokens < v.MinLeakingPromptTokens {
		v.MinLeakingPromptTokens = r.PromptTokens
	}
	if v.FirstLeak == nil {
		v.FirstLeak = &Leak{
			Request: r.Request, Tenant: r.Tenant, PromptTokens: r.PromptTokens,
			Text: kit.Vocabulary.Decode(r.Output), Owners: append([]check.Owner(nil), r.Attribution.Owners...),
		}
	}
}

// notesMax bounds how many requests that differ are named one by one.
const notesMax = 5

// compare says in what the run differs from what the fixture records, request by request.
func (v *Variant) compare(c incidents.Case, expected incidents.Expectation, report *check.Report) {
	different := 0
	for i := range report.Requests {
		r := &report.Requests[i]
		if want := string(expected.Outcomes[r.Request]); want != r.Outcome.String() {
			if different++; different <= notesMax {
				v.Notes = append(v.Notes, fmt.Sprintf("request %d of tenant %d (%s, %d tokens): %s, recorded is %s",
					r.Request, r.Tenant, r.Kind, r.PromptTokens, r.Outcome, want))
			}
		}
	}
	if different > notesMax {
		v.Notes = append(v.Notes, fmt.Sprintf("%d requests in all differ from what is recorded", different))
	}
	if n := len(report.Requests); n != len(c.Traffic.Requests) {
		v.Notes = append(v.Notes, fmt.Sprintf("%d requests were sent, the trace has %d", n, len(c.Traffic.Requests)))
	}
	if v.MinLeakingPromptTokens != expected.MinLeakingPromptTokens {
		v.Notes = append(v.Notes, fmt.Sprintf("the shortest prompt that leaked has %d tokens, recorded is %d",
			v.MinLeakingPromptTokens, expected.MinLeakingPromptTokens))
	}
	if !expected.Faulty && v.FaultEvents > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("%d fault events, though no fault is part of this variant", v.FaultEvents))
	}
	if v.Attributed != v.Leaked {
		v.Notes = append(v.Notes, fmt.Sprintf("%d of %d leaks are attributed token by token", v.Attributed, v.Leaked))
	}
	if want := isolationOf(expected); v.Isolation != want {
		v.Notes = append(v.Notes, fmt.Sprintf("isolation is %s, recorded is %s", v.Isolation, want))
		for _, r := range report.Results {
			if r.Verdict > want {
				v.Notes = append(v.Notes, fmt.Sprintf("%s: %s %s %s", r.Check, r.Verdict, r.NotChecked, r.Findings.First.Text))
			}
		}
	}
	if len(v.Notes) > 0 {
		v.Verdict = check.Fail
	}
}

// isolationOf is the verdict that a run's journal must get: any answer that its prompt does not have is a failure.
func isolationOf(e incidents.Expectation) check.Verdict {
	for _, o := range e.Outcomes {
		if o == incidents.Leak || o == incidents.Garbage {
			return check.Fail
		}
	}
	return check.Pass
}
