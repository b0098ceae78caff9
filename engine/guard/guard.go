// Package guard names the engine's defences. Each is production code with a switch, all on by default; an
// incident profile names the ones that were off. It is a leaf: standard library only.
package guard

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Set is a set of guards.
type Set uint32

// The guards, in the order a request meets them.
const (
	// EdgeRefusal: the router refuses what its configured edge limit does not allow, before any worker sees it.
	EdgeRefusal Set = 1 << iota
	// LimitExchange: prefill's limit travels with its registration, so router and decode refuse at theirs.
	LimitExchange
	// DoorRefusal: a worker that refuses at intake ends the request there, before bootstrap.
	DoorRefusal
	// HonourRefusal: a refusal still pending is acted on at each later queue and after the forward pass.
	HonourRefusal
	// TellPeer: a worker that refuses tells the other worker of the pair.
	TellPeer
	// SenderCheck: prefill compares the pages it owes with the peer's reserved list before it sends.
	SenderCheck
	// ClaimedLength: decode compares the length that prefill claims with what it reserved (upstream's form:
	// the number comes from the sender).
	ClaimedLength
	// Coverage: decode digests what lies in its pages at commit and compares with the sender's digest, per page group;
	// likewise the metadata record.
	Coverage
	// PageStamp: each page carries (room, ordinal, generation), checked at commit and within each read.
	PageStamp
	// Scrub: pages are zeroed on release, before they can be handed out again.
	Scrub
	// DeferredRelease: pages that a peer may still write, or a device may still use, are released only when
	// that has drained; an unanswered abort is repeated a bounded number of times, then the pages are quarantined.
	DeferredRelease
	// AddressGeneration: each reservation is registered under its own generation, revoked on release; a write to a
	// revoked span does not land.
	AddressGeneration

	end
	// None switches every guard off.
	None Set = 0
	// All switches every guard on: the engine's default.
	All = end - 1
)

var names = [...]string{
	"edge-refusal", "limit-exchange", "door-refusal", "honour-refusal", "tell-peer", "sender-check",
	"claimed-length", "coverage", "page-stamp", "scrub", "deferred-release", "address-generation",
}

// Each returns the single guards of s in order.
func (s Set) Each() []Set {
	var out []Set
	for g := Set(1); g < end; g <<= 1 {
		if s&g != 0 {
			out = append(out, g)
		}
	}
	return out
}

// Has reports whether every guard of g is on in s.
func (s Set) Has(g Set) bool { return s&g == g }

// String spells a set as "none", "all", or names joined by "+".
func (s Set) String() string {
	switch s {
	case None:
		return "none"
	case All:
		return "all"
	}
	return strings.Join(s.names(), "+")
}

func (s Set) names() []string {
	out := []string{}
	for i, name := range names {
		if s&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Parse reads a set as String spells it.
func Parse(text string) (Set, error) {
	switch text {
	case "none", "":
		return None, nil
	case "all":
		return All, nil
	}
	return parseNames(strings.Split(text, "+"))
}

func parseNames(list []string) (Set, error) {
	var s Set
next:
	for _, word := range list {
		for i, name := range names {
			if word == name {
				s |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("guard %q: want one of %s", word, strings.Join(names[:], ", "))
	}
	return s, nil
}

// MarshalJSON writes a set as a list of names.
func (s Set) MarshalJSON() ([]byte, error) { return json.Marshal(s.names()) }

// UnmarshalJSON reads a list of names, or one string as Parse takes it ("all").
func (s *Set) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err == nil {
		var parseErr error
		*s, parseErr = parseNames(list)
		return parseErr
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("guards: want a list of names: %w", err)
	}
	var err error
	*s, err = Parse(text)
	return err
}
