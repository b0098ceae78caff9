package port

import (
	"encoding/binary"

	"github.com/stalepage/stalepage/engine/wire"
)

// Record is what prefill leaves in a metadata slot of decode: the first output token, and whose it is. It travels as
// bytes in a registered region (SGLang's metadata, or aux, buffers), so it can be as stale as any page.
type Record struct {
	Room wire.Room
	// Tokens is the length that prefill claims to have transferred.
	Tokens int
	// Cached is how many of them came from a prefix cache.
	Cached int
	First  wire.Token
}

// Bytes is the record as it lies in memory: RecordBytes long, little endian.
func (r Record) Bytes() []byte {
	b := make([]byte, RecordBytes)
	binary.LittleEndian.PutUint64(b, uint64(r.Room))
	binary.LittleEndian.PutUint64(b[8:], uint64(r.Tokens))
	binary.LittleEndian.PutUint64(b[16:], uint64(r.Cached))
	binary.LittleEndian.PutUint64(b[24:], uint64(r.First))
	return b
}

// Sum digests the record, so that one side can tell whether what the other reads is what it wrote. (FNV-1a: a record is
// stale, never forged.) It is never 0.
func (r Record) Sum() uint64 {
	sum := uint64(14695981039346656037)
	for _, field := range [...]uint64{uint64(r.Room), uint64(r.Tokens), uint64(r.Cached), uint64(r.First)} {
		for ; field != 0; field >>= 8 {
			sum = (sum ^ field&0xff) * 1099511628211
		}
		sum = (sum ^ 0x100) * 1099511628211 // ends the field
	}
	return max(sum, 1)
}

// ParseRecord reads what Bytes wrote; false if b is not RecordBytes long. It believes any content.
func ParseRecord(b []byte) (Record, bool) {
	if len(b) != RecordBytes {
		return Record{}, false
	}
	return Record{
		Room:   wire.Room(binary.LittleEndian.Uint64(b)),
		Tokens: int(int64(binary.LittleEndian.Uint64(b[8:]))),
		Cached: int(int64(binary.LittleEndian.Uint64(b[16:]))),
		First:  wire.Token(binary.LittleEndian.Uint64(b[24:])),
	}, true
}
