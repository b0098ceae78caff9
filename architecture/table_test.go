// Package architecture holds the project to its own plan: who may import whom, what a worker may not do, how
// sources and documents read. It has tests only. Each rule is proved able to fail by a planted violation beside it.
package architecture

const module = "github.com/stalepage/stalepage"

// A layer is one row of the import table. Patterns are folders of this module: "engine/kv" is that package alone,
// "engine/..." it and everything below, "." the stalepage command. The row with the longest match governs a package.
type layer struct {
	packages []string
	// may lists what non-test files of the row may import of this module.
	may []string
	// standardOnly forbids every module but the standard library.
	standardOnly bool
	// never lists what must not be reached at all, by any path of imports: modules and standard packages.
	never []string
	// why is printed with a violation.
	why string
}

var (
	leaves = []string{
		"engine/wire", "engine/event", "engine/port", "engine/config", "engine/guard", "engine/model/code",
	}
	workers   = []string{"engine/prefill", "engine/decode", "engine/router", "engine/colocated"}
	testTools = []string{
		"github.com/onsi/ginkgo/v2", "github.com/onsi/gomega", "github.com/testcontainers/testcontainers-go",
	}
)

const (
	whyLeaf = "the leaves are what every side agrees on: the standard library and each other, downward only, " +
		"so that a check, a fault or a fixture can speak of the engine without carrying it"
	whyWorker = "a worker is a pure state machine: it knows messages, seams and limits, not the memory, the device, " +
		"the transport or the other worker behind them"
	whyEngine = "the engine is a product of its own: it cannot know what breaks it, feeds it or judges it"
	whyFault  = "a fault stands on a seam; one that reaches into a worker tests itself, " +
		"and could not be put in front of another engine"
	whyFixture = "fixtures are data and their vocabulary; a plan is a JSON value that faults decodes"
	whyReport  = "verdicts and reports are pure functions of a journal, " +
		"so an old run can be judged again without an engine to run"
	whySuite = "a suite's logic is part of the stalepage command, so it carries no test framework; specs are _test files"
)

// layers is the import table.
var layers = []layer{
	{packages: []string{"engine/wire", "engine/guard"}, standardOnly: true, why: whyLeaf},
	{packages: []string{"engine/event"}, may: []string{"engine/wire"}, standardOnly: true, why: whyLeaf},
	{packages: []string{"engine/model/code"}, may: []string{"engine/wire"}, standardOnly: true, why: whyLeaf},
	{packages: []string{"engine/port"}, may: []string{"engine/wire", "engine/event"}, standardOnly: true, why: whyLeaf},
	{packages: []string{"engine/config"}, may: []string{"engine/guard"}, standardOnly: true, why: whyLeaf},
	{
		packages: append([]string{"engine/turn"}, workers...),
		may:      append([]string{"engine/turn", "engine/kv/..."}, leaves...),
		never:    append([]string{"math/rand", "math/rand/v2", "crypto/rand", "net", "net/http"}, testTools...),
		why:      whyWorker,
	},
	{
		packages: []string{"engine/turn/turntest"},
		may:      append([]string{"engine/turn", "engine/kv/..."}, leaves...),
		never:    testTools,
		why:      "what stands around a worker in its tests knows no worker: each test brings its own",
	},
	{
		packages: []string{"engine/kv/..."},
		may:      append([]string{"engine/kv/..."}, leaves...),
		never:    testTools, why: whyEngine,
	},
	{
		packages: []string{"engine/model/..."},
		may:      append([]string{"engine/model/..."}, leaves...),
		never:    testTools, why: whyEngine,
	},
	{
		packages: []string{"engine/device/..."},
		may: append([]string{
			"engine/device/...", "engine/kv/...", "engine/model/...",
			// What every port shares: the bookkeeping of After, and the contract.
			"engine/transfer/after", "engine/transfer/porttest",
		}, leaves...),
		never: testTools, why: whyEngine,
	},
	{
		packages: []string{"engine/transfer/..."},
		may:      append([]string{"engine/transfer/...", "engine/kv/..."}, leaves...),
		never:    testTools, why: whyEngine,
	},
	{packages: []string{"engine"}, may: []string{"engine/..."}, never: testTools, why: whyEngine},
	{packages: []string{"engine/openai"}, may: []string{"engine/..."}, never: testTools, why: whyEngine},

	{
		packages: []string{"faults/..."},
		may:      []string{"faults/...", "engine/port", "engine/wire", "engine/event"},
		never:    testTools, why: whyFault,
	},

	{
		packages: []string{"fixtures/..."},
		may:      []string{"fixtures/...", "engine/config", "engine/guard", "engine/wire", "engine/model/code"},
		never:    testTools, why: whyFixture,
	},
	{
		packages: []string{"fixtures/rigs"},
		may:      []string{"faults/...", "fixtures/...", "engine/config", "engine/wire"},
		never:    testTools, why: whyFixture + "; a rig may also inject the faults of processes",
	},
	{
		packages: []string{"fixtures/rigs/containers"},
		may:      []string{"fixtures/rigs", "faults/...", "fixtures/...", "engine/config", "engine/wire"},
		never:    []string{"github.com/onsi/ginkgo/v2", "github.com/onsi/gomega"},
		why:      "one package owns containers: their reaper races when several start it",
	},

	{
		packages: []string{"reports/..."},
		may: []string{
			"reports/...", "engine/event", "engine/wire", "engine/config", "engine/guard", "engine/model/code",
			"fixtures/corpus",
		},
		never: testTools, why: whyReport,
	},

	{
		packages: []string{"reports/reference"}, may: []string{"engine/wire", "engine/model/code"},
		never: testTools,
		why:   "the reference is independent of the engine: it shares the code tables and nothing else",
	},

	{
		packages: []string{"suites/harness", "suites/target", "suites/explore"},
		may: []string{
			"suites/harness", "suites/target", "suites/explore", "engine/...", "faults/...", "fixtures/...", "reports/...",
		},
		never: testTools, why: whySuite,
	},
	{
		packages: []string{"suites/matchers"},
		may: []string{
			"suites/harness", "suites/target", "suites/explore", "engine/...", "faults/...", "fixtures/...", "reports/...",
		},
		never: []string{"github.com/onsi/ginkgo/v2", "github.com/testcontainers/testcontainers-go"},
		why:   "matchers are thin shells over checks: gomega's types, and no spec",
	},
	{
		packages: []string{"suites/..."},
		may:      []string{"suites/...", "engine/...", "faults/...", "fixtures/...", "reports/..."},
		never:    testTools, why: whySuite,
	},
	{
		packages: []string{"."},
		may:      []string{"engine/...", "faults/...", "fixtures/...", "reports/...", "suites/..."},
		never:    testTools, why: "the command is what an operator installs: flags and wiring, no test framework",
	},
	{packages: []string{"architecture/..."}, never: testTools, why: "this package reads sources, it does not run them"},
}

// An owner restricts who may import a path at all, tests included.
type owner struct {
	path string
	// non-test files of these packages, and test files of those, may import path; nobody else may.
	sources, tests []string
	why            string
}

// owners is the second half of the table: what only a few may touch.
var owners = []owner{
	{
		path: "github.com/onsi/ginkgo/v2", tests: []string{"suites/..."},
		why: "specs live in suites; elsewhere the testing package with gomega says it in fewer words",
	},
	{
		path: "github.com/onsi/gomega", sources: []string{"suites/matchers"}, tests: []string{"..."},
		why: "assertions belong in tests; the only exception is the package of matchers",
	},
	{
		path: "github.com/testcontainers/testcontainers-go", sources: []string{"fixtures/rigs/containers"},
		tests: []string{"fixtures/rigs/containers"},
		why:   "one package owns containers: their reaper races when several start it",
	},
	{
		path: module + "/engine/turn/turntest", tests: []string{"engine/..."},
		why: "what drives a worker in its tests is no part of the engine that runs",
	},
	{
		path: module + "/suites/matchers", tests: []string{"suites/..."},
		why: "matchers carry gomega, which must not reach the command",
	},
	{
		path: module + "/fixtures/rigs/containers", tests: []string{"fixtures/rigs/containers", "suites/..."},
		why: "containers are started by specs, never by the command",
	},
}

// bannedFolders are names that say nothing about what a package is for, or hide it from a reader.
var bannedFolders = map[string]string{
	"util": "name it for what it does", "utils": "name it for what it does", "common": "name it for what it does",
	"helper": "name it for what it does", "helpers": "name it for what it does", "misc": "name it for what it does",
	"internal": "nothing here is hidden: readers and other tools may build on every package",
}

// A conduct is what the sources of some packages may not do, found with type information.
type conduct struct {
	packages []string
	forbids  []deed
	why      string
}

// deed is one forbidden thing.
type deed string

// The deeds that readsSource finds.
const (
	readsClock    deed = "reads the clock"
	startsThread  deed = "starts a goroutine"
	waits         deed = "waits on a channel"
	rangesOverMap deed = "ranges over a map"
)

// conducts is the second table. A row must find its packages: a rule about nothing cannot fail.
var conducts = []conduct{
	{
		packages: append([]string{"engine/turn"}, workers...),
		forbids:  []deed{readsClock, startsThread, waits, rangesOverMap},
		why: "a worker is Step(Turn) Effects, values in and values out: " +
			"the same turns give the same effects, which is what lets a run replay byte for byte",
	},
	{
		packages: []string{"engine/kv", "engine/transfer/memory", "faults"},
		forbids:  []deed{readsClock, startsThread, waits, rangesOverMap},
		why:      "the scheduler alone moves a stepped run on, one choice at a time",
	},
	{
		packages: []string{"reports/..."},
		forbids:  []deed{readsClock},
		why:      "a verdict is a function of the journal, and a stepped journal holds ticks only",
	},
}
