package journal

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// fieldNames are the fields of event.Event in order.
func fieldNames() []string {
	var out []string
	for field := range reflect.TypeFor[event.Event]().Fields() {
		out = append(out, field.Name)
	}
	return out
}

// The generator of the tests below covers every field there is: a field added to event.Event must be added here, and
// then to the encoding.
func TestGeneratorSetsEveryField(t *testing.T) {
	g := NewWithT(t)
	set := fields(rand.New(rand.NewPCG(1, 1)))
	for _, name := range fieldNames() {
		g.Expect(set).To(HaveKey(name))
		var e event.Event
		set[name](&e)
		g.Expect(reflect.ValueOf(e).FieldByName(name).IsZero()).To(BeFalse(), name)
	}
	g.Expect(set).To(HaveLen(len(fieldNames())))
}

// Every field alone, in every kind, comes back as it was, from a line that encoding/json takes too.
func TestEachFieldOfEachKindRoundTrips(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for _, kind := range event.Kinds() {
		for _, name := range fieldNames() {
			for range 4 {
				var e event.Event
				fields(random)[name](&e)
				e.Kind = kind
				roundTrip(t, e)
			}
		}
		roundTrip(t, event.Event{Kind: kind})
	}
}

// Every field of the structures within an event, alone, comes back as it was: one added there must be encoded.
func TestEachNestedFieldRoundTrips(t *testing.T) {
	nested := func(of any, put func(*event.Event)) {
		value := reflect.ValueOf(of).Elem()
		for i := range value.NumField() {
			value.SetZero()
			if field := value.Field(i); field.CanInt() {
				field.SetInt(5)
			} else {
				field.SetUint(5)
			}
			var e event.Event
			put(&e)
			roundTrip(t, e)
		}
	}
	var sample event.Sample
	nested(&sample, func(e *event.Event) { e.Samples = []event.Sample{sample, {}} })
	var span event.Span
	nested(&span, func(e *event.Event) { e.Spans = []event.Span{span} })
	var holdings event.Holdings
	nested(&holdings, func(e *event.Event) { e.Holdings = holdings })
	for b := range wire.KVBuffers {
		var e event.Event
		e.Digests[b] = []uint64{5}
		roundTrip(t, e)
	}
}

// Every name that a field may hold comes back: all stages, buffers and roles, by their own bounds.
func TestEachNameRoundTrips(t *testing.T) {
	for stage := wire.AtEdge; !strings.Contains(stage.String(), "("); stage++ {
		roundTrip(t, event.Event{Kind: event.RequestRejected, Stage: stage})
	}
	for buffer := wire.K0; buffer < wire.Buffers; buffer++ {
		roundTrip(t, event.Event{Kind: event.WriteLanded, Buffer: buffer})
	}
	for role := wire.Client; !strings.Contains(role.String(), "("); role++ {
		roundTrip(t, event.Event{Source: wire.Addr{Role: role, Index: 255, Incarnation: 4095}})
	}
}

// Fields together, with random values, come back as they were: in every kind, with one decoder used throughout.
func TestRandomEventsRoundTrip(t *testing.T) {
	for _, e := range randomEvents(3, 5000) {
		roundTrip(t, e)
	}
}

func roundTrip(t *testing.T, e event.Event) {
	t.Helper()
	line := AppendEvent(nil, &e)
	got, err := ParseEvent(line)
	if err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	if difference := cmp.Diff(e, got); difference != "" {
		t.Fatalf("read back differs (-wrote +read):\n%s\n%s", difference, line)
	}
	if !json.Valid(line) {
		t.Fatalf("not JSON: %s", line)
	}
	for _, c := range line {
		if c < ' ' || c > '~' {
			t.Fatalf("byte %#x in %q", c, line)
		}
	}
}

// A table of spellings: what a reader of a journal sees.
func TestSpelling(t *testing.T) {
	prefill := wire.Addr{Role: wire.Prefill, Incarnation: 1}
	decode := wire.Addr{Role: wire.Decode, Index: 2, Incarnation: 3}
	reserved := []wire.Page{12, 13, 14, 80, 90, 89}
	drawn := []event.Sample{{Room: 7, Position: 3, Token: 5, Page: 2, Score: 504}}
	spans := []event.Span{{Tenant: 3, First: 10, Count: 20}, {Tenant: 3, Count: 24}}
	const zeros = `"positions":[0,0],"tokens":[0,0],"pages":[0,0],"slots":[0,0],"scores":[0,0]}}`
	for _, test := range []struct {
		event event.Event
		line  string
	}{
		{
			event.Event{Kind: event.PagesReserved, Tick: 4, Source: decode, Room: 204, Pages: reserved},
			`{"kind":"pages.reserved","tick":4,"source":"decode/2#3","room":204,"pages":"12+2,80,90-1"}`,
		},
		{
			event.Event{Kind: event.WriteLanded, Tick: 9, Source: prefill, Peer: decode, Room: 204, Count: 8},
			`{"kind":"write.landed","tick":9,"source":"prefill/0#1","room":204,"peer":"decode/2#3","count":8,"buffer":"K0"}`,
		},
		{
			event.Event{Kind: event.RequestRejected, Room: 1, Tokens: 681281, Reason: "too long"},
			`{"kind":"request.rejected","room":1,"tokens":681281,"stage":"edge","reason":"too long"}`,
		},
		{
			event.Event{Kind: event.TokenSampled, Room: 7, Samples: drawn},
			`{"kind":"token.sampled","room":7,"samples":{"positions":[3],"tokens":[5],"pages":[2],"slots":[0],"scores":[504]}}`,
		},
		{
			event.Event{Kind: event.TokenSampled, Samples: []event.Sample{{Room: 7}, {Room: 7}}},
			`{"kind":"token.sampled","samples":{"rooms":[7],` + zeros,
		},
		{
			event.Event{Kind: event.TokenSampled, Samples: []event.Sample{{Room: 7}, {Room: 8}}},
			`{"kind":"token.sampled","samples":{"rooms":[7,8],` + zeros,
		},
		{
			event.Event{Kind: event.DigestTaken, Count: 1, Digests: [wire.KVBuffers][]uint64{{0xabc}, nil, {1, 2}}},
			`{"kind":"digest.taken","count":1,"digests":["0000000000000abc","","0000000000000001 0000000000000002",""]}`,
		},
		{
			event.Event{Kind: event.RequestSubmitted, Tenant: 3, Spans: spans},
			`{"kind":"request.submitted","tenant":3,"spans":[[3,10,20],[3,0,24]]}`,
		},
		{
			event.Event{Kind: event.GuardTripped, First: -1, Guard: "page-stamp", Reason: "\x1b[2J\xff"},
			`{"kind":"guard.tripped","first":-1,"guard":"page-stamp","reason":"\u001b[2J\udcff"}`,
		},
		{
			event.Event{Kind: event.WorkerQuiesced, Source: decode},
			`{"kind":"worker.quiesced","source":"decode/2#3","holdings":{"pages_free":0,"pages_capacity":0,` +
				`"pages_quarantined":0,"slots_free":0,"slots_capacity":0,"slots_quarantined":0,"requests":0,"outstanding":0}}`,
		},
	} {
		NewWithT(t).Expect(string(AppendEvent(nil, &test.event))).To(Equal(test.line))
	}
}

// Anything but the one spelling is refused, with the place or the reason.
func TestOtherSpellingsAreRefused(t *testing.T) {
	const good = `{"kind":"pages.reserved","tick":4,"room":2,"pages":"12+2,80"}`
	if _, err := ParseEvent([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ line, want string }{
		{``, `want`},
		{`{"kind":"page.reserved"}`, `kind "page.reserved" is not known`},
		{`{"kind":"pages.reserved","colour":1}`, `field "colour" is not known`},
		{`{"kind":"pages.reserved","Tick":4}`, `field "Tick" is not known`},
		{`{"kind":"pages.reserved","tick":4,"tick":5}`, "not spelled"},
		{`{"kind":"pages.reserved","room":2,"tick":4}`, "not spelled"},
		{`{"kind":"pages.reserved","tick":0}`, "not spelled"},
		{`{"kind":"pages.reserved","tick":04}`, "not spelled"},
		{`{"kind":"pages.reserved","tick":-0}`, "not spelled"},
		{`{"kind":"pages.reserved","tick":+4}`, "want a number"},
		{`{"kind":"pages.reserved","tick":4.0}`, `want "}"`},
		{`{"kind":"pages.reserved", "tick":4}`, `want`},
		{`{"kind":"pages.reserved","tick":4}}`, "end of the line"},
		{`{"kind":"pages.reserved","tick":9223372036854775808}`, "63 bits"},
		{`{"kind":"pages.reserved","tick":-9223372036854775809}`, "64 bits"},
		{`{"kind":"pages.reserved","room":18446744073709551616}`, "64 bits"},
		{`{"kind":"pages.reserved","room":-1}`, "want a number"},
		{`{"kind":"pages.reserved","generation":4294967296}`, "32 bits"},
		{`{"kind":"pages.reserved","flag":false}`, `want "true"`},
		{`{"kind":"pages.reserved","pages":""}`, "want a number"},
		{`{"kind":"pages.reserved","pages":"12,13"}`, "not spelled"},
		{`{"kind":"pages.reserved","pages":"12+1,14"}`, "not spelled"},
		{`{"kind":"pages.reserved","pages":"12+0"}`, "not spelled"},
		{`{"kind":"pages.reserved","pages":"12+-2"}`, "page list within range"},
		{`{"kind":"pages.reserved","pages":"12+2147483640"}`, "page list within range"},
		{`{"kind":"pages.reserved","pages":"0+600000"}`, "at most 524288 pages"},
		{`{"kind":"pages.reserved","pages":"0+500000,0+500000"}`, "at most 524288 pages"},
		{`{"kind":"pages.reserved","source":"decode/0"}`, `want "#"`},
		{`{"kind":"pages.reserved","source":"decode/256#1"}`, "8 bits"},
		{`{"kind":"pages.reserved","source":"oracle/0#1"}`, "an address"},
		{`{"kind":"pages.reserved","source":"client/0#0"}`, "not spelled"},
		{`{"kind":"pages.reserved","stage":"door"}`, `stage "door"`},
		{`{"kind":"write.landed","buffer":"K9"}`, `buffer "K9"`},
		{`{"kind":"write.landed"}`, "not spelled"},
		{`{"kind":"guard.tripped","reason":"a` + "\n" + `"}`, "not spelled"},
		{`{"kind":"guard.tripped","reason":"\u0041"}`, "not spelled"},
		{`{"kind":"guard.tripped","reason":"\n"}`, `want "u"`},
		{`{"kind":"guard.tripped","reason":"\ud83d"}`, `want "\\u"`},
		{`{"kind":"guard.tripped","reason":"\ud83d\u0041"}`, "surrogate pair"},
		{`{"kind":"guard.tripped","reason":"\udc41"}`, "surrogate pair"},
		{`{"kind":"guard.tripped","reason":"\udcc3\udca9"}`, "not spelled"},
		{`{"kind":"guard.tripped","reason":"open`, "closing quote"},
		{`{"kind":"request.received","hash":"` + strings.Repeat("AB", 32) + `"}`, "hexadecimal"},
		{`{"kind":"request.received","hash":"abcd"}`, "hexadecimal"},
		{`{"kind":"response.received","output":[]}`, "want a number"},
		{`{"kind":"response.received","output":[65536]}`, "16 bits"},
		{`{"kind":"digest.taken","digests":["","","",""]}`, "not spelled"},
		{`{"kind":"digest.taken","digests":["0","","",""]}`, "hexadecimal"},
		{`{"kind":"request.submitted","spans":[[1,2]]}`, `want ","`},
		{
			`{"kind":"token.sampled","samples":{"positions":[1,2],"tokens":[1],"pages":[1],"slots":[1],"scores":[1]}}`,
			"one length",
		},
		{
			`{"kind":"token.sampled","samples":{"positions":[1],"tokens":[1,2],"pages":[1],"slots":[1],"scores":[1]}}`,
			"at most 1",
		},
		{
			`{"kind":"token.sampled","samples":{"rooms":[0],"positions":[1],"tokens":[1],"pages":[1],"slots":[1],"scores":[1]}}`,
			"not spelled",
		},
		{
			`{"kind":"token.sampled","samples":{"rooms":[1,1],"positions":[1,1],"tokens":[1,1],"pages":[1,1],"s":[]}}`,
			"want",
		},
		{`{"kind":"worker.quiesced","holdings":{}}`, "want"},
	} {
		_, err := ParseEvent([]byte(test.line))
		g := NewWithT(t)
		g.Expect(err).To(MatchError(ErrMalformed), test.line)
		g.Expect(err.Error()).To(ContainSubstring(test.want), test.line)
	}
}

// Encoding into storage that is large enough allocates nothing: it runs once per event of a million schedules.
func TestEncodingDoesNotAllocate(t *testing.T) {
	events := randomEvents(4, 100)
	buffer := make([]byte, 0, 1<<20)
	allocations := testing.AllocsPerRun(10, func() {
		for i := range events {
			buffer = AppendEvent(buffer[:0], &events[i])
		}
	})
	NewWithT(t).Expect(allocations).To(BeZero())
}

// FuzzEvent: no line panics; a line that is taken is spelled exactly so again, and is JSON.
func FuzzEvent(f *testing.F) {
	for _, e := range randomEvents(5, 60) {
		f.Add(AppendEvent(nil, &e))
	}
	f.Add([]byte(`{"kind":"pages.reserved","pages":"2147483647-1,0+524287"}`))
	f.Add([]byte(`{"kind":"guard.tripped","reason":"\ud800\udc00\udc80"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := ParseEvent(line)
		if err != nil {
			return
		}
		if again := AppendEvent(nil, &e); string(again) != string(line) {
			t.Fatalf("taken but spelled otherwise:\n%s\n%s", line, again)
		}
		if !json.Valid(line) {
			t.Fatalf("taken but not JSON: %s", line)
		}
	})
}
