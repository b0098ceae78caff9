package architecture

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestDocuments holds README.md and docs to the tree: what they link to, the make targets that they name and the paths
// in code style all exist.
func TestDocuments(t *testing.T) {
	root := repository(t)
	all := readSources(t, root)
	tree := tree{
		exists: func(name string) bool {
			_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
			return err == nil
		},
		headings: map[string][]string{},
	}
	documents := 0
	for _, s := range all {
		switch {
		case s.name == "Makefile":
			tree.targets = targetsOf(string(s.text))
		case isDocument(s.name):
			documents++
			tree.headings[s.name] = anchorsOf(string(s.text))
		}
	}
	if documents == 0 || len(tree.targets) == 0 {
		t.Fatalf("%d documents and %d make targets: nothing was checked", documents, len(tree.targets))
	}
	for _, s := range all {
		if isDocument(s.name) {
			for _, v := range documentViolations(s, tree) {
				t.Error(v)
			}
		}
	}
}

// tree is what documents speak of.
type tree struct {
	exists   func(name string) bool
	targets  []string            // of the Makefile
	headings map[string][]string // of each document, as the anchors of its headings
}

func isDocument(name string) bool {
	return path.Ext(name) == ".md" && !strings.Contains(name, "/testdata/")
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	target  = regexp.MustCompile(`(?m)^([a-z0-9][a-z0-9-]*):`)
	// make is named in code style or on a line of its own in a code block.
	making = regexp.MustCompile("(?m)(?:`|^ *\\$? *)make ([a-z][a-z0-9-]*)")
	// a path is a word in code style that begins with one of the tree's folders. A placeholder such as <name> is none.
	naming = regexp.MustCompile("`(?:\\./)?((?:engine|faults|fixtures|reports|suites|docs|architecture|tools|\\.ci)" +
		"(?:/[A-Za-z0-9_.-]+)*)/?`")
)

func targetsOf(makefile string) []string {
	var targets []string
	for _, match := range target.FindAllStringSubmatch(makefile, -1) {
		targets = append(targets, match[1])
	}
	return targets
}

// anchorsOf are the anchors of a document's headings: lower case, words joined by hyphens, no punctuation.
func anchorsOf(document string) []string {
	var anchors []string
	for _, match := range heading.FindAllStringSubmatch(document, -1) {
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
				return r
			default:
				return -1
			}
		}, strings.ToLower(match[1])))
	}
	return anchors
}

func documentViolations(s source, tree tree) []string {
	text := string(s.text)
	var found []string
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		if v := linkViolation(s.name, match[1], tree); v != "" {
			found = append(found, v)
		}
	}
	for _, match := range making.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(tree.targets, match[1]) {
			found = append(found, fmt.Sprintf("%s names make %s, which the Makefile has not", s.name, match[1]))
		}
	}
	for _, match := range naming.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSuffix(match[1], "/..."); !tree.exists(name) {
			found = append(found, fmt.Sprintf("%s names %s, which does not exist", s.name, name))
		}
	}
	return found
}

func linkViolation(document, to string, tree tree) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return ""
	}
	name, anchor, _ := strings.Cut(to, "#")
	name = path.Join(path.Dir(document), name)
	if strings.HasPrefix(to, "#") {
		name = document
	}
	if !tree.exists(name) {
		return fmt.Sprintf("%s links to %s, which does not exist", document, to)
	}
	if anchors, known := tree.headings[name]; known && anchor != "" && !slices.Contains(anchors, anchor) {
		return fmt.Sprintf("%s links to %s, but %s has no such heading", document, to, name)
	}
	return ""
}

// TestDocumentsCanFail plants a broken one of each.
func TestDocumentsCanFail(t *testing.T) {
	tree := tree{
		exists: func(name string) bool {
			return slices.Contains([]string{"README.md", "docs/a.md", "engine/port"}, name)
		},
		targets:  targetsOf("help: ## List.\nincident-155: bin ## Run.\n\tgo run .\nX := y\n"),
		headings: map[string][]string{"docs/a.md": anchorsOf("# The seams\n\n## Life of a request, in 8 lines\n")},
	}
	for _, c := range []struct{ name, text, want string }{
		{"links that hold", "[a](a.md) [b](../README.md) [c](a.md#the-seams) [d](https://example.com/none)", ""},
		{"an anchor with punctuation", "[a](#life-of-a-request-in-8-lines)", ""},
		{"a dead link", "[a](b.md)", "links to b.md"},
		{"a dead anchor", "[a](a.md#the-guards)", "no such heading"},
		{"a target", "run `make incident-155` or\n\n    make help\n", ""},
		{"a missing target", "run `make soak`", "make soak"},
		{"a missing target in a block", "    $ make soak\n", "make soak"},
		{"the verb", "they make no promise", ""},
		{"paths", "`engine/port` and `suites/<name>` and `./engine/port/...`", ""},
		{"a missing path", "see `engine/seams`", "engine/seams"},
		{"a missing file", "see `engine/port/seams.go`", "engine/port/seams.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			found := documentViolations(source{name: "docs/a.md", text: []byte(c.text)}, tree)
			if c.want == "" {
				g.Expect(found).To(BeEmpty())
				return
			}
			g.Expect(found).To(ConsistOf(ContainSubstring(c.want)))
		})
	}
}
