package architecture

import (
	"fmt"
	"path"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
)

// TestImports holds the module to the import table. It fails with the row's reason.
func TestImports(t *testing.T) {
	root := repository(t)
	readSources(t, root)
	units := loadUnits(t, root)
	if !slices.ContainsFunc(units, func(u unit) bool { return u.folder == "engine/port" }) {
		t.Fatal("go list did not see the engine: nothing was checked")
	}
	for _, v := range importViolations(units, layers, owners) {
		t.Error(v)
	}
}

// importViolations applies both halves of the table to every unit.
func importViolations(units []unit, layers []layer, owners []owner) []string {
	var found []string
	for _, u := range units {
		found = append(found, folderViolations(u)...)
		row, ok := governing(layers, u.folder)
		if !ok {
			found = append(found, u.folder+": no row of the import table governs this package; add one, with its reason")
			continue
		}
		found = append(found, layerViolations(u, row)...)
		found = append(found, ownerViolations(u, owners)...)
	}
	return found
}

// governing is the row whose pattern fits folder most closely.
func governing(layers []layer, folder string) (layer, bool) {
	best, length := layer{}, -1
	for _, row := range layers {
		for _, pattern := range row.packages {
			closeness := 2 * len(pattern)
			if pattern == folder {
				closeness++
			}
			if matches(pattern, folder) && closeness > length {
				best, length = row, closeness
			}
		}
	}
	return best, length >= 0
}

func folderViolations(u unit) []string {
	var found []string
	for folder := u.folder; folder != "."; folder = path.Dir(folder) {
		if why, banned := bannedFolders[path.Base(folder)]; banned {
			found = append(found, fmt.Sprintf("%s: no package is called %s: %s", u.folder, path.Base(folder), why))
		}
	}
	return found
}

func layerViolations(u unit, row layer) []string {
	var found []string
	violation := func(format string, arguments ...any) {
		found = append(found, u.folder+" "+fmt.Sprintf(format, arguments...)+": "+row.why)
	}
	for _, imported := range u.sources {
		folder := folderOf(imported)
		switch {
		case imported == "C" || standard(imported):
		case folder == "" && row.standardOnly:
			violation("imports %s, but may import the standard library only", imported)
		case folder != "" && !matchesAny(row.may, folder):
			violation("imports %s, but of this module it may import only %v", folder, row.may)
		}
	}
	for _, banned := range row.never {
		for _, reached := range sorted(u.sources, u.reach) {
			direct := slices.Contains(u.sources, reached)
			// The standard library reaches its own random numbers and sockets; what counts there is who asks for them.
			if within(banned, reached) && (direct || !standard(banned)) {
				violation("reaches %s, which it never may", reached)
			}
		}
	}
	if u.needsC {
		found = append(found, u.folder+" needs a C compiler in the default build: "+
			"keep cgo behind a build tag, so that a clone builds anywhere")
	}
	return found
}

func ownerViolations(u unit, owners []owner) []string {
	var found []string
	for _, o := range owners {
		check := func(files string, imports, allowed []string) {
			for _, imported := range imports {
				if within(o.path, imported) && folderOf(imported) != u.folder && !matchesAny(allowed, u.folder) {
					found = append(found, fmt.Sprintf("%s: %s import %s: %s", u.folder, files, imported, o.why))
				}
			}
		}
		check("its sources", u.sources, o.sources)
		check("its tests", u.tests, o.tests)
	}
	return found
}

// sorted merges lists into one without repetition.
func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// TestImportTableCanFail plants one violation of each kind and expects it to be named, and expects silence on packages
// that keep the rules.
func TestImportTableCanFail(t *testing.T) {
	const (
		gomega     = "github.com/onsi/gomega"
		ginkgo     = "github.com/onsi/ginkgo/v2"
		containers = "github.com/testcontainers/testcontainers-go"
		xxh3       = "github.com/zeebo/xxh3"
	)
	ours := func(folder string) []string { return []string{module + "/" + folder} }
	for _, c := range []struct {
		name string
		unit unit
		want string // part of a violation expected; empty: none
	}{
		{"a leaf that keeps to leaves", unit{folder: "engine/port", sources: ours("engine/wire")}, ""},
		{"a leaf that looks up", unit{folder: "engine/wire", sources: ours("engine/port")}, "imports engine/port"},
		{"a leaf with a library", unit{folder: "engine/event", sources: []string{xxh3}}, "standard library only"},
		{"a leaf whose test asserts", unit{folder: "engine/wire", tests: []string{gomega}}, ""},
		{"a worker that knows its peer", unit{folder: "engine/prefill", sources: ours("engine/decode")}, "pure state"},
		{"a worker with dice", unit{folder: "engine/router", sources: []string{"math/rand/v2"}}, "reaches math/rand/v2"},
		{"a library with dice", unit{folder: "engine/router", reach: []string{"math/rand/v2"}}, ""},
		{"a worker in a test rig", unit{folder: "engine/prefill", tests: ours("engine/turn/turntest")}, ""},
		{"a worker with a test rig", unit{folder: "engine/prefill", sources: ours("engine/turn/turntest")}, "no part of"},
		{"a rig of one worker", unit{folder: "engine/turn/turntest", sources: ours("engine/decode")}, "knows no worker"},
		{"an engine that knows faults", unit{folder: "engine", sources: ours("faults")}, "imports faults"},
		{"an engine with tenants", unit{folder: "engine/kv", sources: ours("fixtures/corpus")}, "imports fixtures/"},
		{"an engine that judges", unit{folder: "engine/device/host", sources: ours("reports/check")}, "imports reports/"},
		{"a fault inside a worker", unit{folder: "faults", sources: ours("engine/decode")}, "imports engine/decode"},
		{"a fault that judges", unit{folder: "faults/sglang", sources: ours("reports/check")}, "imports reports/check"},
		{"a fixture that breaks things", unit{folder: "fixtures/traffic", sources: ours("faults")}, "imports faults"},
		{"a rig that breaks processes", unit{folder: "fixtures/rigs", sources: ours("faults")}, ""},
		{"a rig with containers", unit{folder: "fixtures/rigs", reach: []string{containers}}, "reaches " + containers},
		{"a report with an engine", unit{folder: "reports/check", sources: ours("engine/kv")}, "imports engine/kv"},
		{"a report with a trace", unit{folder: "reports/check", sources: ours("fixtures/traffic")}, "imports fixtures/"},
		{"a report with the corpus", unit{folder: "reports/check", sources: ours("fixtures/corpus")}, ""},
		{"a reference with a model", unit{folder: "reports/reference", sources: ours("engine/model")}, "is independent"},
		{"a harness with specs", unit{folder: "suites/harness", reach: []string{ginkgo}}, "reaches " + ginkgo},
		{"a command with assertions", unit{folder: ".", reach: []string{gomega + "/types"}}, "reaches " + gomega},
		{"a command with an engine", unit{folder: ".", sources: ours("engine")}, ""},
		{"specs outside suites", unit{folder: "engine/kv", tests: []string{ginkgo}}, "specs live in suites"},
		{"specs in a suite", unit{folder: "suites/incident", tests: []string{ginkgo, gomega}}, ""},
		{"matchers in a suite's specs", unit{folder: "suites/incident", tests: ours("suites/matchers")}, ""},
		{"matchers in an engine test", unit{folder: "engine", tests: ours("suites/matchers")}, "must not reach the command"},
		{"matchers in a suite's logic", unit{folder: "suites/teeth", sources: ours("suites/matchers")}, "must not reach"},
		{"matchers with gomega", unit{folder: "suites/matchers", sources: []string{gomega + "/types"}}, ""},
		{"gomega in a suite's logic", unit{folder: "suites/teeth", sources: []string{gomega}}, "assertions belong in tests"},
		{"containers in a spec", unit{folder: "suites/incident", tests: ours("fixtures/rigs/containers")}, ""},
		{"containers elsewhere", unit{folder: "faults", tests: []string{containers}}, "one package owns containers"},
		{"cgo in the default build", unit{folder: "engine/device/host", needsC: true}, "needs a C compiler"},
		{"a folder that hides", unit{folder: "reports/internal/pages"}, "no package is called internal"},
		{"a folder that says nothing", unit{folder: "faults/util"}, "no package is called util"},
		{"a package that nobody planned", unit{folder: "engine/extra"}, "no row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			found := importViolations([]unit{c.unit}, layers, owners)
			if c.want == "" {
				g.Expect(found).To(BeEmpty())
				return
			}
			g.Expect(found).To(ContainElement(ContainSubstring(c.want)))
		})
	}
}
