package teeth_test

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/suites/harness"
)

// plant is a clean run's events, to be altered before they are judged.
type plant struct {
	run    check.Run
	events []event.Event
}

// cleanCase is five requests of five tenants on full pools; 2 and 3 fill decode's pool between them, side by side. Its
// fault does no harm, and is there so that every check has something to look at: the completion of one write is reported
// twice, and prefill knows it by its ticket.
func cleanCase() harness.Case {
	GinkgoHelper()
	sent := trace(2,
		ask{tenant: 1, promptTokens: 80, answerTokens: 8}, ask{tenant: 2, promptTokens: 80, answerTokens: 8},
		ask{tenant: 3, promptTokens: 130, answerTokens: 24, phase: 1},
		ask{tenant: 4, promptTokens: 72, answerTokens: 24, phase: 1},
		ask{tenant: 5, promptTokens: 80, answerTokens: 24, phase: 2})
	once := faults.DuplicateCompletion{Target: faults.Request(0), When: faults.When{Count: 1}}
	return caseOf(pair(poolTokens, poolTokens), 0, sent, &once)
}

func clean() *plant {
	GinkgoHelper()
	c := cleanCase()
	_, memory := run(c)
	return &plant{run: kit().Judged(c), events: memory.Events()}
}

func (p *plant) judge() *check.Report { return check.Judge(p.run, p.events) }

// where is a condition on an event.
type where = func(*event.Event) bool

func buffer(b wire.Buffer) where { return func(e *event.Event) bool { return e.Buffer == b } }
func first(n int) where          { return func(e *event.Event) bool { return e.First == n } }
func by(role wire.Role) where    { return func(e *event.Event) bool { return e.Source.Role == role } }

func (p *plant) of(n int) where {
	room := p.room(n)
	return func(e *event.Event) bool { return e.Room == room }
}

func (p *plant) room(n int) (room wire.Room) {
	GinkgoHelper()
	for i := range p.events {
		if p.events[i].Kind == event.RequestSubmitted && p.events[i].Request == n {
			return p.events[i].Room
		}
	}
	Fail(fmt.Sprintf("request %d was never sent", n))
	return 0
}

// at is the index of the first event of this kind for which all conditions hold.
func (p *plant) at(kind event.Kind, conditions ...where) int {
	GinkgoHelper()
	i := slices.IndexFunc(p.events, func(e event.Event) bool {
		return e.Kind == kind && !slices.ContainsFunc(conditions, func(holds where) bool { return !holds(&e) })
	})
	Expect(i).To(BeNumerically(">=", 0), "the clean run has no such %s", kind)
	return i
}

func (p *plant) find(kind event.Kind, conditions ...where) *event.Event {
	GinkgoHelper()
	return &p.events[p.at(kind, conditions...)]
}

func (p *plant) drop(kind event.Kind, conditions ...where) {
	GinkgoHelper()
	i := p.at(kind, conditions...)
	p.events = slices.Delete(p.events, i, i+1)
}

// insert puts an event behind the i-th, at the same tick.
func (p *plant) insert(i int, e event.Event) {
	e.Tick = p.events[i].Tick
	p.events = slices.Insert(p.events, i+1, e)
}

// page is where decode keeps the page at an ordinal of request n.
func (p *plant) page(n, ordinal int) wire.Page {
	GinkgoHelper()
	return p.find(event.PagesReserved, p.of(n), by(wire.Decode)).Pages[ordinal]
}

// draw is the sample in which decode drew the token that belongs at a position of request n, and its event's index.
func (p *plant) draw(n, position int) (at int, sample *event.Sample) {
	GinkgoHelper()
	room := p.room(n)
	for i := range p.events {
		e := &p.events[i]
		if e.Kind != event.TokenSampled || e.Source.Role != wire.Decode {
			continue
		}
		for j := range e.Samples {
			if s := &e.Samples[j]; s.Room == room && s.Position == position-1 {
				return i, s
			}
		}
	}
	Fail(fmt.Sprintf("no token was drawn for position %d of request %d", position, n))
	return 0, nil
}

// expectWords wants one text that holds all parts of words, which "|" separates.
func expectWords(texts []string, words string) {
	GinkgoHelper()
	var all []types.GomegaMatcher
	for part := range strings.SplitSeq(words, "|") {
		all = append(all, ContainSubstring(part))
	}
	Expect(texts).To(ContainElement(And(all...)))
}
