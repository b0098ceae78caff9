// Stalepage breaks prefill/decode-disaggregated inference engines on purpose and reads their answers: can any request
// be answered from KV pages that it does not own?
//
// Exit codes: 0 pass, 1 fail, 2 unknown, 3 usage.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/stalepage/stalepage/reports/check"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// The exit codes.
const (
	exitPass = iota
	exitFail
	exitUnknown
	exitUsage
)

// verdictError ends a command that did its work and found something: it was said already, only the code is left.
type verdictError struct{ verdict check.Verdict }

func (e verdictError) Error() string { return "verdict " + e.verdict.String() }

// unknownError ends a command that could not do its work, so that nothing is known: a full disk, a damaged journal.
type unknownError struct{ error }

func (e unknownError) Unwrap() error { return e.error }

func verdictOf(v check.Verdict) error {
	if v == check.Pass {
		return nil
	}
	return verdictError{v}
}

// execute runs one command line and returns its exit code.
func execute(arguments []string, out, problems io.Writer) int {
	root := &cobra.Command{
		Use:   "stalepage",
		Short: "Fault injection and content checks for prefill/decode-disaggregated inference engines",
		Long: "Stalepage drives a disaggregated inference engine, breaks it on purpose, and reads the answers, not the\n" +
			"status codes: can any request be answered from KV pages that it does not own?\n\n" +
			"Exit codes: 0 pass, 1 fail, 2 unknown, 3 usage.",
		SilenceErrors: true, SilenceUsage: true,
	}
	root.AddCommand(newReproduceCommand(), newCheckCommand(), newReplayCommand(), newFaultsCommand())
	root.SetArgs(arguments)
	root.SetOut(out)
	root.SetErr(problems)
	err := root.Execute()
	var verdict verdictError
	var unknown unknownError
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &verdict):
		if verdict.verdict == check.Fail {
			return exitFail
		}
		return exitUnknown
	case errors.As(err, &unknown):
		fmt.Fprintln(problems, "stalepage:", err)
		return exitUnknown
	default:
		fmt.Fprintln(problems, "stalepage:", err)
		fmt.Fprintln(problems, "see: stalepage --help")
		return exitUsage
	}
}
