// Package journal writes and reads the one record of a run: what every party said and what our own code saw happen, in
// order. Every verdict and report is a pure function of a journal, so an old run can be judged again by a newer check.
//
// # The form on disk
//
// A journal is JSON lines, ASCII only, cut into zstd frames at line ends.
//
//	{"kind":"run.opened","schema":1,"seed":7,...}                    the Header, always the first line
//	{"kind":"pages.reserved","tick":4,"source":"decode/0#1",...}     one event.Event a line, zero fields left out
//	{"kind":"run.closed","events":2,"steps":9,"tick":9,"sha256":"…"} the Footer, always the last line
//
// sha256 covers every uncompressed byte before its own first digit, the footer's other numbers included. A journal
// without a footer is ErrTruncated and judges nothing; one that does not match its hash is ErrTampered. The hash
// finds damage and edits made by accident; it is no signature, since who rewrites a journal can rewrite the hash.
//
// There is one spelling of each event, and the reader refuses every other, so that equal runs are equal byte for byte
// and no line can mean two things to two readers. A journal holds ticks only. Wall time, CPU variant, memory and huge
// pages are in a Side file next to it, outside the hash.
//
// # The parts
//
// A run records into a Recorder, which joins adjacent events and hands them to sinks in order: a Writer (to a file), a
// Memory (for checks in the same process), or any function. A Reader streams a journal back.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/wire"
)

// Schema is the version of the form on disk that this package writes. It reads this one only.
const Schema = 1

// Extension ends the name of a journal file.
const Extension = ".jsonl.zst"

// Caps on what a reader takes from a file it does not trust, and a writer puts into one. Far above the largest
// configuration (config.TokensMax), far below what would take a machine down.
const (
	// LineBytesMax is the longest line, its newline included.
	LineBytesMax = 64 << 20
	// ContentBytesMax is the most uncompressed bytes of one journal.
	ContentBytesMax = 16 << 30
	// PagesMax is the most pages that one event lists: the largest pool in the smallest pages.
	PagesMax = config.TokensMax / config.PageSizeMin
	// SamplesMax is the most tokens drawn in one event, ListMax the most entries of any other list of one event.
	SamplesMax = 1 << 16
	ListMax    = config.TokensMax
	// ExpansionMax is how many times larger than the file the content may be, once past ExpansionFreeBytes. Real
	// journals stay below 100; a zstd bomb reaches tens of thousands.
	ExpansionMax = 1000
	// ExpansionFreeBytes is how much content a file may expand to whatever its size.
	ExpansionFreeBytes = 64 << 20
)

// What can be wrong with a journal. Errors of this package wrap one of these where one applies.
var (
	// ErrTruncated: it ends before its footer, so the run's end is not known and its verdict is unknown.
	ErrTruncated = errors.New("journal is truncated: it ends before run.closed")
	// ErrTampered: its content does not match its own hash or count, or something follows its footer.
	ErrTampered = errors.New("journal is damaged or was altered")
	// ErrMalformed: a line is not what a Writer of this schema writes.
	ErrMalformed = errors.New("journal line is malformed")
	// ErrSchema: it was written in another schema.
	ErrSchema = errors.New("journal schema is not supported")
	// ErrTooLarge: it exceeds one of the caps of this package.
	ErrTooLarge = errors.New("journal is larger than a journal may be")
)

// Header is the first line: all that is needed to run the same run again and to judge it alone.
type Header struct {
	// Schema is set by the Writer.
	Schema int    `json:"schema"`
	Seed   uint64 `json:"seed"`
	// Commit is the product's own revision, as built.
	Commit string `json:"commit,omitempty"`
	// Target is what was driven ("embedded"); Device is what computed ("host").
	Target string `json:"target"`
	Device string `json:"device,omitempty"`
	// Incident, Scale and Variant name the fixture, when there is one.
	Incident string `json:"incident,omitempty"`
	Scale    string `json:"scale,omitempty"`
	Variant  string `json:"variant,omitempty"`
	// Corpus says which tenants' text the prompts are made of: prompts themselves are not stored.
	Corpus Corpus `json:"corpus"`
	// Cluster is the configuration as started, guards included.
	Cluster config.Cluster `json:"cluster"`
	// Plan is the faults' plan as given, a JSON value that only faults decodes.
	Plan json.RawMessage `json:"plan,omitempty"`
	// Schedule is the order of steps, a JSON value that only the explorer decodes: enough to replay.
	Schedule json.RawMessage `json:"schedule,omitempty"`
	// Command is the command line that makes this journal again.
	Command string `json:"command"`
	// Masked is set by a Writer that hides tokens: content checks have nothing to look at then.
	Masked bool `json:"masked,omitempty"`
}

// Corpus is the version of the corpus generator and the seed it was given.
type Corpus struct {
	Version int    `json:"version"`
	Seed    uint64 `json:"seed"`
}

// Footer is the last line.
type Footer struct {
	// Events counts the lines between header and footer.
	Events int64
	// Steps is how many steps the scheduler took; Tick is the time at which it stopped.
	Steps int64
	Tick  wire.Tick
	// SHA256 is the hash that the reader has verified.
	SHA256 [32]byte
}

const (
	openedKind = "run.opened"
	closedKind = "run.closed"
	closedLine = `{"kind":"` + closedKind + `"`
	openedLine = `{"kind":"` + openedKind + `"`
)

// opening is the header line: the header behind the kind that all lines begin with.
type opening struct {
	Kind string `json:"kind"`
	Header
}

// appendHeader spells the header line, without its newline.
func appendHeader(dst []byte, h Header) ([]byte, error) {
	for _, text := range []*string{
		&h.Commit, &h.Target, &h.Device, &h.Incident, &h.Scale, &h.Variant, &h.Command,
	} {
		// encoding/json would write a replacement rune that does not encode to itself a second time.
		*text = strings.ToValidUTF8(*text, "?")
	}
	line, err := json.Marshal(opening{Kind: openedKind, Header: h})
	if err != nil {
		return nil, fmt.Errorf("journal header: %w", err)
	}
	return append(dst, line...), nil
}

// parseHeader reads what appendHeader wrote. The schema is looked at first, so that a newer journal is called newer
// and not malformed.
func parseHeader(line []byte) (Header, error) {
	var version struct {
		Kind   string `json:"kind"`
		Schema int    `json:"schema"`
	}
	if err := json.Unmarshal(line, &version); err != nil || version.Kind != openedKind {
		return Header{}, fmt.Errorf("%w: the first line is not %s", ErrMalformed, openedKind)
	}
	if version.Schema != Schema {
		return Header{}, fmt.Errorf("%w: it is of schema %d and this version reads %d: use the version that wrote it",
			ErrSchema, version.Schema, Schema)
	}
	var o opening
	decoder := json.NewDecoder(strings.NewReader(string(line)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return Header{}, fmt.Errorf("%w: %s: %w", ErrMalformed, openedKind, err)
	}
	again, err := appendHeader(nil, o.Header)
	if err != nil {
		return Header{}, err
	}
	if string(again) != string(line) {
		return Header{}, fmt.Errorf("%w: %s is not spelled as a writer spells it", ErrMalformed, openedKind)
	}
	return o.Header, nil
}
