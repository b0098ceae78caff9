package harness

// slabs is the memory of small pools, used again by the next cluster of a session. It serves one cluster at a time.
type slabs struct {
	list [][]byte
	used int
}

// slabBytesMax bounds what is worth clearing: a larger pool is cheaper to map anew, since few of its pages are touched.
const slabBytesMax = 4 << 20

// take returns zeroed memory, as engine.Options.Slab wants it.
func (s *slabs) take(bytes int64) []byte {
	if bytes > slabBytesMax {
		return nil
	}
	if s.used == len(s.list) {
		s.list = append(s.list, nil)
	}
	if int64(cap(s.list[s.used])) < bytes {
		s.list[s.used] = make([]byte, bytes)
	} else {
		s.list[s.used] = s.list[s.used][:bytes]
		clear(s.list[s.used])
	}
	s.used++
	return s.list[s.used-1]
}

// reset makes all of it free; the last cluster's pools must be closed.
func (s *slabs) reset() { s.used = 0 }
