package teeth_test

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/reports/check"
)

// tooth is one corruption of a clean run and what must be said of it.
type tooth struct {
	check, name string
	// corrupt alters the events and returns the words with which the check must name what was altered.
	corrupt func(p *plant) string
	verdict check.Verdict
	// also lists the other checks that cannot but see it too; every check that is not named must pass.
	also []string
}

// teeth bite on requests 2 (tenant 3, 130 tokens, nine pages) and 3 (tenant 4), which run side by side.
func teeth() []tooth {
	return slices.Concat(requestTeeth(), pageTeeth(), drawTeeth(), endTeeth())
}

// requestTeeth are for the checks that look at requests and their answers.
func requestTeeth() []tooth {
	return []tooth{
		{
			check: "well-formed", name: "a page that the pool does not have", verdict: check.Unknown,
			corrupt: func(p *plant) string {
				p.find(event.PagesReserved, p.of(2), by(wire.Decode)).Pages[0] = 99
				return "names page 99 of a pool of 17"
			},
			also: []string{"coverage"},
		},
		{
			check: "liveness", name: "a response removed", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.drop(event.ResponseReceived, p.of(3))
				return fmt.Sprintf("room %d (tenant 4 request 3) was answered never", p.room(3))
			},
		},
		{
			check: "outcome-fits-cause", name: "another status at the client than at decode", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.find(event.ResponseReceived, p.of(3)).Status = 504
				return fmt.Sprintf("room %d (tenant 4 request 3) was answered with status 504, but the worker that answers "+
					"had finished it with 200", p.room(3))
			},
		},
		{
			check: "token-accounting", name: "one token less on the bill", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.find(event.ResponseReceived, p.of(2)).Tokens--
				return fmt.Sprintf("room %d (tenant 3 request 2): the client was billed for 129 tokens of the prompt, not 130",
					p.room(2))
			},
		},
		{
			check: "token-accounting", name: "one byte of the prompt's hash at decode", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.find(event.RequestReceived, p.of(2), by(wire.Decode)).Hash[31] ^= 1
				return fmt.Sprintf("room %d (tenant 3 request 2): decode/0#1 received another prompt of 130 tokens", p.room(2))
			},
		},
		{
			check: "foreign-canary", name: "eight tokens of another tenant's document", verdict: check.Fail,
			corrupt: func(p *plant) string {
				place := canaryOf(p, 4)
				output := p.find(event.ResponseReceived, p.of(2)).Output
				p.run.Corpus.Append(output[:9], corpus.Span{Tenant: 4, First: place, Count: corpus.CanaryTokens})
				return fmt.Sprintf("room %d (tenant 3 request 2) was answered with the canary of tenant 4 at place %d, from "+
					"token 9 of the answer on", p.room(2), place)
			},
			also: []string{"exact-answer"},
		},
		{
			check: "exact-answer", name: "one token changed in the answer", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.find(event.ResponseReceived, p.of(2)).Output[17] ^= 1
				return fmt.Sprintf("room %d (tenant 3 request 2) was answered with 24 tokens of 24 asked for, and from token 17 "+
					"on with others", p.room(2))
			},
		},
		{
			check: "latency-floor", name: "an answer one tick faster than its pages", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.find(event.ResponseReceived, p.of(2)).Tick = p.find(event.RequestSubmitted, p.of(2)).Tick + 8
				return fmt.Sprintf("room %d (tenant 3 request 2): the answer came after 8 ticks, and its prompt takes 9 at least",
					p.room(2))
			},
		},
	}
}

// several is true of a landing of more than one page.
func several(e *event.Event) bool { return e.Count > 1 }

// canaryOf is the place of a canary in the document of a tenant.
func canaryOf(p *plant, tenant int) int {
	GinkgoHelper()
	found := p.run.Corpus.Canaries(p.run.Corpus.Append(nil, corpus.Span{Tenant: tenant, Count: 64}))
	Expect(found).NotTo(BeEmpty())
	return found[0].Place
}

// pageTeeth are for the checks that look at who holds a page, and what lies in it.
func pageTeeth() []tooth {
	return []tooth{
		{
			check: "coverage", name: "the landing of one buffer of one page dropped", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.drop(event.WriteLanded, p.of(2), buffer(wire.K1), first(8))
				return fmt.Sprintf("room %d (tenant 3 request 2) was committed though 1 of its 9 prompt pages are not its own, "+
					"the first at ordinal 8: K1 did not land in page %d of decode/0#1", p.room(2), p.page(2, 8))
			},
		},
		{
			check: "coverage", name: "two ordinals swapped", verdict: check.Fail,
			corrupt: func(p *plant) string {
				two := p.find(event.WriteLanded, p.of(2), buffer(wire.K0), several).First
				for b := wire.K0; b < wire.KVBuffers; b++ {
					landed := p.find(event.WriteLanded, p.of(2), buffer(b), first(two))
					Expect(landed.Count).To(Equal(2))
					landed.Pages = []wire.Page{p.page(2, two+1), p.page(2, two)}
				}
				return fmt.Sprintf("room %d (tenant 3 request 2) was committed though 2 of its 9 prompt pages are not its own, "+
					"the first at ordinal %d: K0 did not land in page %d of decode/0#1", p.room(2), two, p.page(2, two))
			},
			also: []string{"attribution"}, // a later token is drawn from one of them
		},
		{
			check: "coverage", name: "a landed page overwritten between its write's Done and commit", verdict: check.Fail,
			corrupt: func(p *plant) string {
				done := p.at(event.WriteEnded, p.of(2), buffer(wire.V1), first(0))
				p.insert(done, event.Event{
					Kind: event.WriteLanded, Source: wire.Addr{Role: wire.Prefill, Incarnation: 1},
					Peer: wire.Addr{Role: wire.Decode, Incarnation: 1}, Room: p.room(1), Buffer: wire.V1, First: 2, Count: 1,
					Pages: []wire.Page{p.page(2, 0)},
				})
				return fmt.Sprintf("room %d (tenant 3 request 2) was committed though 1 of its 9 prompt pages are not its own, "+
					"the first at ordinal 0: V1 did not land in page %d of decode/0#1", p.room(2), p.page(2, 0))
			},
			also: []string{"ownership"},
		},
		{
			check: "coverage", name: "one digest changed", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.find(event.DigestTaken, p.of(2)).Digests[wire.V0][0]++
				return fmt.Sprintf("room %d (tenant 3 request 2): sender and receiver have different sums of V0 over ordinals "+
					"0 to 127", p.room(2))
			},
		},
		{
			check: "ownership", name: "a landed page attributed to another room", verdict: check.Fail,
			corrupt: func(p *plant) string {
				at := p.at(event.WriteLanded, p.of(2), buffer(wire.K0), first(0))
				p.events[at].Room, p.events[at].Pages = p.room(1), []wire.Page{p.page(2, 0)}
				return fmt.Sprintf("room %d (tenant 2 request 1) at event %d, ordinal 0: its page of K0 landed in page %d of "+
					"decode/0#1, which room %d (tenant 3 request 2) holds", p.room(1), at, p.page(2, 0), p.room(2))
			},
			also: []string{"coverage"},
		},
		{
			check: "ownership", name: "one page moved, to one that another room holds", verdict: check.Fail,
			corrupt: func(p *plant) string {
				taken := p.page(2, 1)
				reserved := p.at(event.PagesReserved, p.of(3), by(wire.Decode))
				p.events[reserved].Pages[5] = taken // the last page: no row of the prompt lies in it
				return fmt.Sprintf("page %d of decode/0#1 was given to room %d (tenant 4 request 3) at event %d while room %d "+
					"(tenant 3 request 2) held it", taken, p.room(3), reserved, p.room(2))
			},
		},
		{
			check: "ownership", name: "another room's metadata slot", verdict: check.Fail,
			corrupt: func(p *plant) string {
				record := p.find(event.WriteLanded, p.of(2), buffer(wire.Record))
				committed := p.at(event.TransferCommitted, p.of(4))
				Expect(record.Slot).NotTo(Equal(p.events[committed].Slot), "the corruption must change something")
				p.events[committed].Slot = record.Slot
				return fmt.Sprintf("room %d (tenant 5 request 4) was committed at event %d with the record of room %d (tenant 3 "+
					"request 2) in metadata slot %d", p.room(4), committed, p.room(2), record.Slot)
			},
		},
	}
}

// drawTeeth are for the check that looks at where each token was drawn from.
func drawTeeth() []tooth {
	return []tooth{
		{
			check: "attribution", name: "one draw from a page of another room", verdict: check.Fail,
			corrupt: func(p *plant) string {
				at, s := p.draw(2, 140)
				s.Page, s.Slot = p.page(3, 1), 4
				return fmt.Sprintf("page %d, room %d, written by tenant 4 request 3 tokens 16-31 at event", s.Page, p.room(2)) +
					fmt.Sprintf("|read by tenant 3 request 2 at event %d", at)
			},
			also: []string{"ownership"},
		},
		{
			check: "attribution", name: "one token changed where it was drawn", verdict: check.Fail,
			corrupt: func(p *plant) string {
				at, s := p.draw(2, 140)
				s.Token ^= 1
				return fmt.Sprintf("room %d (tenant 3 request 2) drew at event %d, for position 140, a token that is not what "+
					"page %d holds", p.room(2), at, s.Page)
			},
		},
	}
}

// endTeeth are for the checks that look at what is left when the run is over, and at faults.
func endTeeth() []tooth {
	return []tooth{
		{
			check: "quiesce", name: "one page not given back", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.find(event.WorkerQuiesced, by(wire.Decode)).Holdings.PagesFree--
				return "decode/0#1 still holds 1 of 16 pages, 0 of 4 metadata slots"
			},
		},
		{
			check: "quiesce", name: "one operation without its end", verdict: check.Fail,
			corrupt: func(p *plant) string {
				p.find(event.WorkerQuiesced, by(wire.Prefill)).Holdings.Outstanding++
				return "prefill/0#1 still holds 0 of 16 pages, 0 of 4 metadata slots, 0 requests and 1 operations"
			},
		},
		{
			check: "fault-fired", name: "the firing removed", verdict: check.Unknown,
			corrupt: func(p *plant) string {
				p.drop(event.FaultFired)
				return "fault duplicate-completion was armed and did not fire"
			},
		},
		{
			check: "fault-fired", name: "a firing that changed nothing", verdict: check.Unknown,
			corrupt: func(p *plant) string {
				e := p.find(event.FaultFired)
				e.After = e.Before
				return "fault duplicate-completion fired and delivered what had been submitted"
			},
		},
		{
			check: "fault-fired", name: "a hold that only idleness released", verdict: check.Unknown,
			corrupt: func(p *plant) string {
				fired := p.at(event.FaultFired)
				p.insert(fired, event.Event{
					Kind: event.HoldReleased, Source: p.events[fired].Source, Fault: p.events[fired].Fault, Count: 1, Reason: "idle",
				})
				return "fault duplicate-completion held something until nothing else could move: its window never opened"
			},
		},
	}
}

// teethOf lists the rows of a check. Where the tree of specs is built, a check without one ends the suite.
func teethOf(name string) (list []tooth) {
	for _, t := range teeth() {
		if t.check == name {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		panic(fmt.Sprintf("check %s has no row in teeth: plant a corruption that it must find", name))
	}
	return list
}

var _ = Describe("every check", func() {
	It("is silent on a clean run, having looked at something", func() {
		report := clean().judge()
		Expect(report.Verdict).To(Equal(check.Pass))
		Expect(report.Results).To(HaveLen(len(check.Checks())))
		for _, r := range report.Results {
			Expect(r.Verdict).To(Equal(check.Pass), "%s: %s %s", r.Check, r.Findings.First.Text, r.NotChecked)
			Expect(r.Looked).To(BeNumerically(">", 0), r.Check)
			Expect(r.Skipped).To(BeZero(), r.Check)
		}
		Expect(outcomesOf(report)).To(Equal(allCorrect))
	})

	for _, name := range check.Checks() {
		for _, t := range teethOf(name) {
			It(name+" finds "+t.name, t.bite)
		}
	}
})

// bite is the spec of one tooth.
func (t tooth) bite() {
	p := clean()
	words := t.corrupt(p)
	report := p.judge()
	var blind []string
	for _, r := range report.Results {
		if r.Check == t.check {
			Expect(r.Verdict).To(Equal(t.verdict), r.Check)
			expectWords(append(findingsOf(r), r.NotChecked), words)
		} else if (r.Verdict != check.Pass) != slices.Contains(t.also, r.Check) {
			blind = append(blind, fmt.Sprintf("%s: %s: %s %s", r.Check, r.Verdict, r.Findings.First.Text, r.NotChecked))
		}
	}
	Expect(blind).To(BeEmpty(), "checks that see it and should not, or should and do not")
	Expect(report.Verdict).To(BeNumerically(">=", t.verdict))
}
