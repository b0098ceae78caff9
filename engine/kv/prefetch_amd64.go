package kv

// prefetchLines asks the processor to bring cache lines nearer, from the one at first on. It never faults.
//
//go:noescape
func prefetchLines(first *byte, lines int)
