package schedules_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/reports/check"
	"github.com/stalepage/stalepage/reports/journal"
	"github.com/stalepage/stalepage/suites/explore"
	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/schedules"
)

// Of a thousand seeds without guards, at least so many must show a leak, or the schedules no longer reach one: about half
// of what they do show.
const leaksPerThousand = 120

// problemsShown is how many problems are spelled out, and their journals kept.
const problemsShown = 3

// seeds is how many seeds to run: few with -short, where the race detector makes each cost ten times as much.
func seeds() int {
	if testing.Short() {
		return min(*count, 50)
	}
	return *count
}

func hashing(x *explore.Explorer, seed uint64) (schedules.Schedule, error) {
	x.Hash = true
	return schedules.Run(x, seed)
}

var _ = Describe("Seeded schedules", func() {
	It("replay byte for byte, leak only without guards, and always come to rest", func() {
		kit := harness.NewKit()
		var problems []schedules.Problem
		leaks, fired, outcomes := 0, 0, [check.Outcomes]int{}
		err := explore.Many(kit, *first, seeds(), runtime.GOMAXPROCS(0), hashing, func(s schedules.Schedule) {
			problems = append(problems, s.Problems()...)
			if s.Bare.Outcomes[check.Leak] > 0 {
				leaks++
			}
			if s.Bare.Fired {
				fired++
			}
			for o, n := range s.Guarded.Outcomes {
				outcomes[o] += n
			}
		})
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry("schedules", fmt.Sprintf("%d seeds: %d leak without guards, in %d the fault acted; with all guards: %v",
			seeds(), leaks, fired, outcomes))
		Expect(problems).To(BeEmpty(), "%s", spelled(kit, problems))
		if seeds() >= 100 {
			Expect(leaks).To(BeNumerically(">=", seeds()*leaksPerThousand/1000), "without guards")
			Expect(fired).To(BeNumerically(">=", seeds()/3), "faults that acted")
			Expect(outcomes[check.Correct]).To(BeNumerically(">=", 2*seeds()), "a guarded engine still answers")
		}
	})

	It("do not depend on how many run side by side", func() {
		kit := harness.NewKit()
		collect := func(workers int) (hashes [][32]byte) {
			Expect(explore.Many(kit, 1, 40, workers, hashing, func(s schedules.Schedule) {
				hashes = append(hashes, s.Bare.Hash, s.Guarded.Hash)
			})).To(Succeed())
			return hashes
		}
		Expect(collect(3)).To(Equal(collect(1)))
	})

	It("are made again from the journal's header alone", func() {
		kit := harness.NewKit()
		for seed := range uint64(10) {
			c, _, err := schedules.Case(seed, guard.None)
			Expect(err).NotTo(HaveOccurred())
			drawn, err := explore.NewExplorer(kit).Run(c)
			Expect(err).NotTo(HaveOccurred())
			Expect(drawn.Case.Schedule.Deviations).NotTo(BeEmpty())
			path := GinkgoT().TempDir() + "/run" + journal.Extension
			_, err = kit.Run(drawn.Case, harness.Options{Journal: path})
			Expect(err).NotTo(HaveOccurred())
			replay, err := kit.Replay(path, harness.Options{})
			Expect(err).NotTo(HaveOccurred())
			Expect(replay.Difference).To(BeEmpty())
			Expect(replay.Events).To(Equal(drawn.Events))
		}
	})

	It("that go wrong say their seed, and leave a journal that shows it and can be run again", func() {
		kit := harness.NewKit()
		x := explore.NewExplorer(kit)
		for seed := range uint64(100) {
			s, err := hashing(x, seed)
			Expect(err).NotTo(HaveOccurred())
			if s.Bare.Outcomes[check.Leak] == 0 {
				continue
			}
			Expect(s.Problems()).To(BeEmpty())
			broken := s
			broken.Guarded, broken.GuardedAgain = s.Bare, s.BareAgain // as if the guards had not helped
			broken.BareAgain.Hash[0]++                                // and a replay had differed
			problems := broken.Problems()
			Expect(problems).To(HaveLen(2))
			Expect(problems[0].What).To(ContainSubstring("its replay differs"))
			Expect(problems[1].What).To(Equal("with every guard on, the worst answer is leak"))
			Expect(problems[1].String()).To(ContainSubstring(schedules.Command(seed)))
			path, err := problems[1].Keep(kit, GinkgoT().TempDir())
			Expect(err).NotTo(HaveOccurred())
			judged, err := kit.Judge(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(judged.Report.Outcomes).To(Equal(s.Bare.Outcomes))
			replay, err := kit.Replay(path, harness.Options{})
			Expect(err).NotTo(HaveOccurred())
			Expect(replay.Difference).To(BeEmpty())
			return
		}
		Fail("no seed of 100 leaks without guards")
	})

	It("differ from one seed to the next, and from round robin", func() {
		kit := harness.NewKit()
		x := explore.NewExplorer(kit)
		x.Hash = true
		c, _, err := schedules.Case(1, guard.None)
		Expect(err).NotTo(HaveOccurred())
		drawn, err := x.Run(c)
		Expect(err).NotTo(HaveOccurred())
		plain, err := x.Replay(c)
		Expect(err).NotTo(HaveOccurred())
		Expect(plain.Hash).NotTo(Equal(drawn.Hash))
	})
})

// spelled says the first problems, and where their journals lie.
func spelled(kit *harness.Kit, problems []schedules.Problem) string {
	if len(problems) == 0 {
		return ""
	}
	folder := *out
	if folder == "" {
		var err error
		if folder, err = os.MkdirTemp("", "schedules"); err != nil { // kept: it is the evidence
			folder = os.TempDir()
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems; seed %d, count %d\n", len(problems), *first, seeds())
	for _, p := range problems[:min(len(problems), problemsShown)] {
		path, err := p.Keep(kit, folder)
		fmt.Fprintf(&b, "%s\n  journal: %s %v\n", p, path, err)
	}
	return b.String()
}
