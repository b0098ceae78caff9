package memory

import (
	"slices"

	"github.com/stalepage/stalepage/engine/kv/fifo"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Net is all links of one process. It implements port.Stepper: each channel (a From and a To) that holds a message is
// enabled, and a step delivers its oldest one.
//
// A message to an address that nobody has asked an End for is kept until somebody does. One to an incarnation older
// than the newest that asked is dropped when it would be delivered, and counted: the party is gone.
type Net struct {
	channels []channel
	index    map[route]int
	// busy lists the channels that hold a message, ascending: in order of creation.
	busy    []int
	inboxes map[wire.Addr]*inbox
	// all lists the inboxes in order of creation.
	all     []*inbox
	newest  map[party]uint16
	dropped int
}

type (
	route   struct{ from, to wire.Addr }
	channel struct {
		to       wire.Addr
		messages fifo.Queue[wire.Message]
	}
	inbox struct{ messages fifo.Queue[wire.Message] }
	party struct {
		role  wire.Role
		index uint8
	}
	end struct {
		net   *Net
		inbox *inbox
	}
)

var (
	_ port.Stepper = (*Net)(nil)
	_ port.Link    = end{}
)

// NewNet returns a net without channels; they come with the first message.
func NewNet() *Net {
	return &Net{index: map[route]int{}, inboxes: map[wire.Addr]*inbox{}, newest: map[party]uint16{}}
}

// Reset makes of a used net one without channels, inboxes or history, and keeps its memory. Ends handed out before must
// not be used any more.
func (n *Net) Reset() {
	n.channels, n.busy, n.dropped = n.channels[:0], n.busy[:0], 0
	clear(n.index)
	clear(n.newest)
	for _, in := range n.all {
		in.messages.Reset()
	}
}

// End is the link of one address: what it sends goes to the channel of the message's From and To, what it polls was
// delivered to addr. Asking for a newer incarnation of a party ends the older ones: what they have not polled is dropped.
func (n *Net) End(addr wire.Addr) port.Link {
	who := party{role: addr.Role, index: addr.Index}
	for n.newest[who] < addr.Incarnation {
		n.empty(wire.Addr{Role: addr.Role, Index: addr.Index, Incarnation: n.newest[who]})
		n.newest[who]++
	}
	return end{net: n, inbox: n.inbox(addr)}
}

// Dropped counts the messages that were addressed to a party's older incarnation.
func (n *Net) Dropped() int { return n.dropped }

// Enabled counts the channels that hold a message.
func (n *Net) Enabled() int { return len(n.busy) }

// Step delivers the oldest message of the i-th channel that holds one, channels counting in order of their creation.
func (n *Net) Step(i int) {
	c := &n.channels[n.busy[i]]
	message := c.messages.Pop()
	if c.messages.Len() == 0 {
		n.busy = slices.Delete(n.busy, i, i+1)
	}
	if c.to.Incarnation < n.newest[party{role: c.to.Role, index: c.to.Index}] {
		n.dropped++
		return
	}
	n.inbox(c.to).messages.Push(message)
}

func (n *Net) inbox(addr wire.Addr) *inbox {
	in, ok := n.inboxes[addr]
	if !ok {
		in = &inbox{}
		n.inboxes[addr] = in
		n.all = append(n.all, in)
	}
	return in
}

// empty drops what waits for an incarnation that is gone.
func (n *Net) empty(gone wire.Addr) {
	if in, ok := n.inboxes[gone]; ok {
		n.dropped += in.messages.Len()
		in.messages = fifo.Queue[wire.Message]{}
	}
}

func (n *Net) send(m wire.Message) {
	key := route{from: m.From, to: m.To}
	at, ok := n.index[key]
	if !ok {
		at = len(n.channels)
		n.index[key] = at
		n.addChannel(m.To)
	}
	c := &n.channels[at]
	c.messages.Push(m)
	if c.messages.Len() == 1 {
		where, _ := slices.BinarySearch(n.busy, at)
		n.busy = slices.Insert(n.busy, where, at)
	}
}

// addChannel appends an empty channel, over the memory of one before a Reset if there is any.
func (n *Net) addChannel(to wire.Addr) {
	if at := len(n.channels); at < cap(n.channels) {
		n.channels = n.channels[:at+1]
		n.channels[at].to = to
		n.channels[at].messages.Reset()
	} else {
		n.channels = append(n.channels, channel{to: to})
	}
}

// Send puts m at the tail of its channel; see port.Link.
func (e end) Send(m wire.Message) { e.net.send(m) }

// Poll hands out what has been delivered; see port.Link.
func (e end) Poll(dst []wire.Message) int { return e.inbox.messages.PopInto(dst) }
