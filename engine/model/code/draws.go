package code

// The purposes that draws are made for. Changing one changes the tables, and with them every byte of every KV pool.
const (
	purposeBlocks uint64 = iota + 1
	purposeValues
	purposeWords
)

// seed fixes all tables and the vocabulary.
const seed = 0x5354414c45504147 // "STALEPAG"

// draws is a counter-based random source: the n-th draw is a hash of seed, purpose and n, so that it depends on no
// library's generator and no other purpose's count.
type draws struct{ purpose, ordinal uint64 }

// next returns 64 bits.
func (d *draws) next() uint64 {
	d.ordinal++
	return mix(mix(seed^d.purpose) + d.ordinal)
}

// below returns a number from 0 to n-1.
func (d *draws) below(n int) int { return int(d.next() % uint64(n)) }

// mix is the finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014)
// after one step of its Weyl sequence: a bijection of 64-bit words.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
