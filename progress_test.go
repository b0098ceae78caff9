package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// Goal: on a terminal, progress stays on one line however many runs there are, each time over what stood there before,
// and is gone in the end.
func TestProgressOnATerminal(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	p := &progress{out: &out, terminal: true, columns: 60, start: time.Now().Add(-time.Minute)}
	reports := make([]func(steps, answers int), 6)
	for i := range reports {
		reports[i] = p.Of(fmt.Sprintf("variant-%d", i), 100)
	}
	for i, report := range reports {
		p.shown = time.Time{}
		report(1000, i)
	}
	for i := range 5 { // all but the last are done
		p.shown = time.Time{}
		reports[i](2000, 100)
	}
	p.Close()
	p.Close()
	lines := strings.Split(out.String(), "\r")
	g.Expect(lines[1]).To(Equal("   60 s  variant-0 0/100 answers"))
	g.Expect(lines).To(HaveLen(1 + 11 + 2))
	for i := 1; i < len(lines); i++ {
		g.Expect(len(lines[i])).To(BeNumerically("<", 60))
		g.Expect(len(lines[i])).To(Or(BeNumerically(">=", len(strings.TrimRight(lines[i-1], " "))), BeZero()), "what stood there is covered")
	}
	g.Expect(strings.TrimSpace(lines[11])).To(Equal("60 s  variant-5 5/100 answers"))
	g.Expect(strings.TrimSpace(lines[12])).To(BeEmpty())
}

// Goal: in a log, a line now and then, whole; and nothing of what is over soon.
func TestProgressInALog(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	p := newProgress(&out)
	p.Of("as-shipped", 155)(10, 1)
	g.Expect(out.String()).To(BeEmpty(), "it has only begun")

	p.start = time.Now().Add(-20 * time.Second)
	report := p.Of("replay", 0)
	report(10, 3)
	report(11, 4)
	g.Expect(out.String()).To(Equal("   20 s  as-shipped 1/155 answers  replay 3 answers\n"), "the second came too soon")
	p.Close()
	p.shown = time.Time{}
	report(12, 5)
	g.Expect(strings.Count(out.String(), "\n")).To(Equal(1), "it is closed")
}
