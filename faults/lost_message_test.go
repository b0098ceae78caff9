package faults

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/wire"
)

// It proves of each lost message that it alone is lost, on the way that the plan names, and is missed by nobody else.
func TestMessagesAreLost(t *testing.T) {
	all := func(from, to wire.Addr, request int) []wire.Message {
		return []wire.Message{
			message(from, to, 0, wire.PeerUp{}), message(from, to, request, wire.Refused{}),
			message(from, to, request, wire.AbortAck{Drained: true}), message(from, to, request, wire.Sent{}),
		}
	}
	for _, c := range []struct {
		name  string
		fault Fault
		from  wire.Addr
		to    wire.Addr
		lost  string // of the target's messages; "" for none
	}{
		{"refusal to decode", &LostRefusalMessage{Target: Request(target)}, prefill, decode, "refused"},
		{"the router still hears of the refusal", &LostRefusalMessage{Target: Request(target)}, prefill, router, ""},
		{"unless it is the one", &LostRefusalMessage{Target: Request(target), To: "router"}, prefill, router, "refused"},
		{
			"refusal to prefill", &LostRefusalMessage{Target: Target{Request: number(target), Role: "decode"}},
			decode, prefill, "refused",
		},
		{"registration of prefill", &LostRegistration{}, prefill, decode, "peer-up"},
		{"and with every peer", &LostRegistration{}, prefill, router, "peer-up"},
		{"whatever request is named", &LostRegistration{Target: Request(target)}, prefill, decode, "peer-up"},
		{"unless one is named", &LostRegistration{To: "decode"}, prefill, router, ""},
		{"registration of decode", &LostRegistration{Target: Target{Role: "decode"}}, decode, prefill, "peer-up"},
		{"acknowledgement", &LostAbortAck{Target: Request(target)}, prefill, decode, "abort-ack"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.fault)
			link, sent := b.prefill.Link, b.link
			if c.from == decode {
				link, sent = b.decode.Link, b.back
			}
			for _, m := range all(c.from, c.to, target) {
				link.Send(m)
			}
			want, fired := []string{}, 0
			for _, m := range all(c.from, c.to, target) {
				if m.Body.Name() != c.lost {
					want = append(want, m.Body.Name())
				} else {
					fired++
				}
			}
			b.Expect(sent.bodies()).To(Equal(want))
			b.expectFired(fired)
			sent.sent = nil
			theirs := all(c.from, c.to, other)[1:] // a registration is nobody's
			for _, m := range theirs {
				link.Send(m)
			}
			b.Expect(sent.sent).To(Equal(theirs), "another request's messages pass")
		})
	}
}

// It proves that one lost acknowledgement is followed by the next.
func TestOneAcknowledgementIsLost(t *testing.T) {
	b := newBench(t, &LostAbortAck{Target: Request(target), When: When{Count: 1}})
	for range 3 {
		b.prefill.Link.Send(message(prefill, decode, target, wire.AbortAck{Drained: true}))
	}
	b.Expect(b.link.sent).To(HaveLen(2))
	b.expectFired(1)
	b.Expect(b.injector.Status()[0].State).To(Equal(Recovered))
}
