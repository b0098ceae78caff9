package faults

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/wire"
)

// anyRole matches every receiver.
const anyRole = ""

func validateTo(to string) error {
	if to != anyRole && !hasRole([]wire.Role{wire.Client, wire.Router, wire.Prefill, wire.Decode}, to) {
		return fmt.Errorf("to %q: want the role of the receiver, or leave it out for every one", to)
	}
	return nil
}

// installLoss swallows the worker's messages of one body type B to receivers of a role.
func installLoss[B wire.Body](i *instance, seams *port.Seams, to string) {
	installLinkTap(i, seams, linkMoves{match: sends[B](to), swallow: true})
}

// sends matches messages of body type B to receivers of a role.
func sends[B wire.Body](to string) func(wire.Message) bool {
	return func(m wire.Message) bool {
		_, is := m.Body.(B)
		return is && (to == anyRole || m.To.Role.String() == to)
	}
}
