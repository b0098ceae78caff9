package check

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math"

	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/reports/reference"
)

// history follows the events of a run. It believes an event's own facts and derives the rest; an event that cannot be
// followed is counted as malformed and changes nothing more than it must.
type history struct {
	run *Run
	// requests[0] is nobody, so that index 0 means none wherever a request is named by its index.
	requests []request
	byRoom   map[wire.Room]int32
	// latest is the request that was found last: most events are of the same room as the one before.
	latest int32
	pools  []pool
	events int // applied so far; while one is applied, its number from 1

	// Facts about the event just applied.
	drawn       []drawn      // of TokenSampled
	doubly      []doublyHeld // of PagesReserved
	foreignSlot int32        // of TransferCommitted: whose record the slot held, if not the room's own

	conclusions []conclusion // by index of requests, once the run is over

	malformed      int
	firstMalformed string
	quarantined    int
	faultEvents    int
	faultsFired    int
	peersLost      int
	text           texts
	scratchOf      [1]wire.Token
}

// doublyHeld is a page given to a request while other held it.
type doublyHeld struct {
	page  wire.Page
	other int32
}

// texts is what comparing text needs; see conclude.go.
type texts struct {
	sequence reference.Sequence
	prompt   []wire.Token
	expected []wire.Token
	bytes    []byte
	hash     hash.Hash
	marks    []relation
}

func (h *history) begin(run *Run) {
	h.run = run
	h.requests = h.requests[:0]
	h.newRequest(0)
	if h.byRoom == nil {
		h.byRoom = map[wire.Room]int32{}
		h.text.hash = sha256.New()
	}
	clear(h.byRoom)
	h.latest = 0
	for i := range h.pools {
		h.pools[i].used = false
	}
	h.events, h.malformed, h.firstMalformed = 0, 0, ""
	h.quarantined, h.faultEvents, h.faultsFired, h.peersLost = 0, 0, 0, 0
}

func (h *history) newRequest(room wire.Room) int32 {
	n := len(h.requests)
	if n < cap(h.requests) {
		h.requests = h.requests[:n+1]
	} else {
		h.requests = append(h.requests, request{})
	}
	h.requests[n].reset(room)
	return int32(n)
}

// find is the index of a room's request, made on first mention; 0 for room 0.
func (h *history) find(room wire.Room) int32 {
	if room == 0 {
		return 0
	}
	if h.requests[h.latest].room == room {
		return h.latest
	}
	i, ok := h.byRoom[room]
	if !ok {
		i = h.newRequest(room)
		h.byRoom[room] = i
	}
	h.latest = i
	return i
}

// worker is the configuration of the worker at an address; false if the cluster has none there.
func (h *history) worker(addr wire.Addr) (config.Worker, bool) {
	if int(addr.Index) >= len(h.run.Cluster.Models) {
		return config.Worker{}, false
	}
	m := &h.run.Cluster.Models[addr.Index]
	switch {
	case addr.Role == wire.Prefill && m.Mode == config.Disaggregated:
		return m.Prefill, true
	case addr.Role == wire.Decode && m.Mode == config.Disaggregated:
		return m.Decode, true
	case addr.Role == wire.Colocated && m.Mode == config.Colocated:
		return m.Prefill, true
	}
	return config.Worker{}, false
}

// pool is the index of the pool at an address, empty on first mention; None if there can be none.
func (h *history) pool(addr wire.Addr) int32 {
	for i := len(h.pools) - 1; i >= 0; i-- { // the latest incarnation is the likeliest
		if h.pools[i].addr != addr {
			continue
		}
		if !h.pools[i].used {
			return h.preparePool(i, addr)
		}
		return int32(i)
	}
	if _, ok := h.worker(addr); !ok {
		return None
	}
	h.pools = append(h.pools, pool{})
	return h.preparePool(len(h.pools)-1, addr)
}

func (h *history) preparePool(i int, addr wire.Addr) int32 {
	worker, ok := h.worker(addr)
	if !ok || worker.PageSize <= 0 || worker.MaxTotalNumTokens < 0 || worker.MetadataSlots < 0 {
		return None
	}
	h.pools[i].prepare(addr, worker)
	return int32(i)
}

// bad counts an event that cannot be followed.
func (h *history) bad(e *event.Event, format string, arguments ...any) {
	if h.malformed == 0 {
		h.firstMalformed = fmt.Sprintf("event %d (%s of %s, room %d) ", h.events-1, e.Kind, e.Source, e.Room) +
			fmt.Sprintf(format, arguments...)
	}
	h.malformed++
}

// apply takes the next event.
func (h *history) apply(e *event.Event) {
	h.events++
	h.drawn, h.doubly, h.foreignSlot = h.drawn[:0], h.doubly[:0], 0
	if h.events > math.MaxInt32 {
		h.bad(e, "is one too many to count")
		return
	}
	r := h.find(e.Room)
	q := &h.requests[r]
	if r != 0 && q.model == None && e.Source.Role != wire.Client {
		q.model = int(e.Source.Index)
	}
	switch e.Kind {
	case event.PagesReserved, event.PagesReleased, event.PagesQuarantined, event.PagesScrubbed, event.RowsComputed,
		event.TokenSampled, event.WriteLanded:
		h.applyPages(e, r)
	case event.FaultArmed, event.FaultRecovered, event.HoldReleased:
		h.faultEvents++
	case event.FaultFired:
		h.faultEvents++
		if e.Before != e.After {
			h.faultsFired++
		}
	case event.PeerLost:
		h.peersLost++
	case event.PeerRegistered, event.WorkerQuiesced:
	default:
		if r == 0 {
			h.bad(e, "names no room")
			return
		}
		h.applyRequest(e, r, q)
	}
}

func (h *history) corpusToken(tenant, place int) wire.Token {
	return h.run.Corpus.Append(h.scratchOf[:0], corpus.Span{Tenant: tenant, First: place, Count: 1})[0]
}
