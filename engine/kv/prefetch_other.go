//go:build !amd64

package kv

func prefetchLines(*byte, int) {}
