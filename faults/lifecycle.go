package faults

import "fmt"

// State is how far a fault has come in one run.
type State uint8

// The states, in order. Planned: nothing is wrapped, or its trigger has not come. Armed: it acts on the next match.
// Fired: something was delivered otherwise than submitted. Recovered: it never acts again.
const (
	Planned State = iota
	Armed
	Fired
	Recovered
)

var stateNames = [...]string{"planned", "armed", "fired", "recovered"}

func (s State) String() string { return stateNames[s] }

// MarshalText lets a state be a JSON string.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// next says whether a fault may go from s to to. Fired to fired is each further firing; armed to recovered is a fault
// that was called off before it bit.
func (s State) next(to State) error {
	switch {
	case s == Planned && to == Armed,
		s == Armed && (to == Fired || to == Recovered),
		s == Fired && (to == Fired || to == Recovered):
		return nil
	}
	return fmt.Errorf("a fault cannot go from %s to %s", s, to)
}
