package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress shows how far the runs of a command are: one line that is rewritten on a terminal, a line now and then
// elsewhere. Runs may report from several goroutines.
type progress struct {
	out      io.Writer
	terminal bool
	// columns is how wide the terminal is: a line that it breaks in two could not be rewritten.
	columns int
	start   time.Time

	lock   sync.Mutex
	runs   []*runProgress
	shown  time.Time
	width  int
	closed bool
}

type runProgress struct {
	name           string
	answers, total int
	steps          int
}

// How often progress is shown. Nothing is shown of what takes less than two seconds.
const (
	progressFirst    = 2 * time.Second
	progressTerminal = 200 * time.Millisecond
	progressLog      = 15 * time.Second
)

// terminalColumns is the width of a terminal that does not say how wide it is.
const terminalColumns = 80

func newProgress(out io.Writer) *progress {
	p := &progress{out: out, start: time.Now(), columns: terminalColumns}
	if file, ok := out.(*os.File); ok {
		p.terminal = term.IsTerminal(int(file.Fd()))
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil && columns > 1 {
			p.columns = columns
		}
	}
	return p
}

// Of returns the function that one run of so many answers reports to; total 0 is not known.
func (p *progress) Of(name string, total int) func(steps, answers int) {
	run := &runProgress{name: name, total: total}
	p.lock.Lock()
	p.runs = append(p.runs, run)
	p.lock.Unlock()
	return func(steps, answers int) {
		p.lock.Lock()
		defer p.lock.Unlock()
		run.steps, run.answers = steps, answers
		p.show()
	}
}

func (p *progress) show() {
	now := time.Now()
	interval := progressLog
	if p.terminal {
		interval = progressTerminal
	}
	if p.closed || now.Sub(p.start) < progressFirst || now.Sub(p.shown) < interval {
		return
	}
	p.shown = now
	var parts []string
	for _, r := range p.runs {
		switch {
		case r.steps == 0 || r.total > 0 && r.answers == r.total:
		case r.total > 0:
			parts = append(parts, fmt.Sprintf("%s %d/%d answers", r.name, r.answers, r.total))
		default:
			parts = append(parts, fmt.Sprintf("%s %d answers", r.name, r.answers))
		}
	}
	line := fmt.Sprintf("%5.0f s  %s", now.Sub(p.start).Seconds(), strings.Join(parts, "  "))
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	line = line[:min(len(line), p.columns-1)]
	fmt.Fprintf(p.out, "\r%-*s", p.width, line)
	p.width = len(line)
}

// Close clears the line. What is reported afterwards is not shown.
func (p *progress) Close() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.terminal && p.width > 0 && !p.closed {
		fmt.Fprintf(p.out, "\r%*s\r", p.width, "")
	}
	p.closed = true
}
