package transfertest

import (
	"slices"
	"testing"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/porttest"
	"github.com/stalepage/stalepage/engine/wire"
)

// Each clause of the contract complains of an implementation that is wrong in the way it is there to find, and of the
// sound one never: a clause that cannot fail would let every later transport pass.
func TestEveryClauseFindsItsFlaw(t *testing.T) {
	forge := porttest.Forge[port.Write, port.WriteDone]{
		WithAfter: func(w port.Write, after []wire.Ticket) port.Write { w.After = after; return w },
		Answer: func(ticket wire.Ticket, status port.Status) port.WriteDone {
			return port.WriteDone{Ticket: ticket, Status: status}
		},
	}
	var flaws []porttest.Flaw[*Harness]
	for _, flaw := range porttest.Flaws(forge) {
		flaws = append(flaws, porttest.Flaw[*Harness]{Name: flaw.Name, Clause: flaw.Clause, Break: func(h *Harness) *Harness {
			bent := flaw.Break(h.subject())
			broken := *h
			broken.Transport, broken.Advance = bent.Port, bent.Advance
			return &broken
		}})
	}
	porttest.CheckFlaws(t, Clauses(), append(flaws, transportFlaws()...), memoryHarness)
}

// brokenTransport bends submissions and answers. A nil hook passes through.
type brokenTransport struct {
	inner  port.Transport
	submit func(port.Write)
	cancel func(wire.Ticket)
	done   func(*port.WriteDone) bool // false swallows
	early  []port.WriteDone
}

func (b *brokenTransport) Submit(w port.Write) {
	if b.submit != nil {
		b.submit(w)
		return
	}
	b.inner.Submit(w)
}

func (b *brokenTransport) Cancel(ticket wire.Ticket) {
	if b.cancel != nil {
		b.cancel(ticket)
		return
	}
	b.inner.Cancel(ticket)
}

func (b *brokenTransport) Poll(dst []port.WriteDone) int {
	n := copy(dst, b.early)
	b.early = b.early[n:]
	for n < len(dst) && b.inner.Poll(dst[n:n+1]) == 1 {
		if b.done == nil || b.done(&dst[n]) {
			n++
		}
	}
	return n
}

// grants remembers what is granted, in front of a Memory.
type grants struct {
	port.Memory
	granted map[wire.Region]bool
}

func (g *grants) Grant(r wire.Region)  { g.granted[r] = true; g.Memory.Grant(r) }
func (g *grants) Revoke(r wire.Region) { delete(g.granted, r); g.Memory.Revoke(r) }

func transportFlaw(name, clause string, bend func(*brokenTransport, *Harness)) porttest.Flaw[*Harness] {
	return porttest.Flaw[*Harness]{Name: name, Clause: clause, Break: func(h *Harness) *Harness {
		b := &brokenTransport{inner: h.Transport}
		broken := *h
		broken.Transport = b
		bend(b, &broken)
		return &broken
	}}
}

func transportFlaws() []porttest.Flaw[*Harness] {
	return append([]porttest.Flaw[*Harness]{
		transportFlaw("spoils page 0", "what lands is the source, and nothing else changes",
			func(b *brokenTransport, h *Harness) {
				b.done = func(*port.WriteDone) bool {
					h.Write(wire.Span{Region: wire.Region{Base: h.Target.Base}, Length: 1}, []byte{0xee})
					return true
				}
			}),
		transportFlaw("claims half", "what lands is the source, and nothing else changes",
			func(b *brokenTransport, _ *Harness) {
				b.done = func(d *port.WriteDone) bool { d.ClaimedBytes /= 2; return true }
			}),
		transportFlaw("puts records one slot early", "a record lands in its slot", func(b *brokenTransport, _ *Harness) {
			b.submit = editing(b, func(w *port.Write) {
				if w.Buffer == wire.Record {
					w.Dst[0].Offset -= port.RecordBytes
				}
			})
		}),
		transportFlaw("answers a Cancel and writes on", "no byte lands after the answer",
			func(b *brokenTransport, _ *Harness) {
				var lied []wire.Ticket
				b.cancel = func(ticket wire.Ticket) {
					lied = append(lied, ticket)
					b.early = append(b.early, port.WriteDone{Ticket: ticket, Status: port.Cancelled})
				}
				b.done = func(d *port.WriteDone) bool { return !slices.Contains(lied, d.Ticket) }
			}),
		transportFlaw("writes at once whatever it waits for", "no byte lands before the dependency has ended",
			func(b *brokenTransport, h *Harness) {
				b.submit = editing(b, func(w *port.Write) {
					for i := range w.Src {
						h.Write(w.Dst[i], h.Read(w.Src[i]))
					}
				})
			}),
		transportFlaw("takes a copy of the source at Submit", "the source is read when it lands",
			func(b *brokenTransport, h *Harness) {
				taken := map[wire.Ticket]func(){}
				b.submit = editing(b, func(w *port.Write) {
					targets, content := slices.Clone(w.Dst), [][]byte{}
					for _, s := range w.Src {
						content = append(content, h.Read(s))
					}
					taken[w.Ticket] = func() {
						for i, s := range targets {
							h.Write(s, content[i])
						}
					}
				})
				b.done = func(d *port.WriteDone) bool { taken[d.Ticket](); return true }
			}),
		transportFlaw("digests from ordinal 0", "the digest is that of the bytes", func(b *brokenTransport, h *Harness) {
			writes := map[wire.Ticket]port.Write{}
			b.submit = editing(b, func(w *port.Write) { writes[w.Ticket] = *w })
			b.done = func(d *port.WriteDone) bool {
				if w := writes[d.Ticket]; w.Digest {
					w.First = 0
					d.Digests = h.digests(w)
				}
				return true
			}
		}),
		transportFlaw("gives digests unasked", "the digest is that of the bytes", func(b *brokenTransport, _ *Harness) {
			b.submit = editing(b, func(w *port.Write) { w.Digest = true })
		}),
	}, addressFlaws()...)
}

func addressFlaws() []porttest.Flaw[*Harness] {
	return []porttest.Flaw[*Harness]{
		transportFlaw("knows no generations", "a region that is not granted refuses the write",
			func(b *brokenTransport, _ *Harness) {
				b.submit = editing(b, func(w *port.Write) { under(*w, 0) })
			}),
		transportFlaw("looks at the generation at Submit only", "no byte lands after a revocation",
			func(b *brokenTransport, h *Harness) {
				g := &grants{Memory: h.Memory, granted: map[wire.Region]bool{}}
				h.Memory = g
				b.submit = editing(b, func(w *port.Write) {
					if len(w.Dst) > 0 && g.granted[w.Dst[0].Region] {
						under(*w, 0)
					}
				})
			}),
		transportFlaw("bends a bad offset into range", "a span outside the registered bytes refuses the write",
			func(b *brokenTransport, h *Harness) {
				b.submit = editing(b, func(w *port.Write) {
					for i := range w.Dst {
						w.Dst[i].Offset = max(0, min(w.Dst[i].Offset, h.Target.Bytes()-w.Dst[i].Length))
					}
				})
			}),
		transportFlaw("forgets a write of nothing", "a write of no spans ends OK", func(b *brokenTransport, _ *Harness) {
			b.submit = func(w port.Write) {
				if len(w.Src) > 0 {
					b.inner.Submit(w)
				}
			}
		}),
		transportFlaw("moves what the two lists have in common", "a malformed write is refused",
			func(b *brokenTransport, _ *Harness) {
				b.submit = editing(b, func(w *port.Write) {
					n := min(len(w.Src), len(w.Dst))
					w.Src, w.Dst = w.Src[:n], w.Dst[:n]
				})
			}),
		transportFlaw("keeps the submitter's slices", "submit copies the spans", func(b *brokenTransport, h *Harness) {
			var kept []port.Write
			advance := h.Advance
			b.submit = func(w port.Write) { kept = append(kept, w) }
			h.Advance = func() bool {
				moved := len(kept) > 0
				for _, w := range kept {
					b.inner.Submit(w)
				}
				kept = nil
				return advance() || moved
			}
		}),
	}
}

// editing submits an edited copy: the submitter's slices stay as they are.
func editing(b *brokenTransport, edit func(*port.Write)) func(port.Write) {
	return func(w port.Write) {
		w.Src, w.Dst = slices.Clone(w.Src), slices.Clone(w.Dst)
		edit(&w)
		b.inner.Submit(w)
	}
}

// brokenLink bends sending and polling.
type brokenLink struct {
	port.Link
	send func(wire.Message)
	poll func([]wire.Message) int
}

func (b brokenLink) Send(m wire.Message) {
	if b.send != nil {
		b.send(m)
		return
	}
	b.Link.Send(m)
}

func (b brokenLink) Poll(dst []wire.Message) int {
	if b.poll != nil {
		return b.poll(dst)
	}
	return b.Link.Poll(dst)
}

// Each clause of the contract of links finds its flaw too.
func TestEveryLinkClauseFindsItsFlaw(t *testing.T) {
	flaw := func(name, clause string, bend func(l *Links, end func(wire.Addr) port.Link)) porttest.Flaw[*Links] {
		return porttest.Flaw[*Links]{Name: name, Clause: clause, Break: func(sound *Links) *Links {
			broken := *sound
			bend(&broken, sound.End)
			return &broken
		}}
	}
	reverse := func(link port.Link) port.Link {
		return brokenLink{Link: link, poll: func(dst []wire.Message) int {
			n := link.Poll(dst)
			slices.Reverse(dst[:n])
			return n
		}}
	}
	flaws := []porttest.Flaw[*Links]{
		flaw("hands out the latest first", "a channel is first in, first out", func(l *Links, end func(wire.Addr) port.Link) {
			l.End = func(a wire.Addr) port.Link { return reverse(end(a)) }
		}),
		flaw("sends twice", "a message arrives once, at its address, unchanged", func(l *Links, end func(wire.Addr) port.Link) {
			l.End = func(a wire.Addr) port.Link {
				link := end(a)
				return brokenLink{Link: link, send: func(m wire.Message) { link.Send(m); link.Send(m) }}
			}
		}),
		flaw("sends to the sender", "a message arrives once, at its address, unchanged", func(l *Links, end func(wire.Addr) port.Link) {
			l.End = func(a wire.Addr) port.Link {
				link := end(a)
				return brokenLink{Link: link, send: func(m wire.Message) { m.To = m.From; link.Send(m) }}
			}
		}),
		flaw("drops what nobody asked for yet", "a message waits for an address that nobody has asked for",
			func(l *Links, end func(wire.Addr) port.Link) {
				asked := map[wire.Addr]bool{}
				l.End = func(a wire.Addr) port.Link {
					asked[a] = true
					link := end(a)
					return brokenLink{Link: link, send: func(m wire.Message) {
						if asked[m.To] {
							link.Send(m)
						}
					}}
				}
			}),
		flaw("knows no incarnations", "nothing reaches a newer incarnation than it was sent to",
			func(l *Links, end func(wire.Addr) port.Link) {
				l.End = func(a wire.Addr) port.Link {
					a.Incarnation = 1
					link := end(a)
					return brokenLink{Link: link, send: func(m wire.Message) { m.To.Incarnation = 1; link.Send(m) }}
				}
			}),
		flaw("loses what the buffer cannot hold", "poll hands out in pieces", func(l *Links, end func(wire.Addr) port.Link) {
			l.End = func(a wire.Addr) port.Link {
				link := end(a)
				return brokenLink{Link: link, poll: func(dst []wire.Message) int {
					n := link.Poll(dst)
					poll(link)
					return n
				}}
			}
		}),
	}
	porttest.CheckFlaws(t, LinkClauses(), flaws, memoryLinks)
}
