package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Claim is what a truncated transfer says about itself.
type Claim string

// The claims.
const (
	ClaimKept Claim = "kept" // the bytes that were moved
	ClaimOwed Claim = "owed" // the bytes that were to be moved
)

// TruncatedTransfer moves only the first pages of a request and reports success.
type TruncatedTransfer struct {
	Target
	When
	// KeepPages is how many pages of the request are moved, counted from ordinal 0.
	KeepPages int `json:"keep_pages"`
	// Claim is what the completion says.
	Claim Claim `json:"claim"`
	// StampsWhole moves the stamps of the missing pages all the same.
	StampsWhole bool `json:"stamps_whole,omitempty"`
}

// Name is its name in a plan.
func (*TruncatedTransfer) Name() string { return "truncated-transfer" }

// Doc describes it.
func (*TruncatedTransfer) Doc() string {
	return "Moves only the first keep_pages pages of a request and reports success, claiming the bytes it moved " +
		"(kept) or those it owed (owed); with stamps_whole the missing pages still get their stamps. The sender's " +
		"digests are of what was read, so they lack the missing pages. Public: sglang 30233 (one page of a whole " +
		"prompt), vllm 50297 (an empty list), 30358, 43516, 50359. Stopped by coverage at commit; by claimed " +
		"length only if it claims what it kept; by page stamps only if they are cut too. Seen by the coverage " +
		"check, then by canary and exact answer; never by the completion flag."
}

// Validate judges its own fields.
func (f *TruncatedTransfer) Validate() error {
	if f.KeepPages < 0 || f.KeepPages > PagesMax {
		return fmt.Errorf("keep_pages %d: want 0 to %d", f.KeepPages, PagesMax)
	}
	if f.Claim != ClaimKept && f.Claim != ClaimOwed {
		return fmt.Errorf("claim %q: want %q or %q", f.Claim, ClaimKept, ClaimOwed)
	}
	return nil
}

func (*TruncatedTransfer) home() []wire.Role { return []wire.Role{wire.Prefill} }

func (f *TruncatedTransfer) install(i *instance, seams *port.Seams) {
	m := moves[port.Write, port.WriteDone]{match: f.match, edit: f.cut}
	if f.Claim == ClaimOwed {
		m.editDone = func(w port.Write, d port.WriteDone) (port.WriteDone, string, string) {
			told := d
			if d.Status == port.OK {
				told.ClaimedBytes = writeBytes(w)
			}
			return told, writeAnswer(d), writeAnswer(told)
		}
	}
	installWriteTap(i, seams, m)
}

func (f *TruncatedTransfer) match(w port.Write) bool {
	return isPages(w) && (!f.StampsWhole || w.Buffer != wire.Stamp)
}

// cut drops the spans of ordinals from KeepPages on. A write of which nothing is left is not delivered at all: an empty
// list is something that a transport may refuse, and a refusal would tell the worker.
func (f *TruncatedTransfer) cut(w port.Write) edited[port.Write, port.WriteDone] {
	keep := min(max(f.KeepPages-int(w.First), 0), len(w.Dst))
	out := edited[port.Write, port.WriteDone]{op: w, before: writeName(w)}
	out.op.Src, out.op.Dst = w.Src[:keep], w.Dst[:keep]
	out.after = writeName(out.op)
	if keep == 0 {
		done := port.WriteDone{Ticket: w.Ticket, Status: port.OK}
		if f.Claim == ClaimOwed {
			done.ClaimedBytes = writeBytes(w)
		}
		out.instead = &done
	}
	return out
}
