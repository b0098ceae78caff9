// Package fifo is a first-in-first-out queue that keeps its memory: a run at true scale pushes tens of millions of
// operations, messages and answers through a handful of queues, and a slice that is cut at the head would allocate
// for each of them. It is a leaf: standard library only.
package fifo

// Queue is a ring that grows by doubling and never shrinks. The zero value is an empty queue. Not for concurrent use.
type Queue[T any] struct {
	ring  []T // length is zero or a power of two
	first int
	count int
}

// Reset empties the queue and keeps its memory.
func (q *Queue[T]) Reset() {
	clear(q.ring)
	q.first, q.count = 0, 0
}

// Len is how many elements wait.
func (q *Queue[T]) Len() int { return q.count }

// Push appends v at the tail.
func (q *Queue[T]) Push(v T) {
	if q.count == len(q.ring) {
		q.grow()
	}
	*q.slot(q.count) = v
	q.count++
}

// At is the i-th element from the head, 0 <= i < Len; the pointer is valid until the next Push or Remove.
func (q *Queue[T]) At(i int) *T {
	if i < 0 || i >= q.count {
		panic("fifo: index out of range")
	}
	return q.slot(i)
}

// Pop takes the head off a queue that is not empty. What it held is cleared, so that the queue keeps nothing alive.
func (q *Queue[T]) Pop() T {
	head := q.At(0)
	v := *head
	var zero T
	*head = zero
	q.first = (q.first + 1) & (len(q.ring) - 1)
	q.count--
	return v
}

// PopInto moves elements from the head into dst and returns how many it moved: the Poll of a port.
func (q *Queue[T]) PopInto(dst []T) int {
	n := min(len(dst), q.count)
	for i := range n {
		dst[i] = q.Pop()
	}
	return n
}

// Remove takes out the i-th element from the head and keeps the others in order, at a cost of Len-i moves.
func (q *Queue[T]) Remove(i int) {
	if i == 0 {
		q.Pop()
		return
	}
	q.At(i)
	for ; i < q.count-1; i++ {
		*q.slot(i) = *q.slot(i + 1)
	}
	var zero T
	*q.slot(i) = zero
	q.count--
}

func (q *Queue[T]) slot(i int) *T { return &q.ring[(q.first+i)&(len(q.ring)-1)] }

func (q *Queue[T]) grow() {
	ring := make([]T, max(4, 2*len(q.ring)))
	for i := range q.count {
		ring[i] = *q.slot(i)
	}
	q.ring, q.first = ring, 0
}
