package kv

import (
	"errors"
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Why a span does not resolve. Resolve wraps one of these and names base, generation and offset.
var (
	// ErrUnknownBase: nothing is registered there.
	ErrUnknownBase = errors.New("nothing is registered at the base")
	// ErrRevoked: the generation was never granted, or it was revoked.
	ErrRevoked = errors.New("the region's generation is not granted")
	// ErrOutOfRange: part of the span lies outside the base's bytes.
	ErrOutOfRange = errors.New("the span leaves the registered bytes")
)

// Registry is the registered memory of one process: a base names bytes for as long as its worker lives, and a region
// is a base under a generation. Generation 0 is the standing registration of the whole base and always valid; others
// are granted and revoked (see wire.Region). It implements port.Memory for every worker whose bases it holds.
type Registry struct {
	// places is indexed by base: bases are few, and a span is resolved twice for every page that lands.
	places []place
}

var _ port.Memory = (*Registry)(nil)

type place struct {
	registered bool
	bytes      []byte
	owner      wire.Addr
	layout     port.Layout // zero for bytes that are no pool
	granted    map[uint32]struct{}
}

// Register makes owner's bytes reachable at base. A base that is taken is an error.
func (r *Registry) Register(base uint16, owner wire.Addr, bytes []byte) error {
	return r.register(base, place{registered: true, bytes: bytes, owner: owner})
}

// RegisterPool makes owner's pool reachable at the base of its layout.
func (r *Registry) RegisterPool(owner wire.Addr, pool *Pool) error {
	return r.register(pool.Layout.Base, place{registered: true, bytes: pool.slab, owner: owner, layout: pool.Layout})
}

func (r *Registry) register(base uint16, p place) error {
	for len(r.places) <= int(base) {
		r.places = append(r.places, place{})
	}
	if r.places[base].registered {
		return fmt.Errorf("register base %d for %s: it belongs to %s already", base, p.owner, r.places[base].owner)
	}
	r.places[base] = p
	return nil
}

// Unregister ends a base and all its generations: the worker is gone, and no byte lands in its memory any more.
func (r *Registry) Unregister(base uint16) {
	if int(base) < len(r.places) {
		r.places[base] = place{}
	}
}

// Owner tells whose memory a base is, and how it is laid out if it is a pool (Pages is 0 if it is not).
func (r *Registry) Owner(base uint16) (owner wire.Addr, layout port.Layout, ok bool) {
	p := r.at(base)
	if p == nil {
		return wire.Addr{}, port.Layout{}, false
	}
	return p.owner, p.layout, true
}

// Grant makes writes that name region land. Granting twice, or generation 0, changes nothing.
func (r *Registry) Grant(region wire.Region) {
	p := r.at(region.Base)
	if p == nil || region.Generation == 0 {
		return
	}
	if p.granted == nil {
		p.granted = map[uint32]struct{}{}
	}
	p.granted[region.Generation] = struct{}{}
}

// Revoke ends region: from its return on no span of it resolves. Generation 0 stays valid.
func (r *Registry) Revoke(region wire.Region) {
	if p := r.at(region.Base); p != nil {
		delete(p.granted, region.Generation)
	}
}

// Resolve turns a span into its bytes. What it returns must be used before anything else can revoke the region.
func (r *Registry) Resolve(span wire.Span) ([]byte, error) {
	p := r.at(span.Region.Base)
	if p == nil {
		return nil, spanError(span, ErrUnknownBase)
	}
	if span.Region.Generation != 0 {
		if _, granted := p.granted[span.Region.Generation]; !granted {
			return nil, spanError(span, ErrRevoked)
		}
	}
	size := int64(len(p.bytes))
	if span.Offset < 0 || span.Length < 0 || span.Offset > size || span.Length > size-span.Offset {
		return nil, fmt.Errorf("%w, which end at %d", spanError(span, ErrOutOfRange), size)
	}
	end := span.Offset + span.Length
	return p.bytes[span.Offset:end:end], nil
}

func (r *Registry) at(base uint16) *place {
	if int(base) >= len(r.places) || !r.places[base].registered {
		return nil
	}
	return &r.places[base]
}

func spanError(s wire.Span, why error) error {
	return fmt.Errorf("span at base %d, generation %d, offset %d, %d bytes: %w",
		s.Region.Base, s.Region.Generation, s.Offset, s.Length, why)
}
