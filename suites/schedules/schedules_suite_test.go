package schedules_test

import (
	"flag"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Which seeds to run: `make schedules SEED=7 COUNT=1`.
var (
	first = flag.Uint64("seed", 1, "the first seed")
	count = flag.Int("seeds", 1000, "how many seeds, from the first on")
	out   = flag.String("out", "", "the folder that journals of failures go to; a temporary one if empty")
)

func TestSchedules(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Seeded schedules")
}
