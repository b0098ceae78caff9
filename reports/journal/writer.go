package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// frameBytes is how much content goes into one zstd frame: a frame is compressed on its own, so a run that is cut short
// leaves every whole frame readable.
const frameBytes = 1 << 20

// Options are a Writer's choices. The zero value is the embedded engine's.
type Options struct {
	// Mask, when set, overwrites in place tokens that must not reach the disk: an answer's, or the draws of one step. It
	// is given copies, so a verdict taken in memory still sees the text. The embedded engine's tenants are synthetic and
	// need none; a live target's journal keeps only the product's own sentinels in clear. Masked stands in the header
	// then.
	Mask func([]wire.Token)
}

// End is what a run knows of itself when it is over.
type End struct {
	// Steps is how many steps the scheduler took.
	Steps int64
	// Tick is the time at which it stopped.
	Tick wire.Tick
}

// Writer is a sink that writes a journal. An error sticks: later events are dropped, and Close returns it. It is not
// safe for concurrent use, and starts no goroutine: the same events give the same bytes.
type Writer struct {
	out     io.Writer
	encoder *zstd.Encoder
	sum     hash.Hash
	frame   []byte
	packed  []byte
	events  int64
	content int64
	closed  bool
	err     error

	mask   func([]wire.Token)
	output []wire.Token
	drawn  []event.Sample
}

// NewWriter starts a journal on out, which it does not close. See Create for files.
func NewWriter(out io.Writer, header Header, options Options) (*Writer, error) {
	header.Schema = Schema
	header.Masked = options.Mask != nil
	// A level and a concurrency fixed here, and EncodeAll for each frame: one thread, no state that depends on timing.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithEncoderCRC(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	w := &Writer{out: out, encoder: encoder, sum: sha256.New(), mask: options.Mask}
	if w.frame, err = appendHeader(w.frame, header); err != nil {
		return nil, err
	}
	w.frame = append(w.frame, '\n')
	if err := w.line(0); err != nil {
		return nil, err
	}
	return w, nil
}

// Record writes e. Errors stick, see Err.
func (w *Writer) Record(e *event.Event) {
	if w.err != nil {
		return
	}
	if w.closed {
		w.err = errors.New("journal: event recorded after Close: " + e.Kind.String())
		return
	}
	if w.mask != nil && (len(e.Output) > 0 || len(e.Samples) > 0) {
		masked := w.masked(*e)
		e = &masked
	}
	start := len(w.frame)
	w.frame = append(AppendEvent(w.frame, e), '\n')
	w.events++
	if err := w.line(start); err != nil {
		w.err = fmt.Errorf("journal: event %d, %s: %w", w.events-1, e.Kind, err)
	}
}

// Err is the first thing that went wrong, or nil.
func (w *Writer) Err() error { return w.err }

// Close writes the footer. Without it a reader says ErrTruncated. It returns the first error there was: the run's
// result in memory is none the worse for it, and the journal is worth nothing.
func (w *Writer) Close(end End) error {
	if w.closed {
		return w.err
	}
	w.closed = true
	if w.err != nil {
		return w.err
	}
	w.sum.Write(w.frame)
	w.frame = appendFooter(w.frame, Footer{Events: w.events, Steps: end.Steps, Tick: end.Tick}, w.sum)
	w.err = w.compress()
	return w.err
}

// line accounts for the line that begins at start of the frame, and writes the frame out if it is full.
func (w *Writer) line(start int) error {
	length := len(w.frame) - start
	w.content += int64(length)
	if length > LineBytesMax || w.content > ContentBytesMax {
		return fmt.Errorf("%w: line of %d bytes, %d bytes in all: no reader would take it", ErrTooLarge, length, w.content)
	}
	if len(w.frame) < frameBytes {
		return nil
	}
	w.sum.Write(w.frame)
	return w.compress()
}

func (w *Writer) compress() error {
	w.packed = w.encoder.EncodeAll(w.frame, w.packed[:0])
	w.frame = w.frame[:0]
	if n, err := w.out.Write(w.packed); err != nil {
		return fmt.Errorf("%d of %d bytes written: %w", n, len(w.packed), err)
	}
	return nil
}

// masked is e with its tokens masked, in this Writer's own storage.
func (w *Writer) masked(e event.Event) event.Event {
	if len(e.Output) > 0 {
		w.output = append(w.output[:0], e.Output...)
		w.mask(w.output)
		e.Output = w.output
	}
	if len(e.Samples) > 0 {
		w.output = w.output[:0]
		for i := range e.Samples {
			w.output = append(w.output, e.Samples[i].Token)
		}
		w.mask(w.output)
		w.drawn = append(w.drawn[:0], e.Samples...)
		for i := range w.drawn {
			w.drawn[i].Token = w.output[i]
		}
		e.Samples = w.drawn
	}
	return e
}
