package matchers

import (
	"fmt"

	"github.com/onsi/gomega/types"

	"github.com/stalepage/stalepage/reports/check"
)

// LeakAcrossTenants succeeds if any answer was drawn from another tenant's pages.
func LeakAcrossTenants() types.GomegaMatcher {
	return matcher{
		match:    func(r *check.Report) (bool, error) { return r.Outcomes[check.Leak] > 0, nil },
		wanted:   "expected a leak across tenants, and found none",
		unwanted: "expected no leak across tenants",
	}
}

// AnswerWrongly succeeds if any answer is not what its prompt has: garbage, stale text, or a leak.
func AnswerWrongly() types.GomegaMatcher {
	return matcher{
		match:    func(r *check.Report) (bool, error) { return r.Worst().Bad(), nil },
		wanted:   "expected an answer that its prompt does not have, and found none",
		unwanted: "expected every answer to be what its prompt has",
	}
}

// HaveOutcome succeeds if the request with this index in the traffic came to the outcome.
func HaveOutcome(request int, o check.Outcome) types.GomegaMatcher {
	return matcher{
		match: func(r *check.Report) (bool, error) {
			for i := range r.Requests {
				if r.Requests[i].Request == request {
					return r.Requests[i].Outcome == o, nil
				}
			}
			return false, fmt.Errorf("request %d was never sent", request)
		},
		wanted:   fmt.Sprintf("expected request %d to come to %s", request, o),
		unwanted: fmt.Sprintf("expected request %d to come to anything but %s", request, o),
	}
}
