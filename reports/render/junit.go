package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/stalepage/stalepage/reports/check"
)

// Suite is one group of cases in JUnit XML: a run, or a variant.
type Suite struct {
	Name string
	// Command makes the run again; it stands in the XML as a property.
	Command string
	Cases   []Case
}

// Case is one case of a Suite: a check, or an expectation. Unknown becomes an error and fail a failure; both are red.
type Case struct {
	Name    string
	Verdict check.Verdict
	// Message is one line; Detail is everything else.
	Message, Detail string
	Seconds         float64
}

// CasesOf makes one case of each check of a report.
func CasesOf(r *check.Report) []Case {
	var out []Case
	for i := range r.Results {
		result := &r.Results[i]
		c := Case{Name: result.Check, Verdict: result.Verdict}
		switch {
		case result.Findings.Count > 0:
			c.Message = fmt.Sprintf("%s, the first: %s", plural(result.Findings.Count, "finding"), result.Findings.First.Text)
			c.Detail = strings.TrimPrefix(style{}.findings(result), "\n")
		case result.Verdict != check.Pass:
			c.Message = "not checked: " + result.NotChecked
		}
		if result.NotChecked != "" && result.Findings.Count > 0 {
			c.Detail += "not checked: " + result.NotChecked + "\n"
		}
		out = append(out, c)
	}
	return out
}

type xmlSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Suites   []xmlSuite `xml:"testsuite"`
}

type xmlSuite struct {
	Name       string         `xml:"name,attr"`
	Tests      int            `xml:"tests,attr"`
	Failures   int            `xml:"failures,attr"`
	Errors     int            `xml:"errors,attr"`
	Time       string         `xml:"time,attr"`
	Properties *xmlProperties `xml:"properties"`
	Cases      []xmlCase      `xml:"testcase"`
}

type xmlProperties struct {
	List []xmlProperty `xml:"property"`
}

type xmlProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type xmlCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Time    string      `xml:"time,attr"`
	Failure *xmlProblem `xml:"failure"`
	Error   *xmlProblem `xml:"error"`
}

type xmlProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Detail  string `xml:",cdata"`
}

// JUnit writes suites as one JUnit XML document.
func JUnit(out io.Writer, suites []Suite) error {
	var all xmlSuites
	for i := range suites {
		suite := xmlOf(&suites[i])
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Errors += suite.Errors
		all.Suites = append(all.Suites, suite)
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	return write(out, xml.Header+string(data)+"\n")
}

func xmlOf(s *Suite) xmlSuite {
	out := xmlSuite{Name: printable(s.Name), Tests: len(s.Cases)}
	if s.Command != "" {
		out.Properties = &xmlProperties{[]xmlProperty{{"command", printable(s.Command)}}}
	}
	seconds := 0.0
	for _, c := range s.Cases {
		seconds += c.Seconds
		x := xmlCase{Class: out.Name, Name: printable(c.Name), Time: xmlTime(c.Seconds)}
		problem := &xmlProblem{Message: printable(c.Message), Type: c.Verdict.String(), Detail: printableLines(c.Detail)}
		switch c.Verdict {
		case check.Pass:
		case check.Unknown:
			x.Error = problem
			out.Errors++
		default:
			x.Failure = problem
			out.Failures++
		}
		out.Cases = append(out.Cases, x)
	}
	out.Time = xmlTime(seconds)
	return out
}

func xmlTime(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }

// printableLines is printable, line by line.
func printableLines(words string) string {
	lines := strings.Split(words, "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
