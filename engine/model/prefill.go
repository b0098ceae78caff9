package model

import (
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/wire"
)

// Prefill computes the rows of tokens at positions first, first+1, ... and writes them to the pages of the request's
// page table. A row depends on its token, the window before it and the position mod 64, all read from the pages, so
// that any chunking of a prompt gives the same bytes. The page table must cover the positions.
func (m *Model) Prefill(kv KV, pages []wire.Page, first int, tokens []wire.Token) {
	gatherFrom := m.gatherFrom(&kv, pages, first, len(tokens))
	for done := 0; done < len(tokens); {
		position := first + done
		count := min(kv.PageSize-position&(kv.PageSize-1), len(tokens)-done)
		m.prefillPage(&kv, pages, position, tokens[done:done+count], gatherFrom)
		done += count
	}
}

// gatherFrom is the first position from which on layer 0 is a gather for the count positions from first on: where the
// window holds no row with a wrong key. Rows of the chunk itself are right once they are written, unless one overwrites
// another within the window. Two rows share memory only if a table names a page twice and they are a multiple of the
// page size apart, and of those only 16 is less than the window.
func (m *Model) gatherFrom(kv *KV, pages []wire.Page, first, count int) int {
	low := max(0, first-windowTokens+1)
	if kv.PageSize < windowTokens {
		ordinals := pages[low/kv.PageSize : (first+count+kv.PageSize-1)/kv.PageSize]
		for i := 1; i < len(ordinals); i++ {
			if ordinals[i] == ordinals[i-1] {
				return first + count
			}
		}
	}
	if wrong := m.lastWrongKey(kv, pages, low, first-1); wrong >= 0 {
		return wrong + windowTokens
	}
	return first
}

// prefillPage is Prefill within one page. Where layer 0 is a gather, all rows are written before the first key is made:
// rows of the tables, which lie anywhere in memory, are then waited for together and not one by one.
func (m *Model) prefillPage(kv *KV, pages []wire.Page, first int, tokens []wire.Token, gatherFrom int) {
	ordinal := first / kv.PageSize
	// A page that the table names twice running holds the context of the rows that overwrite it.
	overwrites := ordinal > 0 && pages[ordinal-1] == pages[ordinal]
	if first >= gatherFrom && !overwrites {
		m.writeRows(kv, pages, first, tokens)
		kv.gatherKeys(pages, first, len(tokens))
		return
	}
	for i := range tokens {
		position := first + i
		m.writeRows(kv, pages, position, tokens[i:i+1])
		key := kv.row(kv.K1, pages, position)
		if position < gatherFrom {
			m.evaluateWindow(kv, pages, position, 1, key)
		} else {
			kv.gatherRow(pages, position, 1, key)
		}
	}
}

// writeRows writes what depends on position and token alone, K0, V0 and V1, within one page.
func (m *Model) writeRows(kv *KV, pages []wire.Page, first int, tokens []wire.Token) {
	offset, size := kv.locate(pages, first), len(tokens)*rowBytes
	k0, v0, v1 := kv.K0[offset:offset+size], kv.V0[offset:offset+size], kv.V1[offset:offset+size]
	for i, token := range tokens {
		at, walsh := i*rowBytes, (first+i)&(code.WalshPeriod-1)*rowBytes
		*(*[rowBytes]byte)(k0[at:]) = *(*[rowBytes]byte)(m.walsh[walsh:])
		*(*[rowBytes]byte)(v0[at:]) = *bytesOf(m.tables.BlocksRow(token))
		*(*[rowBytes]byte)(v1[at:]) = *bytesOf(m.tables.ValueRow(token))
	}
}

// gatherKeys is gatherRow for the keys of count positions within one page, whose V0 rows are written. Those whose
// context begins in the page before are gathered from a copy in which it is in one piece.
func (kv *KV) gatherKeys(pages []wire.Page, first, count int) {
	const context = code.ContextTokens
	firstSlot := first & (kv.PageSize - 1)
	endSlot := firstSlot + count
	page := int(pages[first/kv.PageSize]) * kv.PageSize * rowBytes
	k1, v0 := kv.K1[page:page+endSlot*rowBytes], kv.V0[page:page+endSlot*rowBytes]
	slot := firstSlot
	if early := min(endSlot, context); early-slot >= copyPays {
		var joined [2 * context * rowBytes]byte // zero where no position is
		if first >= kv.PageSize {
			before := kv.locate(pages, first-firstSlot-context)
			copy(joined[:context*rowBytes], kv.V0[before:])
		}
		copy(joined[context*rowBytes:], v0[:early*rowBytes])
		for ; slot < early; slot++ {
			gatherContext((*[context * rowBytes]byte)(joined[slot*rowBytes:]), (*[rowBytes]byte)(k1[slot*rowBytes:]))
		}
	}
	for ; slot < endSlot; slot++ {
		key := (*[rowBytes]byte)(k1[slot*rowBytes:])
		if slot < context {
			kv.gatherRow(pages, first-firstSlot+slot, 1, key)
		} else {
			gatherContext((*[context * rowBytes]byte)(v0[(slot-context)*rowBytes:]), key)
		}
	}
}

// copyPays is from how many keys on a copy of their context costs less than it saves.
const copyPays = 4

// gatherContext is gatherRow where the sixteen rows before the key's lie one after the other: block h comes from the
// h-th last of them.
func gatherContext(context *[code.ContextTokens * rowBytes]byte, key *[rowBytes]byte) {
	const b, r = code.BlockBits, rowBytes
	*(*[b]byte)(key[0*b:]) = *(*[b]byte)(context[15*r+0*b:])
	*(*[b]byte)(key[1*b:]) = *(*[b]byte)(context[14*r+1*b:])
	*(*[b]byte)(key[2*b:]) = *(*[b]byte)(context[13*r+2*b:])
	*(*[b]byte)(key[3*b:]) = *(*[b]byte)(context[12*r+3*b:])
	*(*[b]byte)(key[4*b:]) = *(*[b]byte)(context[11*r+4*b:])
	*(*[b]byte)(key[5*b:]) = *(*[b]byte)(context[10*r+5*b:])
	*(*[b]byte)(key[6*b:]) = *(*[b]byte)(context[9*r+6*b:])
	*(*[b]byte)(key[7*b:]) = *(*[b]byte)(context[8*r+7*b:])
	*(*[b]byte)(key[8*b:]) = *(*[b]byte)(context[7*r+8*b:])
	*(*[b]byte)(key[9*b:]) = *(*[b]byte)(context[6*r+9*b:])
	*(*[b]byte)(key[10*b:]) = *(*[b]byte)(context[5*r+10*b:])
	*(*[b]byte)(key[11*b:]) = *(*[b]byte)(context[4*r+11*b:])
	*(*[b]byte)(key[12*b:]) = *(*[b]byte)(context[3*r+12*b:])
	*(*[b]byte)(key[13*b:]) = *(*[b]byte)(context[2*r+13*b:])
	*(*[b]byte)(key[14*b:]) = *(*[b]byte)(context[1*r+14*b:])
	*(*[b]byte)(key[15*b:]) = *(*[b]byte)(context[0*r+15*b:])
}
