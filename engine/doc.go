// Package engine assembles the reference engine and runs it in steps: a prefill/decode-disaggregated inference engine
// with real pages and real bytes, faithful to SGLang's disaggregation in names and order of events.
//
// The life of a request, and the file to read for each line:
//
//	router/router.go       draws nothing, decides little: posts the same body to prefill and decode at once
//	prefill/prefill.go     intake: admission is asked; a refusal may leave a one-token placeholder in the queue
//	decode/schedule.go     preallocation: pages for the full prompt and its answer; tells prefill where they lie
//	prefill/schedule.go    bootstrap, waiting, forward: chunk by chunk
//	model/prefill.go       what a chunk computes: the integer induction transformer's keys and values
//	prefill/send.go        whole pages per chunk, the rest with the last; then the metadata record; then "done"
//	transfer/memory        one-sided writes: a step lands one page of one buffer in decode's pool
//	decode/commit.go       what decode proves before it believes "done"
//	decode/schedule.go     decode steps: one token a running request, from whatever its pages hold
//	decode/release.go      when the pages go back, and who may still be writing to them
//	*/peer.go              what becomes of it when a peer is gone, and who is served after that
//
// Workers are pure state machines (port.Worker). Everything asynchronous stands behind a port; the runner in run.go steps
// workers, links, write engines, device queues and clients one at a time, in an order that a Choose function picks.
// The same choices give the same run, byte for byte.
//
// Nothing here knows faults, incidents or checks. Options.Wrap puts something else at a seam; Options.Record hears what
// happened.
package engine
