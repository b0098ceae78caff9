package host

import (
	"math"

	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// wellFormed tells whether op can run on this pool. A no is an answer, not a crash: what a device is asked for comes from
// a worker, and a worker may have been misled.
func (d *Device) wellFormed(op *port.Op) bool {
	if int(op.Queue) >= len(d.queues) || op.First < 0 || op.First > math.MaxInt32 {
		return false
	}
	for _, page := range op.Pages {
		if page < 1 || int(page) >= d.layout.Pages {
			return false
		}
	}
	switch op.Kind {
	case port.OpPrefill:
		return d.hasRows(op, len(op.Tokens))
	case port.OpDecode:
		return len(op.Tokens) == 1 && op.Verify >= 0 && op.Verify <= len(op.Pages) && d.hasRows(op, 1)
	case port.OpScrub, port.OpStamp, port.OpCheckStamp, port.OpDigest, port.OpLoad:
		return true
	case port.OpStore:
		return int64(len(op.Data)) == op.Span.Length
	}
	return false
}

// hasRows tells whether the table has room for count tokens from position op.First on, and the tokens exist.
func (d *Device) hasRows(op *port.Op, count int) bool {
	last := op.First + count
	if count < 1 || last > model.MaximumTokens || last > len(op.Pages)*d.layout.PageSize {
		return false
	}
	for _, token := range op.Tokens {
		if token >= wire.Token(code.VocabularySize) {
			return false
		}
	}
	return true
}
