package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// OverwrittenPage overwrites one page after it has landed, before decode commits.
type OverwrittenPage struct {
	Target
	When
	// Page is the ordinal of the page within its request.
	Page int `json:"page"`
}

// Name is its name in a plan.
func (*OverwrittenPage) Name() string { return "overwritten-page" }

// Doc describes it.
func (*OverwrittenPage) Doc() string {
	return "After a write of the page has landed, and before its completion reaches prefill, a page of the prefill " +
		"pool that holds another room's rows is written over it, buffer by buffer, in that other room's name: a " +
		"stray write. Its stamp is left alone, and the sender's digests were taken of what was first read. It " +
		"needs another room that holds pages there, or has held some lately. Public: sglang 24527 and vllm 45357 " +
		"seen from the victim (a second writer between landing and use), 38961. Stopped by coverage at commit, " +
		"which reads the destination itself; page stamps and claimed length are satisfied. Seen by the coverage " +
		"and ownership checks, then by canary and exact answer."
}

// Validate judges its own fields.
func (f *OverwrittenPage) Validate() error {
	if f.Page < 0 || f.Page > PagesMax {
		return fmt.Errorf("page %d: want an ordinal, 0 to %d", f.Page, PagesMax)
	}
	return nil
}

func (*OverwrittenPage) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *OverwrittenPage) install(i *instance, seams *port.Seams) {
	o := &overwrite{
		fault: f, ledger: i.injector.holdings(), pool: seams.Pool, worker: seams.Addr, chosen: map[wire.Room]foreign{},
	}
	installWriteTap(i, seams, moves[port.Write, port.WriteDone]{match: o.match, replay: o.replay})
}

// overwrite is one run's choice of what each room's page is overwritten with: the same page for all buffers.
type overwrite struct {
	fault  *OverwrittenPage
	ledger *ledger
	pool   port.Layout
	worker wire.Addr
	chosen map[wire.Room]foreign
}

func (o *overwrite) match(w port.Write) bool {
	at := o.fault.Page - int(w.First)
	return w.Buffer <= wire.V1 && at >= 0 && at < len(w.Dst)
}

// replay is the stray write. It waits for nothing, because the page that it overwrites has landed. It carries the name
// of the room and the ordinal whose page it reads, as the write of a lost index would, so that whoever follows landings
// knows whose rows came.
func (o *overwrite) replay(w port.Write) (extra port.Write, before, after string, ok bool) {
	from, ok := o.choose(w.Room)
	if !ok {
		return w, "", "", false
	}
	at := o.fault.Page - int(w.First)
	extra = port.Write{
		Room: from.room, Buffer: w.Buffer, First: wire.Ordinal(from.ordinal),
		Src: []wire.Span{o.pool.Span(w.Buffer, from.page, 0)}, Dst: []wire.Span{w.Dst[at]},
	}
	landed := fmt.Sprintf("%s of ordinal %d landed", w.Buffer, o.fault.Page)
	return extra, landed, fmt.Sprintf("%s, then page %d of room %d over it", landed, from.page, from.room), true
}

func (o *overwrite) choose(room wire.Room) (foreign, bool) {
	if from, ok := o.chosen[room]; ok {
		return from, true
	}
	from, ok := o.ledger.heldByOther(o.worker, room)
	if !ok {
		from, ok = o.ledger.leftByOther(o.worker, room)
	}
	if ok {
		o.chosen[room] = from
	}
	return from, ok
}
