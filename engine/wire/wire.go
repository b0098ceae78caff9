// Package wire holds the identifiers that cross a seam of the engine and the closed set of
// messages that its workers send each other. It is a leaf: standard library only.
package wire

import (
	"fmt"
	"strconv"
)

type (
	// Room is the id of one prefill-to-decode transfer (SGLang's bootstrap_room). Zero is no room.
	Room uint64
	// Page is the index of a physical page in one worker's KV pool. Page 0 is padding and never handed out.
	Page int32
	// Ordinal is the index of a page within one request: ordinal 0 holds positions 0 to page_size-1.
	Ordinal int32
	// Token is a vocabulary id, 0 to 4095.
	Token uint16
	// Tick is stepped time: it advances by one a step, and jumps to the next timer when nothing can move.
	Tick int64
	// Ticket names one submitted operation. The submitter draws it from its Tickets; zero is no ticket.
	Ticket uint64
)

// Role is what a party does.
type Role uint8

// The roles.
const (
	Client Role = iota
	Router
	Prefill
	Decode
	Colocated
)

var roleNames = [...]string{"client", "router", "prefill", "decode", "colocated"}

func (r Role) String() string { return nameOf(roleNames[:], int(r), "role") }

// Addr is one incarnation of one party. A worker that restarts keeps role and index and takes the next incarnation.
type Addr struct {
	Role  Role
	Index uint8
	// Incarnation is at least 1 for a party that exists and below 4,096 (12 bits of a ticket).
	Incarnation uint16
}

// String spells an address as role/index#incarnation, e.g. "prefill/0#1".
func (a Addr) String() string { return fmt.Sprintf("%s/%d#%d", a.Role, a.Index, a.Incarnation) }

// Succeeds tells whether a is a later incarnation of the party that older is one of.
func (a Addr) Succeeds(older Addr) bool {
	return a.Role == older.Role && a.Index == older.Index && a.Incarnation > older.Incarnation
}

// MarshalText lets an address be a JSON string.
func (a Addr) MarshalText() ([]byte, error) { return a.AppendText(nil) }

// AppendText appends String's form to b.
func (a Addr) AppendText(b []byte) ([]byte, error) {
	b = append(b, a.Role.String()...)
	b = append(b, '/')
	b = strconv.AppendUint(b, uint64(a.Index), 10)
	b = append(b, '#')
	return strconv.AppendUint(b, uint64(a.Incarnation), 10), nil
}

// UnmarshalText reads what MarshalText wrote.
func (a *Addr) UnmarshalText(text []byte) error {
	s := string(text)
	for role, name := range roleNames {
		if len(s) <= len(name) || s[:len(name)] != name || s[len(name)] != '/' {
			continue
		}
		var index uint8
		var incarnation uint16
		if _, err := fmt.Sscanf(s[len(name):], "/%d#%d", &index, &incarnation); err != nil {
			return fmt.Errorf("address %q: %w", s, err)
		}
		read := Addr{Role: Role(role), Index: index, Incarnation: incarnation}
		if read.String() != s { // what Sscanf leaves unread, or reads in a second spelling
			break
		}
		*a = read
		return nil
	}
	return fmt.Errorf("address %q: want role/index#incarnation", s)
}

// Tickets hands out the tickets of one worker incarnation: role, index, incarnation and a sequence.
type Tickets struct{ base, sequence uint64 }

// NewTickets returns the ticket source of a. Tickets of two addresses never collide within 2^40 draws each.
func NewTickets(a Addr) Tickets {
	return Tickets{base: uint64(a.Role)<<60 | uint64(a.Index)<<52 | uint64(a.Incarnation&0xfff)<<40}
}

// Next returns a ticket never returned before by this source.
func (t *Tickets) Next() Ticket {
	t.sequence++
	return Ticket(t.base | t.sequence)
}

// Stage is a point of a request's life at which admission is asked, in the order they are passed.
type Stage uint8

// The stages. AtEdge is the router; AtHTTP is a worker's own front end (context length only); the rest are the
// hand-overs between a worker's queues.
const (
	AtEdge Stage = iota
	AtHTTP
	AtIntake
	AtBootstrap
	AtWaiting
	AtForward
	AtReserve
	AtCommit
	// AtTransfer is no hand-over: the sender found, while or before sending, that it cannot deliver.
	AtTransfer
)

var stageNames = [...]string{"edge", "http", "intake", "bootstrap", "waiting", "forward", "reserve", "commit", "transfer"}

func (s Stage) String() string { return nameOf(stageNames[:], int(s), "stage") }

// MarshalText lets a stage be a JSON string.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Stage) UnmarshalText(text []byte) error {
	i, err := indexOf(stageNames[:], string(text), "stage")
	*s = Stage(i)
	return err
}

// Buffer names one of the buffers that make up a page, or the metadata record.
type Buffer uint8

// The buffers of a page, in the order they are written, and the record.
const (
	K0 Buffer = iota
	V0
	K1
	V1
	Stamp
	Record
	Buffers // how many there are
)

// KVBuffers counts the buffers that hold keys and values: K0 to V1.
const KVBuffers = 4

var bufferNames = [...]string{"K0", "V0", "K1", "V1", "stamp", "record"}

func (b Buffer) String() string { return nameOf(bufferNames[:], int(b), "buffer") }

// MarshalText lets a buffer be a JSON string.
func (b Buffer) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (b *Buffer) UnmarshalText(text []byte) error {
	i, err := indexOf(bufferNames[:], string(text), "buffer")
	*b = Buffer(i)
	return err
}

func nameOf(names []string, i int, what string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

func indexOf(names []string, name, what string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s %q: want one of %v", what, name, names)
}
