package render

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/reports/check"
)

func variants() []Variant {
	return []Variant{
		{Name: "as-shipped", Responses: 155, Leaked: 155, Attributed: 146, Isolation: check.Fail, WallSeconds: 41.26},
		{Name: "guarded", Responses: 155, Rejected: 155, WallSeconds: 3},
		{Name: "upstream-fixed", Responses: 155, TimedOut: 155, Isolation: check.Unknown, WallSeconds: 9.96},
		{Name: "resized", Responses: 155, Exact: 154, Garbage: 1, Recorded: check.Fail, WallSeconds: 100},
		{Name: "edge", Recorded: check.Unknown},
	}
}

// The table of variants as people see it: plain, and in colour.
func TestVariants(t *testing.T) {
	golden(t, "variants", variantTable(style{}, variants()))
	golden(t, "variants-colour", variantTable(style{colour: true}, variants()))
}

// A response that fits no column has one of its own, rather than vanish; ordinary traffic is shown if there was any.
func TestVariantsOther(t *testing.T) {
	list := variants()
	list[0].Leaked, list[0].Failed = 149, 1
	for i := range list {
		list[i].Others, list[i].OthersExact = 250, 246
	}
	golden(t, "variants-other", variantTable(style{}, list))
	NewWithT(t).Expect(variantTable(style{}, variants())).NotTo(Or(ContainSubstring("other"), ContainSubstring("failed")))
}
