// Package host is the device of a machine without an accelerator: it computes on a worker's pool with the model's CPU
// kernels, in the calling goroutine. It is the reference for every other device: whatever it leaves in the pool, another
// device leaves there too, bit for bit.
//
// What it does not do: it does not know which pages belong to whom. It computes over the pages it is given, whatever
// they hold.
package host

import (
	"fmt"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/kv/arena"
	"github.com/stalepage/stalepage/engine/kv/fifo"
	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/transfer/after"
	"github.com/stalepage/stalepage/engine/wire"
)

// Config is what a device is built over.
type Config struct {
	// Addr is the worker whose device it is: the source of the events.
	Addr wire.Addr
	// Pool is the worker's memory. Its rows are code.RowDimensions bytes.
	Pool *kv.Pool
	// Registry resolves the spans of loads and stores.
	Registry *kv.Registry
	Model    *model.Model
	// Scratch is what sampling works in; devices that are never stepped at once may share one. Nil gives the device its
	// own.
	Scratch *model.Scratch
	// Queues is how many queues there are; operations name them 0 to Queues-1.
	Queues int
	// Record is told of rows, tokens and scrubs as they happen. The event is overwritten by the next one: keep nothing
	// of it. Nil records nothing.
	Record func(*event.Event)
}

// Device implements port.Device and port.Stepper: each queue whose head has its dependencies satisfied is enabled, and a
// step runs that head as a whole. So a cancelled operation either ran or left no trace.
//
// An operation that cannot be carried out on this pool is Rejected at Submit: a page that is not one of 1 to
// Layout.Pages-1, a table too short for its positions, a token outside the vocabulary, no such queue or kind. A load or
// store whose span does not resolve when it runs is Rejected then. Submit copies the slices it is given.
type Device struct {
	config     Config
	layout     port.Layout
	kv         model.KV
	scratch    *model.Scratch
	operations after.Tracker[operation]
	queues     []fifo.Queue[after.Handle]
	answers    fifo.Queue[port.OpDone]
	happened   event.Event
	sample     [1]event.Sample
	sampled    arena.Arena[port.Sampled]
	sums       arena.Arena[uint64]
	loaded     arena.Arena[byte]
}

var (
	_ port.Device  = (*Device)(nil)
	_ port.Stepper = (*Device)(nil)
)

// operation is a pending operation, its slices the device's own.
type operation struct{ port.Op }

// New returns an idle device. It panics on a configuration that no operation could run on, which is a mistake in the
// program, not in its input.
func New(config Config) *Device {
	d := &Device{}
	d.Reset(config)
	return d
}

// Reset makes of a used device the one that New would return, and keeps its memory.
func (d *Device) Reset(config Config) {
	layout := config.Pool.Layout
	if layout.RowBytes != code.RowDimensions || config.Model == nil || config.Registry == nil || config.Queues < 1 {
		panic(fmt.Sprintf("host device of %s: needs a model, a registry, a queue, and a pool of rows of %d bytes (not %d)",
			config.Addr, code.RowDimensions, layout.RowBytes))
	}
	if config.Record == nil {
		config.Record = func(*event.Event) {}
	}
	if config.Scratch == nil {
		config.Scratch = &model.Scratch{}
	}
	d.config, d.layout, d.scratch = config, layout, config.Scratch
	d.kv = model.KV{
		K0: config.Pool.Buffer(wire.K0), V0: config.Pool.Buffer(wire.V0),
		K1: config.Pool.Buffer(wire.K1), V1: config.Pool.Buffer(wire.V1),
		PageSize: layout.PageSize,
	}
	if cap(d.queues) < config.Queues {
		d.queues = make([]fifo.Queue[after.Handle], config.Queues)
	}
	d.queues = d.queues[:config.Queues]
	for i := range d.queues {
		d.queues[i].Reset()
	}
	d.operations.Reset()
	d.answers.Reset()
}

// Submit takes an operation; see port.Port.
func (d *Device) Submit(op port.Op) {
	handle, pending, state := d.operations.Admit(op.Ticket, op.After)
	switch state {
	case after.Duplicate:
		return
	case after.Nameless, after.Repeated:
		d.answers.Push(done(op.Ticket, port.Rejected))
		return
	case after.Doomed:
		d.end(done(op.Ticket, port.Cancelled))
		return
	case after.Ready, after.Waiting:
	}
	if !d.wellFormed(&op) {
		d.end(done(op.Ticket, port.Rejected))
		return
	}
	pages, tokens, data := pending.Pages[:0], pending.Tokens[:0], pending.Data[:0]
	pending.Op = op
	pending.Pages = append(pages, op.Pages...)
	pending.Tokens = append(tokens, op.Tokens...)
	pending.Data = append(data, op.Data...)
	pending.After = nil
	d.queues[op.Queue].Push(handle)
}

// Cancel takes an operation that has not run off its queue.
func (d *Device) Cancel(ticket wire.Ticket) {
	if handle, ok := d.operations.Find(ticket); ok {
		d.withdraw(handle)
		d.end(done(ticket, port.Cancelled))
	}
}

// Poll hands out answers; see port.Port.
func (d *Device) Poll(dst []port.OpDone) int { return d.answers.PopInto(dst) }

// Enabled counts the queues whose head can run now.
func (d *Device) Enabled() int {
	count := 0
	for i := range d.queues {
		if d.enabled(i) {
			count++
		}
	}
	return count
}

// Step runs the head of the i-th enabled queue.
func (d *Device) Step(i int) {
	for queue := range d.queues {
		if !d.enabled(queue) {
			continue
		}
		if i == 0 {
			handle := d.queues[queue].Pop()
			d.end(d.run(&d.operations.Payload(handle).Op))
			return
		}
		i--
	}
	panic("host device: stepped more queues than are enabled")
}

func (d *Device) enabled(queue int) bool {
	q := &d.queues[queue]
	return q.Len() > 0 && d.operations.IsReady(*q.At(0))
}

func (d *Device) withdraw(handle after.Handle) {
	q := &d.queues[d.operations.Payload(handle).Queue]
	for i := range q.Len() {
		if *q.At(i) == handle {
			q.Remove(i)
			return
		}
	}
}

// end answers an operation that is on no queue any more, and then every one that its ending dooms. Those that may run
// now are on their queues already.
func (d *Device) end(answer port.OpDone) {
	d.close(answer)
	for {
		handle, ticket, doomed, ok := d.operations.Settle()
		if !ok {
			return
		}
		if doomed {
			d.withdraw(handle)
			d.close(done(ticket, port.Cancelled))
		}
	}
}

func (d *Device) close(answer port.OpDone) {
	d.answers.Push(answer)
	for range d.operations.End(answer.Ticket, answer.Status) {
		d.answers.Push(done(answer.Ticket, port.Rejected))
	}
}

func done(ticket wire.Ticket, status port.Status) port.OpDone {
	return port.OpDone{Ticket: ticket, Status: status, FailedOrdinal: -1}
}
