//go:build !linux

package model_test

import "testing"

// mapSlab is memory from the heap.
func mapSlab(tb testing.TB, size int) []byte {
	tb.Helper()
	return make([]byte, size)
}
