package matchers

import (
	"fmt"

	"github.com/onsi/gomega/types"

	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/suites/harness"
)

// HaveFired succeeds if the named fault of the run's plan delivered something otherwise than it was submitted, and no hold
// of it was released only because nothing else could move. It takes a harness.Result.
func HaveFired(fault string) types.GomegaMatcher { return fired{fault} }

type fired struct{ fault string }

func (f fired) Match(actual any) (bool, error) {
	r, ok := actual.(harness.Result)
	if !ok {
		return false, fmt.Errorf("want a harness.Result, not %T", actual)
	}
	found := false
	for _, s := range r.Faults {
		if s.Name != f.fault {
			continue
		}
		found = true
		if s.Fired > 0 && s.ReleasedBy != faults.ReasonIdle {
			return true, nil
		}
	}
	if !found {
		return false, fmt.Errorf("fault %q is not in the run's plan", f.fault)
	}
	return false, nil
}

func (f fired) FailureMessage(actual any) string {
	return fmt.Sprintf("expected fault %s to have fired, and its window to have opened: %+v", f.fault, f.statuses(actual))
}

func (f fired) NegatedFailureMessage(actual any) string {
	return fmt.Sprintf("expected fault %s not to have fired: %+v", f.fault, f.statuses(actual))
}

func (f fired) statuses(actual any) any {
	if r, ok := actual.(harness.Result); ok {
		return r.Faults
	}
	return actual
}
