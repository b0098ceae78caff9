package devicetest

import (
	"encoding/binary"
	"slices"

	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/porttest"
	"github.com/stalepage/stalepage/engine/wire"
)

var computeClauses = []Clause{
	{Name: "prefill writes the model's rows and nothing else", Check: prefillRows},
	{Name: "prefill samples only when asked", Check: prefillSamples},
	{Name: "decode writes one row and draws the model's token", Check: decodes},
	{Name: "decode over stale pages draws what they hold", Check: decodesStale},
	{Name: "decode verifies stamps before it writes", Check: verifies},
}

// prefillRows computes a prompt in two chunks over a pool of random bytes.
func prefillRows(t porttest.T, h *Harness) {
	h.fill(1)
	want, kv := h.shadow()
	var scratch model.Scratch
	prompt, pages := text(5*h.Layout.PageSize+3), table(6)
	for i, chunk := range [][2]int{{0, 2*h.Layout.PageSize + 1}, {2*h.Layout.PageSize + 1, len(prompt)}} {
		tokens := prompt[chunk[0]:chunk[1]]
		h.Reference.Prefill(kv, pages, chunk[0], tokens)
		done := h.expect(t, port.Op{
			Ticket: wire.Ticket(1 + i), Kind: port.OpPrefill, Pages: pages, First: chunk[0], Tokens: tokens, Sample: i == 1,
		}, port.OK)
		h.expectPool(t, want, "after a prefill")
		if i == 1 && !sameSampled(done.Sampled, h.Reference.Sample(kv, pages, len(prompt)-1, &scratch)) {
			t.Errorf("sampled %+v, want %+v", done.Sampled, h.Reference.Sample(kv, pages, len(prompt)-1, &scratch))
		}
	}
}

func prefillSamples(t porttest.T, h *Harness) {
	op := port.Op{Ticket: 1, Kind: port.OpPrefill, Pages: table(2), Tokens: text(20)}
	if done := h.expect(t, op, port.OK); done.Sampled != nil {
		t.Errorf("sampled %+v without being asked", done.Sampled)
	}
	op.Ticket, op.Sample = 2, true
	if done := h.expect(t, op, port.OK); len(done.Sampled) != 1 {
		t.Errorf("sampled %+v, want one token", done.Sampled)
	}
}

func decodes(t porttest.T, h *Harness) {
	h.fill(2)
	want, kv := h.shadow()
	var scratch model.Scratch
	pages, prompt := table(6), text(4*h.Layout.PageSize)
	h.Reference.Prefill(kv, pages, 0, prompt)
	h.expect(t, port.Op{Ticket: 1, Kind: port.OpPrefill, Pages: pages, Tokens: prompt}, port.OK)
	token := prompt[len(prompt)%29] // what follows: the prompt has period 29
	for i := range 2 * h.Layout.PageSize {
		position := len(prompt) + i
		h.Reference.Prefill(kv, pages, position, []wire.Token{token})
		drawn := h.Reference.Sample(kv, pages, position, &scratch)
		done := h.expect(t, port.Op{
			Ticket: wire.Ticket(2 + i), Kind: port.OpDecode, Pages: pages, First: position, Tokens: []wire.Token{token},
		}, port.OK)
		if !sameSampled(done.Sampled, drawn) {
			t.Fatalf("position %d: sampled %+v, want %+v", position, done.Sampled, drawn)
		}
		token = drawn.Token
	}
	h.expectPool(t, want, "after decoding")
}

// decodesStale is the incident in small: one page is the request's own, the others hold somebody else's rows.
func decodesStale(t porttest.T, h *Harness) {
	h.fill(3)
	pages := table(8)
	owner := port.Op{Ticket: 1, Kind: port.OpPrefill, Pages: pages, Tokens: text(8*h.Layout.PageSize - 20)}
	h.expect(t, owner, port.OK)
	_, kv := h.shadow()
	var scratch model.Scratch
	stale := slices.Clone(pages)
	slices.Reverse(stale)
	position := 7*h.Layout.PageSize + 5
	h.Reference.Prefill(kv, stale, position, []wire.Token{0})
	done := h.expect(t, port.Op{
		Ticket: 2, Kind: port.OpDecode, Pages: stale, First: position, Tokens: []wire.Token{0},
	}, port.OK)
	if drawn := h.Reference.Sample(kv, stale, position, &scratch); !sameSampled(done.Sampled, drawn) {
		t.Errorf("sampled %+v, want %+v", done.Sampled, drawn)
	}
}

// verifies spoils one stamp at a time: the decode must fail there, draw nothing and leave the pool as it was.
func verifies(t porttest.T, h *Harness) {
	pages, prompt := table(4), text(3*h.Layout.PageSize)
	h.expect(t, port.Op{Ticket: 1, Kind: port.OpPrefill, Pages: pages, Tokens: prompt}, port.OK)
	h.expect(t, port.Op{Ticket: 2, Kind: port.OpStamp, Room: 9, Generation: 4, Pages: pages[:3]}, port.OK)
	decode := port.Op{
		Ticket: 3, Kind: port.OpDecode, Room: 9, Generation: 4, Pages: pages, First: len(prompt),
		Tokens: []wire.Token{5}, Verify: 3,
	}
	h.expect(t, decode, port.OK)
	for ordinal := range 4 {
		span := h.Layout.Span(wire.Stamp, pages[ordinal], 0)
		stamp := h.Read(span)
		h.Write(span, make([]byte, port.StampBytes))
		before, _ := h.shadow()
		decode.Ticket++
		decode.Tokens = []wire.Token{wire.Token(100 + ordinal)}
		if ordinal == 3 { // beyond what it was asked to verify
			h.expect(t, decode, port.OK)
		} else {
			done := h.expect(t, decode, port.Failed)
			if done.FailedOrdinal != ordinal || done.Sampled != nil {
				t.Errorf("the stamp of ordinal %d is wrong: answer %+v", ordinal, done)
			}
			h.expectPool(t, before, "after a decode that failed")
		}
		h.Write(span, stamp)
	}
	decode.Ticket, decode.Room = 90, 8
	if done := h.expect(t, decode, port.Failed); done.FailedOrdinal != 0 {
		t.Errorf("stamps of another room: answer %+v", done)
	}
}

// stampOf is the stamp as it lies in memory: room, ordinal, generation, little endian.
func stampOf(room wire.Room, ordinal int, generation uint32) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(room))
	b = binary.LittleEndian.AppendUint32(b, uint32(ordinal))
	return binary.LittleEndian.AppendUint32(b, generation)
}
