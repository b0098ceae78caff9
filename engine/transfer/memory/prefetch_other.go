//go:build !amd64

package memory

func prefetchLines(*byte, int) {}
