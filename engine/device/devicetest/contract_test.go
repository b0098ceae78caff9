package devicetest

import (
	"fmt"
	"testing"

	"github.com/stalepage/stalepage/engine/device/host"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// The host device keeps the contract with each kernel that this machine can run, at small and large pages.
func TestHostDevice(t *testing.T) {
	reference := Reference()
	tables := code.New()
	for _, variant := range model.Variants() {
		m, err := model.NewVariant(tables, variant)
		if err != nil {
			t.Fatal(err)
		}
		for _, pageSize := range []int{16, 64} {
			t.Run(fmt.Sprintf("%s/%d", variant, pageSize), func(t *testing.T) {
				Contract(t, func(testing.TB) *Harness { return hostHarness(m, reference, pageSize, false) })
			})
		}
	}
}

// So it does when the last enabled queue is stepped first, and not the first.
func TestHostDeviceSteppedFromTheBack(t *testing.T) {
	reference := Reference()
	Contract(t, func(testing.TB) *Harness { return hostHarness(reference, reference, 16, true) })
}

func hostHarness(m, reference *model.Model, pageSize int, fromTheBack bool) *Harness {
	layout := port.Layout{Base: 0, Pages: 24, PageSize: pageSize, RowBytes: code.RowDimensions}
	slabs := [2][]byte{make([]byte, layout.Bytes()), make([]byte, 8*port.RecordBytes)}
	addr := wire.Addr{Role: wire.Decode, Incarnation: 1}
	registry := &kv.Registry{}
	pool, err := kv.NewPoolOver(layout, slabs[0])
	if err == nil {
		err = registry.RegisterPool(addr, pool)
	}
	if err == nil {
		err = registry.Register(1, addr, slabs[1])
	}
	if err != nil {
		panic(err)
	}
	const queues = 3
	device := host.New(host.Config{Addr: addr, Pool: pool, Registry: registry, Model: m, Queues: queues})
	return &Harness{
		Device: device, Memory: registry, Layout: layout, Records: 1, Queues: queues, Reference: reference,
		Advance: func() bool {
			enabled := device.Enabled()
			if enabled == 0 {
				return false
			}
			if fromTheBack {
				device.Step(enabled - 1)
			} else {
				device.Step(0)
			}
			return true
		},
		Read: func(s wire.Span) []byte {
			return append([]byte{}, slabs[s.Region.Base][s.Offset:s.Offset+s.Length]...)
		},
		Write: func(s wire.Span, b []byte) { copy(slabs[s.Region.Base][s.Offset:s.Offset+s.Length], b) },
	}
}
