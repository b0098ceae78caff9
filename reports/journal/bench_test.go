package journal

import (
	"bytes"
	"io"
	"testing"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// typicalRun has the mix of a schedule: workers' turns, page landings, draws.
func typicalRun() []event.Event {
	out := randomRun(50, 4000)
	for i := range out {
		if i%3 == 0 {
			out[i] = event.Event{
				Kind: event.WriteEnded, Tick: wire.Tick(i), Source: prefill, Room: 0x9e3779b97f4a7c15, Buffer: wire.K1,
				First: i % 40, Count: 8, Bytes: 65536, Reason: "ok",
			}
		}
	}
	return out
}

func perEvent(b *testing.B, events int) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}

func BenchmarkEncode(b *testing.B) {
	events := recorded(typicalRun())
	buffer := make([]byte, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		buffer = buffer[:0]
		for i := range events {
			buffer = append(AppendEvent(buffer, &events[i]), '\n')
		}
	}
	b.SetBytes(int64(len(buffer)))
	perEvent(b, len(events))
}

func BenchmarkDecode(b *testing.B) {
	events := recorded(typicalRun())
	var lines [][]byte
	for i := range events {
		lines = append(lines, AppendEvent(nil, &events[i]))
	}
	d := newDecoder()
	var e event.Event
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			if err := d.decode(line, &e); err != nil {
				b.Fatal(err)
			}
		}
	}
	perEvent(b, len(events))
}

func BenchmarkRecorder(b *testing.B) {
	events := typicalRun()
	r := NewRecorder(func(*event.Event) {})
	b.ReportAllocs()
	for b.Loop() {
		r.Reset()
		for i := range events {
			r.Record(&events[i])
		}
		r.Flush()
	}
	perEvent(b, len(events))
}

// BenchmarkRecordAndHash is what one explored schedule costs here: record, keep, spell, hash.
func BenchmarkRecordAndHash(b *testing.B) {
	events := typicalRun()
	var m Memory
	r := NewRecorder(m.Record)
	b.ReportAllocs()
	for b.Loop() {
		r.Reset()
		m.Reset()
		for i := range events {
			r.Record(&events[i])
		}
		r.Flush()
		m.Hash()
	}
	perEvent(b, len(events))
}

func BenchmarkWriter(b *testing.B) {
	events := recorded(typicalRun())
	b.ReportAllocs()
	for b.Loop() {
		w, err := NewWriter(io.Discard, testHeader(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		for range 10 {
			for i := range events {
				w.Record(&events[i])
			}
		}
		if err := w.Close(End{}); err != nil {
			b.Fatal(err)
		}
	}
	perEvent(b, 10*len(events))
}

func BenchmarkReader(b *testing.B) {
	events := recorded(typicalRun())
	data := written(b, events, Options{})
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Each(func(*event.Event) {}); err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	perEvent(b, len(events))
}
