package architecture

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unit is what the import rules need to know of one package.
type unit struct {
	// folder is relative to the root, with slashes; "." is the root.
	folder string
	// sources and tests are the direct imports of the non-test and the test files, files that this platform or these
	// build tags leave out included.
	sources, tests []string
	// reach is everything that the non-test files import, directly or not.
	reach []string
	// needsC says that the default build has files that import "C".
	needsC bool
}

// listed is the part of go list's answer that a unit is made of.
type listed struct {
	Dir, ImportPath                          string
	Imports, TestImports, XTestImports, Deps []string
	CgoFiles, IgnoredGoFiles                 []string
}

// loadUnits asks go list for every package of the module. The answer of go list is no file that the test cache
// knows of; readSources, which opens every file, is what makes a change run these tests again.
func loadUnits(t *testing.T, root string) []unit {
	t.Helper()
	command := exec.Command("go", "list",
		"-json=Dir,ImportPath,Imports,TestImports,XTestImports,Deps,CgoFiles,IgnoredGoFiles", "./...")
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var units []unit
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var l listed
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			return units
		} else if err != nil {
			t.Fatalf("go list's answer: %v", err)
		}
		u, err := newUnit(l)
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, u)
	}
}

func newUnit(l listed) (unit, error) {
	u := unit{
		folder: folderOf(l.ImportPath), sources: l.Imports, reach: l.Deps,
		tests: slices.Concat(l.TestImports, l.XTestImports), needsC: len(l.CgoFiles) > 0,
	}
	for _, name := range l.IgnoredGoFiles {
		imports, err := importsOf(filepath.Join(l.Dir, name))
		if err != nil {
			return unit{}, err
		}
		if strings.HasSuffix(name, "_test.go") {
			u.tests = append(u.tests, imports...)
		} else {
			u.sources = append(u.sources, imports...)
		}
	}
	return u, nil
}

func importsOf(name string) ([]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		imports = append(imports, path)
	}
	return imports, nil
}

// folderOf is the folder of a package of this module, or "" for one of another.
func folderOf(importPath string) string {
	if importPath == module {
		return "."
	}
	if folder, ours := strings.CutPrefix(importPath, module+"/"); ours {
		return folder
	}
	return ""
}

// matches reports whether folder falls under pattern.
func matches(pattern, folder string) bool {
	if pattern == "..." {
		return true
	}
	if stem, deep := strings.CutSuffix(pattern, "/..."); deep {
		return folder == stem || strings.HasPrefix(folder, stem+"/")
	}
	return folder == pattern
}

func matchesAny(patterns []string, folder string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, folder) })
}

// within reports whether importPath is module or a package of it.
func within(module, importPath string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// standard reports whether importPath is of the standard library: its first element has no dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}
