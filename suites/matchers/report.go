package matchers

import (
	"bytes"
	"fmt"

	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/render"
	"github.com/stalepage/stalepage/suites/harness"
)

// reportOf is the report in what a spec holds. Anything else is a mistake in the spec: an error, not a mismatch.
func reportOf(actual any) (*check.Report, error) {
	switch held := actual.(type) {
	case *check.Report:
		if held != nil {
			return held, nil
		}
	case harness.Result:
		if held.Report != nil {
			return held.Report, nil
		}
	case harness.Judgement:
		if held.Report != nil {
			return held.Report, nil
		}
	}
	return nil, fmt.Errorf("want a *check.Report, a harness.Result or a harness.Judgement with a report, not %T", actual)
}

// spelled is the report as people read it.
func spelled(r *check.Report) string {
	var b bytes.Buffer
	if err := render.Report(&b, r); err != nil {
		return err.Error()
	}
	return b.String()
}

// matcher is a predicate over a report with a sentence for each way of being disappointed.
type matcher struct {
	match            func(r *check.Report) (bool, error)
	wanted, unwanted string
}

func (m matcher) Match(actual any) (bool, error) {
	r, err := reportOf(actual)
	if err != nil {
		return false, err
	}
	return m.match(r)
}

func (m matcher) FailureMessage(actual any) string { return m.message(actual, m.wanted) }

func (m matcher) NegatedFailureMessage(actual any) string { return m.message(actual, m.unwanted) }

func (m matcher) message(actual any, sentence string) string {
	r, err := reportOf(actual)
	if err != nil {
		return err.Error()
	}
	return sentence + "\n\n" + spelled(r)
}
