package check

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
)

// exactAnswer verifies that each answer is, token by token, what the symbolic reference says about its prompt (about what
// truncation left of it). It needs the corpus that prompts are made of, and answers in clear.
//
// It does not verify whose text a wrong answer is: a difference alone is never a leak. An engine whose arithmetic is
// not exact needs a measured noise floor before this check means anything.
type exactAnswer struct{ tally }

func (*exactAnswer) name() string                   { return "exact-answer" }
func (*exactAnswer) kinds() []event.Kind            { return nil }
func (*exactAnswer) observe(*history, *event.Event) {}

func (c *exactAnswer) finish(h *history) {
	for i := 1; i < len(h.requests); i++ {
		q := &h.requests[i]
		if q.submitted == 0 || q.status != 200 {
			continue
		}
		c.due = true
		is := &h.conclusions[i]
		if !is.compared {
			c.skip(is.why)
			continue
		}
		c.Looked++
		if is.differs != None {
			c.conclude(h, int32(i), Finding{
				Ordinal: None, Position: q.answeredTokens() + is.differs, say: sayDiffers,
				detail: detail{numbers: [3]int{is.differs, len(q.output), q.maxNewTokens}},
			})
		}
	}
}

func sayDiffers(_ *history, f *Finding) string {
	n := f.detail.numbers
	return fmt.Sprintf("%s was answered with %d tokens of %d asked for, and from token %d on with others than its prompt has",
		subject(f), n[1], n[2], n[0])
}
