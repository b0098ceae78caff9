package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// holder is a wrapper that keeps something back.
type holder interface {
	heldCount() int
	release(why string)
}

// instance is one fault of the plan in one run. Its wrappers ask it whether they may act, and tell it what they did.
type instance struct {
	injector *Injector
	fault    Fault
	aim      Target
	when     When
	place    int       // in the plan, from 1
	site     wire.Addr // the first worker that it stands at

	state      State
	taken      int // of When.Count
	unfinished int // actions begun whose last firing is still to come
	fired      int
	releasedBy string
	idleReason string // why Idle released it
	holders    []holder
	onArmed    []func() // run when it is armed, at once if it already is

	room      wire.Room // of aim.Request, once known
	roomKnown bool
}

// aims says whether the fault is to act on the room's request.
func (i *instance) aims(room wire.Room) bool { return !i.aim.MisAimed && i.isTarget(room) }

// isTarget says whether the room is that of the plan's request, or any if the plan names none.
func (i *instance) isTarget(room wire.Room) bool {
	if i.aim.Request == nil {
		return true
	}
	if !i.roomKnown { // a room is drawn when its request is sent: ask until then
		i.room, i.roomKnown = i.injector.rooms(*i.aim.Request)
	}
	return i.roomKnown && i.room == room
}

// active says whether it may act now.
func (i *instance) active() bool {
	return (i.state == Armed || i.state == Fired) && (i.when.Count == 0 || i.taken < i.when.Count)
}

// take uses up one action of the fault's budget.
func (i *instance) take() { i.taken++ }

// begin and end bracket an action that fires more than once, so that its budget does not end it half way.
func (i *instance) begin() { i.unfinished++ }
func (i *instance) end()   { i.unfinished-- }

// move changes the state and keeps the first error: an illegal transition is a defect of the fault, and the run that it
// happened in proves nothing.
func (i *instance) move(to State) bool {
	if err := i.state.next(to); err != nil {
		i.injector.fail(fmt.Errorf("fault %s: %w", i.fault.Name(), err))
		return false
	}
	i.state = to
	return true
}

func (i *instance) arm(why string) {
	if !i.move(Armed) {
		return
	}
	i.record(event.Event{Kind: event.FaultArmed, Source: i.site, Reason: why})
	for _, f := range i.onArmed {
		f()
	}
}

// whenArmed runs f when the fault is armed, or now if it is.
func (i *instance) whenArmed(f func()) {
	if i.active() {
		f()
	} else {
		i.onArmed = append(i.onArmed, f)
	}
}

// fire records that something was delivered otherwise than submitted.
func (i *instance) fire(source wire.Addr, room wire.Room, before, after string) {
	if before == after {
		i.injector.fail(fmt.Errorf("fault %s: fired without a difference: %q", i.fault.Name(), before))
		return
	}
	if !i.move(Fired) {
		return
	}
	i.fired++
	i.record(event.Event{Kind: event.FaultFired, Source: source, Room: room, Before: before, After: after})
	if i.when.Count > 0 && i.taken >= i.when.Count && i.unfinished == 0 && i.held() == 0 {
		i.recovered("count")
	}
}

func (i *instance) recovered(why string) {
	if i.state != Recovered && i.move(Recovered) {
		i.record(event.Event{Kind: event.FaultRecovered, Source: i.site, Reason: why})
	}
}

func (i *instance) held() (n int) {
	for _, h := range i.holders {
		n += h.heldCount()
	}
	return n
}

// release lets go of everything held, once; after it the fault is over. It reports whether anything was held.
func (i *instance) release(why string) bool {
	count := i.held()
	if count == 0 {
		return false
	}
	i.releasedBy = why
	i.record(event.Event{Kind: event.HoldReleased, Source: i.site, Count: count, Reason: why})
	i.begin()
	for _, h := range i.holders {
		h.release(why)
	}
	i.end()
	i.recovered(why)
	return true
}

// on has f see every event of a kind as it is recorded. f may look and queue; it must not act.
func (i *instance) on(kind event.Kind, f func(*event.Event)) {
	i.injector.observers[kind] = append(i.injector.observers[kind], f)
}

// later queues an action for the next Between.
func (i *instance) later(f func()) { i.injector.actions = append(i.injector.actions, f) }

// watch runs act between turns, once, after the trigger's event; events that come while ready is false do not count.
func (i *instance) watch(t Trigger, ready func() bool, act func(why string)) {
	seen, done := 0, false
	i.on(t.Event, func(e *event.Event) {
		if done || !ready() || t.By != "" && e.Source.Role.String() != t.By || !i.concerns(t, e.Room) {
			return
		}
		if seen++; seen < t.Nth {
			return
		}
		done = true
		why := fmt.Sprintf("%s by %s, room %d", e.Kind, e.Source, e.Room)
		i.later(func() { act(why) })
	})
}

// concerns says whether an event of the room is the one that t waits for.
func (i *instance) concerns(t Trigger, room wire.Room) bool {
	if t.Request == nil {
		return i.isTarget(room)
	}
	wanted, known := i.injector.rooms(*t.Request)
	return known && wanted == room
}

// releaseOn lets go of what is held when the trigger's event comes; what came before anything was held does not count.
func (i *instance) releaseOn(t Trigger) {
	i.watch(t, func() bool { return i.held() > 0 }, func(why string) { i.release(why) })
}

func (i *instance) record(e event.Event) {
	e.Fault, e.Tick = i.fault.Name(), i.injector.now
	i.injector.record(&e)
}
