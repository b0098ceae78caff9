package matchers

import (
	"fmt"

	"github.com/onsi/gomega/types"

	"github.com/stalepage/stalepage/reports/check"
)

// HaveVerdict succeeds if the run as a whole has the verdict. Unknown is not pass.
func HaveVerdict(v check.Verdict) types.GomegaMatcher {
	return matcher{
		match:    func(r *check.Report) (bool, error) { return r.Verdict == v, nil },
		wanted:   fmt.Sprintf("expected verdict %s", v),
		unwanted: fmt.Sprintf("expected any verdict but %s", v),
	}
}

// HaveCheck succeeds if the named check has the verdict.
func HaveCheck(name string, v check.Verdict) types.GomegaMatcher {
	return matcher{
		match: func(r *check.Report) (bool, error) {
			result, ok := r.Result(name)
			if !ok {
				return false, fmt.Errorf("there is no check %q", name)
			}
			return result.Verdict == v, nil
		},
		wanted:   fmt.Sprintf("expected check %s to say %s", name, v),
		unwanted: fmt.Sprintf("expected check %s to say anything but %s", name, v),
	}
}
