package render

import (
	"bytes"
	"encoding/xml"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/reports/check"
)

func suites() []Suite {
	return []Suite{
		{Name: "as-shipped", Command: "stalepage reproduce 155 --variant as-shipped --seed 1", Cases: CasesOf(leaking())},
		{Name: "guarded", Cases: append(CasesOf(clean()), Case{Name: "as recorded", Seconds: 1.5})},
	}
}

// The XML as CI reads it: unknown is an error and fail a failure, so that both are red; hostile text is spelled out.
func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	if err := JUnit(&out, suites()); err != nil {
		t.Fatal(err)
	}
	golden(t, "junit", out.String())
}

// The counts agree with the cases, and the document parses back.
func TestJUnitCounts(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	g.Expect(JUnit(&out, suites())).To(Succeed())
	var back xmlSuites
	g.Expect(xml.Unmarshal(out.Bytes(), &back)).To(Succeed())
	g.Expect([]int{back.Tests, back.Failures, back.Errors}).To(Equal([]int{8, 2, 2}))
	failures, errors := 0, 0
	for _, suite := range back.Suites {
		for _, c := range suite.Cases {
			if c.Failure != nil {
				failures++
			}
			if c.Error != nil {
				errors++
			}
		}
	}
	g.Expect([]int{failures, errors}).To(Equal([]int{2, 2}))
	g.Expect(back.Suites[1].Time).To(Equal("1.500"))
}

// A check that passed is a bare case; one that found something and skipped something says both.
func TestCasesOf(t *testing.T) {
	g := NewWithT(t)
	r := leaking()
	r.Results[2].NotChecked = "room 9 was sent tokens that no event traces"
	cases := CasesOf(r)
	g.Expect(cases[0]).To(Equal(Case{Name: "well-formed", Verdict: check.Pass}))
	g.Expect(cases[2].Message).To(HavePrefix("63 findings, the first: page 17"))
	g.Expect(cases[2].Detail).To(ContainSubstring("not checked: room 9"))
	g.Expect(cases[3].Message).To(Equal("not checked: nothing was looked at"))
}
