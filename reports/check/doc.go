// Package check judges a run from its events alone. It drives nothing and asks nobody: a report is a pure function of
// the events of a journal, in order, and of its header, so that an old run can be judged again by a newer check.
//
// Two layers. The history follows the events and knows, at each of them, who holds which page, who wrote which row and
// whose text that row holds (pool.go, origin.go, request.go). The checks look at the history and at the events, each in
// a file of its own that opens with what it verifies and what it does not:
//
//	well-formed        the events can be followed at all
//	liveness           every request was answered, once
//	outcome-fits-cause each status has the cause that it names
//	token-accounting   client, prefill and decode counted the same tokens
//	coverage           every page of the prompt arrived before decode committed
//	ownership          pages are written and read by their holder only
//	attribution        whose row each token was drawn from
//	foreign-canary     no answer holds another tenant's text
//	exact-answer       each answer is the one that its prompt has
//	latency-floor      no answer is faster than its prompt can be computed
//	fault-fired        every armed fault changed something
//	quiesce            nothing is held at the end
//
// A check proves that it ran. It counts what it looked at and what it had to skip; a skip, or nothing looked at where
// there was something, is unknown, and so is a check that panics.
package check
