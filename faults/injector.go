package faults

import (
	"errors"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Injector is one plan in one run. It is not safe for concurrent use: whoever steps the engine calls it, between the
// worker turns that it steps.
type Injector struct {
	instances []*instance
	rooms     func(request int) (wire.Room, bool)
	sink      func(*event.Event)
	observers [][]func(*event.Event) // by kind
	actions   []func()
	ledger    *ledger // nil until a fault asks for it
	pools     map[wire.Addr]port.Layout
	tickets   wire.Tickets
	now       wire.Tick
	events    int // observed so far: the order that a late delivery is measured by
	errs      []error
}

// faultRole is the role bits of tickets that the injector draws for operations of its own. No party has it, so they
// never collide with a worker's.
const faultRole wire.Role = 15

// New prepares a plan for one run. rooms says which room a request of the traffic has been given, false while it has
// none; record puts an event in the journal (and may call Observe with it).
func New(plan Plan, rooms func(request int) (wire.Room, bool), record func(*event.Event)) (*Injector, error) {
	if rooms == nil || record == nil {
		return nil, errors.New("faults: New needs rooms and record")
	}
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	j := &Injector{
		rooms: rooms, sink: record, observers: make([][]func(*event.Event), len(event.Kinds())),
		tickets: wire.NewTickets(wire.Addr{Role: faultRole}), pools: map[wire.Addr]port.Layout{},
	}
	for place, spec := range plan.Faults {
		i := &instance{
			injector: j, fault: spec.Fault, aim: spec.Fault.target(), when: spec.Fault.when(), place: place + 1,
			idleReason: ReasonIdle,
		}
		j.instances = append(j.instances, i)
		if i.when.ArmOn != nil {
			i.watch(*i.when.ArmOn, func() bool { return i.state == Planned }, i.arm)
		}
	}
	return j, nil
}

// Wrap puts the plan's wrappers in place of the seams of one worker, the first of the plan outermost, and arms those
// that wait for no event. A worker that no fault is aimed at keeps the seams it had.
func (j *Injector) Wrap(seams *port.Seams) {
	j.pools[seams.Addr] = seams.Pool
	for n := len(j.instances) - 1; n >= 0; n-- {
		i := j.instances[n]
		if !i.fault.standsAt(i.fault.home(), seams.Addr) {
			continue
		}
		if i.site == (wire.Addr{}) {
			i.site = seams.Addr
		}
		if i.when.ArmOn == nil && i.state == Planned {
			i.arm("start")
		}
		i.fault.install(i, seams)
	}
}

// Observe is told of every recorded event, at once. It only queues: what an event sets off happens in Between.
func (j *Injector) Observe(e *event.Event) {
	if e.Fault == "" { // the fault layer's own events are not something that a held operation came too late for
		j.now = e.Tick
		j.events++
	}
	if j.ledger != nil {
		j.ledger.observe(e)
	}
	if int(e.Kind) < len(j.observers) {
		for _, f := range j.observers[e.Kind] {
			f(e)
		}
	}
}

// Between runs what events have queued, after a step and before the next. It reports whether anything was done; then
// more of the engine may be able to move, and a worker that waits for pages deserves a turn.
func (j *Injector) Between() bool {
	did := false
	for len(j.actions) > 0 {
		act := j.actions[0]
		j.actions = j.actions[1:]
		act()
		did = true
	}
	return did
}

// Idle is called when nothing in the engine can move: every hold is released, with "idle" as the reason. It reports
// whether anything was.
func (j *Injector) Idle() bool {
	did := false
	for _, i := range j.instances {
		did = i.release(i.idleReason) || did
	}
	return did
}

// ReasonIdle is the reason of a hold that nothing but quiescing released: the window it was meant for never opened.
const ReasonIdle = "idle"

// FaultStatus is what became of one fault of the plan.
type FaultStatus struct {
	Name     string `json:"name"`
	Place    int    `json:"place"` // in the plan, from 1
	MisAimed bool   `json:"mis_aimed,omitempty"`
	State    State  `json:"state"`
	Armed    bool   `json:"armed"` // at some time
	Fired    int    `json:"fired"` // how often something was delivered otherwise than submitted
	Held     int    `json:"held"`  // operations, messages or pages kept back now
	// ReleasedBy is the event that released its hold, ReasonIdle, or "".
	ReleasedBy string `json:"released_by,omitempty"`
}

// Status lists the plan's faults in its order.
func (j *Injector) Status() []FaultStatus {
	var out []FaultStatus
	for _, i := range j.instances {
		out = append(out, FaultStatus{
			Name: i.fault.Name(), Place: i.place, MisAimed: i.aim.MisAimed, State: i.state, Armed: i.state != Planned,
			Fired: i.fired, Held: i.held(), ReleasedBy: i.releasedBy,
		})
	}
	return out
}

// Fired counts all firings of all faults of the plan.
func (j *Injector) Fired() (n int) {
	for _, i := range j.instances {
		n += i.fired
	}
	return n
}

// Err says what went wrong in the fault layer itself. A run in which it is not nil proves nothing.
func (j *Injector) Err() error { return errors.Join(j.errs...) }

func (j *Injector) fail(err error) { j.errs = append(j.errs, err) }

func (j *Injector) record(e *event.Event) { j.sink(e) }

// holdings returns the ledger, kept from now on. Wrap comes before every event, so it misses nothing.
func (j *Injector) holdings() *ledger {
	if j.ledger == nil {
		j.ledger = &ledger{}
	}
	return j.ledger
}
