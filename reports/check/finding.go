package check

import (
	"github.com/stalepage/stalepage/engine/wire"
)

// None stands for a page ordinal or position that a finding does not have.
const None = -1

// Finding is one thing that a check found wrong.
type Finding struct {
	Check   string  `json:"check"`
	Outcome Outcome `json:"outcome"`
	// Room, Tenant and Request say whose request it befell. Request is its index in the traffic.
	Room    wire.Room `json:"room"`
	Tenant  int       `json:"tenant"`
	Request int       `json:"request"`
	// Page is a physical page, 0 if there is none. Ordinal and Position are within the request, None if there is none.
	Page     wire.Page `json:"page"`
	Ordinal  int       `json:"ordinal"`
	Position int       `json:"position"`
	// Event is the index, from 0, of the event at which it was found.
	Event int `json:"event"`
	// Text says it in one sentence.
	Text string `json:"text"`

	say    sentence
	detail detail
}

// sentence spells a finding. It runs once for each finding that is kept, when the run is over, since a run may have
// a hundred thousand of them.
type sentence func(h *history, f *Finding) string

// detail is what a sentence needs beside the finding's fields.
type detail struct {
	pool    int32
	other   int32 // another request, by its index in the history
	row     row
	origin  origin
	buffer  wire.Buffer
	numbers [3]int
	words   [2]string
}

// Findings counts what a check found and keeps the first, the worst (the earliest of equals) and the last.
type Findings struct {
	Count int     `json:"count"`
	First Finding `json:"first,omitzero"`
	Worst Finding `json:"worst,omitzero"`
	Last  Finding `json:"last,omitzero"`
}

func (s *Findings) add(f *Finding) {
	if s.Count == 0 {
		s.First, s.Worst = *f, *f
	} else if f.Outcome > s.Worst.Outcome {
		s.Worst = *f
	}
	s.Last = *f
	s.Count++
}

func (s *Findings) spell(h *history) {
	if s.Count == 0 {
		return
	}
	for _, f := range [...]*Finding{&s.First, &s.Worst, &s.Last} {
		if f.say != nil {
			f.Text = f.say(h, f)
		}
		f.say, f.detail = nil, detail{}
	}
}

// Result is one check's answer.
type Result struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	// Looked counts what the check looked at, in units of its own; Skipped what it should have and could not.
	Looked  int `json:"looked"`
	Skipped int `json:"skipped"`
	// NotChecked says what was not checked and why.
	NotChecked string   `json:"not_checked,omitempty"`
	Findings   Findings `json:"findings"`
}

// tally is a result in the making.
type tally struct {
	Result
	// due says that there was something to look at, so that to have looked at nothing is unknown.
	due bool
	// blame is the verdict of a finding; the zero value stands for Fail.
	blame Verdict
}

// find adds a finding about request r, found at the event now applied.
func (t *tally) find(h *history, r int32, outcome Outcome, f Finding) {
	q := &h.requests[r]
	f.Room, f.Tenant, f.Request, f.Outcome, f.Event = q.room, q.tenant, q.number, outcome, h.events-1
	t.Findings.add(&f)
}

// conclude adds a finding about request r that was made when the run was over: its event is the answer, or what was
// last heard of the request before there could be one.
func (t *tally) conclude(h *history, r int32, f Finding) {
	q := &h.requests[r]
	f.Room, f.Tenant, f.Request, f.Outcome = q.room, q.tenant, q.number, h.conclusions[r].outcome
	f.Event = int(max(q.submitted, q.answered)) - 1
	t.Findings.add(&f)
}

// skip counts one thing that could not be looked at; the first reason is kept.
func (t *tally) skip(reason string) {
	t.Skipped++
	t.due = true
	if t.NotChecked == "" {
		t.NotChecked = reason
	}
}

// reset, outcome: what every oracle that embeds a tally has.
func (t *tally) reset()          { *t = tally{} }
func (t *tally) outcome() *tally { return t }

// judge settles the verdict. crash is not empty if the check, or the history below it, panicked.
func (t *tally) judge(crash string) Result {
	if t.blame == Pass {
		t.blame = Fail
	}
	switch {
	case crash != "":
		t.NotChecked = crash
		t.Verdict = Unknown
		if t.Findings.Count > 0 {
			t.Verdict = t.blame // what was found before is found
		}
	case t.Findings.Count > 0:
		t.Verdict = t.blame
	case t.Skipped > 0, t.due && t.Looked == 0:
		t.Verdict = Unknown
		if t.NotChecked == "" {
			t.NotChecked = "nothing was looked at"
		}
	default:
		t.Verdict = Pass
	}
	return t.Result
}
