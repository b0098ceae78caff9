package transfertest

import (
	"testing"

	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/memory"
	"github.com/stalepage/stalepage/engine/wire"
)

// The in-process transport keeps the contract.
func TestMemoryTransport(t *testing.T) {
	Contract(t, func(testing.TB) *Harness { return memoryHarness() })
}

// So does it when the last enabled write is stepped first, and not the first.
func TestMemoryTransportSteppedFromTheBack(t *testing.T) {
	Contract(t, func(testing.TB) *Harness {
		h := memoryHarness()
		stepper := h.Transport.(port.Stepper)
		h.Advance = func() bool { return step(stepper, stepper.Enabled()-1) }
		return h
	})
}

// And the in-process links keep theirs.
func TestMemoryLinks(t *testing.T) {
	LinkContract(t, func(testing.TB) *Links { return memoryLinks() })
}

func step(s port.Stepper, i int) bool {
	if i < 0 || i >= s.Enabled() {
		return false
	}
	s.Step(i)
	return true
}

func memoryHarness() *Harness {
	registry := &kv.Registry{}
	writer := wire.Addr{Role: wire.Prefill, Incarnation: 1}
	reader := wire.Addr{Role: wire.Decode, Incarnation: 1}
	h := &Harness{
		Memory: registry,
		Source: port.Layout{Base: 0, Pages: 40, PageSize: 16, RowBytes: 128},
		Target: port.Layout{Base: 2, Pages: 50, PageSize: 16, RowBytes: 128}, SourceRecords: 1, TargetRecords: 3,
	}
	slabs := [4][]byte{
		make([]byte, h.Source.Bytes()), make([]byte, 4*port.RecordBytes),
		make([]byte, h.Target.Bytes()), make([]byte, 4*port.RecordBytes),
	}
	for base, slab := range slabs {
		owner := writer
		if base >= 2 {
			owner = reader
		}
		var err error
		if base%2 == 1 {
			err = registry.Register(uint16(base), owner, slab)
		} else {
			var pool *kv.Pool
			if pool, err = kv.NewPoolOver([]port.Layout{h.Source, h.Target}[base/2], slab); err == nil {
				err = registry.RegisterPool(owner, pool)
			}
		}
		if err != nil {
			panic(err)
		}
	}
	h.Read = func(s wire.Span) []byte {
		return append([]byte{}, slabs[s.Region.Base][s.Offset:s.Offset+s.Length]...)
	}
	h.Write = func(s wire.Span, b []byte) { copy(slabs[s.Region.Base][s.Offset:s.Offset+s.Length], b) }
	transport := memory.NewTransport(memory.Config{Addr: writer, Registry: registry})
	h.Transport = transport
	h.Advance = func() bool { return step(transport, 0) }
	return h
}

func memoryLinks() *Links {
	net := memory.NewNet()
	return &Links{
		End:     net.End,
		Advance: func() bool { return step(net, 0) },
		Choose:  func(i int) bool { return step(net, i) },
	}
}
