package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stalepage/stalepage/fixtures/incidents"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/incident"
)

func newReproduceCommand() *cobra.Command {
	o := incident.Options{Scale: "full", Seed: incident.DefaultSeed, Parallel: runtime.GOMAXPROCS(0)}
	asJSON, list := false, false
	command := &cobra.Command{
		Use:   "reproduce [INCIDENT]",
		Short: "Run an incident again on the embedded engine, variant by variant",
		Long: "Run an incident again on the embedded engine: real pages, real bytes, no GPU. Passes if each variant does what\n" +
			"the fixture records; that the variant as-shipped leaks is recorded. Without INCIDENT: 155.",
		Example: "  stalepage reproduce 155\n  stalepage reproduce 155 --scale 1/256 --variant as-shipped --out journals\n" +
			"  stalepage reproduce eight-pages --json\n  stalepage reproduce --list",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			if list {
				return listIncidents(c)
			}
			o.Incident = "155"
			if len(arguments) == 1 {
				o.Incident = arguments[0]
			}
			return reproduce(c, o, asJSON)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Scale, "scale", o.Scale, "full, or small (1/256) where the incident has it")
	flags.StringSliceVar(&o.Variants, "variant", nil, "variants to run, comma-separated; \"all\" runs every one")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "seed of rooms and of the tenants' text")
	flags.StringVar(&o.Folder, "out", "", "folder to write journals to")
	flags.IntVar(&o.Parallel, "parallel", o.Parallel, "variants to run side by side")
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	flags.BoolVar(&list, "list", false, "list incidents, scales and variants")
	return command
}

func reproduce(c *cobra.Command, o incident.Options, asJSON bool) error {
	if len(o.Variants) == 1 && o.Variants[0] == "all" {
		var err error
		if o.Variants, err = incident.VariantNames(o.Incident, o.Scale); err != nil {
			return err
		}
	}
	if err := o.Check(); err != nil {
		return err
	}
	if o.Parallel < 1 {
		return fmt.Errorf("--parallel %d: want 1 or more", o.Parallel)
	}
	if o.Folder != "" {
		if err := os.MkdirAll(o.Folder, 0o755); err != nil {
			return unknownError{fmt.Errorf("--out: %w", err)}
		}
	}
	progress := newProgress(c.ErrOrStderr())
	defer progress.Close()
	o.Progress = progress.Of
	summary, err := incident.Reproduce(harness.NewKit(), o)
	progress.Close()
	if err != nil {
		return unknownError{err}
	}
	if asJSON {
		err = writeJSON(c.OutOrStdout(), summary)
	} else {
		err = summary.Print(c.OutOrStdout())
	}
	if err != nil {
		return unknownError{err}
	}
	return verdictOf(summary.Verdict)
}

func listIncidents(c *cobra.Command) error {
	for _, name := range incidents.Names() {
		i, err := incidents.Load(name)
		if err != nil {
			return err
		}
		var scales []string
		for _, s := range i.Scales {
			scales = append(scales, strings.Join(append([]string{s.Name}, s.Aliases...), " = "))
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %s\n  scales: %s\n  variants (default %s):\n", i.Name, i.Title,
			strings.Join(scales, ", "), strings.Join(i.DefaultVariants, ", "))
		for _, v := range i.Variants {
			only := ""
			if len(v.Scales) > 0 {
				only = " (scale " + strings.Join(v.Scales, ", ") + " only)"
			}
			fmt.Fprintf(c.OutOrStdout(), "    %-33s %s%s\n", v.Name, v.Summary, only)
		}
	}
	return nil
}
