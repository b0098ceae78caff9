// Package devicetest is the contract of port.Device as a test: every device, whatever it computes with, is held to it. The
// expected bytes and tokens come from the model's plain Go kernels over a copy of the pool, so a device passes only if it
// agrees bit for bit, on what requests wrote and on whatever else lies in the pages.
//
// What it does not check: speed, and how much of a queue runs at once.
package devicetest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/porttest"
	"github.com/stalepage/stalepage/engine/wire"
)

// Harness is one idle device over one pool.
type Harness struct {
	Device port.Device
	// Advance is porttest.Subject's.
	Advance func() bool
	// Memory grants and revokes regions of the worker.
	Memory port.Memory
	// Layout is that of the pool: at least 24 pages.
	Layout port.Layout
	// Records is the base of a registered region of at least 8 records.
	Records uint16
	// Queues is how many there are: at least two.
	Queues int
	// Read copies what lies in a span, Write changes it; neither goes through the device.
	Read  func(wire.Span) []byte
	Write func(wire.Span, []byte)
	// Reference computes what is expected: the model on its plain Go kernels.
	Reference *model.Model
}

// Clause is one promise of the contract of a device.
type Clause = porttest.Clause[*Harness]

// Reference returns the model for Harness.Reference. Build it once: it takes some milliseconds.
func Reference() *model.Model {
	m, err := model.NewVariant(code.New(), "go")
	if err != nil {
		panic(err) // the plain Go kernels run everywhere
	}
	return m
}

// Contract holds a device to its contract. build is called once a clause and cleans up through its argument.
func Contract(t *testing.T, build func(testing.TB) *Harness) {
	t.Helper()
	porttest.Run(t, Clauses(), build)
}

// Clauses returns the contract: that of any port, and that of a device.
func Clauses() []Clause {
	var clauses []Clause
	for _, c := range porttest.Clauses[port.Op, port.OpDone]() {
		clauses = append(clauses, Clause{Name: c.Name, Check: func(t porttest.T, h *Harness) { c.Check(t, h.subject()) }})
	}
	clauses = append(clauses, computeClauses...)
	clauses = append(clauses, pageClauses...)
	return append(clauses, orderClauses...)
}

type subject = porttest.Subject[port.Op, port.OpDone]

// subject is the harness as the generic clauses see it: operations that name no queue twice in a row would hide what
// waits behind a waiting head, so each ticket has a kind and a queue of its own.
func (h *Harness) subject() *subject {
	return &subject{
		Port:    h.Device,
		Advance: func() bool { return h.Advance() },
		Good: func(ticket wire.Ticket, after ...wire.Ticket) port.Op {
			return port.Op{
				Ticket: ticket, Kind: port.OpStamp, Pages: []wire.Page{3, 4}, After: after,
				Queue: uint8(int(ticket) % h.Queues),
			}
		},
		Bad: func(ticket wire.Ticket) port.Op {
			return port.Op{Ticket: ticket, Kind: port.OpStamp, Pages: []wire.Page{wire.Page(h.Layout.Pages)}}
		},
		Status: func(d port.OpDone) port.Status { return d.Status },
	}
}

// whole is the span of all of the pool.
func (h *Harness) whole() wire.Span {
	return wire.Span{Region: wire.Region{Base: h.Layout.Base}, Length: h.Layout.Bytes()}
}

// shadow is a copy of the pool that the reference computes on.
func (h *Harness) shadow() (*kv.Pool, model.KV) {
	pool, err := kv.NewPoolOver(h.Layout, h.Read(h.whole()))
	if err != nil {
		panic(err) // the slab has the layout's size
	}
	return pool, model.KV{
		K0: pool.Buffer(wire.K0), V0: pool.Buffer(wire.V0), K1: pool.Buffer(wire.K1), V1: pool.Buffer(wire.V1),
		PageSize: h.Layout.PageSize,
	}
}

// fill gives the pool bytes without meaning, as stale pages may hold.
func (h *Harness) fill(salt uint32) {
	content := make([]byte, h.Layout.Bytes())
	state := salt + 1
	for i := range content {
		state = state*1_664_525 + 1_013_904_223 // Numerical Recipes' generator
		content[i] = byte(state >> 24)
	}
	h.Write(h.whole(), content)
}

// expectPool compares the device's pool with want and names the first page that differs.
func (h *Harness) expectPool(t porttest.T, want *kv.Pool, when string) {
	t.Helper()
	if bytes.Equal(h.Read(h.whole()), want.Slab()) {
		return
	}
	for b := wire.K0; b <= wire.Stamp; b++ {
		for page := range wire.Page(h.Layout.Pages) {
			if !bytes.Equal(h.Read(h.Layout.Span(b, page, 0)), want.Page(b, page)) {
				t.Errorf("%s: buffer %s of page %d differs from what it should hold", when, b, page)
				return
			}
		}
	}
}

// do submits one operation and returns its only answer.
func (h *Harness) do(t porttest.T, op port.Op) port.OpDone {
	t.Helper()
	h.Device.Submit(op)
	answers := h.subject().Drain(t)
	if len(answers) != 1 {
		t.Fatalf("%s: %d answers, want one: %+v", op.Kind, len(answers), answers)
	}
	return answers[0]
}

// expect submits one operation and compares the answer's status.
func (h *Harness) expect(t porttest.T, op port.Op, want port.Status) port.OpDone {
	t.Helper()
	done := h.do(t, op)
	if done.Status != want {
		t.Errorf("%s of ticket %d: %s, want %s", op.Kind, op.Ticket, done.Status, want)
	}
	return done
}

// text is a prompt that repeats itself, so that attention has something to find.
func text(count int) []wire.Token {
	tokens := make([]wire.Token, count)
	for i := range tokens {
		tokens[i] = wire.Token((i%29*131 + 7) % code.VocabularySize)
	}
	return tokens
}

// table is a page table of count pages, scattered over the pool.
func table(count int) []wire.Page {
	pages := make([]wire.Page, count)
	for i := range pages {
		pages[i] = wire.Page(1 + i*7%23)
	}
	return pages
}

// sums is what a digest of pages should be, from the bytes in pool.
func sums(pool *kv.Pool, first int, pages []wire.Page) []uint64 {
	groups := kv.DigestGroups(first, len(pages))
	out := make([]uint64, wire.KVBuffers*groups)
	for b := range wire.KVBuffers {
		for i, page := range pages {
			group := kv.DigestGroup(first, first+i)
			out[b*groups+group] += kv.Digest(wire.Buffer(b), first+i, pool.Page(wire.Buffer(b), page))
		}
	}
	return out
}

func sameSampled(a []port.Sampled, b ...port.Sampled) bool { return slices.Equal(a, b) }
