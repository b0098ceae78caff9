package check

import "github.com/stalepage/stalepage/engine/wire"

// Report is the judgement of one run.
type Report struct {
	// Verdict is the worst of the results'.
	Verdict Verdict  `json:"verdict"`
	Results []Result `json:"results"`
	// Requests are in the order in which they were submitted.
	Requests []RequestResult `json:"requests"`
	// Outcomes counts the requests by outcome.
	Outcomes [Outcomes]int `json:"outcomes"`
	// PagesTransferred counts the pages of which the last buffer landed, over all requests.
	PagesTransferred int `json:"pages_transferred"`
	// PagesQuarantined counts the pages that a worker gave up for good.
	PagesQuarantined int `json:"pages_quarantined"`
	// FaultEvents counts the events of faults: armed, fired, recovered, hold released.
	FaultEvents int `json:"fault_events"`
	Events      int `json:"events"`
}

// Result is the result of the named check; false if there is none.
func (r *Report) Result(check string) (Result, bool) {
	for _, result := range r.Results {
		if result.Check == check {
			return result, true
		}
	}
	return Result{}, false
}

// Worst is the worst outcome of any request; Correct if there was none.
func (r *Report) Worst() Outcome { return WorstOf(r.Outcomes) }

// RequestResult is what became of one request.
type RequestResult struct {
	Room    wire.Room `json:"room"`
	Tenant  int       `json:"tenant"`
	Request int       `json:"request"`
	// Model is the index of the model that served it; None if no worker of any saw it.
	Model int `json:"model"`
	// Kind is the shape of the traffic that it belongs to, as the fixture names it.
	Kind         string  `json:"kind,omitempty"`
	Outcome      Outcome `json:"outcome"`
	PromptTokens int     `json:"prompt_tokens"`
	// Status is the HTTP status that the client got; 0 if none.
	Status int    `json:"status"`
	Reason string `json:"reason,omitempty"`
	// Output is the answer as the client got it. It is the examiner's, and valid as long as the report.
	Output []wire.Token `json:"-"`
	// PagesTransferred counts the pages that landed for it.
	PagesTransferred int         `json:"pages_transferred"`
	Attribution      Attribution `json:"attribution"`
}

// Attribution says whose text an answer is. Tokens count from the second of the answer on: the first is prefill's.
type Attribution struct {
	// Emitted counts the tokens after the first; Derived those of them that are the corpus token at the place that
	// events derive for the row they were drawn from; Placeholders those that were drawn from a row in which, by the
	// events, a placeholder stands, and are one. A placeholder is nobody's text: a leak whose copy runs off the end of
	// the stale rows into its own repeats the placeholder that its prompt was replaced by.
	Emitted      int `json:"emitted"`
	Derived      int `json:"derived"`
	Placeholders int `json:"placeholders"`
	// Foreign, Stale and Unwritten count draws from rows of another tenant, of another request of the same tenant, and
	// that nobody wrote.
	Foreign   int `json:"foreign"`
	Stale     int `json:"stale"`
	Unwritten int `json:"unwritten"`
	// ForeignByContent counts the tokens that lie in another tenant's canary or in 16 tokens of its document, found
	// without regard to any event of the engine; StaleByContent those in 16 tokens of the tenant's own document that are
	// not in the prompt.
	ForeignByContent int `json:"foreign_by_content"`
	StaleByContent   int `json:"stale_by_content"`
	// Owners are the stretches of others' text that the answer was drawn from, in its order.
	Owners []Owner `json:"owners,omitempty"`
}

// Attributed reports whether every emitted token after the first is its owner's corpus token at the derived place, or,
// where there is no text to own, the placeholder that events derive.
func (a Attribution) Attributed() bool { return a.Derived > 0 && a.Derived+a.Placeholders == a.Emitted }

// AttributedByContent reports whether the text alone shows that it is another tenant's.
func (a Attribution) AttributedByContent() bool { return a.ForeignByContent > 0 }

// Owner is a stretch of one request's prompt that another request's answer was drawn from.
type Owner struct {
	// Tenant, Request and Room say whose prompt it is.
	Tenant  int       `json:"tenant"`
	Request int       `json:"request"`
	Room    wire.Room `json:"room"`
	// First and Count are positions in that prompt; Place is the place of the first in the tenant's document.
	First int `json:"first"`
	Count int `json:"count"`
	Place int `json:"place"`
	// Output is the index of the first of these tokens in the answer.
	Output int `json:"output"`
	// Page is where the first of them was read, Written and Read the events at which it came there and was read.
	Page    wire.Page `json:"page"`
	Written int       `json:"written"`
	Read    int       `json:"read"`
	// Through is the room whose generated rows replayed the text; 0 if the rows are the prompt's own.
	Through wire.Room `json:"through,omitempty"`
}
