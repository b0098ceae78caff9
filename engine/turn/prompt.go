package turn

import (
	"crypto/sha256"
	"unsafe"

	"github.com/stalepage/stalepage/engine/wire"
)

// HashOf is the SHA-256 of a prompt's tokens, two bytes each in the byte order of the machine. That is little endian on
// every machine the engine has run on; on another one the checks, which spell the bytes out, would not find their hash
// and say so.
func HashOf(prompt []wire.Token) [32]byte {
	if len(prompt) == 0 {
		return sha256.Sum256(nil)
	}
	return sha256.Sum256(unsafe.Slice((*byte)(unsafe.Pointer(&prompt[0])), 2*len(prompt)))
}
