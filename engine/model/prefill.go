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
		page := tokens[done : done+count]
		head := 0
		if position >= gatherFrom {
			head = m.prefillHead(&kv, pages, position, page)
		}
		if head < count {
			m.prefillPage(&kv, pages, position+head, page[head:], gatherFrom)
		}
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

// prefillPage is Prefill within one page, position by position.
func (m *Model) prefillPage(kv *KV, pages []wire.Page, first int, tokens []wire.Token, gatherFrom int) {
	offset := kv.locate(pages, first)
	size := len(tokens) * rowBytes
	k0, k1, v1 := kv.K0[offset:offset+size], kv.K1[offset:offset+size], kv.V1[offset:offset+size]
	firstSlot := first & (kv.PageSize - 1)
	v0 := kv.V0[offset-firstSlot*rowBytes : offset+size] // from the page's own start: the gather reads it
	for i, token := range tokens {
		position, slot, at := first+i, firstSlot+i, i*rowBytes
		walsh := position & (code.WalshPeriod - 1) * rowBytes
		*(*[rowBytes]byte)(k0[at:]) = *(*[rowBytes]byte)(m.walsh[walsh:])
		*(*[rowBytes]byte)(v0[slot*rowBytes:]) = *bytesOf(m.tables.BlocksRow(token))
		*(*[rowBytes]byte)(v1[at:]) = *bytesOf(m.tables.ValueRow(token))
		key := (*[rowBytes]byte)(k1[at:])
		switch {
		case position < gatherFrom:
			m.evaluateWindow(kv, pages, position, 1, key)
		case slot >= code.ContextTokens:
			gatherContext((*[code.ContextTokens * rowBytes]byte)(v0[(slot-code.ContextTokens)*rowBytes:]), key)
		default:
			kv.gatherRow(pages, position, 1, key)
		}
	}
}

// prefillHead is prefillPage for those of the positions whose context begins in the page before, and reports how many it
// did; zero where prefillPage does as well. It writes their rows first, so that rows of the tables, which lie anywhere in
// memory, are waited for together, and gathers their keys from a copy of the context that is in one piece. (Further down
// a large page, rows and keys by turns are faster: the stores of one are under way while the other is made.) The rows
// overwrite no context, not even in a page that the table names twice running: gatherFrom sees to pages of 16 tokens, and
// in larger ones head and context lie apart.
func (m *Model) prefillHead(kv *KV, pages []wire.Page, first int, tokens []wire.Token) int {
	const context, copyPays = code.ContextTokens, 4
	ordinal, firstSlot := first/kv.PageSize, first&(kv.PageSize-1)
	count := min(context-firstSlot, len(tokens))
	if count < copyPays {
		return 0
	}
	offset, size := kv.locate(pages, first), count*rowBytes
	k0, k1, v1 := kv.K0[offset:offset+size], kv.K1[offset:offset+size], kv.V1[offset:offset+size]
	page := kv.V0[offset-firstSlot*rowBytes : offset+size]
	v0 := page[firstSlot*rowBytes:]
	for i, token := range tokens[:count] {
		at, walsh := i*rowBytes, (first+i)&(code.WalshPeriod-1)*rowBytes
		*(*[rowBytes]byte)(k0[at:]) = *(*[rowBytes]byte)(m.walsh[walsh:])
		*(*[rowBytes]byte)(v0[at:]) = *bytesOf(m.tables.BlocksRow(token))
		*(*[rowBytes]byte)(v1[at:]) = *bytesOf(m.tables.ValueRow(token))
	}
	var joined [2 * context * rowBytes]byte // zero where no position is
	if ordinal > 0 {
		copy(joined[:context*rowBytes], kv.V0[kv.locate(pages, first-firstSlot-context):])
	}
	copy(joined[context*rowBytes:], page)
	for i := range count {
		gatherContext((*[context * rowBytes]byte)(joined[(firstSlot+i)*rowBytes:]), (*[rowBytes]byte)(k1[i*rowBytes:]))
	}
	return count
}

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
