package after

import (
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// WindowTickets is how far back an ending is remembered: at least this many tickets of the same owner, counted from the
// newest that ended. Older ones are forgotten, and whoever then names one waits as for an unknown ticket: the safe side,
// since nothing runs before what it should follow. A worker names tickets of the request it is working on; the longest
// request there is, 2^20 tokens in chunks of one page, draws about 2^18.
const WindowTickets = 1 << 20

const (
	sequenceBits  = 40 // of a ticket, below its owner (wire.NewTickets)
	endingBits    = 2
	endingsAWord  = 64 / endingBits
	windowWords   = 2 * WindowTickets / endingsAWord // twice the promise: when it is full, the older half goes
	endingUnknown = 0
	endingOK      = 1
	endingOther   = 2
)

// endings remembers how tickets ended, two bits each, per owner: a run at true scale ends tens of millions of
// operations, and a map of them all would outgrow the pools.
type endings struct{ owners []ownerEndings }

type ownerEndings struct {
	owner wire.Ticket // the bits above the sequence
	// first is the sequence of the lowest ticket that words holds.
	first uint64
	words []uint64
}

func (e *endings) find(t wire.Ticket) *ownerEndings {
	owner := t >> sequenceBits
	for i := range e.owners {
		if e.owners[i].owner == owner {
			return &e.owners[i]
		}
	}
	return nil
}

// remember notes how t ended. A second ending of one ticket, or one that fell out of the window, is not noted.
func (e *endings) remember(t wire.Ticket, status port.Status) {
	o := e.find(t)
	sequence := sequenceOf(t)
	if o == nil {
		first := (sequence - min(sequence, WindowTickets)) &^ (endingsAWord - 1)
		e.owners = append(e.owners, ownerEndings{owner: t >> sequenceBits, first: first})
		o = &e.owners[len(e.owners)-1]
	}
	if sequence < o.first || o.at(sequence) != endingUnknown {
		return
	}
	ending := uint64(endingOther)
	if status == port.OK {
		ending = endingOK
	}
	word := o.reach(sequence)
	o.words[word] |= ending << (endingBits * (sequence % endingsAWord))
}

// of tells how t ended, or endingUnknown.
func (e *endings) of(t wire.Ticket) uint64 {
	o := e.find(t)
	if o == nil {
		return endingUnknown
	}
	return o.at(sequenceOf(t))
}

func (o *ownerEndings) at(sequence uint64) uint64 {
	if sequence < o.first {
		return endingUnknown
	}
	word := (sequence - o.first) / endingsAWord
	if word >= uint64(len(o.words)) {
		return endingUnknown
	}
	return o.words[word] >> (endingBits * (sequence % endingsAWord)) & (1<<endingBits - 1)
}

// reach makes room for sequence, forgetting the oldest words when the window is full, and returns its word.
func (o *ownerEndings) reach(sequence uint64) uint64 {
	word := (sequence - o.first) / endingsAWord
	if word >= windowWords {
		drop := word - windowWords/2
		kept := copy(o.words, o.words[min(drop, uint64(len(o.words))):])
		o.words = o.words[:kept]
		o.first += drop * endingsAWord
		word -= drop
	}
	for uint64(len(o.words)) <= word {
		o.words = append(o.words, 0)
	}
	return word
}

func sequenceOf(t wire.Ticket) uint64 { return uint64(t) & (1<<sequenceBits - 1) }
