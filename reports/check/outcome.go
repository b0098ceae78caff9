package check

import "fmt"

// Verdict is three-valued, in the order of what wins: fail beats unknown beats pass.
type Verdict uint8

// The verdicts.
const (
	Pass Verdict = iota
	Unknown
	Fail
)

var verdictNames = [...]string{"pass", "unknown", "fail"}

func (v Verdict) String() string { return nameOf(verdictNames[:], uint8(v), "verdict") }

// MarshalText lets a verdict be a JSON string.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Verdict) UnmarshalText(text []byte) error {
	i, err := indexOf(verdictNames[:], string(text), "verdict")
	*v = Verdict(i)
	return err
}

// Outcome is what became of one request, in the order of how bad it is.
type Outcome uint8

// The outcomes.
const (
	// Correct: answered with the text that its prompt has.
	Correct Outcome = iota
	// Shortened: a truncated prompt was answered, with the text that the truncated prompt has.
	Shortened
	// Aborted: the client cancelled (499).
	Aborted
	// Rejected: refused (400, 413).
	Rejected
	// TimedOut: a deadline passed (504).
	TimedOut
	// Failed: any other status.
	Failed
	// Lost: no answer.
	Lost
	// Garbage: answered with other text, and nothing shows that it is anybody's.
	Garbage
	// Stale: answered from rows, or with text, of another request of the same tenant.
	Stale
	// Leak: answered from rows, or with text, of another tenant.
	Leak

	// Outcomes counts them.
	Outcomes = int(Leak) + 1
)

var outcomeNames = [Outcomes]string{
	"correct", "shortened", "aborted", "rejected", "timed-out", "failed", "lost", "garbage", "stale", "leak",
}

func (o Outcome) String() string { return nameOf(outcomeNames[:], uint8(o), "outcome") }

// MarshalText lets an outcome be a JSON string.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Outcome) UnmarshalText(text []byte) error {
	i, err := indexOf(outcomeNames[:], string(text), "outcome")
	*o = Outcome(i)
	return err
}

// WorstOf is the worst outcome that was counted at least once; Correct if none was.
func WorstOf(counts [Outcomes]int) Outcome {
	for o := Outcomes - 1; o > 0; o-- {
		if counts[o] > 0 {
			return Outcome(o)
		}
	}
	return Correct
}

// Bad reports whether the client was answered, and not with what its prompt has.
func (o Outcome) Bad() bool { return o >= Garbage }

func nameOf(names []string, i uint8, what string) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

func indexOf(names []string, name, what string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s %q: want one of %v", what, name, names)
}
