package check

import (
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
)

// request is what the events say about one request. Event indices count from 1 here, so that 0 is never.
type request struct {
	room   wire.Room
	model  int // None until a worker mentions it
	tenant int
	number int // its index in the traffic
	kind   string

	submitted, answered         int32
	submittedTick, answeredTick wire.Tick
	firstTokenTick              wire.Tick
	answers                     int // a second one is one too many
	promptTokens, maxNewTokens  int
	hash                        [32]byte
	spans                       []corpus.Span

	status      int
	reason      string
	usageTokens int
	truncated   bool
	output      []wire.Token

	tables []table
	// base is the position of the first generated row on decode, None until it was written. draws are the tokens drawn,
	// by their index in the answer.
	base  int
	draws []draw

	// What prefill and decode say, None where they said nothing.
	computedRows                                   int // from position 0 on, without a gap
	sentTokens, receivedTokens, committedTokens    int
	prefillTokens, finishedTokens, finishedCount   int // of RequestFinished: prefill's, then the answering worker's
	finishedStatus                                 int
	truncatedTo                                    int
	pagesLanded                                    int
	standIn                                        bool
	refusals, rejections, expiries, aborts, broken int
	refusedAt                                      int32
	sentDigests, takenDigests                      [wire.KVBuffers][]uint64
}

// table is the pages that one worker gave a request, in ordinal order. It outlives the release: a late write still
// names them.
type table struct {
	pool     int32
	pages    []wire.Page // 0 where an event named a page that cannot be
	reserved int32       // the event, from 1
	held     bool
}

// reset makes q a request that nothing is known of but its room, keeping its memory.
func (q *request) reset(room wire.Room) {
	keep := *q
	*q = request{
		room: room, model: None, tenant: None, number: None, base: None,
		sentTokens: None, receivedTokens: None, committedTokens: None,
		prefillTokens: None, finishedTokens: None, finishedCount: None,
		spans: keep.spans[:0], output: keep.output[:0], tables: keep.tables[:0], draws: keep.draws[:0],
	}
	for b := range q.sentDigests {
		q.sentDigests[b], q.takenDigests[b] = keep.sentDigests[b][:0], keep.takenDigests[b][:0]
	}
}

// table is the request's pages on a pool, nil if it never had any.
func (q *request) table(pool int32) *table {
	for i := range q.tables {
		if q.tables[i].pool == pool {
			return &q.tables[i]
		}
	}
	return nil
}

func (q *request) addTable(pool int32) *table {
	if t := q.table(pool); t != nil {
		return t
	}
	n := len(q.tables)
	if n < cap(q.tables) { // its pages' memory is still there
		q.tables = q.tables[:n+1]
		q.tables[n] = table{pool: pool, pages: q.tables[n].pages[:0]}
	} else {
		q.tables = append(q.tables, table{pool: pool})
	}
	return &q.tables[n]
}

// page is the page at an ordinal, 0 if there is none.
func (t *table) page(ordinal int) wire.Page {
	if t == nil || ordinal < 0 || ordinal >= len(t.pages) {
		return 0
	}
	return t.pages[ordinal]
}

// place is where in a tenant's document a position of the prompt is from; false if it is not of the prompt.
func (q *request) place(position int) (tenant, place int, ok bool) {
	if position < 0 {
		return 0, 0, false
	}
	for _, s := range q.spans {
		if position < s.Count {
			return s.Tenant, s.First + position, true
		}
		position -= s.Count
	}
	return 0, 0, false
}

// quotes reports whether count tokens at a place of a tenant's document are in the prompt.
func (q *request) quotes(tenant, place, count int) bool {
	for _, s := range q.spans {
		if s.Tenant == tenant && place >= s.First && place+count <= s.First+s.Count {
			return true
		}
	}
	return false
}

// answeredTokens is how many tokens of the prompt the answer should be to: all, or what truncation left.
func (q *request) answeredTokens() int {
	if q.truncatedTo > 0 {
		return q.truncatedTo
	}
	return q.promptTokens
}
