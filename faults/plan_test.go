package faults

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// spellings has, for each fault, the JSON that a plan may hold and the struct that it must come out as.
func spellings() map[string]Fault {
	v1 := wire.V1
	return map[string]Fault{
		`{"fault":"lost-registration","role":"decode","to":"prefill"}`: &LostRegistration{
			Target: Target{Role: "decode"}, To: "prefill",
		},
		`{"fault":"shrunken-pool","role":"prefill","worker":0,"hold_pages":3}`: &ShrunkenPool{
			Target: Target{Role: "prefill", Worker: number(0)}, HoldPages: 3,
		},
		`{"fault":"squatter","arm_on":{"event":"transfer.committed","by":"decode","request":3,"nth":2},` +
			`"hold_pages":40,"release_on":{"event":"request.finished"}}`: &Squatter{
			When:      When{ArmOn: &Trigger{Event: event.TransferCommitted, By: "decode", Request: number(3), Nth: 2}},
			HoldPages: 40, ReleaseOn: &Trigger{Event: event.RequestFinished},
		},
		`{"fault":"dropped-rejection-flag","count":1,"stage":"waiting"}`: &DroppedRejectionFlag{
			When: When{Count: 1}, Stage: wire.AtWaiting,
		},
		`{"fault":"lost-refusal-message","request":9}`: &LostRefusalMessage{Target: Request(9)},
		`{"fault":"truncated-transfer","request":9,"keep_pages":1,"claim":"owed"}`: &TruncatedTransfer{
			Target: Request(9), KeepPages: 1, Claim: ClaimOwed,
		},
		`{"fault":"misplaced-page","page":2,"to":"swapped","swap_with":0,"with_stamps":true}`: &MisplacedPage{
			Page: 2, To: ToSwapped, SwapWith: 0, WithStamps: true,
		},
		`{"fault":"overwritten-page","request":0,"page":4}`: &OverwrittenPage{
			Target: Request(0), Page: 4,
		},
		`{"fault":"stale-metadata-slot","keep":"room-and-tokens"}`: &StaleMetadataSlot{Keep: KeepLength},
		`{"fault":"early-completion","request":1,"mis_aimed":true}`: &EarlyCompletion{
			Target: Target{Request: number(1), MisAimed: true},
		},
		`{"fault":"lost-completion","buffer":"V1"}`: &LostCompletion{Buffer: &v1},
		`{"fault":"duplicate-completion"}`:          &DuplicateCompletion{},
		`{"fault":"held-abort","release_on":{"event":"write.ended"}}`: &HeldAbort{
			ReleaseOn: &Trigger{Event: event.WriteEnded},
		},
		`{"fault":"lost-abort-ack","count":2}`:   &LostAbortAck{When: When{Count: 2}},
		`{"fault":"late-write","request":5}`:     &LateWrite{Target: Request(5)},
		`{"fault":"drained-lie","request":5}`:    &DrainedLie{Target: Request(5)},
		`{"fault":"late-operation","request":5}`: &LateOperation{Target: Request(5)},
	}
}

// It proves that every fault of the catalogue has a spelling, that it reads as its struct, and that writing the plan
// gives the same bytes back: the journal's header holds the plan that was run.
func TestEveryFaultReadsAndWritesItsSpelling(t *testing.T) {
	g := NewWithT(t)
	spelt := map[string]bool{}
	for text, want := range spellings() {
		plan, err := ParsePlan([]byte(`{"faults":[` + text + `]}`))
		g.Expect(err).NotTo(HaveOccurred(), text)
		g.Expect(plan.Faults).To(Equal([]Spec{{Fault: want}}), text)
		back, err := json.Marshal(plan)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(back)).To(Equal(`{"faults":[` + text + `]}`))
		spelt[want.Name()] = true
	}
	for _, name := range Names() {
		g.Expect(spelt).To(HaveKey(name), "every fault needs a line in spellings")
	}
}

// It proves that a field left out has the catalogue's default.
func TestFieldsLeftOutHaveDefaults(t *testing.T) {
	g := NewWithT(t)
	plan, err := ParsePlan([]byte(`{"faults":[{"fault":"truncated-transfer"}]}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plan.Faults[0].Fault).To(Equal(&TruncatedTransfer{KeepPages: 1, Claim: ClaimOwed}))
}

// It proves that each kind of bad plan is refused, and that the error says where and what to write instead.
func TestBadPlansAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                          "unexpected end",
		`[]`:                        "plan:",
		`{"faults":[]} {}`:          "invalid character",
		`{"fault":[]}`:              `unknown field "fault"`,
		`{"Faults":[]}`:             `field "Faults"`,
		`{"faults":[],"faults":[]}`: `field "faults": given twice`,
		`{"faults":[{"fault":"late-write","request":1,"request":2}]}`: `field "request": given twice`,
		`{"faults":[7]}`:           "faults[0]: want an object",
		`{"faults":[null]}`:        `faults[0]: "fault" must name one of lost-registration`,
		`{"faults":[{"fault":7}]}`: `"fault" must name one of`,
		`{"faults":[{"fault":"late-write"},{"fault":"slow-write"}]}`:                             `faults[1]: fault "slow-write" is not known`,
		`{"faults":[{"fault":"late-write","keep_pages":1}]}`:                                     `"late-write": json: unknown field "keep_pages"`,
		`{"faults":[{"fault":"late-write","request":-1}]}`:                                       `request -1: want an index`,
		`{"faults":[{"fault":"late-write","request":1.5}]}`:                                      `"late-write": json: cannot unmarshal`,
		`{"faults":[{"fault":"late-write","worker":256}]}`:                                       `worker 256`,
		`{"faults":[{"fault":"late-write","role":"decode"}]}`:                                    `role "decode": this fault stands at [prefill]`,
		`{"faults":[{"fault":"late-write","count":-1}]}`:                                         `count -1`,
		`{"faults":[{"fault":"late-write","arm_on":{}}]}`:                                        `a trigger needs an event`,
		`{"faults":[{"fault":"late-write","arm_on":{"event":"page.lost"}}]}`:                     `event kind "page.lost"`,
		`{"faults":[{"fault":"late-write","arm_on":{"event":"write.posted","when":1}}]}`:         `unknown field "when"`,
		`{"faults":[{"fault":"late-write","arm_on":{"event":"write.posted","by":"nobody"}}]}`:    `arm_on: by "nobody"`,
		`{"faults":[{"fault":"late-write","arm_on":{"event":"write.posted","nth":-2}}]}`:         `arm_on: nth -2`,
		`{"faults":[{"fault":"late-write","release_on":{"event":"write.posted","request":-2}}]}`: `release_on: request -2`,
		`{"faults":[{"fault":"shrunken-pool","hold_pages":0}]}`:                                  `hold_pages 0`,
		`{"faults":[{"fault":"shrunken-pool","count":1}]}`:                                       `unknown field "count"`,
		`{"faults":[{"fault":"squatter","hold_pages":4}]}`:                                       `arm_on: needed`,
		`{"faults":[{"fault":"squatter","count":4,"arm_on":{"event":"write.posted"}}]}`:          `count 4: a squatter`,
		`{"faults":[{"fault":"truncated-transfer","keep_pages":-1}]}`:                            `keep_pages -1`,
		`{"faults":[{"fault":"truncated-transfer","keep_pages":99999999999999999999}]}`:          `cannot unmarshal number`,
		`{"faults":[{"fault":"truncated-transfer","claim":"all"}]}`:                              `claim "all": want "kept" or "owed"`,
		`{"faults":[{"fault":"dropped-rejection-flag","stage":"lunch"}]}`:                        `stage "lunch"`,
		`{"faults":[{"fault":"dropped-rejection-flag","stage":"transfer"}]}`:                     `stage`,
		`{"faults":[{"fault":"misplaced-page","page":1}]}`:                                       `swap_with 1: want the ordinal of another page`,
		`{"faults":[{"fault":"misplaced-page","to":"moon"}]}`:                                    `to "moon"`,
		`{"faults":[{"fault":"misplaced-page","page":-1}]}`:                                      `page -1`,
		`{"faults":[{"fault":"overwritten-page","page":-1}]}`:                                    `page -1`,
		`{"faults":[{"fault":"stale-metadata-slot","keep":"all"}]}`:                              `keep "all"`,
		`{"faults":[{"fault":"stale-metadata-slot","to_slot":-1}]}`:                              `to_slot -1`,
		`{"faults":[{"fault":"stale-metadata-slot","keep":"room","to_slot":1}]}`:                 `keep and to_slot`,
		`{"faults":[{"fault":"lost-completion","buffer":"K9"}]}`:                                 `buffer "K9"`,
		`{"faults":[{"fault":"lost-registration","to":"moon"}]}`:                                 `to "moon"`,
		`{"faults":[{"fault":"lost-refusal-message","to":"moon"}]}`:                              `to "moon"`,
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			_, err := ParsePlan([]byte(text))
			g.Expect(err).To(MatchError(ContainSubstring(want)))
		})
	}
}

// It proves that a plan's size is bounded before it is read.
func TestHugePlansAreRefused(t *testing.T) {
	g := NewWithT(t)
	_, err := ParsePlan([]byte(strings.Repeat(" ", PlanBytesMax+1)))
	g.Expect(err).To(MatchError(ContainSubstring("at most 1048576")))
	many := strings.Repeat(`{"fault":"late-write"},`, PlanFaultsMax+1)
	_, err = ParsePlan([]byte(`{"faults":[` + strings.TrimSuffix(many, ",") + `]}`))
	g.Expect(err).To(MatchError(ContainSubstring("257 faults, at most 256")))
}

// FuzzParsePlan holds the reader to never panicking, and to accepting only plans that it writes back and reads as the
// same, and that can be armed.
func FuzzParsePlan(f *testing.F) {
	for text := range spellings() {
		f.Add([]byte(`{"faults":[` + text + `]}`))
	}
	f.Add([]byte(`{"faults":[{"fault":"late-write","arm_on":{"event":"write.posted"}},null,{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		plan, err := ParsePlan(data)
		if err != nil {
			return
		}
		g := NewWithT(t)
		text, err := json.Marshal(plan)
		g.Expect(err).NotTo(HaveOccurred())
		again, err := ParsePlan(text)
		g.Expect(err).NotTo(HaveOccurred(), "%s", text)
		g.Expect(again).To(Equal(plan))
		_, err = New(plan, noRooms, discard)
		g.Expect(err).NotTo(HaveOccurred())
	})
}
