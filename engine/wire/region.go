package wire

// Region is an opaque handle of registered memory: a base that stays for the life of a worker and a
// generation. Generation 0 is the standing registration of the whole base and is always valid; a worker
// that guards addresses grants a fresh generation per reservation and revokes it on release, after which a
// write that names it no longer lands (the registered-memory form of an epoch; public report
// uccl-project/uccl 903 shows what its absence costs).
type Region struct {
	Base       uint16
	Generation uint32
}

// Span is a stretch of registered memory: bytes Offset to Offset+Length-1 of the region's base.
type Span struct {
	Region         Region
	Offset, Length int64
}
