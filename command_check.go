package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/reports/render"
	"github.com/stalepage/stalepage/suites/harness"
)

func newCheckCommand() *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use:   "check JOURNAL",
		Short: "Judge a journal: was any request answered from pages that it does not own?",
		Long: "Judge a journal from its events alone, in a process that ran no engine. The verdict is about isolation: a\n" +
			"journal of the incident as shipped fails, as it should.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			judgement, err := harness.NewKit().Judge(arguments[0])
			if err != nil {
				return unknownError{err}
			}
			if asJSON {
				if err := writeJSON(c.OutOrStdout(), checkOutput(judgement)); err != nil {
					return err
				}
			} else if err := printJudgement(c, judgement); err != nil {
				return err
			}
			return verdictOf(judgement.Report.Verdict)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

// checked is what check prints as JSON.
type checked struct {
	Journal    journal.Header `json:"journal"`
	Incomplete string         `json:"incomplete,omitempty"`
	*check.Report
}

func checkOutput(j harness.Judgement) checked {
	out := checked{Journal: j.Header, Report: j.Report}
	out.Journal.Schedule = nil // the whole traffic: the journal has it
	if j.Incomplete != nil {
		out.Incomplete = j.Incomplete.Error()
	}
	return out
}

func printJudgement(c *cobra.Command, j harness.Judgement) error {
	out := c.OutOrStdout()
	fmt.Fprintf(out, "seed %d, commit %s, target %s", j.Header.Seed, orUnknown(j.Header.Commit), j.Header.Target)
	if j.Header.Incident != "" {
		fmt.Fprintf(out, ", incident %s at scale %s, variant %s", j.Header.Incident, j.Header.Scale, j.Header.Variant)
	}
	fmt.Fprintf(out, "\nmade by: %s\n\n", j.Header.Command)
	if j.Incomplete != nil {
		fmt.Fprintf(out, "incomplete: %v\n\n", j.Incomplete)
	}
	return render.Report(out, j.Report)
}

func orUnknown(s string) string {
	if s == "" {
		return "(not recorded)"
	}
	return s
}
