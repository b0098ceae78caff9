// Package kv is one worker's memory and the policies over it: the pool of pages as one slab of bytes, the allocators
// that hand pages out, the metadata slots, the admission limits that follow from the pool's size, the registry that
// turns spans into bytes, and the digest by which both ends of a transfer can compare what lies in a page.
//
// Pages are never zeroed between requests: what a page held stays until something is written over it, as on the
// engines this models. Whoever reads a page that it did not write reads somebody else's rows.
package kv
