package kv

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Options says how a pool's memory is mapped.
type Options struct {
	// HugePages asks the kernel for 2 MiB pages. It may say no: ask Pool.HugePages.
	HugePages bool
	// Touch writes to every page of the mapping at once, so that no first-touch fault falls into the run.
	Touch bool
}

// Pool is the slab of bytes behind one worker's pages: the buffers K0, V0, K1, V1 and stamp one after the other, each
// an array of Layout.Pages pages (port.Layout says where). Fresh memory is zero; after that nothing clears it.
type Pool struct {
	Layout port.Layout

	slab    []byte
	mapping []byte // what Close unmaps; nil when the slab is the caller's
	huge    bool
}

// NewPool maps a slab for layout. Close gives it back.
func NewPool(layout port.Layout, options Options) (*Pool, error) {
	if err := checkLayout(layout); err != nil {
		return nil, err
	}
	slab, mapping, err := mapSlab(layout.Bytes(), options.HugePages)
	if err != nil {
		return nil, fmt.Errorf("map a pool of %d pages, %d bytes: %w", layout.Pages, layout.Bytes(), err)
	}
	if options.Touch {
		touch(slab)
	}
	return &Pool{Layout: layout, slab: slab, mapping: mapping, huge: options.HugePages}, nil
}

// NewPoolOver lays a pool over the head of a slab that the caller keeps, as it is: for runs of thousands of tiny pools a
// second, which clear one arena and use it again.
func NewPoolOver(layout port.Layout, slab []byte) (*Pool, error) {
	if err := checkLayout(layout); err != nil {
		return nil, err
	}
	size := layout.Bytes()
	if int64(len(slab)) < size {
		return nil, fmt.Errorf("a pool of %d pages needs %d bytes, the slab given has %d", layout.Pages, size, len(slab))
	}
	return &Pool{Layout: layout, slab: slab[:size:size]}, nil
}

func checkLayout(l port.Layout) error {
	if l.Pages < 1 || l.PageSize < 1 || l.RowBytes < 1 {
		return fmt.Errorf("a pool of %d pages of %d tokens of %d bytes: each must be at least 1",
			l.Pages, l.PageSize, l.RowBytes)
	}
	return nil
}

// Slab is all of the pool's bytes. It is invalid after Close.
func (p *Pool) Slab() []byte { return p.slab }

// Buffer is buffer b of every page, [page][BufferBytes(b)]; for a KV buffer that is [page][slot][row byte].
func (p *Pool) Buffer(b wire.Buffer) []byte {
	first := p.Layout.Span(b, 0, 0)
	size := int64(p.Layout.Pages) * first.Length
	return p.slab[first.Offset : first.Offset+size : first.Offset+size]
}

// Page is buffer b of one page, 0 <= page < Layout.Pages.
func (p *Pool) Page(b wire.Buffer, page wire.Page) []byte {
	s := p.Layout.Span(b, page, 0)
	return p.slab[s.Offset : s.Offset+s.Length : s.Offset+s.Length]
}

// HugePages reports whether huge pages were asked for, and whether the kernel now backs more than half of the slab by
// them. The answer is read when asked for, since an untouched slab has none yet; where it cannot be read it is no.
func (p *Pool) HugePages() (asked, got bool) {
	if !p.huge || len(p.slab) == 0 {
		return p.huge, false
	}
	return true, 2*hugeBytes(p.slab) > int64(len(p.slab))
}

// Close unmaps a slab that NewPool mapped. Slices of it must not be used any more. A second Close does nothing.
func (p *Pool) Close() error {
	mapping := p.mapping
	p.slab, p.mapping = nil, nil
	if mapping == nil {
		return nil
	}
	if err := unmapSlab(mapping); err != nil {
		return fmt.Errorf("unmap a pool of %d pages: %w", p.Layout.Pages, err)
	}
	return nil
}

// touch writes one byte of every 4 KiB page. The bytes of a fresh mapping are zero and stay so.
func touch(slab []byte) {
	const smallPageBytes = 4096
	for i := 0; i < len(slab); i += smallPageBytes {
		slab[i] = 0
	}
}
