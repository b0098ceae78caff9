package engine

import (
	"errors"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Run says how a cluster is driven to rest.
type Run struct {
	// Clients send requests and take answers through Cluster.Link; they are one more thing to step.
	Clients port.Stepper
	// Choose picks among total enabled steps, counted from the actor after the last one that moved; nil always picks
	// the first, which is round robin.
	Choose func(step, total int) int
	// Deviates says at which steps Choose is asked; nil, at every one. At the others the first that can move moves, and
	// nobody else is looked at: a schedule that deviates rarely costs little more than round robin.
	Deviates func(step int) bool
	// Between is called after every step, outside any worker; true means that it changed something.
	Between func() bool
	// Idle is called when nothing can move, before timers fire; true means that it made something move.
	Idle func() bool
	// StepsMax bounds the run; 0 is DefaultStepsMax.
	StepsMax int
	// Progress, if set, is called every ProgressSteps steps.
	Progress func(steps int)
}

// DefaultStepsMax is far above the full incident (about 11 million steps in its largest variant).
const DefaultStepsMax = 1 << 31

// ProgressSteps is how many steps pass between two calls of Run.Progress.
const ProgressSteps = 1 << 14

// Rest is how a run ended.
type Rest struct {
	Steps int
	Tick  wire.Tick
	// Stuck says that the run reached its step bound before it came to rest: something keeps moving without getting done.
	Stuck bool
}

// Run steps the cluster until nothing can move: then Idle may release something, then time jumps to the next timer, and
// when there is none the cluster is at rest and every worker says what it still holds.
func (c *Cluster) Run(r Run) (Rest, error) {
	limit := r.StepsMax
	if limit == 0 {
		limit = DefaultStepsMax
	}
	s := scheduler{actors: c.actors, enabled: make([]int, len(c.actors)+1)}
	if r.Clients != nil {
		s.actors = append([]port.Stepper{r.Clients}, c.actors...)
	}
	for c.steps < limit {
		choose := r.Choose
		if choose != nil && r.Deviates != nil && !r.Deviates(c.steps) {
			choose = nil
		}
		if !s.step(c.steps, choose) {
			if r.Idle != nil && r.Idle() {
				c.wakeAll()
				continue
			}
			if c.fireTimer() {
				continue
			}
			return Rest{Steps: c.steps, Tick: c.now}, c.quiesce()
		}
		if r.Between != nil && r.Between() {
			c.wakeAll()
		}
		c.steps++
		c.now++
		if r.Progress != nil && c.steps%ProgressSteps == 0 {
			r.Progress(c.steps)
		}
	}
	return Rest{Steps: c.steps, Tick: c.now, Stuck: true}, c.quiesce()
}

// wakeAll gives every worker a turn: something outside them changed what they may be able to do, such as pages that came
// free.
func (c *Cluster) wakeAll() {
	for _, n := range c.nodes {
		n.due = true
	}
}

// fireTimer jumps to the earliest timer; false if no worker waits for one.
func (c *Cluster) fireTimer() bool {
	next := wire.Tick(0)
	for _, n := range c.nodes {
		if n.wake > 0 && (next == 0 || n.wake < next) {
			next = n.wake
		}
	}
	c.now = max(c.now, next)
	return next > 0
}

// quiesce has every worker say what it still holds. A release of what was not held is an error of the engine itself.
func (c *Cluster) quiesce() error {
	for _, n := range c.nodes {
		c.record(&event.Event{Kind: event.WorkerQuiesced, Source: n.worker.Addr(), Holdings: n.worker.Held()})
	}
	var errs []error
	for _, book := range c.books {
		errs = append(errs, book.Err())
	}
	return errors.Join(errs...)
}

// scheduler picks one enabled step among the actors, rotated from the one that moved last.
type scheduler struct {
	actors  []port.Stepper
	enabled []int
	last    int
}

// step advances one actor; false if none can move.
func (s *scheduler) step(number int, choose func(step, total int) int) bool {
	if choose == nil {
		return s.first()
	}
	total := 0
	for i, a := range s.actors {
		s.enabled[i] = a.Enabled()
		total += s.enabled[i]
	}
	if total == 0 {
		return false
	}
	choice := choose(number, total) % total
	for offset := range s.actors {
		i := (s.last + 1 + offset) % len(s.actors)
		if choice < s.enabled[i] {
			s.last = i
			s.actors[i].Step(choice)
			return true
		}
		choice -= s.enabled[i]
	}
	return false
}

// first is step with the choice 0, without counting what else could move.
func (s *scheduler) first() bool {
	i := s.last
	for range s.actors {
		if i++; i == len(s.actors) {
			i = 0
		}
		if s.actors[i].Enabled() > 0 {
			s.last = i
			s.actors[i].Step(0)
			return true
		}
	}
	return false
}
