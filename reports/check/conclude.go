package check

import (
	"encoding/binary"
	"slices"

	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
)

// conclusion is what is known of one request once the run is over.
type conclusion struct {
	outcome     Outcome
	attribution Attribution
	// compared says that the answer was compared with the reference, and if not, why names the reason. differs is the
	// index of the first token that differs, None if none does.
	compared bool
	why      string
	differs  int
	// read says that the answer was searched for text of the corpus. canary is the first canary that is not the
	// tenant's own and not in its prompt, if foreignCanary.
	read          bool
	foreignCanary bool
	canary        corpus.Canary
}

// conclude judges every request. It is called once, when all events are applied.
func (h *history) conclude(conclusions []conclusion) []conclusion {
	conclusions = conclusions[:0]
	for i := range h.requests {
		conclusions = append(conclusions, conclusion{differs: None})
		q := &h.requests[i]
		if i == 0 || q.submitted == 0 {
			continue
		}
		c := &conclusions[i]
		if q.status == 200 || len(q.output) > 0 {
			h.attribute(q, c)
			h.read(q, c)
			h.compare(q, c)
		}
		c.outcome = classify(q, c)
	}
	return conclusions
}

// classify names the outcome. A text that differs is garbage; a leak or a stale answer needs evidence of whose bytes
// they are. Only what the client was sent counts.
func classify(q *request, c *conclusion) Outcome {
	a := &c.attribution
	switch {
	case q.answered == 0:
		return Lost
	case a.Foreign > 0 || a.ForeignByContent > 0:
		return Leak
	case a.Stale > 0 || a.StaleByContent > 0:
		return Stale
	}
	switch q.status {
	case 200:
		switch {
		case c.compared && c.differs != None:
			return Garbage
		case q.truncated || q.truncatedTo > 0:
			return Shortened
		}
		return Correct
	case 499:
		return Aborted
	case 400, 413:
		return Rejected
	case 504:
		return TimedOut
	}
	return Failed
}

// attribute follows each token of the answer to the row that it was drawn from.
func (h *history) attribute(q *request, c *conclusion) {
	a := &c.attribution
	a.Emitted = max(0, len(q.output)-1)
	for i, token := range q.output {
		if i >= len(q.draws) {
			break
		}
		d := &q.draws[i]
		switch d.relation {
		case foreign:
			a.Foreign++
		case stale:
			a.Stale++
		case unwritten:
			if d.event > 0 {
				a.Unwritten++
			}
		case own:
		}
		if i == 0 {
			continue
		}
		tenant, place, ok := h.originPlace(d.origin)
		switch {
		case d.token != token:
		case ok && h.run.Corpus != nil && h.corpusToken(tenant, place) == token:
			a.Derived++
		case d.origin.position >= standIn && token == placeholder:
			a.Placeholders++
		}
		if ok && d.relation > own {
			a.addOwner(h, d, place, i)
		}
	}
}

// originPlace is where in a tenant's document a token is from.
func (h *history) originPlace(o origin) (tenant, place int, ok bool) {
	if o.request == 0 || o.position >= standIn {
		return 0, 0, false
	}
	return h.requests[o.request].place(int(o.position))
}

// addOwner extends the last stretch by one token, or begins another.
func (a *Attribution) addOwner(h *history, d *draw, place, output int) {
	from := &h.requests[d.origin.request]
	var through wire.Room
	if d.row.request != d.origin.request || d.row.position != d.origin.position {
		through = h.requests[d.row.request].room
	}
	if n := len(a.Owners); n > 0 {
		last := &a.Owners[n-1]
		if last.Room == from.room && last.Through == through && last.Place+last.Count == place &&
			last.First+last.Count == int(d.origin.position) && last.Output+last.Count == output {
			last.Count++
			return
		}
	}
	a.Owners = append(a.Owners, Owner{
		Tenant: from.tenant, Request: from.number, Room: from.room, First: int(d.origin.position), Count: 1,
		Place: place, Output: output, Page: d.page, Written: int(d.row.event) - 1, Read: int(d.event) - 1,
		Through: through,
	})
}

// read searches the answer for text of the corpus: canaries, and sixteen tokens of a document in a row.
func (h *history) read(q *request, c *conclusion) {
	if h.run.Corpus == nil || h.run.Missing.Has(Texts) {
		return
	}
	c.read = true
	h.text.marks = zeroed(h.text.marks, len(q.output))
	for _, canary := range h.run.Corpus.Canaries(q.output) {
		if q.relateText(canary.Tenant, canary.Place, corpus.CanaryTokens) != foreign {
			continue
		}
		if !c.foreignCanary {
			c.foreignCanary, c.canary = true, canary
		}
		mark(h.text.marks[canary.Index:canary.Index+corpus.CanaryTokens], foreign)
	}
	for i := 0; i+corpus.WindowTokens <= len(q.output); i++ {
		window := q.output[i : i+corpus.WindowTokens]
		tenant, place, ok := h.run.Corpus.Locate(window)
		if !ok {
			continue
		}
		if is := q.relateText(tenant, place, len(window)); is > own {
			mark(h.text.marks[i:i+len(window)], is)
		}
	}
	for _, m := range h.text.marks {
		switch m {
		case foreign:
			c.attribution.ForeignByContent++
		case stale:
			c.attribution.StaleByContent++
		case unwritten, own:
		}
	}
}

func mark(marks []relation, is relation) {
	for i := range marks {
		marks[i] = max(marks[i], is)
	}
}

// relateText says how text at a place of a document relates to a request: what is in its prompt is its own, whoever's
// document it is.
func (q *request) relateText(tenant, place, count int) relation {
	switch {
	case q.quotes(tenant, place, count):
		return own
	case tenant == q.tenant:
		return stale
	}
	return foreign
}

// compare holds the answer against the reference's.
func (h *history) compare(q *request, c *conclusion) {
	switch {
	case h.run.Corpus == nil || h.run.Reference == nil:
		c.why = "no corpus or no reference to compare with"
		return
	case h.run.Missing.Has(Texts):
		c.why = "answers are not in clear"
		return
	case len(q.spans) == 0 && q.promptTokens > 0:
		c.why = "the prompt's text is not known"
		return
	}
	h.text.prompt = h.run.Corpus.Append(h.text.prompt[:0], q.spans...)
	if h.hash(h.text.prompt) != q.hash {
		c.why = "the corpus does not give the prompt that was sent"
		return
	}
	prompt := h.text.prompt[:min(len(h.text.prompt), max(0, q.answeredTokens()))]
	// One token more than were sent is enough to see that some are missing.
	count := max(0, min(q.maxNewTokens, len(q.output)+1))
	h.text.expected = h.text.sequence.Answer(h.text.expected[:0], h.run.Reference, prompt, count)
	c.compared = true
	if !slices.Equal(q.output, h.text.expected) {
		c.differs = firstDifference(q.output, h.text.expected)
	}
}

func firstDifference(a, b []wire.Token) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// hash is the SHA-256 of tokens as two bytes each, little endian: what request.submitted carries.
func (h *history) hash(tokens []wire.Token) (sum [32]byte) {
	h.text.hash.Reset()
	for part := range slices.Chunk(tokens, 2048) {
		h.text.bytes = h.text.bytes[:0]
		for _, token := range part {
			h.text.bytes = binary.LittleEndian.AppendUint16(h.text.bytes, uint16(token))
		}
		h.text.hash.Write(h.text.bytes)
	}
	h.text.hash.Sum(sum[:0])
	return sum
}
