package faults

import (
	"fmt"
	"slices"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

var writeShape = shape[port.Write, port.WriteDone]{
	room:     func(w port.Write) wire.Room { return w.Room },
	name:     writeName,
	says:     writeAnswer,
	status:   func(d port.WriteDone) port.Status { return d.Status },
	after:    func(w port.Write, after []wire.Ticket) port.Write { w.After = after; return w },
	owned:    ownedWrite,
	ticketed: func(w port.Write, ticket wire.Ticket) port.Write { w.Ticket = ticket; return w },
}

var operationShape = shape[port.Op, port.OpDone]{
	room: func(o port.Op) wire.Room { return o.Room },
	name: func(o port.Op) string { return fmt.Sprintf("%s at %d", o.Kind, o.First) },
	says: func(d port.OpDone) string { return d.Status.String() },

	status:   func(d port.OpDone) port.Status { return d.Status },
	after:    func(o port.Op, after []wire.Ticket) port.Op { o.After = after; return o },
	owned:    ownedOperation,
	ticketed: func(o port.Op, ticket wire.Ticket) port.Op { o.Ticket = ticket; return o },
}

func ownedWrite(w port.Write) port.Write {
	w.Src, w.Dst, w.After = slices.Clone(w.Src), slices.Clone(w.Dst), slices.Clone(w.After)
	return w
}

func ownedOperation(o port.Op) port.Op {
	o.After, o.Pages = slices.Clone(o.After), slices.Clone(o.Pages)
	o.Tokens, o.Data = slices.Clone(o.Tokens), slices.Clone(o.Data)
	return o
}

// writeName spells a write: "K0 of ordinals 0 to 7", "record".
func writeName(w port.Write) string {
	if w.Buffer == wire.Record {
		return w.Buffer.String()
	}
	if len(w.Dst) == 0 {
		return fmt.Sprintf("%s of no page", w.Buffer)
	}
	return fmt.Sprintf("%s of ordinals %d to %d", w.Buffer, w.First, int(w.First)+len(w.Dst)-1)
}

func writeAnswer(d port.WriteDone) string {
	return fmt.Sprintf("%s, %d bytes claimed", d.Status, d.ClaimedBytes)
}

// writeBytes is how many bytes a write asks to move.
func writeBytes(w port.Write) (n int64) {
	for _, s := range w.Src {
		n += s.Length
	}
	return n
}

// isPages says whether a write carries pages: keys, values or stamps, but not the metadata record.
func isPages(w port.Write) bool { return w.Buffer <= wire.Stamp }

// moved is the span of the same buffer of another page of the same pool: pages lie one after the other.
func moved(s wire.Span, from, to wire.Page) wire.Span {
	s.Offset += int64(to-from) * s.Length
	return s
}

// installWriteTap puts a tap on a worker's transport.
func installWriteTap(
	i *instance, seams *port.Seams, m moves[port.Write, port.WriteDone],
) *tap[port.Write, port.WriteDone] {
	if seams.Transport == nil {
		return nil
	}
	t := newTap(i, seams.Addr, seams.Transport, &writeShape, m)
	seams.Transport = t
	return t
}
