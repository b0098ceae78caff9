package harness

import (
	"errors"
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
)

// Judgement is what a journal alone says.
type Judgement struct {
	Header journal.Header
	Footer journal.Footer
	Report *check.Report
	// Incomplete says why the journal ends before its run did: the verdict is then at best unknown.
	Incomplete error
}

// Judge reads a journal and judges it. A journal that ends before its run did is judged as far as it goes, and says so;
// one that is damaged in any other way is an error.
func (k *Kit) Judge(path string, sinks ...journal.Sink) (Judgement, error) {
	j, err := k.judge(path, nil, sinks)
	if errors.Is(err, journal.ErrTruncated) {
		return k.judge(path, err, nil)
	}
	return j, err
}

// judge reads a journal once; incomplete is what a first reading has found.
func (k *Kit) judge(path string, incomplete error, sinks []journal.Sink) (j Judgement, err error) {
	reader, err := journal.Open(path)
	if err != nil {
		return Judgement{}, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	j.Header, j.Incomplete = reader.Header, incomplete
	run := check.Run{Cluster: j.Header.Cluster, Reference: k.Reference}
	if j.Header.Corpus.Version == corpus.Version {
		run.Corpus = k.Corpus(j.Header.Corpus.Seed)
	}
	if j.Header.Masked {
		run.Missing |= check.Texts
	}
	if incomplete != nil {
		run.Incomplete = incomplete.Error()
	}
	examiner := check.NewExaminer()
	examiner.Begin(run)
	err = reader.Each(func(e *event.Event) {
		examiner.Observe(e)
		for _, sink := range sinks {
			sink(e)
		}
	})
	if err != nil && incomplete == nil {
		return Judgement{}, fmt.Errorf("%s: %w", path, err)
	}
	j.Footer = reader.Footer()
	j.Report = examiner.Report()
	return j, nil
}

// Replay makes the run of a journal again and compares what happens with what it holds.
type Replay struct {
	Result Result
	// Difference is the first event in which the two part, as both have it; empty if they are equal.
	Difference string
	Events     int
}

// Replay makes the journal's run again.
func (k *Kit) Replay(path string, o Options) (Replay, error) {
	header, recorded, _, err := journal.Load(path)
	if err != nil {
		return Replay{}, err
	}
	c, err := CaseOf(header)
	if err != nil {
		return Replay{}, err
	}
	again := &journal.Memory{}
	o.Sinks = append(o.Sinks, again.Record)
	result, err := k.Run(c, o)
	if err != nil {
		return Replay{}, err
	}
	return Replay{
		Result: result, Difference: journal.Difference(recorded.Events(), again.Events()), Events: len(recorded.Events()),
	}, nil
}
