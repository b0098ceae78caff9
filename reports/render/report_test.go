package render

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/reports/check"
)

func found(outcome check.Outcome, event int, text string) check.Finding {
	return check.Finding{Outcome: outcome, Event: event, Text: text, Ordinal: check.None, Position: check.None}
}

func leaking() *check.Report {
	leak := found(check.Leak, 840, "page 17, room 204, written by tenant 5 request 31 tokens 64-127 at event 812, "+
		"read by tenant 3 request 17 at event 840")
	late := found(check.Stale, 990, "page 18, room 205, written by tenant 3 request 2 tokens 0-63 at event 700, "+
		"read by tenant 3 request 18 at event 990")
	r := &check.Report{
		Verdict: check.Fail,
		Results: []check.Result{
			{Check: "well-formed", Looked: 1024},
			{Check: "exact-answer", Verdict: check.Fail, Looked: 6, Findings: check.Findings{
				Count: 1, First: found(check.Garbage, 850, "the answer \x1b[2J\xff differs from token 1 on"),
				Worst: found(check.Garbage, 850, "the answer \x1b[2J\xff differs from token 1 on"),
				Last:  found(check.Garbage, 850, "the answer \x1b[2J\xff differs from token 1 on"),
			}},
			{Check: "attribution", Verdict: check.Fail, Looked: 378, Findings: check.Findings{
				Count: 63, First: leak, Worst: leak, Last: late,
			}},
			{Check: "latency-floor", Verdict: check.Unknown, NotChecked: "nothing was looked at"},
			{Check: "coverage", Verdict: check.Unknown, Looked: 2, Skipped: 4, NotChecked: "room 204 has no digests"},
		},
		Requests:         make([]check.RequestResult, 6),
		PagesTransferred: 41, FaultEvents: 2, Events: 1024,
	}
	r.Outcomes[check.Correct], r.Outcomes[check.Stale], r.Outcomes[check.Leak] = 3, 1, 2
	return r
}

func clean() *check.Report {
	r := &check.Report{
		Results:  []check.Result{{Check: "well-formed", Looked: 12}, {Check: "quiesce", Looked: 3}},
		Requests: make([]check.RequestResult, 1), Events: 12,
	}
	r.Outcomes[check.Rejected] = 1
	return r
}

// A report as people see it: verdict first, findings as first, worst and last, what was not checked at the end.
func TestReport(t *testing.T) {
	golden(t, "report", report(style{}, leaking()))
	golden(t, "report-colour", report(style{colour: true}, leaking()))
	golden(t, "report-clean", report(style{}, clean()))
	golden(t, "report-nothing", report(style{}, &check.Report{Verdict: check.Unknown}))
}

// Colours change nothing but colours: the columns stand where they stood.
func TestColourKeepsColumns(t *testing.T) {
	coloured := report(style{colour: true}, leaking()) + variantTable(style{colour: true}, variants())
	for _, code := range []string{red, green, yellow, bold, "0"} {
		coloured = strings.ReplaceAll(coloured, "\x1b["+code+"m", "")
	}
	NewWithT(t).Expect(coloured).To(Equal(report(style{}, leaking()) + variantTable(style{}, variants())))
}

// Only a terminal gets colours: a file or a buffer does not, nor does anything when NO_COLOR is set or TERM is dumb.
func TestColourOnlyOnTerminals(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	g.Expect(styleOf(&bytes.Buffer{}).colour).To(BeFalse())
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	g.Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	g.Expect(styleOf(file).colour).To(BeFalse())
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	g.Expect(err).NotTo(HaveOccurred())
	defer device.Close()
	g.Expect(styleOf(device).colour).To(BeTrue(), "a character device, as a terminal is")
	t.Setenv("TERM", "dumb")
	g.Expect(styleOf(device).colour).To(BeFalse())
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	g.Expect(styleOf(device).colour).To(BeFalse())
}

// What could steer a terminal is spelled out; ordinary text of any language is not touched.
func TestPrintable(t *testing.T) {
	for words, want := range map[string]string{
		"":                                  "",
		"page 17, tokens 0-63":              "page 17, tokens 0-63",
		"caf\u00e9 \u65e5\u672c \U0001f600": "caf\u00e9 \u65e5\u672c \U0001f600",
		"\x1b[31m":                          `\x1b[31m`,
		"a\r\nb\tc\x7f":                     `a\x0d\x0ab\x09c\x7f`,
		"\u202eevil":                        `\u{202e}evil`,
		"\u009b31m":                         `\u{9b}31m`,
		"\xff\xc3":                          `\xff\xc3`,
		"\U000e0001":                        `\u{e0001}`,
	} {
		NewWithT(t).Expect(printable(words)).To(Equal(want), "%q", words)
	}
}

// A target that cannot be written to is an error of every writer of this package.
func TestWriteErrors(t *testing.T) {
	full := writerFunc(func([]byte) (int, error) { return 0, syscall.ENOSPC })
	for name, err := range map[string]error{
		"report": Report(full, clean()), "variants": Variants(full, variants()),
		"timeline": Timeline{}.Draw(full), "junit": JUnit(full, nil),
	} {
		NewWithT(t).Expect(errors.Is(err, syscall.ENOSPC)).To(BeTrue(), name)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

var _ io.Writer = writerFunc(nil)
