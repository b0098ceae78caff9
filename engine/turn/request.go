package turn

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Received records a request as it came in.
func (d *Desk) Received(room wire.Room, body wire.Submit) {
	d.Event(&event.Event{
		Kind: event.RequestReceived, Room: room, Tokens: len(body.Prompt), MaxNewTokens: body.MaxNewTokens,
		Hash: HashOf(body.Prompt),
	})
}

// Answer ends a request and answers its client by way of the router. No part of an answer leaves with an error.
func (d *Desk) Answer(router wire.Addr, room wire.Room, answer wire.Finished) {
	if answer.Status != 200 {
		answer.Tokens = nil
	}
	d.Event(&event.Event{
		Kind: event.RequestFinished, Room: room, Status: answer.Status, Tokens: answer.PromptTokens,
		Count: len(answer.Tokens), Reason: answer.Reason,
	})
	d.Send(router, room, answer)
}

// Ask asks admission about a request at a hand-over and records a refusal that is new. Before is the verdict that is
// pending from the hand-overs before, asked the prompt's length in tokens as the client sent it: by now a placeholder may
// stand in for it.
func (d *Desk) Ask(
	admission port.Admission, stage wire.Stage, request port.Request, before port.Verdict, asked int,
) port.Verdict {
	verdict := admission.At(stage, request, before)
	if verdict.Refused && !before.Refused {
		d.Event(&event.Event{
			Kind: event.RefusalRecorded, Room: request.Room, Stage: verdict.Stage, Tokens: asked,
			Reason: verdict.Reason, Flag: verdict.StandIn,
		})
	}
	return verdict
}

// ActsOn tells whether a worker that puts a stand-in in the place of what was refused ends the request at this hand-over.
// A refusal of this very stage is always acted on, except at intake, where only the door guard does; one still pending
// from an earlier stage is acted on only by a worker that honours it. That exception is the defect of public report
// sglang 30233; the control, where it does no harm, has it too.
func ActsOn(verdict port.Verdict, stage wire.Stage, guards guard.Set) bool {
	if !verdict.Refused {
		return false
	}
	if verdict.Stage == stage {
		return stage != wire.AtIntake
	}
	return guards.Has(guard.HonourRefusal)
}
