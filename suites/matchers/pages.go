package matchers

import (
	"github.com/onsi/gomega/types"

	"github.com/stalepage/stalepage/reports/check"
)

// ConservePages succeeds if every worker holds nothing at rest that it should not: no page, slot or request is lost.
func ConservePages() types.GomegaMatcher {
	m := HaveCheck("quiesce", check.Pass).(matcher)
	m.wanted = "expected every page, slot and request to be given back at rest"
	m.unwanted = "expected something to be held at rest"
	return m
}
