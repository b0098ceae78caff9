package check

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
)

// Goal: a request that is answered 502 because a peer was lost fits its cause, even where decode had finished it and its
// answer crossed with the loss. Method: the clean scene, with one loss and one answer changed.
func TestLossOfAPeerIsACause(t *testing.T) {
	g := NewWithT(t)
	s, parties := clean(t)
	at := s.index(event.ResponseReceived, roomIs(parties[0]))
	s.insert(at, event.Event{Kind: event.PeerLost, Source: prefill, Peer: decode})
	s.first(event.ResponseReceived, roomIs(parties[0])).Status = 502
	result, _ := s.judge().Result("outcome-fits-cause")
	g.Expect(result.Findings.Count).To(BeZero(), result.Findings.First.Text)
}
