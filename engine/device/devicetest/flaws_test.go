package devicetest

import (
	"testing"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/porttest"
	"github.com/stalepage/stalepage/engine/wire"
)

// Each clause of the contract complains of a device that is wrong in the way it is there to find, and of the sound one
// never: a clause that cannot fail would let every later device pass.
func TestEveryClauseFindsItsFlaw(t *testing.T) {
	forge := porttest.Forge[port.Op, port.OpDone]{
		WithAfter: func(o port.Op, after []wire.Ticket) port.Op { o.After = after; return o },
		Answer: func(ticket wire.Ticket, status port.Status) port.OpDone {
			return port.OpDone{Ticket: ticket, Status: status}
		},
	}
	var flaws []porttest.Flaw[*Harness]
	for _, flaw := range porttest.Flaws(forge) {
		flaws = append(flaws, porttest.Flaw[*Harness]{Name: flaw.Name, Clause: flaw.Clause, Break: func(h *Harness) *Harness {
			bent := flaw.Break(h.subject())
			broken := *h
			broken.Device, broken.Advance = bent.Port, bent.Advance
			return &broken
		}})
	}
	flaws = append(flaws, computeFlaws()...)
	flaws = append(flaws, pageFlaws()...)
	flaws = append(flaws, orderFlaws()...)
	reference := Reference()
	porttest.CheckFlaws(t, Clauses(), flaws, func() *Harness { return hostHarness(reference, reference, 16, false) })
}

// brokenDevice edits operations on their way in and answers on their way out.
type brokenDevice struct {
	port.Device
	submitted map[wire.Ticket]port.Op
	edit      func(*port.Op)
	cancel    func(wire.Ticket)
	done      func(port.Op, *port.OpDone) bool // false swallows
}

func (b *brokenDevice) Submit(o port.Op) {
	b.submitted[o.Ticket] = o
	if b.edit != nil {
		b.edit(&o)
	}
	b.Device.Submit(o)
}

func (b *brokenDevice) Cancel(ticket wire.Ticket) {
	b.Device.Cancel(ticket)
	if b.cancel != nil {
		b.cancel(ticket)
	}
}

func (b *brokenDevice) Poll(dst []port.OpDone) int {
	n := 0
	for n < len(dst) && b.Device.Poll(dst[n:n+1]) == 1 {
		if b.done == nil || b.done(b.submitted[dst[n].Ticket], &dst[n]) {
			n++
		}
	}
	return n
}

func deviceFlaw(name, clause string, bend func(*brokenDevice, *Harness)) porttest.Flaw[*Harness] {
	return porttest.Flaw[*Harness]{Name: name, Clause: clause, Break: func(h *Harness) *Harness {
		b := &brokenDevice{Device: h.Device, submitted: map[wire.Ticket]port.Op{}}
		broken := *h
		broken.Device = b
		bend(b, &broken)
		return &broken
	}}
}

// onDone changes the answers, or what lies in memory, of one kind of operation.
func onDone(kind port.OpKind, change func(*Harness, port.Op, *port.OpDone)) func(*brokenDevice, *Harness) {
	return func(b *brokenDevice, h *Harness) {
		b.done = func(o port.Op, d *port.OpDone) bool {
			if o.Kind == kind {
				change(h, o, d)
			}
			return true
		}
	}
}

// onSubmit changes one kind of operation.
func onSubmit(kind port.OpKind, change func(*port.Op)) func(*brokenDevice, *Harness) {
	return func(b *brokenDevice, _ *Harness) {
		b.edit = func(o *port.Op) {
			if o.Kind == kind {
				change(o)
			}
		}
	}
}

func computeFlaws() []porttest.Flaw[*Harness] {
	return []porttest.Flaw[*Harness]{
		deviceFlaw("spoils the last key of a prefill", "prefill writes the model's rows and nothing else",
			onDone(port.OpPrefill, func(h *Harness, o port.Op, _ *port.OpDone) {
				span := h.Layout.Span(wire.K1, o.Pages[0], 0)
				bytes := h.Read(span)
				bytes[len(bytes)-1] ^= 1
				h.Write(span, bytes)
			})),
		deviceFlaw("spoils a page that is not in the table", "prefill writes the model's rows and nothing else",
			onDone(port.OpPrefill, func(h *Harness, _ port.Op, _ *port.OpDone) {
				h.Write(h.Layout.Span(wire.V0, 0, 0), []byte{1, 2, 3})
			})),
		deviceFlaw("always samples", "prefill samples only when asked",
			onSubmit(port.OpPrefill, func(o *port.Op) { o.Sample = true })),
		deviceFlaw("draws the next token", "decode writes one row and draws the model's token",
			onDone(port.OpDecode, func(_ *Harness, _ port.Op, d *port.OpDone) { d.Sampled[0].Token++ })),
		deviceFlaw("attends to its own page alone", "decode over stale pages draws what they hold",
			onSubmit(port.OpDecode, func(o *port.Op) {
				pages := append([]wire.Page{}, o.Pages...)
				for i := range pages {
					pages[i] = pages[len(pages)-1]
				}
				o.Pages = pages
			})),
		deviceFlaw("does not verify", "decode verifies stamps before it writes",
			onSubmit(port.OpDecode, func(o *port.Op) { o.Verify = 0 })),
		deviceFlaw("verifies after it has written", "decode verifies stamps before it writes",
			onDone(port.OpDecode, func(h *Harness, o port.Op, d *port.OpDone) {
				if d.Status == port.Failed {
					h.Write(h.Layout.Span(wire.V1, o.Pages[o.First/h.Layout.PageSize], 0), []byte{byte(o.Tokens[0])})
				}
			})),
	}
}

func pageFlaws() []porttest.Flaw[*Harness] {
	return []porttest.Flaw[*Harness]{
		deviceFlaw("scrubs all but the stamps", "scrub zeroes every buffer of its pages and no other",
			onDone(port.OpScrub, func(h *Harness, o port.Op, _ *port.OpDone) {
				for _, page := range o.Pages {
					h.Write(h.Layout.Span(wire.Stamp, page, 0), []byte{1})
				}
			})),
		deviceFlaw("stamps from ordinal 0", "a stamp is room, ordinal and generation",
			onSubmit(port.OpStamp, func(o *port.Op) { o.First = 0 })),
		deviceFlaw("checks rooms only", "a stamp check names the first wrong ordinal",
			onDone(port.OpCheckStamp, func(_ *Harness, o port.Op, d *port.OpDone) {
				if o.Room == 6 {
					d.Status = port.OK
				}
			})),
		deviceFlaw("counts the wrong ordinal from 0", "a stamp check names the first wrong ordinal",
			onDone(port.OpCheckStamp, func(_ *Harness, o port.Op, d *port.OpDone) { d.FailedOrdinal -= o.First })),
		deviceFlaw("digests from ordinal 0", "a digest is that of the bytes that lie there",
			onSubmit(port.OpDigest, func(o *port.Op) { o.First = 0 })),
		deviceFlaw("remembers its first digest", "a digest is that of the bytes that lie there", func(b *brokenDevice, _ *Harness) {
			var first []uint64
			onDone(port.OpDigest, func(_ *Harness, o port.Op, d *port.OpDone) {
				if first == nil {
					first = d.Digests
				}
				if len(d.Digests) == len(first) {
					d.Digests = first
				}
			})(b, nil)
		}),
		deviceFlaw("stores one record early", "load and store move registered bytes",
			onSubmit(port.OpStore, func(o *port.Op) { o.Span.Offset -= port.RecordBytes })),
		deviceFlaw("knows no generations", "load and store refuse what is not granted", func(b *brokenDevice, _ *Harness) {
			b.edit = func(o *port.Op) { o.Span.Region.Generation = 0 }
		}),
		deviceFlaw("cuts a prompt to fit its table", "a malformed operation is refused and changes nothing",
			func(b *brokenDevice, h *Harness) {
				onSubmit(port.OpPrefill, func(o *port.Op) {
					if room := len(o.Pages)*h.Layout.PageSize - o.First; room > 0 && len(o.Tokens) > room {
						o.Tokens = o.Tokens[:room]
					}
				})(b, h)
			}),
	}
}

func orderFlaws() []porttest.Flaw[*Harness] {
	return []porttest.Flaw[*Harness]{
		deviceFlaw("spreads a queue over two", "a queue is first in, first out", func(b *brokenDevice, _ *Harness) {
			b.edit = func(o *port.Op) { o.Queue = uint8(o.Ticket % 2) }
		}),
		deviceFlaw("has one queue for all", "queues are independent", func(b *brokenDevice, _ *Harness) {
			b.edit = func(o *port.Op) { o.Queue = 0 }
		}),
		deviceFlaw("orders within a queue only", "a dependency holds across queues", func(b *brokenDevice, _ *Harness) {
			b.edit = func(o *port.Op) { o.After = nil }
		}),
		deviceFlaw("runs what was cancelled", "a cancelled operation leaves no trace", func(b *brokenDevice, _ *Harness) {
			const moved = 1 << 30
			b.cancel = func(ticket wire.Ticket) {
				o := b.submitted[ticket]
				o.Ticket, o.After = ticket+moved, nil
				b.Submit(o)
			}
			b.done = func(_ port.Op, d *port.OpDone) bool { return d.Ticket < moved }
		}),
		deviceFlaw("keeps the submitter's slices", "submit copies what it is given", func(b *brokenDevice, h *Harness) {
			var kept []port.Op
			advance := h.Advance
			inner := b.Device
			h.Device = &keeping{brokenDevice: b, keep: func(o port.Op) { kept = append(kept, o) }}
			h.Advance = func() bool {
				moved := len(kept) > 0
				for _, o := range kept {
					inner.Submit(o)
				}
				kept = nil
				return advance() || moved
			}
		}),
	}
}

// keeping puts submissions off until the next advance.
type keeping struct {
	*brokenDevice
	keep func(port.Op)
}

func (k *keeping) Submit(o port.Op) { k.keep(o) }
