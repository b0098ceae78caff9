package host

// arena cuts the slices of answers out of larger pieces, so that a decode step does not allocate. A slice is never
// handed out twice: it stays its receiver's, and the collector frees the piece when all of its slices are forgotten.
type arena[T any] struct {
	rest []T
	// piece is the size of the next one: it doubles, so that a short run stays small.
	piece int
}

const arenaPieceMax = 1024

// take returns n zero elements that no one else has.
func (a *arena[T]) take(n int) []T {
	if n > len(a.rest) {
		if n > arenaPieceMax/2 {
			return make([]T, n)
		}
		a.piece = min(max(2*a.piece, 2*n, 16), arenaPieceMax)
		a.rest = make([]T, a.piece)
	}
	out := a.rest[:n:n]
	a.rest = a.rest[n:]
	return out
}
