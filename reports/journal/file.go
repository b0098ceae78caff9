package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// unfinished ends the name of a journal that is still being written.
const unfinished = ".tmp"

// File is a Writer to a file. The journal takes its name only when it is whole and on the disk, so a file of that
// name is never a half-written one.
type File struct {
	*Writer
	file *os.File
	path string
}

// Create starts a journal that will be called path; until Close it is path.tmp. An older file of either name is
// replaced.
func Create(path string, header Header, options Options) (*File, error) {
	file, err := os.Create(path + unfinished)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	writer, err := NewWriter(file, header, options)
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return &File{Writer: writer, file: file, path: path}, nil
}

// Close writes the footer, waits until the disk has it all, and gives the journal its name. If any of it fails, what
// could be written stays in path.tmp, which a reader calls truncated, and an older journal of the name is left as it
// was.
func (f *File) Close(end End) error {
	err := f.Writer.Close(end)
	if err == nil {
		err = f.file.Sync()
	}
	// A full disk may only show when the file is closed.
	if closeErr := f.file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("journal %s is not complete (what was written is in %s): %w", f.path, f.file.Name(), err)
	}
	return syncFolder(filepath.Dir(f.path))
}

// Discard ends a journal that nobody wants and removes it.
func (f *File) Discard() error {
	f.closed = true
	return errors.Join(f.file.Close(), os.Remove(f.file.Name()))
}

// syncFolder makes a rename last.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("journal: folder %s: %w", path, err)
	}
	return nil
}

// Side is what is worth knowing of a run and differs from one to the next: it lies next to the journal, outside its
// hash.
type Side struct {
	WallSeconds float64 `json:"wall_seconds"`
	CoreSeconds float64 `json:"core_seconds"`
	// Kernel is the model's variant ("avx512-vnni", "avx2", "go"); CPU is what the machine calls itself.
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	// HugePagesAsked and HugePagesGot say whether the pools are in huge pages: without them a run is much slower.
	HugePagesAsked  bool   `json:"huge_pages_asked"`
	HugePagesGot    bool   `json:"huge_pages_got"`
	MemoryPeakBytes int64  `json:"memory_peak_bytes"`
	GoVersion       string `json:"go_version"`
	// JournalBytes is the size of the journal's file.
	JournalBytes int64 `json:"journal_bytes"`
}

// SidePath is where the side file of a journal lies: NAME.side.json for NAME.jsonl.zst.
func SidePath(journalPath string) string {
	return strings.TrimSuffix(journalPath, Extension) + ".side.json"
}

// WriteSide writes the side file of the journal at journalPath.
func WriteSide(journalPath string, side Side) error {
	data, err := json.MarshalIndent(side, "", "  ")
	if err != nil {
		return fmt.Errorf("side file: %w", err)
	}
	if err := os.WriteFile(SidePath(journalPath), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("side file: %w", err)
	}
	return nil
}

// ReadSide reads the side file of the journal at journalPath. A journal judges without one.
func ReadSide(journalPath string) (Side, error) {
	var side Side
	data, err := os.ReadFile(SidePath(journalPath))
	if err != nil {
		return side, fmt.Errorf("side file: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&side); err != nil {
		return Side{}, fmt.Errorf("side file %s: %w", SidePath(journalPath), err)
	}
	return side, nil
}
