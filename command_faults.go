package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mitchellh/go-wordwrap"
	"github.com/spf13/cobra"

	"github.com/stalepage/stalepage/faults"
)

// faultDescription is one line of the catalogue as --json spells it.
type faultDescription struct {
	Name    string      `json:"name"`
	Summary string      `json:"summary"`
	Example faults.Spec `json:"example"`
}

func newFaultsCommand() *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use:   "faults [NAME]",
		Short: "List the faults, or describe one",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			entries := faults.Catalog()
			if len(arguments) == 1 {
				entry, err := faults.Find(arguments[0])
				if err != nil {
					return err
				}
				entries = []faults.Entry{entry}
			}
			var list []faultDescription
			for _, e := range entries {
				list = append(list, faultDescription{Name: e.Name, Summary: e.Doc(), Example: faults.Spec{Fault: e.New()}})
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), list)
			}
			return printFaults(c, list, len(arguments) == 1)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

// The width of what is printed, and of the names in it.
const (
	columns     = 100
	nameColumns = 24
)

func printFaults(c *cobra.Command, list []faultDescription, whole bool) error {
	for _, f := range list {
		if !whole {
			summary, _, _ := strings.Cut(f.Summary, ". ")
			lines := wordwrap.WrapString(strings.TrimSuffix(summary, "."), columns-nameColumns)
			indent := "\n" + strings.Repeat(" ", nameColumns)
			fmt.Fprintf(c.OutOrStdout(), "%-*s%s\n", nameColumns, f.Name, strings.ReplaceAll(lines, "\n", indent))
			continue
		}
		example, err := json.Marshal(f.Example)
		if err != nil {
			return fmt.Errorf("fault %s: %w", f.Name, err)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\n\n%s\n\nIn a plan:\n\n    {\"faults\": [%s]}\n",
			f.Name, wordwrap.WrapString(f.Summary, columns), example)
		// A fault may need to be told what no default can say.
		if err := (faults.Plan{Faults: []faults.Spec{f.Example}}).Validate(); err != nil {
			fmt.Fprintf(c.OutOrStdout(), "\nwith more to say: %v\n", err)
		}
	}
	return nil
}
