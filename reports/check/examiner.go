package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
)

// oracle is one check. It is offered the events that it asks for, each after the history has taken it, and judges when
// the run is over.
type oracle interface {
	// name is the check's name in reports.
	name() string
	// kinds lists the events that observe is to see.
	kinds() []event.Kind
	// reset makes the oracle ready for another run.
	reset()
	observe(h *history, e *event.Event)
	finish(h *history)
	// outcome is the oracle's tally, which it filled in.
	outcome() *tally
}

// oracles lists every check, in the order of the report.
func oracles() []oracle {
	return []oracle{
		&wellFormed{}, &liveness{}, &cause{}, &accounting{}, &coverage{}, &ownership{}, &attribution{}, &canaries{},
		&exactAnswer{}, &latencyFloor{}, &faultFired{}, &quiesce{},
	}
}

// Checks names every check, in the order of the report.
func Checks() []string {
	var names []string
	for _, o := range oracles() {
		names = append(names, o.name())
	}
	return names
}

// Examiner judges runs, one after another, and reuses its memory. It serves one goroutine. Begin, Observe each event
// in order, then Report.
type Examiner struct {
	run     Run
	history history
	oracles []oracle
	// crashes[i] says how oracles[i] panicked, empty if it did not; historyCrash the same of the history.
	crashes      []string
	historyCrash string
	byKind       [][]int // indices of oracles, by event.Kind
	report       Report
}

// NewExaminer returns an examiner with every check.
func NewExaminer() *Examiner { return newExaminer(oracles()) }

func newExaminer(list []oracle) *Examiner {
	x := &Examiner{oracles: list, crashes: make([]string, len(list)), byKind: make([][]int, len(event.Kinds()))}
	for i, o := range list {
		for _, kind := range o.kinds() {
			x.byKind[kind] = append(x.byKind[kind], i)
		}
	}
	return x
}

// Judge judges one run.
func Judge(run Run, events []event.Event) *Report {
	x := NewExaminer()
	x.Begin(run)
	for i := range events {
		x.Observe(&events[i])
	}
	return x.Report()
}

// Begin forgets the last run, and with it its report.
func (x *Examiner) Begin(run Run) {
	x.run = run
	x.history.begin(&x.run)
	x.historyCrash = ""
	clear(x.crashes)
	for _, o := range x.oracles {
		o.reset()
	}
}

// Observe takes the next event. It keeps nothing of it.
func (x *Examiner) Observe(e *event.Event) {
	if x.historyCrash != "" {
		return
	}
	x.apply(e)
	if x.historyCrash != "" || int(e.Kind) >= len(x.byKind) {
		return
	}
	for list := x.byKind[e.Kind]; len(list) > 0; {
		list = list[x.offer(list, e):]
	}
}

func (x *Examiner) apply(e *event.Event) {
	defer func() {
		if problem := recover(); problem != nil {
			x.historyCrash = fmt.Sprintf("the history could not follow event %d (%s): %v", x.history.events-1, e.Kind,
				problem)
		}
	}()
	x.history.apply(e)
}

// offer shows e to the oracles of list and returns how many it is done with: all, or those up to one that panicked.
func (x *Examiner) offer(list []int, e *event.Event) (done int) {
	defer func() {
		if problem := recover(); problem != nil {
			x.crashes[list[done]] = fmt.Sprintf("the check panicked at event %d (%s): %v", x.history.events-1, e.Kind,
				problem)
			done++
		}
	}()
	for ; done < len(list); done++ {
		if i := list[done]; x.crashes[i] == "" {
			x.oracles[i].observe(&x.history, e)
		}
	}
	return done
}

// Report judges what was observed since Begin. It is valid until the next Begin.
func (x *Examiner) Report() *Report {
	if x.historyCrash == "" {
		x.conclude()
	}
	r := &x.report
	*r = Report{Results: r.Results[:0], Requests: r.Requests[:0]}
	for i, o := range x.oracles {
		if x.historyCrash == "" && x.crashes[i] == "" {
			x.finish(i)
		}
		x.spell(i)
		t := o.outcome()
		t.Check = o.name()
		crash := x.crashes[i]
		if crash == "" {
			crash = x.historyCrash
		}
		r.Results = append(r.Results, t.judge(crash))
		r.Verdict = max(r.Verdict, t.Verdict)
	}
	x.summarize(r)
	return r
}

func (x *Examiner) conclude() {
	defer func() {
		if problem := recover(); problem != nil {
			x.historyCrash = fmt.Sprintf("the run could not be concluded: %v", problem)
		}
	}()
	x.history.conclusions = x.history.conclude(x.history.conclusions)
}

func (x *Examiner) finish(i int) {
	defer func() {
		if problem := recover(); problem != nil {
			x.crashes[i] = fmt.Sprintf("the check panicked when the run was over: %v", problem)
		}
	}()
	x.oracles[i].finish(&x.history)
}

// spell writes out the findings that are kept, also those of a check that panicked later.
func (x *Examiner) spell(i int) {
	defer func() {
		if problem := recover(); problem != nil && x.crashes[i] == "" {
			x.crashes[i] = fmt.Sprintf("the check could not say what it found: %v", problem)
		}
	}()
	x.oracles[i].outcome().Findings.spell(&x.history)
}

// summarize fills in everything but the results. After a crash of the history there is nothing to say of requests.
func (x *Examiner) summarize(r *Report) {
	h := &x.history
	r.Events, r.FaultEvents, r.PagesQuarantined = h.events, h.faultEvents, h.quarantined
	if x.historyCrash != "" {
		return
	}
	for i := range h.requests {
		q := &h.requests[i]
		r.PagesTransferred += q.pagesLanded
		if q.submitted == 0 {
			continue
		}
		c := &h.conclusions[i]
		r.Outcomes[c.outcome]++
		r.Requests = append(r.Requests, RequestResult{
			Room: q.room, Tenant: q.tenant, Request: q.number, Model: q.model, Kind: q.kind, Outcome: c.outcome,
			PromptTokens: q.promptTokens, Status: q.status, Reason: q.reason, Output: q.output,
			PagesTransferred: q.pagesLanded, Attribution: c.attribution,
		})
	}
}
