package turn

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// A request is recorded with what identifies its prompt and never with the prompt.
func TestReceived(t *testing.T) {
	d := New(here, nil)
	d.Begin(1)
	d.Received(7, wire.Submit{Prompt: []wire.Token{1, 2, 3}, MaxNewTokens: 4})
	NewWithT(t).Expect(d.Effects().Events).To(Equal([]event.Event{{
		Kind: event.RequestReceived, Source: here, Room: 7, Tokens: 3, MaxNewTokens: 4, Hash: HashOf([]wire.Token{1, 2, 3}),
	}}))
}

// What is recorded of an answer is what is sent, and an error is sent without tokens.
func TestAnswer(t *testing.T) {
	router := wire.Addr{Role: wire.Router, Incarnation: 1}
	for _, c := range []struct{ status, tokens int }{{200, 2}, {400, 0}, {499, 0}, {504, 0}} {
		g := NewWithT(t)
		d := New(here, nil)
		d.Begin(1)
		d.Answer(router, 7, wire.Finished{
			Status: c.status, PromptTokens: 30, Tokens: []wire.Token{8, 9}, Truncated: true, Reason: "because",
		})
		e := d.Effects()
		g.Expect(e.Events).To(Equal([]event.Event{{
			Kind: event.RequestFinished, Source: here, Room: 7, Status: c.status, Tokens: 30, Count: c.tokens, Reason: "because",
		}}))
		g.Expect(e.Send).To(HaveLen(1))
		g.Expect(e.Send[0]).To(And(HaveField("To", router), HaveField("Room", wire.Room(7))))
		g.Expect(e.Send[0].Body).To(Equal(wire.Finished{
			Status: c.status, PromptTokens: 30, Tokens: [][]wire.Token{nil, 2: {8, 9}}[c.tokens], Truncated: true, Reason: "because",
		}))
	}
}

// admission answers as it is told, and remembers what it was asked.
type admission struct {
	answer  port.Verdict
	stage   wire.Stage
	request port.Request
	before  port.Verdict
}

func (a *admission) At(stage wire.Stage, request port.Request, before port.Verdict) port.Verdict {
	a.stage, a.request, a.before = stage, request, before
	return a.answer
}

// Admission is asked about the request as it is now, and hears what is pending; a refusal is recorded when it is new,
// with the length that was asked for, and only then.
func TestAsk(t *testing.T) {
	pending := port.Verdict{Refused: true, Stage: wire.AtIntake, Reason: "too long"}
	refused := port.Verdict{Refused: true, Stage: wire.AtForward, Reason: "too much", StandIn: true}
	for name, c := range map[string]struct {
		before, answer port.Verdict
		recorded       bool
	}{
		"let through":         {port.Verdict{}, port.Verdict{}, false},
		"refused":             {port.Verdict{}, refused, true},
		"still refused":       {pending, refused, false},
		"the refusal is lost": {pending, port.Verdict{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d := New(here, nil)
			d.Begin(1)
			a := &admission{answer: c.answer}
			request := port.Request{Room: 7, Tokens: 1, MaxNewTokens: 2}
			g.Expect(d.Ask(a, wire.AtForward, request, c.before, 300)).To(Equal(c.answer))
			g.Expect(*a).To(Equal(admission{answer: c.answer, stage: wire.AtForward, request: request, before: c.before}))
			if !c.recorded {
				g.Expect(d.Effects().Events).To(BeEmpty())
				return
			}
			g.Expect(d.Effects().Events).To(Equal([]event.Event{{
				Kind: event.RefusalRecorded, Source: here, Room: 7, Stage: wire.AtForward, Tokens: 300, Reason: "too much", Flag: true,
			}}))
		})
	}
}

// Which refusals end a request at a hand-over, with and without the guard that honours an earlier one.
func TestActsOn(t *testing.T) {
	at := func(stage wire.Stage) port.Verdict { return port.Verdict{Refused: true, Stage: stage} }
	for name, c := range map[string]struct {
		verdict       port.Verdict
		stage         wire.Stage
		bare, honours bool
	}{
		"no refusal":           {port.Verdict{Stage: wire.AtForward}, wire.AtForward, false, false},
		"of this stage":        {at(wire.AtForward), wire.AtForward, true, true},
		"at the door":          {at(wire.AtHTTP), wire.AtHTTP, true, true},
		"at intake":            {at(wire.AtIntake), wire.AtIntake, false, false},
		"of an earlier stage":  {at(wire.AtIntake), wire.AtForward, false, true},
		"earlier, seen intake": {at(wire.AtHTTP), wire.AtIntake, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(ActsOn(c.verdict, c.stage, guard.All&^guard.HonourRefusal)).To(Equal(c.bare))
			g.Expect(ActsOn(c.verdict, c.stage, guard.HonourRefusal)).To(Equal(c.honours))
		})
	}
}
