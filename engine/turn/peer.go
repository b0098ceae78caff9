package turn

import "github.com/stalepage/stalepage/engine/wire"

// Peer is another party as a worker knows it. What goes with an incarnation that is gone, and who hears of it, is the
// worker's business.
type Peer struct {
	// Addr is the latest incarnation heard of.
	Addr wire.Addr
	// Gone tells that this one is gone, and none has come after it.
	Gone bool
}

// SucceededBy tells whether a message is of a later incarnation. That one says by whatever it sends that it has taken
// over, whether or not anybody said that the one before is gone.
func (p Peer) SucceededBy(from wire.Addr) bool { return from.Succeeds(p.Addr) }

// Hears tells whether a message is of somebody who is there: what a peer left behind that is gone, or that a later one
// has taken over from, changes nothing. Whoever is no incarnation of this peer is heard.
func (p Peer) Hears(from wire.Addr) bool {
	return !p.Addr.Succeeds(from) && (from != p.Addr || !p.Gone)
}

// Concerns tells whether the word that gone is gone is of this peer. It may be of a later incarnation that was never
// heard of: then that is the one that is gone, for its introduction, should it still come, is not to bring it back.
func (p Peer) Concerns(gone wire.Addr) bool { return gone == p.Addr || gone.Succeeds(p.Addr) }
