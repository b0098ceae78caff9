package faults

import (
	"errors"
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Keep says how much of a metadata record still lands in its slot.
type Keep string

// The parts of a record, in the order in which they lie in it (port.Record).
const (
	KeepNothing Keep = "nothing"         // the slot keeps the whole former record
	KeepRoom    Keep = "room"            // it looks like the request's own; length and first token are former
	KeepLength  Keep = "room-and-tokens" // the claimed length is right too; the first token is former
)

// keptBytes is how many bytes of the record land. Room and tokens are its first two 64-bit fields.
func (k Keep) keptBytes() (int64, bool) {
	switch k {
	case KeepNothing:
		return 0, true
	case KeepRoom, "": // absent
		return 8, true
	case KeepLength:
		return 16, true
	}
	return 0, false
}

// StaleMetadataSlot leaves former content in the slot from which decode takes the first token.
type StaleMetadataSlot struct {
	Target
	When
	// Keep is the part of the record that still lands; absent, the room.
	Keep Keep `json:"keep,omitempty"`
	// ToSlot, in place of Keep, sends the whole record to another slot of decode's record region.
	ToSlot *int `json:"to_slot,omitempty"`
}

// Name is its name in a plan.
func (*StaleMetadataSlot) Name() string { return "stale-metadata-slot" }

// Doc describes it.
func (*StaleMetadataSlot) Doc() string {
	return "The metadata record does not land, or only its first fields do (keep: nothing, room, room-and-tokens), " +
		"or it lands in another slot (to_slot); its completion says OK. Decode then takes the first output token " +
		"of the slot's former owner. With the room kept, decode's own look at the slot is satisfied. Public: " +
		"sglang 17259 (a slot freed twice), uccl 903, llama.cpp 28056, mistral.rs 1026. Stopped by comparing the " +
		"slot's room (nothing kept), by the claimed length (room kept), and in every form by coverage, which digests " +
		"the record too. " +
		"Seen by the exact answer at its first token."
}

// Validate judges its own fields.
func (f *StaleMetadataSlot) Validate() error {
	_, known := f.Keep.keptBytes()
	switch {
	case f.ToSlot == nil && !known:
		return fmt.Errorf("keep %q: want %q, %q or %q", f.Keep, KeepNothing, KeepRoom, KeepLength)
	case f.ToSlot != nil && (*f.ToSlot < 0 || *f.ToSlot >= PagesMax):
		return fmt.Errorf("to_slot %d: want an index of a slot, 0 or more", *f.ToSlot)
	case f.ToSlot != nil && f.Keep != "":
		return errors.New("keep and to_slot: give one of them")
	}
	return nil
}

func (*StaleMetadataSlot) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *StaleMetadataSlot) install(i *instance, seams *port.Seams) {
	edit := f.cut
	if f.ToSlot != nil {
		edit = f.redirect
	}
	installWriteTap(i, seams, moves[port.Write, port.WriteDone]{
		match: func(w port.Write) bool { return w.Buffer == wire.Record && len(w.Dst) == 1 && len(w.Src) == 1 },
		edit:  edit,
		editDone: func(w port.Write, d port.WriteDone) (port.WriteDone, string, string) {
			told := d
			if d.Status == port.OK {
				told.ClaimedBytes = writeBytes(w)
			}
			return told, writeAnswer(d), writeAnswer(told)
		},
	})
}

// cut lets only the first bytes of the record land.
func (f *StaleMetadataSlot) cut(w port.Write) edited[port.Write, port.WriteDone] {
	kept, _ := f.Keep.keptBytes()
	out := edited[port.Write, port.WriteDone]{
		op: w, before: fmt.Sprintf("record of %d bytes to %s", w.Dst[0].Length, slotName(w)),
		after: fmt.Sprintf("record of %d bytes to %s", kept, slotName(w)),
	}
	if kept == 0 {
		out.instead = &port.WriteDone{Ticket: w.Ticket, Status: port.OK, ClaimedBytes: writeBytes(w)}
		return out
	}
	src, dst := w.Src[0], w.Dst[0] // the worker's own slices stay as they are
	src.Length, dst.Length = kept, kept
	out.op.Src, out.op.Dst = []wire.Span{src}, []wire.Span{dst}
	return out
}

// redirect lets the record land in another slot.
func (f *StaleMetadataSlot) redirect(w port.Write) edited[port.Write, port.WriteDone] {
	out := edited[port.Write, port.WriteDone]{op: w, before: "record to " + slotName(w)}
	dst := w.Dst[0]
	dst.Offset = int64(*f.ToSlot) * port.RecordBytes
	out.op.Dst = []wire.Span{dst}
	out.after = "record to " + slotName(out.op)
	return out
}

func slotName(w port.Write) string { return fmt.Sprintf("slot %d", w.Dst[0].Offset/port.RecordBytes) }
