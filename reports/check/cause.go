package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
)

// cause verifies that each status has the cause that it names: 200 that no worker recorded a refusal, 400 and 413 that
// one refused, 499 that somebody aborted, 502 that a peer was lost, 504 that a deadline passed, any other 5xx that
// something broke or was stopped; and that a router which hands on decode's answer did so, unless it lost the peer. It
// needs the events of client and workers.
//
// It does not verify that a refusal was due, that a guard was right to stop what it stopped, nor the text of an answer.
type cause struct{ tally }

func (*cause) name() string                   { return "outcome-fits-cause" }
func (*cause) kinds() []event.Kind            { return nil }
func (*cause) observe(*history, *event.Event) {}

func (c *cause) finish(h *history) {
	for i := 1; i < len(h.requests); i++ {
		q := &h.requests[i]
		if q.submitted == 0 || q.answered == 0 {
			continue // liveness has it
		}
		c.due = true
		c.Looked++
		if problem := misfit(h, q); problem != "" {
			c.conclude(h, int32(i), Finding{
				Ordinal: None, Position: None, say: sayCause,
				detail: detail{numbers: [3]int{q.status}, words: [2]string{problem}},
			})
		}
	}
}

func sayCause(_ *history, f *Finding) string {
	return fmt.Sprintf("%s was answered with status %d, but %s", subject(f), f.detail.numbers[0], f.detail.words[0])
}

// misfit says what is wrong with a status, "" if nothing is.
func misfit(h *history, q *request) string {
	lost := q.status == 502 && h.peersLost > 0
	if !lost && q.finishedStatus != 0 && q.finishedStatus != q.status && h.routes(q, config.DecodeOnly) {
		return fmt.Sprintf("the worker that answers had finished it with %d", q.finishedStatus)
	}
	switch {
	case q.status == 200 && q.refusals > 0:
		return fmt.Sprintf("a worker had refused it at event %d", q.refusedAt-1)
	case q.status == 200:
	case q.status == 400 || q.status == 413:
		if q.refusals+q.rejections == 0 {
			return "nobody refused it"
		}
	case q.status == 499:
		if q.aborts == 0 {
			return "nobody aborted it"
		}
	case lost:
	case q.status == 502:
		return "no peer was lost"
	case q.status == 504:
		if q.expiries == 0 {
			return "no deadline of it had passed"
		}
	case q.status >= 500 && q.status < 600:
		if q.broken+q.rejections+q.expiries+q.aborts+h.faultsFired == 0 {
			return "nothing of it broke and nothing was stopped"
		}
	default:
		return "that is no status of this engine"
	}
	return ""
}
