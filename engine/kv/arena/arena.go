// Package arena cuts small slices out of larger pieces. It is a leaf: standard library only.
package arena

// Arena hands out the slices of answers, so that a step of a device or a write does not allocate. A slice is never
// handed out twice: it stays its receiver's, and the collector frees the piece when all of its slices are forgotten.
// The zero value is ready. Not for concurrent use.
type Arena[T any] struct {
	rest []T
	// piece is the size of the next one: it doubles, so that a short run stays small.
	piece int
}

// pieceMax bounds a piece, in elements.
const pieceMax = 1024

// Take returns n zero elements that no one else has.
func (a *Arena[T]) Take(n int) []T {
	if n > len(a.rest) {
		if n > pieceMax/2 {
			return make([]T, n)
		}
		a.piece = min(max(2*a.piece, 2*n, 16), pieceMax)
		a.rest = make([]T, a.piece)
	}
	out := a.rest[:n:n]
	a.rest = a.rest[n:]
	return out
}
