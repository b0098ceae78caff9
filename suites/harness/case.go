// Package harness makes runs: it ties a fixture, an engine, a plan of faults and a journal together, and has the events
// judged. It draws nothing and expects nothing; suites do. The same Case gives the same journal, byte for byte.
package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/fixtures/traffic"
	"github.com/stalepage/stalepage/reports/journal"
)

// Case is one run to be made, as data.
type Case struct {
	// Incident, Scale and Variant name the fixture it comes from, if any.
	Incident, Scale, Variant string
	// Seed draws rooms and the tenants' text.
	Seed    uint64
	Cluster config.Cluster
	// Plan is a faults plan in JSON; empty means none.
	Plan     json.RawMessage
	Schedule Schedule
	// Command is the command line that makes this run again.
	Command string
}

// Schedule is what is sent and in which order things happen: with the seed and the configuration, all of a run.
type Schedule struct {
	Trace traffic.Trace `json:"trace"`
	// Omit lists requests of the trace that are not sent, by index, ascending. The others keep their places, and with
	// them their rooms: what a smaller case leaves out changes nothing else.
	Omit []int `json:"omit,omitempty"`
	// FreshPools gives every request a cluster of its own, with pools of zeroes: the requests run one after another.
	FreshPools bool `json:"fresh_pools,omitempty"`
	// StepsMax bounds the run; 0 is the engine's default.
	StepsMax int `json:"steps_max,omitempty"`
	// Deviations are the steps at which the scheduler did not simply take the next thing that could move, in order.
	// One with the choice 0 did take it, but looked at everybody first, which polls their ports.
	Deviations []Deviation `json:"deviations,omitempty"`
}

// Deviation says that at the given step, the choice-th of the enabled steps was taken instead of the first.
type Deviation struct {
	Step   int `json:"step"`
	Choice int `json:"choice"`
}

// follow returns the functions that take the deviations and nothing else.
func follow(deviations []Deviation) (deviates func(step int) bool, choose func(step, total int) int) {
	next := 0
	deviates = func(step int) bool { return next < len(deviations) && deviations[next].Step == step }
	choose = func(_, _ int) int {
		next++
		return deviations[next-1].Choice
	}
	return deviates, choose
}

// Header is the case as the first line of its journal.
func (c Case) Header() (journal.Header, error) {
	schedule, err := json.Marshal(c.Schedule)
	if err != nil {
		return journal.Header{}, fmt.Errorf("schedule: %w", err)
	}
	return journal.Header{
		Seed: c.Seed, Commit: Commit(), Target: "embedded", Device: "host", Incident: c.Incident, Scale: c.Scale,
		Variant: c.Variant, Corpus: journal.Corpus{Version: corpus.Version, Seed: c.Seed}, Cluster: c.Cluster,
		Plan: c.Plan, Schedule: schedule, Command: c.Command,
	}, nil
}

// CaseOf is the case that a journal was made from. It refuses a header from which no run of this build could be made
// again.
func CaseOf(h journal.Header) (Case, error) {
	if h.Target != "embedded" {
		return Case{}, fmt.Errorf("the journal is of target %q: only runs of the embedded engine can be made again", h.Target)
	}
	if h.Corpus.Version != corpus.Version {
		return Case{}, fmt.Errorf("the journal's prompts are of corpus version %d, this build makes version %d: "+
			"use the build that wrote it (commit %s)",
			h.Corpus.Version, corpus.Version, h.Commit)
	}
	c := Case{
		Incident: h.Incident, Scale: h.Scale, Variant: h.Variant, Seed: h.Seed, Cluster: h.Cluster, Plan: h.Plan,
		Command: h.Command,
	}
	decoder := json.NewDecoder(bytes.NewReader(h.Schedule))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c.Schedule); err != nil {
		return Case{}, fmt.Errorf("the journal's schedule: %w", err)
	}
	_, planErr := c.plan()
	return c, errors.Join(planErr, c.validate())
}

// validate judges everything but the plan, and whether the configuration serves what the trace asks for.
func (c Case) validate() error {
	step := -1
	for i, d := range c.Schedule.Deviations {
		if d.Step <= step || d.Choice < 0 {
			return fmt.Errorf("schedule.deviations[%d]: step %d, choice %d: steps must rise and choices be 0 or more",
				i, d.Step, d.Choice)
		}
		step = d.Step
	}
	for i, request := range c.Schedule.Omit {
		if request < 0 || request >= len(c.Schedule.Trace.Requests) || i > 0 && request <= c.Schedule.Omit[i-1] {
			return fmt.Errorf("schedule.omit[%d]: %d: want indices of the %d requests, ascending",
				i, request, len(c.Schedule.Trace.Requests))
		}
	}
	return errors.Join(c.Schedule.Trace.Validate(), c.Cluster.Validate())
}

func (c Case) plan() (faults.Plan, error) {
	if len(c.Plan) == 0 {
		return faults.Plan{}, nil
	}
	return faults.ParsePlan(c.Plan)
}

// Commit is the revision that this binary was built from, or "" if the build does not say.
func Commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+modified"
		}
	}
	return revision + modified
}
