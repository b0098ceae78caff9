package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Plan is what is to be broken in one run. It is data: a plan may serve many runs, and none of them changes it.
//
// In JSON each fault is one flat object: its name, whom it is aimed at and when (Target and When, the same for all),
// and its own fields, which are those of its struct:
//
//	{"faults": [
//	  {"fault": "truncated-transfer", "request": 9, "keep_pages": 1, "claim": "owed"},
//	  {"fault": "dropped-rejection-flag", "stage": "intake", "worker": 0},
//	  {"fault": "squatter", "role": "decode", "hold_pages": 40,
//	   "arm_on": {"event": "transfer.committed", "request": 3}}
//	]}
//
// A field of its own that is left out has the value that the fault's entry in Catalog gives it.
//
// An operation meets the faults at its seam in plan order: the first of the plan sees what the worker submitted, the
// last decides what reaches the transport. Answers pass the other way.
type Plan struct {
	Faults []Spec `json:"faults"`
}

// Bounds on a plan: far above any that a person writes, and low enough that reading one is always quick.
const (
	PlanBytesMax  = 1 << 20
	PlanFaultsMax = 256
	PagesMax      = 1 << 24
)

// Spec is one fault of a plan: a pointer to one of this package's fault structs.
type Spec struct{ Fault Fault }

// ParsePlan reads a plan. It refuses what is too large, unknown fields and faults, fields given twice, trailing bytes,
// and numbers that no run could use; each error names the fault by its place in the plan.
func ParsePlan(data []byte) (Plan, error) {
	if len(data) > PlanBytesMax {
		return Plan{}, fmt.Errorf("plan: %d bytes, at most %d are read", len(data), PlanBytesMax)
	}
	var p Plan
	if err := json.Unmarshal(data, &p); err != nil {
		return Plan{}, err
	}
	return p, p.Validate()
}

// UnmarshalJSON reads the form that Plan documents, without judging its numbers; ParsePlan does both.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var form struct {
		Faults []json.RawMessage `json:"faults"`
	}
	if err := refuseOddKeys(data); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if err := decodeStrict(data, &form); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if len(form.Faults) > PlanFaultsMax {
		return fmt.Errorf("plan: %d faults, at most %d can be armed in one run", len(form.Faults), PlanFaultsMax)
	}
	p.Faults = nil
	for i, raw := range form.Faults {
		var s Spec
		if err := s.UnmarshalJSON(raw); err != nil {
			return fmt.Errorf("plan: faults[%d]: %w", i, err)
		}
		p.Faults = append(p.Faults, s)
	}
	return nil
}

// UnmarshalJSON reads one flat object: "fault" says which struct the other fields belong to.
func (s *Spec) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("want an object: %w", err)
	}
	var name string
	if err := json.Unmarshal(fields["fault"], &name); err != nil || name == "" {
		return errors.New("\"fault\" must name one of " + strings.Join(Names(), ", "))
	}
	entry, err := Find(name)
	if err != nil {
		return err
	}
	delete(fields, "fault")
	rest, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	fault := entry.New()
	if err := decodeStrict(rest, fault); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	s.Fault = fault
	return nil
}

// MarshalJSON writes the flat object that UnmarshalJSON reads, the name first.
func (s Spec) MarshalJSON() ([]byte, error) {
	if s.Fault == nil {
		return nil, errors.New("plan: a spec without a fault")
	}
	fields, err := json.Marshal(s.Fault)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", s.Fault.Name(), err)
	}
	out := []byte(`{"fault":"` + s.Fault.Name() + `"`)
	if len(fields) > len("{}") {
		out = append(out, ',')
	}
	return append(out, fields[1:]...), nil
}

// Validate reports every fault that cannot be armed as written, each by its place.
func (p Plan) Validate() error {
	var errs []error
	for i, s := range p.Faults {
		if s.Fault == nil {
			errs = append(errs, fmt.Errorf("plan: faults[%d]: no fault given", i))
			continue
		}
		if err := validate(s.Fault); err != nil {
			errs = append(errs, fmt.Errorf("plan: faults[%d] %q: %w", i, s.Fault.Name(), err))
		}
	}
	return errors.Join(errs...)
}

func validate(f Fault) error {
	at, when := f.target(), f.when()
	return errors.Join(at.validate(f.home()), when.validate(), f.Validate())
}

func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// refuseOddKeys refuses an object that gives a key twice, and keys that are not spelt in lower case: the standard
// decoder would take the last of the former and ignore the case of the latter, and a plan must mean one thing.
func refuseOddKeys(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	type level struct {
		keys  map[string]bool // nil in an array
		value bool            // in an object: the next token is a value
	}
	var levels []level
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if delimiter, ok := token.(json.Delim); ok && (delimiter == '}' || delimiter == ']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if n := len(levels); n > 0 && levels[n-1].keys != nil {
			top := &levels[n-1]
			if top.value = !top.value; top.value {
				key := token.(string)
				if top.keys[key] || strings.ToLower(key) != key {
					return fmt.Errorf("field %q: given twice, or not spelt in lower case", key)
				}
				top.keys[key] = true
			}
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{keys: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		}
	}
}
