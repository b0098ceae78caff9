package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/guard"
	"github.com/stalepage/stalepage/engine/wire"
)

// fields names every field of an event with a function that sets it to something not zero. A test keeps it complete.
func fields(random *rand.Rand) map[string]func(*event.Event) {
	integer := func() int {
		switch random.IntN(6) {
		case 0:
			return math.MinInt
		case 1:
			return math.MaxInt
		case 2:
			return -1 - random.IntN(1000)
		}
		return 1 + random.IntN(1<<random.IntN(40))
	}
	text := func() string { return randomText(random) }
	return map[string]func(*event.Event){
		"Kind":         func(e *event.Event) { e.Kind = event.Kinds()[1+random.IntN(len(event.Kinds())-1)] },
		"Tick":         func(e *event.Event) { e.Tick = wire.Tick(integer()) },
		"Source":       func(e *event.Event) { e.Source = randomAddr(random) },
		"Room":         func(e *event.Event) { e.Room = wire.Room(random.Uint64()>>random.IntN(60) | 1) },
		"Peer":         func(e *event.Event) { e.Peer = randomAddr(random) },
		"Tenant":       func(e *event.Event) { e.Tenant = integer() },
		"Request":      func(e *event.Event) { e.Request = integer() },
		"Tokens":       func(e *event.Event) { e.Tokens = integer() },
		"MaxNewTokens": func(e *event.Event) { e.MaxNewTokens = integer() },
		"First":        func(e *event.Event) { e.First = integer() },
		"Count":        func(e *event.Event) { e.Count = integer() },
		"Bytes":        func(e *event.Event) { e.Bytes = int64(integer()) },
		"Status":       func(e *event.Event) { e.Status = integer() },
		"Slot":         func(e *event.Event) { e.Slot = integer() },
		"Generation":   func(e *event.Event) { e.Generation = random.Uint32() | 1 },
		"Stage":        func(e *event.Event) { e.Stage = wire.Stage(1 + random.IntN(int(wire.AtTransfer))) },
		"Buffer":       func(e *event.Event) { e.Buffer = wire.Buffer(1 + random.IntN(int(wire.Record))) },
		"Flag":         func(e *event.Event) { e.Flag = true },
		"Guard":        func(e *event.Event) { e.Guard = text() },
		"Fault":        func(e *event.Event) { e.Fault = text() },
		"Reason":       func(e *event.Event) { e.Reason = text() },
		"Before":       func(e *event.Event) { e.Before = text() },
		"After":        func(e *event.Event) { e.After = text() },
		"Text":         func(e *event.Event) { e.Text = text() },
		"Hash":         func(e *event.Event) { e.Hash[random.IntN(32)] = byte(1 + random.IntN(255)) },
		"Pages":        func(e *event.Event) { e.Pages = randomPages(random) },
		"Output": func(e *event.Event) {
			for range 1 + random.IntN(70) {
				e.Output = append(e.Output, wire.Token(random.Uint32()))
			}
		},
		"Samples": func(e *event.Event) { e.Samples = randomSamples(random, e.Room) },
		"Spans": func(e *event.Event) {
			for range 1 + random.IntN(4) {
				e.Spans = append(e.Spans, event.Span{Tenant: integer(), First: integer(), Count: integer()})
			}
		},
		"Digests": func(e *event.Event) {
			for b := range e.Digests {
				for range random.IntN(5) {
					e.Digests[b] = append(e.Digests[b], random.Uint64())
				}
			}
			e.Digests[random.IntN(wire.KVBuffers)] = []uint64{0, math.MaxUint64}
		},
		"Holdings": func(e *event.Event) {
			e.Holdings = event.Holdings{
				PagesFree: integer(), PagesCapacity: integer(), PagesQuarantined: integer(),
				SlotsFree: integer(), SlotsCapacity: integer(), SlotsQuarantined: integer(),
				Requests: integer(), Outstanding: integer(),
			}
		},
	}
}

func randomText(random *rand.Rand) string {
	samples := []string{
		"transfer-timeout", "prompt of 681281 tokens", `a "quoted" \ back\u0041slash`, "\x00\x1b[31m\x7f\n",
		"caf\u00e9 \u202e\ufffd",
		"\U0001f600 and \U0010ffff", "\xff\xfe", "\xed\xa0\x80", "\xc3", "{}[],:", "</script>&",
	}
	out := samples[random.IntN(len(samples))]
	for range random.IntN(8) {
		out += string(rune(random.IntN(0x11000)))
		out += string([]byte{byte(random.Uint32())})
	}
	return out
}

func randomAddr(random *rand.Rand) wire.Addr {
	return wire.Addr{
		Role: wire.Role(random.IntN(int(wire.Colocated) + 1)), Index: uint8(random.Uint32()),
		Incarnation: uint16(1 + random.IntN(math.MaxUint16)),
	}
}

// randomPages has runs up, runs down, jumps and repeats.
func randomPages(random *rand.Rand) []wire.Page {
	var out []wire.Page
	for range 1 + random.IntN(8) {
		at := int64(random.Int32())
		if random.IntN(8) == 0 {
			at = math.MaxInt32 - 1
		}
		if random.IntN(8) == 0 {
			at = math.MinInt32 + 1
		}
		stride := int64(random.IntN(3) - 1)
		for i := range 1 + random.Int64N(6) {
			if page := at + stride*i; page >= math.MinInt32 && page <= math.MaxInt32 {
				out = append(out, wire.Page(page))
			}
		}
	}
	return out
}

func randomSamples(random *rand.Rand, own wire.Room) []event.Sample {
	out := make([]event.Sample, 1+random.IntN(6))
	shape := random.IntN(3)
	for i := range out {
		room := []wire.Room{own, 77, wire.Room(random.Uint64())}[shape]
		out[i] = event.Sample{
			Room: room, Position: int(random.Int64()), Token: wire.Token(random.Uint32()),
			Page: wire.Page(random.Uint32()), Slot: int32(random.Uint32()), Score: int32(random.Uint32()),
		}
	}
	return out
}

// randomEvent sets about a third of the fields, in a fixed order so that a seed gives one event.
func randomEvent(random *rand.Rand, kind event.Kind) event.Event {
	var e event.Event
	set := fields(random)
	for _, name := range fieldNames() {
		if random.IntN(3) == 0 {
			set[name](&e)
		}
	}
	e.Kind = kind
	return e
}

func randomEvents(seed uint64, count int) []event.Event {
	random := rand.New(rand.NewPCG(seed, 1))
	out := make([]event.Event, count)
	for i := range out {
		out[i] = randomEvent(random, event.Kinds()[random.IntN(len(event.Kinds()))])
	}
	return out
}

func testHeader() Header {
	return Header{
		Seed: 18446744073709551615, Commit: "0123abc", Target: "embedded", Device: "host", Incident: "eight-pages",
		Scale: "small", Variant: "as-shipped", Corpus: Corpus{Version: 2, Seed: 9},
		Cluster: config.Cluster{Models: []config.Model{{
			Name: "long", Mode: config.Disaggregated, Router: config.Router{Mode: config.DecodeOnly},
			Prefill: config.Worker{ContextLength: 4096, PageSize: 64}, Guards: guard.TellPeer | guard.Scrub,
		}}},
		Plan:     json.RawMessage(`{"faults":[{"name":"truncated","first":1,"note":"<&>"}]}`),
		Schedule: json.RawMessage(`{"choices":[0,1,2]}`),
		Command:  "stalepage reproduce eight-pages --seed 18446744073709551615",
	}
}

// written is a whole journal of events.
func written(tb testing.TB, events []event.Event, options Options) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader(), options)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range events {
		w.Record(&events[i])
	}
	if err := w.Close(End{Steps: 31, Tick: 99}); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// read is what a reader makes of a journal: header, events and footer if err is nil, and the events so far if not.
func read(data []byte) (Header, []event.Event, Footer, error) {
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		return Header{}, nil, Footer{}, err
	}
	defer r.Close()
	var m Memory
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header, m.Events(), r.Footer(), nil
		}
		if err != nil {
			return r.Header, m.Events(), Footer{}, err
		}
		m.Record(e)
	}
}

func newHash(content string) hash.Hash {
	sum := sha256.New()
	sum.Write([]byte(content))
	return sum
}
