package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
)

// A journal has its name only once it is whole; then Load reads it, and the unfinished name is gone.
func TestFileIsWholeOrUnnamed(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "run"+Extension)
	events := randomEvents(40, 30)
	f, err := Create(path, testHeader(), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	for i := range events {
		f.Record(&events[i])
	}
	g.Expect(path).NotTo(BeAnExistingFile())
	g.Expect(f.Close(End{Steps: 5, Tick: 6})).To(Succeed())
	g.Expect(path + ".tmp").NotTo(BeAnExistingFile())

	header, memory, footer, err := Load(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(header.Seed).To(Equal(testHeader().Seed))
	g.Expect(cmp.Diff(events, memory.Events())).To(BeEmpty())
	g.Expect(footer.Steps).To(Equal(int64(5)))
}

// A run that dies leaves a file of the unfinished name that is called truncated; one that is discarded leaves none.
func TestFileUnfinished(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "run"+Extension)
	f, err := Create(path, testHeader(), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	events := randomEvents(41, 4000)
	for i := range events {
		f.Record(&events[i])
	}
	_, memory, _, err := Load(path + ".tmp")
	g.Expect(err).To(MatchError(ErrTruncated))
	g.Expect(memory.Events()).NotTo(BeEmpty(), "whole frames can be read")
	g.Expect(f.Discard()).To(Succeed())
	g.Expect(filepath.Glob(filepath.Join(filepath.Dir(path), "*"))).To(BeEmpty())
}

// shortDisk takes so many bytes and then is full.
type shortDisk struct{ room int }

func (d *shortDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		n := d.room
		d.room = 0
		return n, syscall.ENOSPC
	}
	d.room -= len(p)
	return len(p), nil
}

// A disk that fills at any byte makes Close fail with the reason, and costs the run nothing: Record does not panic, and
// the same events are whole in memory.
func TestDiskFull(t *testing.T) {
	g := NewWithT(t)
	events := randomEvents(42, 4000)
	whole := len(written(t, events, Options{}))
	for room := 0; room < whole; room += 1 + whole/10 {
		w, err := NewWriter(&shortDisk{room: room}, testHeader(), Options{})
		g.Expect(err).NotTo(HaveOccurred())
		var m Memory
		r := NewRecorder(w.Record, m.Record)
		for i := range events {
			r.Record(&events[i])
		}
		r.Flush()
		g.Expect(w.Close(End{})).To(MatchError(syscall.ENOSPC))
		g.Expect(w.Close(End{})).To(MatchError(syscall.ENOSPC), "again")
		g.Expect(int64(len(m.Events()))).To(Equal(r.Events()))
	}
	w, err := NewWriter(&shortDisk{room: whole}, testHeader(), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	for i := range events {
		w.Record(&events[i])
	}
	g.Expect(w.Close(End{Steps: 31, Tick: 99})).To(Succeed(), "the control: room for all of it")
}

// The kernel's own full disk.
func TestDevFull(t *testing.T) {
	g := NewWithT(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this system has no /dev/full")
	}
	g.Expect(err).NotTo(HaveOccurred())
	defer full.Close()
	w, err := NewWriter(full, testHeader(), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Close(End{})).To(MatchError(syscall.ENOSPC))
}

// A failed Close names both files and keeps an older journal of the name.
func TestFileCloseFails(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "run"+Extension)
	g.Expect(os.WriteFile(path, []byte("older"), 0o600)).To(Succeed())
	f, err := Create(path, testHeader(), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	f.out = &shortDisk{room: 10}
	err = f.Close(End{})
	g.Expect(err).To(MatchError(syscall.ENOSPC))
	g.Expect(err).To(MatchError(And(ContainSubstring(path+" is not complete"), ContainSubstring(path+".tmp"))))
	g.Expect(os.ReadFile(path)).To(Equal([]byte("older")))

	_, err = Create(filepath.Join(t.TempDir(), "no", "such", "folder"), testHeader(), Options{})
	g.Expect(err).To(MatchError(os.ErrNotExist))
	_, _, _, err = Load(path)
	g.Expect(err).To(MatchError(ContainSubstring(path)))
	_, _, _, err = Load(path + ".none")
	g.Expect(err).To(MatchError(os.ErrNotExist))
}

// What no reader would take, no writer writes: an event of more than a line may hold makes Close fail and says which.
func TestOversizedEvent(t *testing.T) {
	g := NewWithT(t)
	w, err := NewWriter(io.Discard, testHeader(), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	w.Record(&event.Event{Kind: event.AbortSent})
	w.Record(&event.Event{Kind: event.RequestFinished, Reason: strings.Repeat("x", LineBytesMax)})
	err = w.Close(End{})
	g.Expect(err).To(MatchError(ErrTooLarge))
	g.Expect(err).To(MatchError(ContainSubstring("event 1, request.finished")))
}

// An event after Close is an error of the caller, and it is not dropped in silence.
func TestRecordAfterClose(t *testing.T) {
	g := NewWithT(t)
	w, err := NewWriter(io.Discard, testHeader(), Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Close(End{})).To(Succeed())
	w.Record(&event.Event{})
	g.Expect(w.Err()).To(MatchError(ContainSubstring("after Close")))
}

// The side file lies next to the journal and comes back as it was.
func TestSide(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "as-shipped"+Extension)
	g.Expect(SidePath(path)).To(HaveSuffix("/as-shipped.side.json"))
	side := Side{
		WallSeconds: 1.5, CoreSeconds: 2.5, Kernel: "avx2", CPU: "x", Cores: 2, HugePagesAsked: true, HugePagesGot: true,
		MemoryPeakBytes: 1 << 40, GoVersion: "go1.26", JournalBytes: 7,
	}
	g.Expect(WriteSide(path, side)).To(Succeed())
	got, err := ReadSide(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(side))
	g.Expect(os.WriteFile(SidePath(path), []byte(`{"colour":1}`), 0o600)).To(Succeed())
	_, err = ReadSide(path)
	g.Expect(err).To(MatchError(ContainSubstring("colour")))
	_, err = ReadSide(path + "x")
	g.Expect(err).To(MatchError(os.ErrNotExist))
}
