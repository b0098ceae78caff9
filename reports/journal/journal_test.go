package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// A journal gives back what was written: header, every event, footer.
func TestJournalRoundTrips(t *testing.T) {
	g := NewWithT(t)
	events := randomEvents(10, 6000) // several frames
	data := written(t, events, Options{})
	g.Expect(bytes.Count(data, []byte{0x28, 0xb5, 0x2f, 0xfd})).To(BeNumerically(">", 2), "frames")

	header, got, footer, err := read(data)
	g.Expect(err).NotTo(HaveOccurred())
	want := testHeader()
	want.Schema = Schema
	want.Plan = []byte(`{"faults":[{"name":"truncated","first":1,"note":"\u003c\u0026\u003e"}]}`)
	g.Expect(cmp.Diff(want, header)).To(BeEmpty())
	g.Expect(Difference(events, got)).To(BeEmpty())
	g.Expect(cmp.Diff(events[:500], got[:500])).To(BeEmpty())
	g.Expect(footer.Events).To(Equal(int64(len(events))))
	g.Expect(footer.Steps).To(Equal(int64(31)))
	g.Expect(footer.Tick).To(Equal(wire.Tick(99)))
}

// The same run gives the same bytes, however many threads the machine offers and however the bytes are taken.
func TestSameRunSameBytes(t *testing.T) {
	g := NewWithT(t)
	events := randomEvents(11, 4000)
	first := written(t, events, Options{})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g.Expect(written(t, events, Options{})).To(Equal(first))
	events[3999].Tick++
	g.Expect(written(t, events, Options{})).NotTo(Equal(first))
}

// A run without events is a whole journal.
func TestEmptyRun(t *testing.T) {
	g := NewWithT(t)
	_, events, footer, err := read(written(t, nil, Options{}))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(events).To(BeEmpty())
	g.Expect(footer.Events).To(BeZero())
}

// Cut anywhere, a journal is an error: truncated, with every event of the whole frames before the cut.
func TestTruncatedAnywhere(t *testing.T) {
	g := NewWithT(t)
	small := written(t, randomEvents(12, 5), Options{})
	for length := range len(small) {
		_, _, _, err := read(small[:length])
		g.Expect(err).To(MatchError(ErrTruncated), "cut at byte %d of %d", length, len(small))
	}
	events := randomEvents(13, 6000)
	large := written(t, events, Options{})
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	cuts := []int{}
	for at := 4; at < len(large); at++ {
		if bytes.HasPrefix(large[at:], magic) {
			cuts = append(cuts, at, at+1, at+4, at+9)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 6 {
		cuts = append(cuts, random.IntN(len(large)))
	}
	most := 0
	for _, cut := range cuts {
		_, got, _, err := read(large[:cut])
		g.Expect(err).To(MatchError(ErrTruncated), "cut at byte %d of %d", cut, len(large))
		g.Expect(Difference(events[:len(got)], got)).To(BeEmpty())
		most = max(most, len(got))
	}
	g.Expect(most).To(BeNumerically(">", 3000))
}

// One bit flipped anywhere is an error or changes nothing: never another run.
func TestFlippedAnywhere(t *testing.T) {
	g := NewWithT(t)
	events := randomEvents(14, 6)
	data := written(t, events, Options{})
	header, _, footer, err := read(data)
	g.Expect(err).NotTo(HaveOccurred())
	flips, unchanged := 0, 0
	for at := range data {
		for _, flip := range []byte{1, 2, 4, 8, 16, 32, 64, 128} {
			flips++
			data[at] ^= flip
			gotHeader, got, gotFooter, err := read(data)
			data[at] ^= flip
			if err != nil {
				continue
			}
			unchanged++
			if !cmp.Equal(header, gotHeader) || !cmp.Equal(events, got) || footer != gotFooter {
				t.Fatalf("byte %d xor %#x: read as another run", at, flip)
			}
		}
	}
	// Some flips change nothing that is read, such as a window made larger than needed.
	g.Expect(unchanged * 100).To(BeNumerically("<", flips))
}

// Whatever follows the last frame in the file is found, compressed or not.
func TestTrailingBytes(t *testing.T) {
	data := written(t, randomEvents(15, 3), Options{})
	for _, tail := range []string{
		"x", "xx", "xxx", "(\xb5/", "xxxx", "\x00\x00\x00\x00\x00", string(data), string(repack(t, "\n")),
	} {
		_, _, _, err := read(append(bytes.Clone(data), tail...))
		NewWithT(t).Expect(err).To(Or(MatchError(ErrTampered), MatchError(ErrTruncated)), "%d bytes", len(tail))
	}
}

// A file that is something else is said to be no journal.
func TestNoJournal(t *testing.T) {
	for _, data := range []string{
		"", "{", `{"kind":"run.opened"}` + "\n", "\x1f\x8b\x08\x00\x00\x00\x00\x00", strings.Repeat("x", 1<<17),
	} {
		_, _, _, err := read([]byte(data))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("header cannot be read")))
	}
}

// A small file that expands without end is given up, by the length of a line and by the size of the whole.
func TestBombs(t *testing.T) {
	g := NewWithT(t)
	header := unpack(t, written(t, nil, Options{}))
	header = header[:strings.Index(header, "\n")+1]
	const line = `{"kind":"pages.scrubbed"}` + "\n"
	bomb := func(text string, bytesTotal int) []byte {
		var out bytes.Buffer
		encoder, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		g.Expect(err).NotTo(HaveOccurred())
		_, err = io.WriteString(encoder, header)
		g.Expect(err).NotTo(HaveOccurred())
		block := []byte(strings.Repeat(text, 1<<20/len(text)))
		for n := 0; n < bytesTotal; n += len(block) {
			_, err = encoder.Write(block)
			g.Expect(err).NotTo(HaveOccurred())
		}
		g.Expect(encoder.Close()).To(Succeed())
		g.Expect(out.Len()).To(BeNumerically("<", 1<<17))
		return out.Bytes()
	}
	for _, test := range []struct {
		data   []byte
		limits limits
		want   string
	}{
		{bomb("1", 4<<20), limits{1 << 20, 1 << 40, 1 << 40}, "a line is longer than 1048576 bytes"},
		{bomb(line, 4<<20), limits{1 << 20, 1 << 21, 1 << 40}, "bytes of content"},
		{bomb(line, 4<<20), limits{1 << 20, 1 << 40, 1 << 20}, "bytes of content"},
	} {
		r, err := newReader(bytes.NewReader(test.data), test.limits)
		g.Expect(err).NotTo(HaveOccurred())
		err = r.Each(func(*event.Event) {})
		g.Expect(err).To(MatchError(ErrTooLarge))
		g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		g.Expect(r.Close()).To(Succeed())
	}
	r, err := NewReader(bytes.NewReader(bomb(line, 4<<20)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Each(func(*event.Event) {})).To(MatchError(ErrTruncated), "a small journal of equal lines is none")
	g.Expect(r.Close()).To(Succeed())
}

// An error of the disk is that error, not a judgement of the journal.
func TestReadError(t *testing.T) {
	g := NewWithT(t)
	data := written(t, randomEvents(16, 5000), Options{})
	broken := errors.New("the cable is out")
	r, err := NewReader(io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(broken)))
	g.Expect(err).NotTo(HaveOccurred())
	defer r.Close()
	err = r.Each(func(*event.Event) {})
	g.Expect(err).To(MatchError(broken))
	g.Expect(err).NotTo(MatchError(ErrTampered))
	_, again := r.Next()
	g.Expect(again).To(Equal(err), "an error is final")
}

// A reader that gets the file byte by byte reads the same.
func TestShortReads(t *testing.T) {
	g := NewWithT(t)
	events := randomEvents(17, 50)
	r, err := NewReader(iotest.OneByteReader(bytes.NewReader(written(t, events, Options{}))))
	g.Expect(err).NotTo(HaveOccurred())
	var m Memory
	g.Expect(r.Each(m.Record)).To(Succeed())
	g.Expect(Difference(events, m.Events())).To(BeEmpty())
	g.Expect(r.Close()).To(Succeed())
	_, err = r.Next()
	g.Expect(err).To(MatchError(io.EOF))
}

// Masked tokens reach neither an answer nor a draw in the file, the header says so, and the caller's events keep
// theirs.
func TestMask(t *testing.T) {
	g := NewWithT(t)
	events := []event.Event{
		{Kind: event.ResponseReceived, Output: []wire.Token{4001, 4002}},
		{Kind: event.TokenSampled, Room: 1, Samples: []event.Sample{{Room: 1, Token: 4003, Position: 9}}},
		{Kind: event.RequestFinished, Status: 200},
	}
	mask := func(tokens []wire.Token) {
		for i := range tokens {
			tokens[i] = 1
		}
	}
	data := written(t, events, Options{Mask: mask})
	g.Expect(unpack(t, data)).NotTo(ContainSubstring("400"))
	header, got, _, err := read(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(header.Masked).To(BeTrue())
	g.Expect(got[0].Output).To(Equal([]wire.Token{1, 1}))
	g.Expect(got[1].Samples).To(Equal([]event.Sample{{Room: 1, Token: 1, Position: 9}}))
	g.Expect(events[0].Output).To(Equal([]wire.Token{4001, 4002}))
	g.Expect(events[1].Samples[0].Token).To(Equal(wire.Token(4003)))
}

// A header text that is no UTF-8 does not make a journal that its own reader refuses.
func TestHeaderText(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{Command: "stalepage \xff \u2028 \ufffd <b>"}, Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Close(End{})).To(Succeed())
	header, _, _, err := read(out.Bytes())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(header.Command).To(Equal("stalepage ? \u2028 \ufffd <b>"))

	_, err = NewWriter(io.Discard, Header{Plan: []byte("{")}, Options{})
	g.Expect(err).To(MatchError(ContainSubstring("journal header")))
}

// The footer's hash is the plain SHA-256 of the content up to its own digits, so that any tool can check it.
func TestHashIsPlain(t *testing.T) {
	g := NewWithT(t)
	data := written(t, randomEvents(18, 20), Options{})
	content := unpack(t, data)
	at := strings.LastIndex(content, `"sha256":"`) + len(`"sha256":"`)
	g.Expect(content[at : at+64]).To(Equal(hex.EncodeToString(newHash(content[:at]).Sum(nil))))
	_, _, footer, err := read(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(fmt.Sprintf("%x", footer.SHA256)).To(Equal(content[at : at+64]))
}

// FuzzReader: no input panics, hangs or is read as a run that its own events do not write again. The input is a file or, if
// content, what a file unpacks to, with its frame and its hash made right: else no mutation would get past those.
func FuzzReader(f *testing.F) {
	for seed := range uint64(4) {
		data := written(f, randomEvents(20+seed, int(seed*3)), Options{})
		f.Add(data, false)
		f.Add(data[:len(data)/2], false)
		f.Add(append(bytes.Clone(data), data...), false)
		f.Add([]byte(unpack(f, data)), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, content bool) {
		if content {
			data = rehashed(t, string(data))
		}
		header, events, footer, err := read(data)
		if err != nil {
			return
		}
		if int64(len(events)) != footer.Events {
			t.Fatalf("%d events, footer says %d", len(events), footer.Events)
		}
		masked := header.Masked
		again, err := rewritten(header, events, footer)
		if err != nil {
			t.Fatal(err)
		}
		header, back, footerBack, err := read(again)
		if err != nil || Difference(events, back) != "" {
			t.Fatalf("written again it reads otherwise: %v", err)
		}
		if !masked && footerBack != footer { // a Writer without a mask says so in the header, and so in the hash
			t.Fatalf("written again it ends otherwise: %v, then %v; header %v", footer, footerBack, header)
		}
	})
}

func rewritten(header Header, events []event.Event, footer Footer) ([]byte, error) {
	var out bytes.Buffer
	w, err := NewWriter(&out, header, Options{})
	if err != nil {
		return nil, err
	}
	for i := range events {
		w.Record(&events[i])
	}
	err = w.Close(End{Steps: footer.Steps, Tick: footer.Tick})
	return out.Bytes(), err
}
