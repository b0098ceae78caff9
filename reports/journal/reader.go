package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/stalepage/stalepage/engine/event"
)

// windowBytesMax is the most history a zstd frame may ask a reader to keep: the writer's level uses 8 MiB.
const windowBytesMax = 32 << 20

// Reader streams a journal. Events come as they are read and the footer comes last, so whoever judges a run must have
// seen io.EOF first: only then is the journal whole and its hash right. It never panics, whatever the input, and
// takes no more memory than LineBytesMax allows. It is not safe for concurrent use.
type Reader struct {
	// Header is the first line.
	Header Header

	in      *counter
	unzip   *zstd.Decoder
	lines   *bufio.Reader
	long    []byte
	sum     hash.Hash
	decoder *decoder
	event   event.Event
	events  int64
	content int64
	footer  Footer
	err     error
	file    *os.File
	limits  limits
}

// limits are the caps of this package on one Reader; see the constants of these names.
type limits struct{ lineBytes, contentBytes, expansionFreeBytes int64 }

// NewReader reads the header of the journal that in holds. Close the Reader when done; in stays open.
func NewReader(in io.Reader) (*Reader, error) {
	return newReader(in, limits{LineBytesMax, ContentBytesMax, ExpansionFreeBytes})
}

func newReader(in io.Reader, limits limits) (*Reader, error) {
	r := &Reader{in: &counter{in: in}, sum: sha256.New(), decoder: newDecoder(), limits: limits}
	var err error
	// One at a time: no goroutines, and the footer's verdict needs the bytes in order anyway.
	r.unzip, err = zstd.NewReader(r.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(windowBytesMax), zstd.WithDecoderMaxWindow(windowBytesMax))
	if err != nil {
		return nil, notJournal(err)
	}
	r.lines = bufio.NewReaderSize(r.unzip, 1<<16)
	line, err := r.line()
	if err != nil {
		r.Close()
		if errors.Is(err, io.EOF) {
			err = ErrTruncated
		}
		return nil, notJournal(err)
	}
	if r.Header, err = parseHeader(line[:len(line)-1]); err != nil {
		r.Close()
		return nil, err
	}
	r.sum.Write(line)
	return r, nil
}

func notJournal(err error) error { return fmt.Errorf("journal: its header cannot be read: %w", err) }

// Open reads the header of the journal file at path.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	r, err := NewReader(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	r.file = file
	return r, nil
}

// Load reads the whole journal file at path and verifies it.
func Load(path string) (Header, *Memory, Footer, error) {
	r, err := Open(path)
	if err != nil {
		return Header{}, nil, Footer{}, err
	}
	defer r.Close()
	var m Memory
	if err := r.Each(m.Record); err != nil {
		return r.Header, &m, Footer{}, fmt.Errorf("%s: %w", path, err)
	}
	return r.Header, &m, r.footer, nil
}

// Close releases what the Reader holds.
func (r *Reader) Close() error {
	r.unzip.Close()
	if r.err == nil {
		r.err = errors.New("journal: read after Close")
	}
	if r.file != nil {
		return r.file.Close()
	}
	return nil
}

// Footer is the last line, once Next has returned io.EOF.
func (r *Reader) Footer() Footer { return r.footer }

// Each gives every event to sink and returns nil if the journal is whole.
func (r *Reader) Each(sink Sink) error {
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		sink(e)
	}
}

// Next is the next event, valid until the call after it. It returns io.EOF after the footer of a journal that is whole
// and matches its hash; any other error is final too, and says that nothing may be concluded from the events so far.
func (r *Reader) Next() (*event.Event, error) {
	if r.err != nil {
		return nil, r.err
	}
	e, err := r.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	return e, nil
}

func (r *Reader) next() (*event.Event, error) {
	line, err := r.line()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w (after %d events)", ErrTruncated, r.events)
	case err != nil:
		return nil, fmt.Errorf("journal: after %d events: %w", r.events, err)
	case bytes.HasPrefix(line, []byte(closedLine)):
		return nil, r.end(line)
	}
	r.sum.Write(line)
	if err := r.decoder.decode(line[:len(line)-1], &r.event); err != nil {
		return nil, fmt.Errorf("journal: event %d: %w", r.events, err)
	}
	r.events++
	return &r.event, nil
}

// end verifies the footer and that nothing follows it. It returns io.EOF if all is well.
func (r *Reader) end(line []byte) error {
	footer, err := parseFooter(line, r.events, r.sum)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if _, err := r.lines.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows %s", ErrTampered, closedKind)
	}
	r.footer = footer
	return io.EOF
}

// line is the next line with its newline, valid until the next call. It returns io.EOF only between lines.
func (r *Reader) line() ([]byte, error) {
	line, err := r.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		r.long = r.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			r.long = append(r.long, line...)
			if int64(len(r.long)) > r.limits.lineBytes {
				return nil, fmt.Errorf("%w: a line is longer than %d bytes", ErrTooLarge, r.limits.lineBytes)
			}
			line, err = r.lines.ReadSlice('\n')
		}
		r.long = append(r.long, line...)
		line = r.long
	}
	r.content += int64(len(line))
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w, within a line or a frame", ErrTruncated)
	case r.in.err != nil:
		return nil, r.in.err // the disk's or the network's, not the journal's
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrTampered, err)
	case int64(len(line)) > r.limits.lineBytes, r.content > r.limits.contentBytes,
		r.content > r.limits.expansionFreeBytes && r.content/ExpansionMax > r.in.bytes:
		return nil, fmt.Errorf("%w: %d bytes of content from %d bytes of file", ErrTooLarge, r.content, r.in.bytes)
	}
	return line, nil
}

// counter counts the bytes that a reader took from the file, and keeps the error the file gave.
type counter struct {
	in    io.Reader
	bytes int64
	err   error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.bytes += int64(n)
	if err != nil && !errors.Is(err, io.EOF) && c.err == nil {
		c.err = err
	}
	return n, err
}
