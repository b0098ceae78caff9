package faults

import (
	"fmt"
	"strings"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// Fault is one way to break an engine. Its struct is its configuration and never changes after a plan is made; what it
// needs to remember of a run lives in the wrappers that install makes.
type Fault interface {
	// Name is its name in a plan, in the catalogue and in the journal.
	Name() string
	// Doc is one paragraph: what it does, where it was seen in public, what stops it, what sees it.
	Doc() string
	// Validate says what is wrong with its own fields; those of Target and When are judged for it.
	Validate() error
	// Aim points it at a target; the zero Target is every request.
	Aim(Target)

	target() Target
	when() When
	// home lists the roles at whose seams it may stand, the default first.
	home() []wire.Role
	// standsAt says whether it is to be installed at the worker; Target's is by role, else the default, and index.
	standsAt(homes []wire.Role, worker wire.Addr) bool
	// install puts its wrapper in place of one seam of one worker.
	install(*instance, *port.Seams)
}

// Entry is one line of the catalogue.
type Entry struct {
	Name string
	// New returns the fault with its default numbers, aimed at every request.
	New func() Fault
}

// Doc is the fault's own description.
func (e Entry) Doc() string { return e.New().Doc() }

// Catalog lists every fault, in the order in which a request can meet them.
func Catalog() []Entry {
	return []Entry{
		entry(func() Fault { return &LostRegistration{} }),
		entry(func() Fault { return &ShrunkenPool{HoldPages: 1} }),
		entry(func() Fault { return &Squatter{HoldPages: 1} }),
		entry(func() Fault { return &DroppedRejectionFlag{Stage: wire.AtIntake} }),
		entry(func() Fault { return &LostRefusalMessage{} }),
		entry(func() Fault { return &TruncatedTransfer{KeepPages: 1, Claim: ClaimOwed} }),
		entry(func() Fault { return &MisplacedPage{Page: 0, To: ToSwapped, SwapWith: 1} }),
		entry(func() Fault { return &OverwrittenPage{} }),
		entry(func() Fault { return &StaleMetadataSlot{} }),
		entry(func() Fault { return &EarlyCompletion{} }),
		entry(func() Fault { return &LostCompletion{} }),
		entry(func() Fault { return &DuplicateCompletion{} }),
		entry(func() Fault { return &HeldAbort{} }),
		entry(func() Fault { return &LostAbortAck{} }),
		entry(func() Fault { return &LateWrite{} }),
		entry(func() Fault { return &DrainedLie{} }),
		entry(func() Fault { return &LateOperation{} }),
	}
}

func entry(create func() Fault) Entry { return Entry{Name: create().Name(), New: create} }

// Names lists the catalogue's names in order.
func Names() []string {
	var names []string
	for _, e := range Catalog() {
		names = append(names, e.Name)
	}
	return names
}

// Find returns the catalogue's entry of that name.
func Find(name string) (Entry, error) {
	for _, e := range Catalog() {
		if e.Name == name {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("fault %q is not known; there are %s", name, strings.Join(Names(), ", "))
}
