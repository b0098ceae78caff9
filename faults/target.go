package faults

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// Target says whom a fault is aimed at. Every fault embeds it, so its fields stand beside the fault's own in a plan.
type Target struct {
	// Request is an index into the traffic; absent, every request. Faults of a whole worker do not read it.
	Request *int `json:"request,omitempty"`
	// Role says at whose seam the fault stands, where it may choose: "router", "prefill", "decode" or "colocated".
	Role string `json:"role,omitempty"`
	// Worker is the index of the worker among those of its role (a model's workers share the model's index); absent,
	// every worker of the role.
	Worker *int `json:"worker,omitempty"`
	// MisAimed is the control: everything is put in place, and nothing is ever matched. A mis-aimed fault must leave the
	// run as it would have been and be reported as not fired.
	MisAimed bool `json:"mis_aimed,omitempty"`
}

// Request is a target of one request, by its index in the traffic.
func Request(index int) Target { return Target{Request: &index} }

// Aim replaces the target.
func (t *Target) Aim(at Target) { *t = at }

func (t *Target) target() Target { return *t }

// standsAt says whether a fault with these homes, default first, is to be installed at the worker.
func (t *Target) standsAt(homes []wire.Role, worker wire.Addr) bool {
	role := homes[0].String()
	if t.Role != "" {
		role = t.Role
	}
	return worker.Role.String() == role && (t.Worker == nil || *t.Worker == int(worker.Index))
}

func (t *Target) validate(homes []wire.Role) error {
	var errs []error
	if t.Request != nil && *t.Request < 0 {
		errs = append(errs, fmt.Errorf("request %d: want an index into the traffic, 0 or more", *t.Request))
	}
	if t.Worker != nil && (*t.Worker < 0 || *t.Worker > 255) {
		errs = append(errs, fmt.Errorf("worker %d: want an index from 0 to 255", *t.Worker))
	}
	if t.Role != "" && !hasRole(homes, t.Role) {
		errs = append(errs, fmt.Errorf("role %q: this fault stands at %v", t.Role, homes))
	}
	return errors.Join(errs...)
}

func hasRole(roles []wire.Role, name string) bool {
	for _, r := range roles {
		if r.String() == name {
			return true
		}
	}
	return false
}

// When says when a fault acts. Every fault but shrunken-pool embeds it.
type When struct {
	// ArmOn is the event that arms the fault; absent, it is armed before the first turn.
	ArmOn *Trigger `json:"arm_on,omitempty"`
	// Count is how often it acts; 0 or absent, as often as it matches.
	Count int `json:"count,omitempty"`
}

func (w *When) when() When { return *w }

func (w *When) validate() error {
	if w.Count < 0 {
		return fmt.Errorf("count %d: want 0 (no limit) or more", w.Count)
	}
	if w.ArmOn != nil {
		if err := w.ArmOn.validate(); err != nil {
			return fmt.Errorf("arm_on: %w", err)
		}
	}
	return nil
}

// Trigger is a journal event that a fault waits for. It acts between turns, after the step that recorded the event.
type Trigger struct {
	Event event.Kind `json:"event"`
	// By is the role of the party that records it; absent, any.
	By string `json:"by,omitempty"`
	// Request is whose event it must be; absent, that of the fault's own target (any request if it has none).
	Request *int `json:"request,omitempty"`
	// Nth waits for the n-th such event, counted from when the fault can use it; 0 and 1 are the first.
	Nth int `json:"nth,omitempty"`
}

// UnmarshalJSON reads a trigger; an absent event is an error, because the zero Kind is an event like any other.
func (t *Trigger) UnmarshalJSON(data []byte) error {
	var form struct {
		Event   *event.Kind `json:"event"`
		By      string      `json:"by"`
		Request *int        `json:"request"`
		Nth     int         `json:"nth"`
	}
	if err := decodeStrict(data, &form); err != nil {
		return err
	}
	if form.Event == nil {
		return errors.New("a trigger needs an event, such as \"transfer.committed\"")
	}
	*t = Trigger{Event: *form.Event, By: form.By, Request: form.Request, Nth: form.Nth}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (t Trigger) MarshalJSON() ([]byte, error) {
	type plain Trigger // without methods, or this would call itself
	return json.Marshal(plain(t))
}

func (t *Trigger) validate() error {
	var errs []error
	if int(t.Event) >= len(event.Kinds()) {
		errs = append(errs, fmt.Errorf("event %s: not known to this version", t.Event))
	}
	parties := []wire.Role{wire.Client, wire.Router, wire.Prefill, wire.Decode, wire.Colocated}
	if t.By != "" && !hasRole(parties, t.By) {
		errs = append(errs, fmt.Errorf("by %q: want one of %v", t.By, parties))
	}
	if t.Request != nil && *t.Request < 0 {
		errs = append(errs, fmt.Errorf("request %d: want an index into the traffic, 0 or more", *t.Request))
	}
	if t.Nth < 0 {
		errs = append(errs, fmt.Errorf("nth %d: want 1 or more, or leave it out", t.Nth))
	}
	return errors.Join(errs...)
}

// orElse is t, or fallback where the plan does not say.
func (t *Trigger) orElse(fallback Trigger) Trigger {
	if t == nil {
		return fallback
	}
	return *t
}

func validateTrigger(field string, t *Trigger) error {
	if t == nil {
		return nil
	}
	if err := t.validate(); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}
