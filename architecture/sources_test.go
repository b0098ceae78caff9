package architecture

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
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

// readSources reads every file below root but the folders that .gitignore names and git's own.
func readSources(t *testing.T, root string) []source {
	t.Helper()
	skip := ignoredFolders(t, root)
	var sources []source
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(relative)
		if entry.IsDir() {
			if skip[name] {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		sources = append(sources, source{name: name, text: text})
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

func ignoredFolders(t *testing.T, root string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]bool{".git": true}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "/") && strings.HasSuffix(line, "/") {
			folders[strings.Trim(line, "/")] = true
		}
	}
	return folders
}
