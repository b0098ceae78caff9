package architecture

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// Caps on what one file may hold.
const (
	sourceLinesMax = 500
	fileBytesMax   = 1 << 20
)

// A ban is something that no file says. The expressions are written so that they do not match themselves.
type ban struct {
	say *regexp.Regexp
	// in limits the ban to files whose name matches; nil: every text file.
	in  *regexp.Regexp
	why string
}

var (
	tests   = regexp.MustCompile(`_test\.go$`)
	sources = regexp.MustCompile(`\.(go|s|cu)$`)
)

var bans = []ban{
	{
		say: regexp.MustCompile(`/[w]ork/|/[r]oot/|/[f]arm/|/[h]ome/[a-z]`),
		why: "a path of one machine means nothing on another",
	},
	{
		say: regexp.MustCompile(`(?i)(proxy|sum)\.[g]olang\.org|[p]ypi\.org|[p]ythonhosted\.org|[d]eb\.debian\.org|` +
			`registry\.[n]pmjs|repo\d?\.[m]aven|static\.[c]rates\.io`),
		why: "which registry serves a package is the reader's own setting",
	},
	{
		say: regexp.MustCompile(`\bTO[D]O\b|\bFIX[M]E\b|\bX[X]X\b`),
		why: "an open end belongs in the issue tracker",
	},
	{
		say: regexp.MustCompile(`panic\("(?i:[t]odo|not [i]mplemented|[u]nimplemented)`), in: sources,
		why: "what is missing is not merged",
	},
	{
		say: regexp.MustCompile(`\btime\.[S]leep\(`), in: tests,
		why: "a test waits for an event, never for a duration",
	},
	{
		say: regexp.MustCompile(`Flake[A]ttempts|flake-[a]ttempts`),
		why: "a test that needs a second try says nothing",
	},
	{
		say: regexp.MustCompile(`\b[F](It|Describe|Context|When|Entry|DescribeTable)\(`), in: tests,
		why: "a focused spec switches all others off",
	},
	{
		say: regexp.MustCompile(`//nolint\s*$|//nolint:[a-z,]+\s*$`), in: sources,
		why: "a linter is silenced by name and with the reason after it",
	},
}

// TestStyle holds every file to the bans and the caps.
func TestStyle(t *testing.T) {
	for _, s := range readSources(t, repository(t)) {
		for _, v := range styleViolations(s) {
			t.Error(v)
		}
	}
}

func styleViolations(s source) []string {
	if len(s.text) > fileBytesMax && !strings.HasPrefix(s.name, "fixtures/incidents/") {
		return []string{fmt.Sprintf("%s: %d bytes, at most %d: data of this size belongs in fixtures/incidents, or is made "+
			"from a seed", s.name, len(s.text), fileBytesMax)}
	}
	if bytes.IndexByte(s.text, 0) >= 0 {
		return nil // not text
	}
	var found []string
	for i, line := range strings.Split(string(s.text), "\n") {
		for _, b := range bans {
			if b.in != nil && !b.in.MatchString(s.name) {
				continue
			}
			if said := b.say.FindString(line); said != "" {
				found = append(found, fmt.Sprintf("%s:%d says %q: %s", s.name, i+1, said, b.why))
			}
		}
	}
	if path.Ext(s.name) == ".go" {
		found = append(found, goViolations(s)...)
	}
	return found
}

func goViolations(s source) []string {
	var found []string
	if lines := bytes.Count(s.text, []byte("\n")); lines > sourceLinesMax {
		found = append(found, fmt.Sprintf("%s: %d lines, at most %d: a file fits in the head", s.name, lines, sourceLinesMax))
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, s.name, s.text, parser.SkipObjectResolution)
	if err != nil {
		return append(found, err.Error())
	}
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if ok && function.Recv == nil && function.Name.Name == "init" {
			found = append(found, fmt.Sprintf("%s: func init: nothing happens by being imported; a caller builds what it uses",
				files.Position(function.Pos())))
		}
	}
	return found
}

// TestStyleCanFail plants one violation of each ban and cap.
func TestStyleCanFail(t *testing.T) {
	// join keeps a planted word from being one here.
	join := func(parts ...string) string { return strings.Join(parts, "") }
	inTest := "package planted\n\n"
	for _, c := range []struct{ name, file, text, want string }{
		{"a clean file", "engine/clean.go", "// Package engine is clean.\npackage engine\n", ""},
		{"a machine path", "docs/run.md", join("cd /wo", "rk/stalepage"), "one machine"},
		{"somebody's folder", "docs/run.md", join("cd /ho", "me/ann"), "one machine"},
		{"a registry", "README.md", join("GOPROXY=https://proxy.go", "lang.org"), "reader's own setting"},
		{"an open end", "Makefile", join("# TO", "DO: later"), "issue tracker"},
		{"a hole", "faults/hole.go", join("package faults\n\nfunc f() { panic(\"not im", "plemented\") }\n"), "not merged"},
		{"a sleep in a test", "faults/hold_test.go", join(inTest, "func f() { time.Sl", "eep(1) }\n"), "waits for an event"},
		{"a sleep elsewhere", "suites/target/wait.go", join(inTest, "func f() { time.Sl", "eep(1) }\n"), ""},
		{"a second try", "suites/teeth/a_test.go", join(inTest, "var _ = Flake", "Attempts(2)\n"), "second try"},
		{"a focused spec", "suites/teeth/a_test.go", join(inTest, "var _ = F", "It(\"x\", nil)\n"), "switches all"},
		{"a silenced linter", "faults/hold.go", join(inTest, "var x = 1 //no", "lint:unused\n"), "with the reason"},
		{"the same with a reason", "faults/hold.go", join(inTest, "var x = 1 //no", "lint:unused // why\n"), ""},
		{"a long file", "faults/long.go", inTest + strings.Repeat("// line\n", sourceLinesMax), "at most 500"},
		{"a large file", "reports/large.json", strings.Repeat("x", fileBytesMax+1), "made from a seed"},
		{"a large trace", "fixtures/incidents/155/trace.json", strings.Repeat("x", fileBytesMax+1), ""},
		{"an init", "faults/init.go", inTest + "func init() {}\n", "nothing happens by being imported"},
		{"a method named init", "faults/init.go", inTest + "type a int\n\nfunc (a) init() {}\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			found := styleViolations(source{name: c.file, text: []byte(c.text)})
			if c.want == "" {
				g.Expect(found).To(BeEmpty())
				return
			}
			g.Expect(found).To(ConsistOf(ContainSubstring(c.want)))
		})
	}
}
