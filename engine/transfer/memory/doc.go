// Package memory is the in-process transport: one-sided writes between pools of one process, and the links between its
// workers. Bytes move by copy, one page of one buffer a step, so a schedule can put anything between two of them; and
// since our own code moves them, each landing is an event.
//
// What it does not do: it takes no locks and starts nothing. Who steps it, and how often, is the runner's business.
package memory
