package explore

import (
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/faults"
	"github.com/stalepage/stalepage/fixtures/topologies"
)

// Scenario is what is broken in a run, on which sort of topology, and what its victim is like.
type Scenario struct {
	// Name says it in a few words.
	Name   string
	Family topologies.Family
	// Fault builds the fault, aimed at the victim; nil breaks nothing.
	Fault func(at faults.Target, d Die) faults.Fault
	// Oversized makes the victim's prompt one that decode accepts and prefill refuses. It needs unequal pools.
	Oversized bool
	// Abort lists the events at one of which the victim's client gives up; empty leaves it to the traffic.
	Abort []event.Kind
	// Reuse makes decode hand out the page that was freed last, so that what comes late meets a new owner soon.
	Reuse bool
	// Lossy says that an acknowledgement or a completion is lost for good: pages may then stay held, or quarantined.
	Lossy bool
}

// FaultName is the fault's name in the catalogue, "" if nothing is broken.
func (s Scenario) FaultName() string {
	if s.Fault == nil {
		return ""
	}
	return s.Fault(faults.Request(0), Die{}).Name()
}

// underway are the events at which a transfer is under way.
var underway = []event.Kind{event.WritePosted, event.RowsComputed}

// Scenarios lists every way in which the explorer breaks a small cluster, at least one for each fault of the catalogue.
func Scenarios() []Scenario {
	var list []Scenario
	for _, group := range [][]Scenario{healthy(), refusals(), transfers(), slots(), completions(), endings(), shortages()} {
		list = append(list, group...)
	}
	return list
}

func healthy() []Scenario {
	return []Scenario{
		{Name: "none, equal pools", Family: topologies.EqualPools},
		{Name: "none, unequal pools (the incident)", Family: topologies.ShrunkenPrefill, Oversized: true},
	}
}

// refusals need a prompt that only prefill refuses.
func refusals() []Scenario {
	var list []Scenario
	for _, stage := range []wire.Stage{wire.AtIntake, wire.AtBootstrap, wire.AtWaiting, wire.AtForward} {
		list = append(list, Scenario{
			Name: "refusal dropped at " + stage.String(), Family: topologies.ShrunkenPrefill, Oversized: true,
			Fault: func(at faults.Target, _ Die) faults.Fault {
				return &faults.DroppedRejectionFlag{Target: at, Stage: stage}
			},
		})
	}
	return append(list,
		Scenario{
			Name: "refusal lost at the hand-off", Family: topologies.ShrunkenPrefill, Oversized: true,
			Fault: func(at faults.Target, _ Die) faults.Fault { return &faults.LostRefusalMessage{Target: at} },
		},
		Scenario{
			Name: "registration of prefill lost", Family: topologies.ShrunkenPrefill, Oversized: true,
			Fault: func(at faults.Target, _ Die) faults.Fault {
				return &faults.LostRegistration{Target: role(at, wire.Prefill)}
			},
		},
		Scenario{
			Name: "registration of decode lost",
			Fault: func(at faults.Target, _ Die) faults.Fault {
				return &faults.LostRegistration{Target: role(at, wire.Decode)}
			},
		},
	)
}

func transfers() []Scenario {
	truncated := func(claim faults.Claim, whole bool) func(faults.Target, Die) faults.Fault {
		return func(at faults.Target, d Die) faults.Fault {
			return &faults.TruncatedTransfer{Target: at, KeepPages: d.Below("keep-pages", 3), Claim: claim, StampsWhole: whole}
		}
	}
	misplaced := func(to faults.Destination, stamps bool) func(faults.Target, Die) faults.Fault {
		return func(at faults.Target, d Die) faults.Fault {
			page := d.Below("page", 3)
			return &faults.MisplacedPage{Target: at, Page: page, To: to, SwapWith: page + 1, WithStamps: stamps}
		}
	}
	return []Scenario{
		{Name: "truncated, claims what it kept", Fault: truncated(faults.ClaimKept, false)},
		{Name: "truncated, claims what it owed", Fault: truncated(faults.ClaimOwed, false)},
		{Name: "truncated, claims what it owed, stamps whole", Fault: truncated(faults.ClaimOwed, true)},
		{Name: "pages swapped", Fault: misplaced(faults.ToSwapped, false)},
		{Name: "pages swapped, stamps too", Fault: misplaced(faults.ToSwapped, true)},
		{Name: "page to another room", Fault: misplaced(faults.ToOtherRoom, false)},
		{Name: "page to nobody", Fault: misplaced(faults.ToUnheld, false)},
		{
			Name: "page overwritten before commit",
			Fault: func(at faults.Target, d Die) faults.Fault {
				return &faults.OverwrittenPage{Target: at, Page: d.Below("page", 3)}
			},
		},
	}
}

func slots() []Scenario {
	stale := func(keep faults.Keep) func(faults.Target, Die) faults.Fault {
		return func(at faults.Target, _ Die) faults.Fault { return &faults.StaleMetadataSlot{Target: at, Keep: keep} }
	}
	return []Scenario{
		{Name: "stale slot, nothing new", Fault: stale(faults.KeepNothing)},
		{Name: "stale slot, new room", Fault: stale(faults.KeepRoom)},
		{Name: "stale slot, new room and length", Fault: stale(faults.KeepLength)},
	}
}

func completions() []Scenario {
	return []Scenario{
		{
			Name:  "completion early",
			Fault: func(at faults.Target, _ Die) faults.Fault { return &faults.EarlyCompletion{Target: at} },
		},
		{
			Name: "completion lost", Lossy: true,
			Fault: func(at faults.Target, _ Die) faults.Fault { return &faults.LostCompletion{Target: at} },
		},
		{
			Name:  "completion twice",
			Fault: func(at faults.Target, _ Die) faults.Fault { return &faults.DuplicateCompletion{Target: at} },
		},
	}
}

// endings befall a request that its client gives up.
func endings() []Scenario {
	return []Scenario{
		{
			Name: "abort held", Abort: underway, Reuse: true,
			Fault: func(at faults.Target, _ Die) faults.Fault { return &faults.HeldAbort{Target: at} },
		},
		{
			Name: "abort answer lost once", Abort: underway, Reuse: true,
			Fault: func(at faults.Target, _ Die) faults.Fault {
				return &faults.LostAbortAck{Target: at, When: faults.When{Count: 1}}
			},
		},
		{
			Name: "abort answer always lost", Abort: underway, Reuse: true, Lossy: true,
			Fault: func(at faults.Target, _ Die) faults.Fault { return &faults.LostAbortAck{Target: at} },
		},
		{
			Name: "late write", Abort: underway, Reuse: true,
			Fault: func(at faults.Target, _ Die) faults.Fault { return &faults.LateWrite{Target: at} },
		},
		{
			Name: "late write, drain falsely confirmed", Abort: underway, Reuse: true,
			Fault: func(at faults.Target, _ Die) faults.Fault { return &faults.DrainedLie{Target: at} },
		},
		{
			Name: "late operation", Abort: []event.Kind{event.TransferCommitted}, Reuse: true,
			Fault: func(at faults.Target, _ Die) faults.Fault { return &faults.LateOperation{Target: at} },
		},
	}
}

// shortages leave a worker fewer pages than its limits say.
func shortages() []Scenario {
	return []Scenario{
		{
			Name: "decode pool shrunken",
			Fault: func(at faults.Target, d Die) faults.Fault {
				return &faults.ShrunkenPool{Target: role(at, wire.Decode), HoldPages: 4 + d.Below("hold-pages", 6)}
			},
		},
		{
			Name: "prefill pool shrunken",
			Fault: func(at faults.Target, d Die) faults.Fault {
				return &faults.ShrunkenPool{Target: role(at, wire.Prefill), HoldPages: 4 + d.Below("hold-pages", 6)}
			},
		},
		{
			Name: "squatter in decode's pool",
			Fault: func(at faults.Target, d Die) faults.Fault {
				return &faults.Squatter{
					Target: role(at, wire.Decode), HoldPages: 4 + d.Below("hold-pages", 6),
					When: faults.When{ArmOn: &faults.Trigger{Event: event.RequestReceived, Request: at.Request}},
				}
			},
		},
	}
}

// role points a target at the workers of one role.
func role(at faults.Target, r wire.Role) faults.Target {
	at.Role = r.String()
	return at
}
