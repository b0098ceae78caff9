package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/reports/render"
	"github.com/stalepage/stalepage/suites/harness"
)

func newCheckCommand() *cobra.Command {
	asJSON, junit := false, ""
	command := &cobra.Command{
		Use:   "check JOURNAL",
		Short: "Judge a journal: was any request answered from pages that it does not own?",
		Long: "Judge a journal from its events alone, in a process that ran no engine. The verdict is about isolation: a\n" +
			"journal of the incident as shipped fails, as it should.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			events := &journal.Memory{} // for the timeline, which only people get
			var sinks []journal.Sink
			if !asJSON {
				sinks = append(sinks, events.Record)
			}
			judgement, err := harness.NewKit().Judge(arguments[0], sinks...)
			if err != nil {
				return unknownError{err}
			}
			if junit != "" {
				if err := writeJUnit(junit, arguments[0], judgement); err != nil {
					return unknownError{err}
				}
			}
			if asJSON {
				if err := writeJSON(c.OutOrStdout(), checkOutput(judgement)); err != nil {
					return err
				}
			} else if err := printJudgement(c.OutOrStdout(), judgement, events.Events()); err != nil {
				return err
			}
			return verdictOf(judgement.Report.Verdict)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	command.Flags().StringVar(&junit, "junit", "", "file to write JUnit XML to")
	return command
}

func writeJUnit(path, name string, j harness.Judgement) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	err = render.JUnit(file, []render.Suite{{Name: name, Cases: render.CasesOf(j.Report)}})
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("--junit %s: %w", path, err)
	}
	return nil
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

func printJudgement(out io.Writer, j harness.Judgement, events []event.Event) error {
	fmt.Fprintf(out, "seed %d, commit %s, target %s", j.Header.Seed, orUnknown(j.Header.Commit), j.Header.Target)
	if j.Header.Incident != "" {
		fmt.Fprintf(out, ", incident %s at scale %s, variant %s", j.Header.Incident, j.Header.Scale, j.Header.Variant)
	}
	fmt.Fprintf(out, "\nmade by: %s\n\n", j.Header.Command)
	if j.Incomplete != nil {
		fmt.Fprintf(out, "incomplete: %v\n\n", j.Incomplete)
	}
	if err := render.Report(out, j.Report); err != nil {
		return err
	}
	for _, name := range []string{"attribution", "ownership", "coverage"} {
		result, _ := j.Report.Result(name)
		if result.Findings.Count == 0 {
			continue
		}
		if timeline, ok := render.NewTimeline(j.Header.Cluster, events, result.Findings.First); ok {
			fmt.Fprintln(out)
			return timeline.Draw(out)
		}
	}
	return nil
}

func orUnknown(s string) string {
	if s == "" {
		return "(not recorded)"
	}
	return s
}
