package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/suites/harness"
)

// replayed is what replay prints as JSON.
type replayed struct {
	Verdict    check.Verdict `json:"verdict"`
	Events     int           `json:"events"`
	Difference string        `json:"difference,omitempty"`
	Isolation  check.Verdict `json:"isolation"`
}

func newReplayCommand() *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use:   "replay JOURNAL",
		Short: "Make the run of a journal again and compare it event by event",
		Long: "Make the run of a journal again, from the journal alone, and compare what happens with what it holds. Passes if\n" +
			"both are equal to the byte; what the run says about isolation is printed beside it.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			progress := newProgress(c.ErrOrStderr())
			defer progress.Close()
			replay, err := harness.NewKit().Replay(arguments[0], harness.Options{
				Progress: progress.Of("replay", 0),
			})
			if err != nil {
				return unknownError{err}
			}
			progress.Close()
			out := replayed{Events: replay.Events, Difference: replay.Difference, Isolation: replay.Result.Report.Verdict}
			if replay.Difference != "" {
				out.Verdict = check.Fail
			}
			if asJSON {
				err = writeJSON(c.OutOrStdout(), out)
			} else if out.Verdict == check.Pass {
				_, err = fmt.Fprintf(c.OutOrStdout(), "equal: %d events, byte for byte. Isolation in this run: %s.\n",
					out.Events, out.Isolation)
			} else {
				_, err = fmt.Fprintf(c.OutOrStdout(), "different: %s\n", out.Difference)
			}
			if err != nil {
				return err
			}
			return verdictOf(out.Verdict)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}
