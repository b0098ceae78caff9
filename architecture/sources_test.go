package architecture

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// source is one file of the repository.
type source struct {
	name string // relative to the root, with slashes
	text []byte
}

// repository is the root of the module: the parent of this package's folder.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("the parent folder is no module: %v", err)
	}
	return root
}

// readSources reads every file below root but git's own and those that .gitignore names.
func readSources(t *testing.T, root string) []source {
	t.Helper()
	ignored := readIgnored(t, root)
	var sources []source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(relative)
		switch {
		case entry.IsDir() && ignored.folders[slashed]:
			return filepath.SkipDir
		case entry.IsDir() || ignored.file(slashed):
			return nil
		}
		text, err := os.ReadFile(name)
		sources = append(sources, source{name: slashed, text: text})
		return err
	})
	if err != nil {
		t.Fatalf("reading the repository: %v", err)
	}
	if len(sources) == 0 {
		t.Fatal("the repository has no file: nothing was checked")
	}
	return sources
}

// ignored is what git does not track, as far as this repository's .gitignore says it: folders of the root ("/out/") and
// patterns of file names ("*.prof").
type ignored struct {
	folders  map[string]bool
	patterns []string
}

func (i ignored) file(name string) bool {
	for _, pattern := range i.patterns {
		if matched, err := path.Match(pattern, path.Base(name)); err == nil && matched {
			return true
		}
	}
	return false
}

func readIgnored(t *testing.T, root string) ignored {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	i := ignored{folders: map[string]bool{".git": true}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "/") && strings.HasSuffix(line, "/"):
			i.folders[strings.Trim(line, "/")] = true
		case line != "":
			i.patterns = append(i.patterns, line)
		}
	}
	return i
}
