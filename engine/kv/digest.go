package kv

import (
	"github.com/zeebo/xxh3"

	"github.com/stalepage/stalepage/engine/wire"
)

// Digest is one page's term in a transfer digest: a hash of the buffer's name, the page's ordinal in its request, and
// the bytes. Terms are added (modulo 2^64) per buffer over wire.DigestGroupPages ordinals, so the order in which pages
// land does not matter; that the ordinal is inside the hash is what makes two swapped pages show.
//
// The hash is XXH3-64 with a seed. It finds damage and mix-ups; it is no defence against someone who forges pages.
func Digest(buffer wire.Buffer, ordinal int, bytes []byte) uint64 {
	return xxh3.HashSeed(bytes, scatter(uint64(ordinal)<<8|uint64(buffer)))
}

// DigestGroups is how many digest groups the ordinals first to first+pages-1 touch.
func DigestGroups(first, pages int) int {
	if pages <= 0 {
		return 0
	}
	return (first+pages-1)/wire.DigestGroupPages - first/wire.DigestGroupPages + 1
}

// DigestGroup is the index, among the groups touched by a run of ordinals that starts at first, of an ordinal's group.
func DigestGroup(first, ordinal int) int {
	return ordinal/wire.DigestGroupPages - first/wire.DigestGroupPages
}

// scatter is a bijection of 64-bit words (Steele, Lea and Flood's SplitMix64 finaliser) that sends neighbouring pages
// to seeds with nothing in common.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
