package teeth_test

import (
	"fmt"
	"maps"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/reports/check"
)

// victim is the request that every fault of this file is aimed at. Two tenants fill decode's pool before it; tenant 4's
// request runs beside it and is given pages that were the victim's, where the victim gives up; tenant 5's comes last.
const victim = 2

// cell is one fault where nothing stops it.
type cell struct {
	// equal or unequal pools: with unequal ones, prefill refuses the victim's prompt and decode does not.
	unequal bool
	// guards that are on: those that the fault breaks, none that stops it.
	guards guard.Set
	// what the victim's client does, and how long tenant 4 waits and generates.
	abortAt    event.Kind
	abortCount int
	change     func(*config.Model)
	asks       []ask // in place of the usual traffic

	fault func(at faults.Target) faults.Fault
	// outcomes of the five requests with the fault, and without it: aimed at nobody.
	outcomes, quiet [5]check.Outcome
	// red lists the checks that must find it, each with words of one of its findings; "{room 2}" stands for the room of
	// request 2. No other check may find anything.
	red map[string]string
	// quarantined pages that the run ends with.
	quarantined int
	// unseen says why neither an outcome nor a check changes, for the one fault that this engine cannot be hurt by.
	unseen string
}

const (
	correct  = check.Correct
	aborted  = check.Aborted
	rejected = check.Rejected
	timedOut = check.TimedOut
	garbage  = check.Garbage
	leak     = check.Leak
)

var (
	allCorrect    = [5]check.Outcome{}
	victimAborted = [5]check.Outcome{victim: aborted}
)

// cells has one row for each fault of the catalogue, by its name.
func cells() map[string]cell {
	all := map[string]cell{}
	for _, group := range []map[string]cell{
		shortageCells(), refusalCells(), transferCells(), completionCells(), endingCells(),
	} {
		maps.Copy(all, group)
	}
	return all
}

// cellOf is the row of a fault. Where the tree of specs is built, a fault without one ends the suite.
func cellOf(fault string) cell {
	c, ok := cells()[fault]
	if !ok {
		panic(fmt.Sprintf("fault %s has no row in cells: give it an undefended cell that is red", fault))
	}
	return c
}

// shortageCells leave a worker with less than its limits say, or without a peer.
func shortageCells() map[string]cell {
	return map[string]cell{
		"lost-registration": {
			unequal: true, guards: guard.LimitExchange,
			fault: func(at faults.Target) faults.Fault { return &faults.LostRegistration{Target: at} },
			quiet: [5]check.Outcome{victim: rejected},
			// Nobody serves with a peer that it does not know.
			outcomes: [5]check.Outcome{timedOut, timedOut, timedOut, timedOut, timedOut},
		},
		"shrunken-pool": {
			fault: func(at faults.Target) faults.Fault {
				at.Role = "decode"
				return &faults.ShrunkenPool{Target: at, HoldPages: 8}
			},
			outcomes: [5]check.Outcome{victim: rejected},
		},
		"squatter": {
			// Tenant 2 generates for longer than the victim may wait for the pages that the squatter sits on.
			change: func(m *config.Model) { m.Decode.BootstrapTimeoutTicks = 150 },
			asks: []ask{
				{tenant: 1, promptTokens: 80, answerTokens: 8},
				{tenant: 2, promptTokens: 112, answerTokens: 60, phase: 1},
				{tenant: 3, promptTokens: 64, answerTokens: 8, phase: 1},
				{tenant: 4, promptTokens: 80, answerTokens: 8, phase: 2},
				{tenant: 5, promptTokens: 80, answerTokens: 8, phase: 2},
			},
			fault: func(at faults.Target) faults.Fault {
				at.Role = "decode"
				return &faults.Squatter{
					Target: at, HoldPages: 4, When: faults.When{ArmOn: &faults.Trigger{Event: event.RequestSubmitted}},
					ReleaseOn: &faults.Trigger{Event: event.RequestExpired},
				}
			},
			outcomes: [5]check.Outcome{victim: timedOut},
		},
	}
}

// refusalCells need a prompt that prefill refuses and decode does not.
func refusalCells() map[string]cell {
	return map[string]cell{
		"dropped-rejection-flag": {
			unequal: true, guards: guard.HonourRefusal,
			fault: func(at faults.Target) faults.Fault {
				return &faults.DroppedRejectionFlag{Target: at, Stage: wire.AtIntake}
			},
			quiet:    [5]check.Outcome{victim: timedOut, 3: timedOut}, // tenant 4 waits for the victim's pages, in vain
			outcomes: [5]check.Outcome{victim: leak},
			red: map[string]string{
				"token-accounting": "prefill computed rows for 1 tokens of the prompt, not 130",
				"coverage":         "room {room 2} (tenant 3 request 2) was committed though 9 of its 9 prompt pages",
				"attribution":      "room {room 2}, written by tenant",
				"foreign-canary":   "room {room 2} (tenant 3 request 2) was answered with the canary of tenant",
				"exact-answer":     "room {room 2} (tenant 3 request 2) was answered with",
				"latency-floor":    "room {room 2} (tenant 3 request 2) was answered though only 1 rows of its prompt",
			},
		},
		"lost-refusal-message": {
			unequal: true, guards: guard.DoorRefusal | guard.TellPeer,
			fault:    func(at faults.Target) faults.Fault { return &faults.LostRefusalMessage{Target: at} },
			quiet:    [5]check.Outcome{victim: rejected},
			outcomes: [5]check.Outcome{victim: timedOut, 3: timedOut},
		},
	}
}

// transferCells put other bytes into decode's pages than it was promised.
func transferCells() map[string]cell {
	return map[string]cell{
		"truncated-transfer": {
			fault: func(at faults.Target) faults.Fault {
				return &faults.TruncatedTransfer{Target: at, KeepPages: 1, Claim: faults.ClaimOwed}
			},
			outcomes: [5]check.Outcome{victim: leak},
			red: map[string]string{
				"coverage":       "8 of its 9 prompt pages are not its own, the first at ordinal 1: K0 did not land in page",
				"attribution":    "room {room 2}, written by tenant",
				"foreign-canary": "room {room 2} (tenant 3 request 2) was answered with the canary of tenant",
				"exact-answer":   "room {room 2} (tenant 3 request 2) was answered with",
			},
		},
		"misplaced-page": {
			fault: func(at faults.Target) faults.Fault {
				return &faults.MisplacedPage{Target: at, Page: 4, To: faults.ToSwapped, SwapWith: 5}
			},
			// The model finds a passage wherever its page lies, so the answer is right: only coverage can see it.
			outcomes: allCorrect,
			red: map[string]string{
				"coverage": "2 of its 9 prompt pages are not its own, the first at ordinal 4: K0 did not land in page",
			},
		},
		"overwritten-page": {
			fault:    func(at faults.Target) faults.Fault { return &faults.OverwrittenPage{Target: at, Page: 2} },
			outcomes: [5]check.Outcome{victim: garbage},
			red: map[string]string{
				"coverage":     "1 of its 9 prompt pages are not its own, the first at ordinal 2: K0 did not land in page",
				"ownership":    "of decode/0#1, which room {room 2} (tenant 3 request 2) holds",
				"exact-answer": "room {room 2} (tenant 3 request 2) was answered with",
			},
		},
		"stale-metadata-slot": {
			fault:    func(at faults.Target) faults.Fault { return &faults.StaleMetadataSlot{Target: at} },
			outcomes: [5]check.Outcome{victim: garbage},
			red:      map[string]string{"exact-answer": "and from token 0 on with others than its prompt has"},
		},
	}
}

// completionCells tell prefill of writes otherwise than they went.
func completionCells() map[string]cell {
	return map[string]cell{
		"early-completion": {
			fault:    func(at faults.Target) faults.Fault { return &faults.EarlyCompletion{Target: at} },
			outcomes: [5]check.Outcome{victim: leak},
			red: map[string]string{
				"coverage":       "9 of its 9 prompt pages are not its own, the first at ordinal 0: K0 did not land in page",
				"ownership":      "room {room 2} (tenant 3 request 2) at event",
				"attribution":    "room {room 2}, written by tenant",
				"foreign-canary": "room {room 2} (tenant 3 request 2) was answered with the canary of tenant",
				"exact-answer":   "room {room 2} (tenant 3 request 2) was answered with",
			},
		},
		"lost-completion": {
			fault:    func(at faults.Target) faults.Fault { return &faults.LostCompletion{Target: at} },
			outcomes: [5]check.Outcome{victim: timedOut, 3: timedOut},
			red:      map[string]string{"quiesce": "prefill/0#1 still holds 0 of 16 pages"},
		},
		"duplicate-completion": {
			fault:    func(at faults.Target) faults.Fault { return &faults.DuplicateCompletion{Target: at} },
			outcomes: allCorrect,
			unseen:   "prefill knows completions by their ticket, and no switch turns that off",
		},
	}
}

// endingCells befall a request that its client gives up.
func endingCells() map[string]cell {
	// A write of the victim lands in pages that are tenant 4's by then, and tenant 4 is answered from them.
	ofNextOwner := map[string]string{
		"ownership":    "of decode/0#1, which room {room 3} (tenant 4 request 3) holds",
		"attribution":  "room {room 3}, written by tenant 3 request 2",
		"exact-answer": "room {room 3} (tenant 4 request 3) was answered with",
	}
	return map[string]cell{
		"held-abort": {
			abortAt: event.WritePosted, abortCount: 1,
			fault:    func(at faults.Target) faults.Fault { return &faults.HeldAbort{Target: at} },
			outcomes: victimAborted, quiet: victimAborted,
			red: map[string]string{"ownership": "room {room 2} (tenant 3 request 2) at event"},
		},
		"lost-abort-ack": {
			// What bounds the wait is part of the guard itself: pages that nobody vouches for are never handed out again.
			guards: guard.DeferredRelease, abortAt: event.WritePosted, abortCount: 1,
			fault:    func(at faults.Target) faults.Fault { return &faults.LostAbortAck{Target: at} },
			outcomes: [5]check.Outcome{victim: aborted, 3: timedOut, 4: timedOut}, quiet: victimAborted, quarantined: 10,
		},
		"late-write": {
			abortAt: event.WritePosted, abortCount: 16,
			fault:    func(at faults.Target) faults.Fault { return &faults.LateWrite{Target: at} },
			outcomes: [5]check.Outcome{victim: aborted, 3: leak}, quiet: victimAborted,
			red: ofNextOwner,
		},
		"drained-lie": {
			guards: guard.DeferredRelease, abortAt: event.WritePosted, abortCount: 16,
			fault:    func(at faults.Target) faults.Fault { return &faults.DrainedLie{Target: at} },
			outcomes: [5]check.Outcome{victim: aborted, 3: leak}, quiet: victimAborted,
			red: ofNextOwner,
		},
		"late-operation": {
			abortAt: event.TransferCommitted, abortCount: 1,
			fault:    func(at faults.Target) faults.Fault { return &faults.LateOperation{Target: at} },
			outcomes: victimAborted, quiet: victimAborted,
			red: map[string]string{
				"ownership":   "a row was written in page",
				"attribution": "room {room 2}, written by tenant 4 request 3",
			},
		},
	}
}
