package check

import (
	"encoding/binary"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// draws turns bytes into small numbers, now and then into one that is out of all bounds.
type draws struct{ data []byte }

func (d *draws) byte() byte {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return b
}

func (d *draws) number() int {
	switch b := d.byte(); {
	case b < 250:
		return int(b) % 50
	case b < 253:
		return -int(b)
	default:
		var wide [8]byte
		for i := range wide {
			wide[i] = d.byte()
		}
		return int(binary.LittleEndian.Uint64(wide[:]))
	}
}

func (d *draws) addr() wire.Addr {
	b := d.byte()
	return wire.Addr{Role: wire.Role(b & 7), Index: b >> 3 & 3, Incarnation: uint16(b >> 5)}
}

func (d *draws) event() event.Event {
	e := event.Event{
		Kind: event.Kind(d.byte() % 36), Tick: wire.Tick(d.number()), Source: d.addr(), Peer: d.addr(),
		Room: wire.Room(d.byte() % 5), Tenant: d.number(), Request: d.number(), Tokens: d.number(),
		MaxNewTokens: d.number(), First: d.number(), Count: d.number(), Slot: d.number(), Status: d.number() * 10,
		Buffer: wire.Buffer(d.byte() % 8), Flag: d.byte()&1 == 1, Reason: "idle",
	}
	for range d.byte() % 12 {
		e.Pages = append(e.Pages, wire.Page(d.number()))
	}
	for range d.byte() % 4 {
		e.Samples = append(e.Samples, event.Sample{
			Room: wire.Room(d.byte() % 5), Position: d.number(), Token: wire.Token(d.number()), Page: wire.Page(d.number()),
			Slot: int32(d.number()), Score: int32(d.number()),
		})
	}
	for range d.byte() % 3 {
		e.Spans = append(e.Spans, event.Span{Tenant: d.number(), First: d.number(), Count: d.number() % 5000})
	}
	for range d.byte() % 20 {
		e.Output = append(e.Output, wire.Token(d.number()))
	}
	for b := range e.Digests {
		for range d.byte() % 3 {
			e.Digests[b] = append(e.Digests[b], uint64(d.byte()))
		}
	}
	return e
}

// FuzzEvents: no stream of events, however absurd, makes the history or a check panic, take unbounded memory, or pass.
// A stream of which an event cannot be followed is never a pass.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{})
	seed := make([]byte, 4096)
	for i := range seed {
		seed[i] = byte(i*i>>3 ^ i*7)
	}
	f.Add(seed)
	base := newScene(f)
	base.serve(base.party(1, 3, 1000, 60))
	run, healthy := base.run, base.events
	run.Cluster.Models = append(run.Cluster.Models, config.Model{Mode: config.Colocated, Prefill: config.Worker{
		PageSize: 16, MaxTotalNumTokens: 320, ChunkedPrefillSize: 16, MetadataSlots: 4,
	}})
	x := NewExaminer()
	f.Fuzz(func(t *testing.T, data []byte) {
		g := NewWithT(t)
		d := draws{data}
		x.Begin(run)
		mixed := int(d.byte()) % (len(healthy) + 1)
		for i := range healthy[:mixed] {
			x.Observe(&healthy[i])
		}
		for n := 0; len(d.data) > 0 && n < 400; n++ {
			e := d.event()
			x.Observe(&e)
		}
		report := x.Report()
		g.Expect(x.historyCrash).To(BeEmpty())
		for i, crash := range x.crashes {
			g.Expect(crash).To(BeEmpty(), x.oracles[i].name())
		}
		if x.history.malformed > 0 {
			g.Expect(report.Verdict).NotTo(Equal(Pass))
		}
	})
}
