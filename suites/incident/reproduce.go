// Package incident runs an incident again, variant by variant, and compares what comes of each request with what the
// fixture says must come of it. The expectation is derived from limits, guards and lengths before any run.
package incident

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/incidents"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/harness"
)

// DefaultSeed is the seed of a reproduction that asks for none: the day on which the incident was reported.
const DefaultSeed = 20260908

// Options say what to reproduce.
type Options struct {
	Incident, Scale string
	// Variants by name; none means the incident's defaults.
	Variants []string
	Seed     uint64
	// Folder is where journals go; empty writes none.
	Folder string
	// Parallel is how many variants run side by side, at least 1.
	Parallel int
	// Progress returns the function that a variant with so many requests reports to; nil reports nothing.
	Progress func(variant string, requests int) func(steps, answers int)
}

// Reproduce runs the variants. An error means that some run could not be made; a run that came to something else than
// the fixture records is in the summary.
func Reproduce(kit *harness.Kit, o Options) (Summary, error) {
	cases, err := cases(o)
	if err != nil {
		return Summary{}, err
	}
	summary := Summary{
		Incident: cases[0].Incident.Name, Title: cases[0].Incident.Title, Scale: cases[0].Scale.Name, Seed: o.Seed,
		Commit: harness.Commit(), Kernel: kit.Model.Variant(), Variants: make([]Variant, len(cases)),
	}
	start, startCPU := time.Now(), harness.CoreSeconds()
	errs := make([]error, len(cases))
	inParallel(len(cases), o.Parallel, heaviestFirst(cases), func(i int) {
		summary.Variants[i], errs[i] = runVariant(kit, cases[i], o)
	})
	summary.WallSeconds = time.Since(start).Seconds()
	summary.CoreSeconds = harness.CoreSeconds() - startCPU
	summary.MemoryPeakBytes = harness.MemoryPeakBytes()
	for _, v := range summary.Variants {
		summary.Verdict = max(summary.Verdict, v.Verdict)
	}
	return summary, errors.Join(errs...)
}

func cases(o Options) ([]incidents.Case, error) {
	i, err := incidents.Load(o.Incident)
	if err != nil {
		return nil, err
	}
	names := o.Variants
	if len(names) == 0 {
		names = i.DefaultVariants
	}
	var list []incidents.Case
	for _, name := range names {
		c, err := i.Case(o.Scale, name)
		if err != nil {
			return nil, fmt.Errorf("incident %s: %w", i.Name, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// heaviestFirst orders cases by the tokens that are computed, moved or attended over, so that the longest run does not
// start last.
func heaviestFirst(cases []incidents.Case) []int {
	weight := func(c incidents.Case) (tokens int) {
		expected, err := c.Expect()
		if err != nil {
			return 0
		}
		for i, r := range c.Traffic.Requests {
			switch expected.Outcomes[i] {
			case incidents.Correct:
				tokens += r.PromptTokens * (r.MaxNewTokens + prefillWeight)
			case incidents.Leak, incidents.Garbage:
				tokens += r.PromptTokens * r.MaxNewTokens
			case incidents.Rejected, incidents.TimedOut, incidents.Failed: // next to nothing is computed
			}
		}
		return tokens
	}
	order, weights := make([]int, len(cases)), make([]int, len(cases))
	for i := range order {
		order[i], weights[i] = i, weight(cases[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	return order
}

// prefillWeight is what computing, moving and digesting a token costs, in decode steps over it.
const prefillWeight = 40

// inParallel calls do for each index, in this order, at most so many at a time.
func inParallel(n, parallel int, order []int, do func(i int)) {
	work := make(chan int)
	var wait sync.WaitGroup
	for range max(1, min(parallel, n)) {
		wait.Go(func() {
			for i := range work {
				do(i)
			}
		})
	}
	for _, i := range order {
		work <- i
	}
	close(work)
	wait.Wait()
}

// CaseOf is the harness's case of one variant.
func CaseOf(c incidents.Case, seed uint64) harness.Case {
	return harness.Case{
		Incident: c.Incident.Name, Scale: c.Scale.Name, Variant: c.Variant.Name, Seed: seed, Cluster: c.Cluster,
		Plan: c.Plan, Schedule: harness.Schedule{Trace: c.Traffic, FreshPools: c.FreshPoolPerPrompt},
		Command: fmt.Sprintf("stalepage reproduce %s --scale %s --variant %s --seed %d",
			c.Incident.Name, c.Scale.Name, c.Variant.Name, seed),
	}
}

func runVariant(kit *harness.Kit, c incidents.Case, o Options) (Variant, error) {
	expected, err := c.Expect()
	if err != nil {
		return Variant{}, err
	}
	holds := newHoldTimes(c.Traffic, o.Seed)
	options := harness.Options{Sinks: []journal.Sink{holds.observe}}
	if o.Folder != "" {
		name := strings.Join([]string{c.Incident.Name, strings.ReplaceAll(c.Scale.Name, "/", "-"), c.Variant.Name}, "-")
		options.Journal = filepath.Join(o.Folder, name+journal.Extension)
	}
	if o.Progress != nil {
		options.Progress = o.Progress(c.Variant.Name, len(c.Traffic.Requests))
	}
	start, startCPU := time.Now(), harness.CoreSeconds()
	result, err := kit.Run(CaseOf(c, o.Seed), options)
	if err != nil {
		return Variant{}, fmt.Errorf("variant %s: %w", c.Variant.Name, err)
	}
	v := summarize(kit, c, expected, result)
	v.HoldTicksMax = holds.longest
	v.WallSeconds = time.Since(start).Seconds()
	if result.JournalError != nil {
		v.JournalError = result.JournalError.Error()
		v.Notes = append(v.Notes, v.JournalError)
		v.Verdict = max(v.Verdict, check.Unknown)
	}
	if options.Journal != "" && result.JournalError == nil {
		side := harness.Side(kit, result, v.WallSeconds, harness.CoreSeconds()-startCPU)
		if err := journal.WriteSide(options.Journal, side); err != nil {
			v.Notes = append(v.Notes, err.Error())
		}
	}
	return v, nil
}

// holdTimes measures how long decode holds the incident's reservations.
type holdTimes struct {
	rooms   map[wire.Room]wire.Tick // of the incident, to the tick of the reservation
	longest wire.Tick
}

func newHoldTimes(t traffic.Trace, seed uint64) *holdTimes {
	h := &holdTimes{rooms: map[wire.Room]wire.Tick{}}
	for _, r := range t.Requests {
		if r.Kind == traffic.KindIncident {
			h.rooms[traffic.Room(seed, r.Index)] = -1
		}
	}
	return h
}

func (h *holdTimes) observe(e *event.Event) {
	since, ours := h.rooms[e.Room]
	if !ours || e.Source.Role != wire.Decode {
		return
	}
	switch {
	case e.Kind == event.PagesReserved:
		h.rooms[e.Room] = e.Tick
	case e.Kind == event.PagesReleased && since >= 0:
		h.longest = max(h.longest, e.Tick-since)
	}
}

// Check says what is wrong with the options, before anything runs.
func (o Options) Check() error {
	_, err := cases(o)
	return err
}

// VariantNames lists every variant that an incident has at a scale.
func VariantNames(name, scale string) ([]string, error) {
	i, err := incidents.Load(name)
	if err != nil {
		return nil, err
	}
	if _, err := i.Scale(scale); err != nil {
		return nil, fmt.Errorf("incident %s: %w", name, err)
	}
	var names []string
	for _, v := range i.Variants {
		if _, err := i.Case(scale, v.Name); err == nil {
			names = append(names, v.Name)
		}
	}
	return names, nil
}
