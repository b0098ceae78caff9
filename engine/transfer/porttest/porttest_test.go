package porttest

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// number is a subject simple enough to see through.
type number struct{ value int }

func positive(t T, n *number) {
	if n.value <= 0 {
		t.Errorf("%d is not positive", n.value)
	}
}

func even(t T, n *number) {
	if n.value%2 != 0 {
		t.Fatalf("%d is odd", n.value)
	}
	n.value = 0
}

// A complaint is kept, a fatal one ends the clause, and a panic of the subject's own is not taken for either.
func TestJudge(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Judge(Clause[*number]{"positive", positive}, &number{-1})).To(Equal([]string{"-1 is not positive"}))
	g.Expect(Judge(Clause[*number]{"positive", positive}, &number{1})).To(BeEmpty())
	odd := &number{3}
	g.Expect(Judge(Clause[*number]{"even", even}, odd)).To(Equal([]string{"3 is odd"}))
	g.Expect(odd.value).To(Equal(3), "the clause went on after Fatalf")
	g.Expect(func() { Judge(Clause[*number]{"positive", positive}, nil) }).To(Panic())
}

// The table of flaws is itself held to account: a flaw that is none, a clause that does not exist, a clause without a flaw,
// and a clause that complains of the sound subject are each reported, and a sound table is not.
func TestCheckFlaws(t *testing.T) {
	clauses := []Clause[*number]{{"positive", positive}, {"even", even}}
	set := func(name, clause string, value int) Flaw[*number] {
		return Flaw[*number]{name, clause, func(*number) *number { return &number{value} }}
	}
	sound := []Flaw[*number]{set("negative", "positive", -2), set("odd", "even", 1)}
	for _, c := range []struct {
		name    string
		flaws   []Flaw[*number]
		subject int
		want    string
	}{
		{"sound", sound, 2, ""},
		{"harmless", append(sound, set("none", "even", 4)), 2, `flaw "none" passes`},
		{"nowhere", append(sound, set("lost", "prime", 4)), 2, "which does not exist"},
		{"unproved", sound[:1], 2, `clause "even" was never seen to fail`},
		{"too strict", sound, 3, `clause "even" complains of the sound`},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := &judge{}
			CheckFlaws(j, clauses, c.flaws, func() *number { return &number{c.subject} })
			got := strings.Join(j.complaints, "\n")
			if c.want == "" {
				NewWithT(t).Expect(got).To(BeEmpty())
			} else {
				NewWithT(t).Expect(got).To(ContainSubstring(c.want))
			}
		})
	}
}
