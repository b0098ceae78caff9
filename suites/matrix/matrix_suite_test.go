package matrix_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/suites/harness"
	"github.com/stalepage/stalepage/suites/matrix"
)

// update writes the golden file and the page again: `make matrix`.
var update = flag.Bool("update", false, "compute the table again and write its golden file and its page")

// How many schedules a cell has: few enough for every test run, and for the page as many as the numbers need to settle.
// The first are the same seeds in both.
const (
	testRuns = 40
	pageRuns = 200
)

const (
	goldenPath = "testdata/matrix.golden"
	pagePath   = "../../docs/matrix.md"
)

func TestMatrix(t *testing.T) {
	if err := matrix.Complete(matrix.Table()); err != nil {
		t.Fatal(err) // before anything runs: a fault without a row is not tested
	}
	if *update {
		write(t, pagePath, compute(t, pageRuns).Markdown())
		write(t, goldenPath, computed().Golden())
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "The table of faults and guards")
}

// computed is the table that every spec reads, computed at the first call.
var computed = sync.OnceValue(func() matrix.Matrix {
	m, err := matrix.Compute(harness.NewKit(), matrix.Table(), matrix.Columns(), testRuns, runtime.GOMAXPROCS(0))
	if err != nil {
		panic(err)
	}
	return m
})

func compute(t *testing.T, runs int) matrix.Matrix {
	t.Helper()
	m, err := matrix.Compute(harness.NewKit(), matrix.Table(), matrix.Columns(), runs, runtime.GOMAXPROCS(0))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
