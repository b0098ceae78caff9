// Package explore draws small runs from seeds, makes them, judges them, makes them again, and shrinks the ones that went
// wrong.
//
//	scenario.go  what is broken in a run, on which topology, and whom it befalls
//	draw.go      a scenario and a seed give a case: topology, traffic, fault; draws are counter-based
//	explorer.go  one run with a random schedule, recorded; the same run again
//	many.go      n seeds on w goroutines, merged in seed order
//	shrink.go    fewer requests and fewer deviations for the same verdict
//
// A schedule is sparse: at most steps the scheduler takes the next thing that can move, and at about one in
// DeviationPeriod steps anything that can move. Only those are recorded, in the case and so in the journal's header,
// which alone makes the run again, byte for byte.
package explore
