package harness

import (
	"errors"
	"fmt"

	"github.com/stalepage/stalepage/engine"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
)

// Options are what a run may be made with beside its Case. None of them changes its journal.
type Options struct {
	// Journal is the path to write the journal to; empty writes none.
	Journal string
	// Sinks hear the events as the journal has them.
	Sinks []journal.Sink
	// Slab provides zeroed memory for a pool instead of a fresh mapping.
	Slab func(bytes int64) []byte
	// Choose, if set, picks steps instead of the case's deviations, which are then to be recorded by who chose.
	Choose func(step, total int) int
	// Deviates says at which steps Choose is asked; nil, at every one.
	Deviates func(step int) bool
	// Progress is told the steps taken and the answers received so far.
	Progress func(steps, answers int)
}

// Result is what a run came to.
type Result struct {
	Case   Case
	Report *check.Report
	Rest   engine.Rest
	Faults []faults.FaultStatus
	// HugePages: asked for, and got.
	HugePagesAsked, HugePagesGot bool
	// JournalPath is where the journal lies; empty if none was asked for.
	JournalPath string
	// JournalError says why the journal is not complete. The report is none the worse for it.
	JournalError error
}

// Session makes runs one after another and reuses its memory. It serves one goroutine.
type Session struct {
	kit      *Kit
	examiner *check.Examiner
	slabs    slabs
	scratch  model.Scratch
	parts    engine.Parts
	recorder *journal.Recorder
	// sinks and observers are those of the run in the making: the recorder has one of each, which passes events on.
	sinks, observers []journal.Sink
	plans            map[string]faults.Plan
}

// plansMax bounds how many plans a session remembers: those of an exploration come again and again.
const plansMax = 4096

// NewSession returns a session over a kit.
func NewSession(kit *Kit) *Session {
	s := &Session{kit: kit, examiner: check.NewExaminer(), plans: map[string]faults.Plan{}}
	s.recorder = journal.NewRecorder(s.examiner.Observe, func(e *event.Event) {
		for _, sink := range s.sinks {
			sink(e)
		}
	})
	s.recorder.Observe(func(e *event.Event) {
		for _, observe := range s.observers {
			observe(e)
		}
	})
	return s
}

// plan reads the case's plan, once. A plan never changes, whatever runs it serves.
func (s *Session) plan(c Case) (faults.Plan, error) {
	if plan, ok := s.plans[string(c.Plan)]; ok {
		return plan, nil
	}
	plan, err := c.plan()
	if err == nil {
		if len(s.plans) >= plansMax {
			clear(s.plans)
		}
		s.plans[string(c.Plan)] = plan
	}
	return plan, err
}

// Run makes the run in a session of its own; see Session.Run.
func (k *Kit) Run(c Case, o Options) (Result, error) { return NewSession(k).Run(c, o) }

// Run makes the run. An error means that no run could be made of this case; a run that went wrong is a Result whose
// report says so. The report is valid until the session's next run.
func (s *Session) Run(c Case, o Options) (Result, error) {
	plan, planErr := s.plan(c)
	if err := errors.Join(planErr, c.validate()); err != nil {
		return Result{}, fmt.Errorf("case: %w", err)
	}
	result := Result{Case: c}
	s.examiner.Begin(s.kit.Judged(c))
	s.recorder.Reset()
	s.sinks, s.observers = append(s.sinks[:0], o.Sinks...), s.observers[:0]
	var file *journal.File
	if o.Journal != "" {
		header, err := c.Header()
		if err != nil {
			return Result{}, err
		}
		if file, err = journal.Create(o.Journal, header, journal.Options{}); err != nil {
			return Result{}, err
		}
		s.sinks = append(s.sinks, file.Record)
		result.JournalPath = o.Journal
	}
	if o.Slab == nil {
		o.Slab = s.slabs.take
	}
	r := runner{kit: s.kit, options: o, result: &result, recorder: s.recorder, session: s}
	runErr := r.run(c, plan)
	r.recorder.Flush()
	result.Report = s.examiner.Report()
	if file != nil && runErr != nil {
		// Whoever reads a journal believes that its run was made. An older one of the name is left as it was.
		return result, errors.Join(runErr, file.Discard())
	}
	if file != nil {
		result.JournalError = file.Close(journal.End{Steps: int64(result.Rest.Steps), Tick: result.Rest.Tick})
	}
	return result, runErr
}

// Judged is what the checks must know of a case.
func (k *Kit) Judged(c Case) check.Run {
	return check.Run{Cluster: c.Cluster, Corpus: k.Corpus(c.Seed), Reference: k.Reference}
}

// runner is one run in the making.
type runner struct {
	kit      *Kit
	options  Options
	result   *Result
	recorder *journal.Recorder
	injector *faults.Injector
	armed    bool // the plan has faults
	session  *Session
	answers  int
}

func (r *runner) run(c Case, plan faults.Plan) (err error) {
	if err := checkTrace(c.Schedule.Trace, c.Cluster); err != nil {
		return err
	}
	rooms := func(request int) (wire.Room, bool) {
		if request >= len(c.Schedule.Trace.Requests) {
			return 0, false
		}
		return traffic.Room(c.Seed, request), true
	}
	if r.injector, err = faults.New(plan, rooms, r.recorder.Record); err != nil {
		return err
	}
	r.armed = len(plan.Faults) > 0
	if r.armed {
		r.session.observers = append(r.session.observers, r.injector.Observe)
	}
	requests := len(c.Schedule.Trace.Requests)
	if !c.Schedule.FreshPools {
		err = r.cluster(c, 1, 0, requests)
	} else if requests >= 1<<12 {
		err = fmt.Errorf("fresh pools: %d requests, but a run has at most %d incarnations", requests, 1<<12-1)
	} else {
		for i := 0; i < requests && err == nil; i++ {
			err = r.cluster(c, uint16(i+1), i, i+1)
		}
	}
	r.result.Faults = r.injector.Status()
	return errors.Join(err, r.injector.Err())
}

// cluster runs the requests first to end-1 of the trace on one incarnation of the cluster.
func (r *runner) cluster(c Case, incarnation uint16, first, end int) (err error) {
	options := engine.Options{
		Model: r.kit.Model, Record: r.recorder.Record, Incarnation: incarnation,
		Slab: r.options.Slab, Scratch: &r.session.scratch,
		Parts: &r.session.parts,
	}
	r.session.slabs.reset()
	if r.armed {
		options.Wrap = r.injector.Wrap
	}
	cluster, err := engine.New(c.Cluster, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	r.result.HugePagesAsked, r.result.HugePagesGot = cluster.HugePages()
	client := r.clients(c, cluster, incarnation, first, end)
	run := engine.Run{Clients: client, StepsMax: c.Schedule.StepsMax, Choose: r.options.Choose, Deviates: r.options.Deviates}
	if run.Choose == nil && len(c.Schedule.Deviations) > 0 {
		run.Deviates, run.Choose = follow(c.Schedule.Deviations)
	}
	if r.armed {
		run.Between, run.Idle = r.injector.Between, r.injector.Idle
	}
	if r.options.Progress != nil {
		run.Progress = func(steps int) { r.options.Progress(steps, r.answers+client.answers) }
	}
	rest, err := cluster.Run(run)
	r.answers += client.answers
	r.result.Rest.Steps += rest.Steps
	r.result.Rest.Tick += rest.Tick
	r.result.Rest.Stuck = r.result.Rest.Stuck || rest.Stuck
	return err
}

func (r *runner) clients(c Case, cluster *engine.Cluster, incarnation uint16, first, end int) *clients {
	addr := wire.Addr{Role: wire.Client, Incarnation: incarnation}
	client := &clients{
		addr: addr, link: cluster.Link(addr), routers: cluster.Router, corpus: r.kit.Corpus(c.Seed), seed: c.Seed,
		trace: c.Schedule.Trace, omit: c.Schedule.Omit, next: first, end: end, open: map[wire.Room]*exchange{},
		tickets: wire.NewTickets(addr),
		record: func(e *event.Event) {
			e.Tick = cluster.Now()
			r.recorder.Record(e)
		},
	}
	for _, request := range c.Schedule.Trace.Requests[first:end] {
		if request.AbortAt != "" {
			r.session.observers = append(r.session.observers, client.Observe)
			break
		}
	}
	return client
}
