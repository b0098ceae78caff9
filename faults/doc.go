// Package faults breaks an engine on purpose, from outside.
//
// A fault stands at a seam of a worker (a field of port.Seams) and puts a wrapper in its place. The engine needs those
// seams anyway and does not know that faults exist: the engine hands each worker's seams to Injector.Wrap once, before
// it builds the worker, and no file of the engine imports this package.
//
//	plan.go          a plan: which faults, in which order, with which numbers; its JSON form
//	target.go        what every fault may say: whom it is aimed at, when it is armed, how often it acts
//	catalog.go       the faults there are, in order
//	injector.go      one plan in one run: wrapping, journal events in, actions out
//	instance.go      one fault in one run: its state, its budget, its evidence
//	lifecycle.go     planned, armed, fired, recovered
//	tap.go           the moves over a port: edit, hold, answer early, swallow, and those made of them
//	tap_answers.go   the tap's other half: answers, and releases
//	shapes.go        what a tap must know of writes and of device operations
//	link.go          the same moves over a link
//	lost_message.go  what the faults that lose a message share
//	withhold.go      an allocator that keeps pages back
//	ledger.go        who holds which pages, learnt from journal events
//	reuse_window.go  the window of late writes: the commit of a page's next owner
//
// and one file for each fault, with its test beside it.
//
// # Rules
//
// A fault acts on its own call: at Submit, Cancel, Poll, Send, Reserve. A journal event may arm it or release what it
// holds, but only between turns: Observe queues, Between acts. There is no clock, no goroutine and no sleep here, so a
// stepped run with faults replays as exactly as one without. Whoever steps the engine calls Between after each step and
// Idle when nothing can move, and gives every worker a turn when either says that it did something.
//
// A hold keeps back everything that names the held operation in After (on a link, everything behind it on its channel)
// and is deaf to Cancel. A held operation whose Cancel is answered is a different lie: drained-lie.
//
// Fired means that delivered bytes, order or answers differ from what the engine submitted, and event.FaultFired says
// how, before and after. Armed is not fired; called is not fired; an edit that changes nothing is not fired. A hold
// fires when it is released, because only then has anything been delivered late. A hold that nothing but quiescing
// released has Reason "idle": the window that the fault was meant for never opened.
//
// # Adding a fault
//
//  1. Write a file: a struct whose JSON tags are its configuration, embedding Target and When; Name; Doc (what it does,
//     where it was seen in public, what stops it, what sees it); Validate; home (the roles it may stand at, default
//     first); install, which replaces one field of the seams. Most faults need no wrapper of their own: they
//     hand a moves value to installWriteTap or installLinkTap.
//  2. Write its test beside it: it fires on its target, leaves every other request alone, keeps one Done per Submit
//     (unless that is what it breaks), and releases what it held.
//  3. Add one line to Catalog, and its spelling to the table in plan_test.go.
//
// State belongs in the closures that install makes, never in the struct: one plan serves many runs. Nothing handed to
// Submit may be kept or changed in place: the slices are the worker's. A tap keeps copies of what it holds; an edit makes
// its own.
package faults
