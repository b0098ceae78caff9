// Package equality holds the specs that compare the engine's model, over real pages, with the symbolic reference, which
// knows token ids alone: the same token, from the same row, at every length up to the longest prompt of the incident's
// model, on every kernel that this machine can run.
package equality
