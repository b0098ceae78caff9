package turn

import (
	"crypto/sha256"
	"unsafe"

	"github.com/stalepage/stalepage/engine/wire"
)

// HashOf is the SHA-256 of a prompt's tokens, two bytes each, little endian (the byte order of every machine the
// engine runs on; a big-endian build fails at compile time in engine/kv).
func HashOf(prompt []wire.Token) [32]byte {
	if len(prompt) == 0 {
		return sha256.Sum256(nil)
	}
	return sha256.Sum256(unsafe.Slice((*byte)(unsafe.Pointer(&prompt[0])), 2*len(prompt)))
}
