package check

import (
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// follow applies the scene's events and returns the history.
func (s *scene) follow() *history {
	h := &history{}
	h.begin(&s.run)
	for i := range s.events {
		h.apply(&s.events[i])
	}
	return h
}

// at is the row of a page of a worker's pool, and the room that wrote it.
func (h *history) at(addr wire.Addr, page wire.Page, slot int) (wire.Room, int) {
	r := h.pools[h.pool(addr)].row(page, slot)
	return h.requests[r.request].room, int(r.position)
}

// leak is a party whose prompt of 120 tokens (8 pages) prefill refuses, replaces by a placeholder and sends all the same:
// the published incident in eight pages. Its answer's tokens after the first are drawn from the given rows of the pool.
func (s *scene) leak(p *party, from []event.Sample) {
	s.submit(p)
	s.receive(p, router, prefill, decode)
	s.add(event.Event{
		Kind: event.RefusalRecorded, Source: prefill, Room: p.room, Tokens: len(p.prompt), Reason: "too long", Flag: true,
	})
	s.reserve(p, decode, len(p.prompt)+len(p.answer))
	s.reserve(p, prefill, 1)
	s.add(event.Event{Kind: event.RowsComputed, Source: prefill, Room: p.room, Count: 1})
	p.answer[0], p.rows[0] = placeholder, 0
	s.draw(p, prefill, 0)
	for b := wire.K0; b <= wire.V1; b++ {
		s.add(event.Event{Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: p.room, Buffer: b, Count: 1})
	}
	s.add(event.Event{
		Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: p.room, Buffer: wire.Record, Count: 1, Slot: p.slot,
	})
	s.claim(p, event.TransferSent, prefill)
	s.first(event.TransferSent, roomIs(p)).Tokens = 1
	s.add(event.Event{Kind: event.RequestFinished, Source: prefill, Room: p.room, Status: 200, Tokens: 1, Count: 1})
	s.release(p, prefill)
	s.commit(p)
	for i, sample := range from {
		sample.Room, sample.Position = p.room, len(p.prompt)+i
		p.answer[i+1] = sample.Token
		s.add(event.Event{Kind: event.TokenSampled, Source: decode, Samples: []event.Sample{sample}})
	}
	s.answer(p, decode)
	s.release(p, decode)
}

// rowsOf samples count rows of victim's prompt from position first on, as they still lie in decode's pool.
func (s *scene) rowsOf(victim *party, first, count int) []event.Sample {
	var from []event.Sample
	for position := first; position < first+count; position++ {
		from = append(from, event.Sample{
			Page: victim.pages[wire.Decode][position/testPageSize], Slot: int32(position % testPageSize),
			Token: victim.prompt[position],
		})
	}
	return from
}

// incident is a victim's request, then one that leaks from its pages, then one that leaks from what the first leak wrote.
func incident(t testing.TB) (s *scene, victim, first, second *party) {
	t.Helper()
	s = newScene(t)
	reused := s.free[wire.Decode][:9:9]
	victim = s.party(1, 3, 1000, 136)
	s.serve(victim)
	s.serve(s.party(2, 5, 3000, 120))
	first = s.party(3, 9, 7000, 120)
	s.free[wire.Decode] = reused
	s.leak(first, s.rowsOf(victim, 30, 7))
	// The first leak's generated rows are at positions 120 to 126 of its own: the placeholder, then victim's text.
	second = s.party(4, 11, 9000, 120)
	s.free[wire.Decode] = reused
	replay := []event.Sample{}
	for i := 1; i < 7; i++ {
		replay = append(replay, event.Sample{
			Page: first.pages[wire.Decode][7], Slot: int32(8 + i), Token: first.answer[i],
		})
	}
	replay = append(replay, s.rowsOf(victim, 36, 1)...)
	s.leak(second, replay)
	s.quiesce()
	return s, victim, first, second
}

// Goal: a leak is found by every check that has evidence of it, and each leaked token is named by tenant, request and
// position, also when an earlier leak's generated rows replay it.
func TestIncidentInEightPages(t *testing.T) {
	g := NewWithT(t)
	s, victim, first, second := incident(t)
	report := s.judge()
	g.Expect(report.Outcomes).To(Equal([Outcomes]int{Correct: 2, Leak: 2}))
	verdicts := map[string]Verdict{}
	for _, result := range report.Results {
		verdicts[result.Check] = result.Verdict
	}
	g.Expect(verdicts).To(Equal(map[string]Verdict{
		"well-formed": Pass, "liveness": Pass, "outcome-fits-cause": Fail, "token-accounting": Fail, "coverage": Fail,
		"ownership":   Pass, // the pages are the leak's own by reservation: stale, not stolen
		"attribution": Fail, "foreign-canary": Pass, "exact-answer": Fail, "latency-floor": Fail, "fault-fired": Pass,
		"quiesce": Pass,
	}))

	a := report.Requests[2].Attribution
	g.Expect(a.Attributed()).To(BeTrue())
	g.Expect(a.Foreign).To(Equal(7))
	g.Expect(a.Owners).To(HaveLen(1))
	owner := a.Owners[0]
	g.Expect(owner.Tenant).To(Equal(3))
	g.Expect(owner.Request).To(Equal(1))
	g.Expect(owner.Room).To(Equal(victim.room))
	g.Expect([]int{owner.First, owner.Count, owner.Place, owner.Output}).To(Equal([]int{30, 7, 1030, 1}))
	g.Expect(owner.Through).To(BeZero())

	replayed := report.Requests[3].Attribution
	g.Expect(replayed.Attributed()).To(BeTrue())
	g.Expect(replayed.Owners).To(HaveLen(2))
	g.Expect(replayed.Owners[0].Room).To(Equal(victim.room))
	g.Expect(replayed.Owners[0].Through).To(Equal(first.room))
	g.Expect([]int{replayed.Owners[0].First, replayed.Owners[0].Count}).To(Equal([]int{30, 6}))
	g.Expect(replayed.Owners[1].Through).To(BeZero())
	g.Expect(report.Requests[3].Room).To(Equal(second.room))

	coverage, _ := report.Result("coverage")
	g.Expect(coverage.Findings.Count).To(Equal(2))
	g.Expect(coverage.Findings.First.Text).To(ContainSubstring("8 of its 8 prompt pages are not its own, the first at " +
		"ordinal 0: where page 1 of decode/0#1 should hold position 0 there is a placeholder of tenant 9 request 3"))
}

// Goal: a leak whose copy runs off the stale rows into its own repeats its placeholder, which is nobody's text and no gap
// in the attribution; a token that the events cannot explain is one.
func TestPlaceholderIsNobodysText(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	victim := s.party(1, 3, 1000, 136)
	s.serve(victim)
	s.free[wire.Decode] = victim.pages[wire.Decode]
	leaking := s.party(3, 9, 7000, 120)
	own := event.Sample{Page: victim.pages[wire.Decode][7], Slot: 8, Token: placeholder} // its own position 120
	s.leak(leaking, append(s.rowsOf(victim, 30, 5), own, s.rowsOf(victim, 40, 1)[0]))
	a := s.judge().Requests[1].Attribution
	g.Expect([]int{a.Emitted, a.Derived, a.Placeholders, a.Foreign}).To(Equal([]int{7, 6, 1, 6}))
	g.Expect(a.Attributed()).To(BeTrue())

	s.first(event.ResponseReceived, roomIs(leaking)).Output[3] ^= 1
	g.Expect(s.judge().Requests[1].Attribution.Attributed()).To(BeFalse())
}

// Goal: what a page's last row leaves untouched keeps its former owner, through the prefill pool, the copy and the reuse
// of the decode page; what is written over changes owner.
func TestTailOfTheLastPage(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	s.free[wire.Prefill] = s.free[wire.Prefill][:7]
	before, after := s.party(1, 3, 1000, 112), s.party(2, 5, 2000, 97)
	s.serve(before)
	s.begin(after)
	s.compute(after, prefill)
	s.transfer(after)
	h := s.follow()
	last := after.pages[wire.Decode][6]
	room, position := h.at(decode, last, 0)
	g.Expect(room).To(Equal(after.room))
	g.Expect(position).To(Equal(96))
	room, position = h.at(decode, last, 1) // never owed: former content of the prefill page, which was before's
	g.Expect(room).To(Equal(before.room))
	g.Expect(position).To(Equal(97))

	s.commit(after)
	s.generate(after, decode) // rows 97 to 103 are generated now
	h = s.follow()
	room, position = h.at(decode, last, 1)
	g.Expect(room).To(Equal(after.room))
	g.Expect(position).To(Equal(97))
	room, _ = h.at(decode, last, 15)
	g.Expect(room).To(Equal(before.room))
	row := h.pools[h.pool(decode)].row(last, 1)
	g.Expect(h.origin(row)).To(Equal(origin{h.find(after.room), int32(after.rows[0])})) // whose text, through the draw
}

// Goal: release and reservation leave rows alone; a late write changes them; scrubbing clears them.
func TestReuseLateWriteScrub(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t)
	s.free[wire.Decode] = s.free[wire.Decode][:8]
	old, heir := s.party(1, 3, 1000, 112), s.party(2, 5, 2000, 112)
	s.serve(old)
	s.begin(heir)
	page := heir.pages[wire.Decode][2]
	g.Expect(page).To(Equal(old.pages[wire.Decode][2]))
	room, position := s.follow().at(decode, page, 5)
	g.Expect(room).To(Equal(old.room))
	g.Expect(position).To(Equal(37))

	s.compute(heir, prefill)
	s.transfer(heir)
	room, _ = s.follow().at(decode, page, 5)
	g.Expect(room).To(Equal(heir.room))

	s.add(event.Event{
		Kind: event.WriteLanded, Source: prefill, Peer: decode, Room: old.room, Buffer: wire.V1, First: 2, Count: 1,
	})
	room, position = s.follow().at(decode, page, 5)
	g.Expect(room).To(Equal(old.room))
	g.Expect(position).To(Equal(37))

	s.add(event.Event{Kind: event.PagesScrubbed, Source: decode, Pages: []wire.Page{page}})
	room, _ = s.follow().at(decode, page, 5)
	g.Expect(room).To(BeZero())
}

// Goal: the compact form of a pool's rows equals one entry a row. Method: random writes, landings and scrubs on both.
func TestPoolEqualsRowByRow(t *testing.T) {
	g := NewWithT(t)
	const size, count = 16, 12
	worker := config.Worker{PageSize: size, MaxTotalNumTokens: size * count}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var pools [2]pool
		var plain [2][count + 1][size]row
		for i := range pools {
			pools[i].prepare(wire.Addr{Index: uint8(i)}, worker)
		}
		for at := int32(1); at < 120; at++ {
			i, page := random.IntN(2), wire.Page(1+random.IntN(count))
			switch random.IntN(8) {
			case 0:
				pools[i].scrub(page)
				plain[i][page] = [size]row{}
			case 1, 2:
				from, source := random.IntN(2), wire.Page(1+random.IntN(count))
				pools[i].land(page, &pools[from], source, at)
				plain[i][page] = plain[from][source]
			default:
				first := random.IntN(size)
				n := 1 + random.IntN(size-first)
				start := row{request: int32(1 + random.IntN(3)), position: int32(first + size*random.IntN(2)), event: at}
				pools[i].write(page, first, n, start)
				for k := range n {
					plain[i][page][first+k] = start.after(k)
				}
			}
			for slot := range size { // events aside: a run that grows keeps its first
				got, want := pools[i].row(page, slot), plain[i][page][slot]
				got.event, want.event = 0, 0
				g.Expect(got).To(Equal(want), "seed %d, event %d, pool %d page %d slot %d", seed, at, i, page, slot)
			}
		}
	}
}

// Goal: a page may have several holders; a double reservation is seen and either release leaves the other.
func TestHolders(t *testing.T) {
	g := NewWithT(t)
	var p pool
	p.prepare(wire.Addr{}, config.Worker{PageSize: 16, MaxTotalNumTokens: 64})
	g.Expect(p.hold(2, 1)).To(BeZero())
	g.Expect(p.hold(2, 1)).To(BeZero())
	g.Expect(p.hold(2, 5)).To(Equal(int32(1)))
	g.Expect(p.hold(2, 6)).To(Equal(int32(1)))
	p.drop(2, 1)
	g.Expect([]bool{p.holds(2, 1), p.holds(2, 5), p.holds(2, 6)}).To(Equal([]bool{false, true, true}))
	p.drop(2, 6)
	p.drop(2, 5)
	g.Expect(p.holds(2, 5) || p.holds(2, 6)).To(BeFalse())
}
