package engine

import (
	"errors"
	"fmt"

	"github.com/stalepage/stalepage/engine/colocated"
	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/engine/decode"
	"github.com/stalepage/stalepage/engine/device/host"
	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/kv"
	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/port"
	"github.com/stalepage/stalepage/engine/prefill"
	"github.com/stalepage/stalepage/engine/router"
	"github.com/stalepage/stalepage/engine/transfer/memory"
	"github.com/stalepage/stalepage/engine/wire"
)

// Options are what a cluster is built with beside its configuration.
type Options struct {
	// Model computes; one may serve any number of clusters. It is required.
	Model *model.Model
	// Scratch is what the devices of the cluster sample in; nil gives it one of its own. Clusters that are never run at
	// once may share one.
	Scratch *model.Scratch
	// Parts, if set, are used in place of new ones.
	Parts *Parts
	// Wrap may put something else at any seam of a worker, once, before the worker is built.
	Wrap func(*port.Seams)
	// Record hears everything that happens, in order. The event is the caller's only during the call.
	Record func(*event.Event)
	// Incarnation of every party; 0 is 1. A cluster that takes over from another in the same run has the next one.
	Incarnation uint16
	// Slab, if set, provides the memory of a pool, zeroed, instead of a fresh mapping; nil for a pool that it leaves.
	Slab func(bytes int64) []byte
}

// Cluster is a set of models with their workers, pools, links and devices, ready to run.
type Cluster struct {
	options  Options
	registry *kv.Registry
	net      *memory.Net
	nodes    []*node
	actors   []port.Stepper
	routers  map[string]wire.Addr
	pools    []*kv.Pool
	// books are the allocators of pages and slots: each remembers the first release that cannot be.
	books []interface{ Err() error }
	now   wire.Tick
	steps int
}

// New validates the configuration and builds everything it names. Close releases the memory.
func New(c config.Cluster, options Options) (*Cluster, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if options.Model == nil {
		return nil, errors.New("options: a cluster needs a model to compute with")
	}
	if options.Incarnation == 0 {
		options.Incarnation = 1
	}
	if options.Scratch == nil {
		options.Scratch = &model.Scratch{}
	}
	if options.Parts == nil {
		options.Parts = &Parts{}
	}
	options.Parts.begin()
	cluster := &Cluster{
		options: options, registry: &kv.Registry{}, net: options.Parts.net, routers: map[string]wire.Addr{},
	}
	cluster.actors = append(cluster.actors, cluster.net)
	for i, m := range c.Models {
		if err := cluster.addModel(uint8(i), m); err != nil {
			return nil, errors.Join(fmt.Errorf("model %q: %w", m.Name, err), cluster.Close())
		}
	}
	return cluster, nil
}

// Close unmaps the pools. The cluster cannot run afterwards.
func (c *Cluster) Close() error {
	var errs []error
	for _, p := range c.pools {
		errs = append(errs, p.Close())
	}
	c.pools = nil
	return errors.Join(errs...)
}

// Router is where requests for the named model go.
func (c *Cluster) Router(name string) (wire.Addr, bool) {
	addr, ok := c.routers[name]
	return addr, ok
}

// Link is addr's end of the network.
func (c *Cluster) Link(addr wire.Addr) port.Link { return c.net.End(addr) }

// Now is the current tick.
func (c *Cluster) Now() wire.Tick { return c.now }

// HugePages reports whether every pool that asked for huge pages got them.
func (c *Cluster) HugePages() (asked, got bool) {
	got = true
	for _, p := range c.pools {
		if poolAsked, poolGot := p.HugePages(); poolAsked {
			asked, got = true, got && poolGot
		}
	}
	return asked, asked && got
}

// record stamps an event with the current tick and hands it on.
func (c *Cluster) record(e *event.Event) {
	e.Tick = c.now
	if c.options.Record != nil {
		c.options.Record(e)
	}
}

func (c *Cluster) addModel(index uint8, m config.Model) error {
	at := func(role wire.Role) wire.Addr {
		return wire.Addr{Role: role, Index: index, Incarnation: c.options.Incarnation}
	}
	routerConfig := router.Config{
		Desk: c.options.Parts.desk(), Addr: at(wire.Router), Router: m.Router, Guards: m.Guards,
	}
	c.routers[m.Name] = routerConfig.Addr
	if m.Mode == config.Colocated {
		routerConfig.Workers = []wire.Addr{at(wire.Colocated)}
	} else {
		routerConfig.Workers = []wire.Addr{at(wire.Prefill), at(wire.Decode)}
	}
	seams := port.Seams{Addr: routerConfig.Addr, Link: c.net.End(routerConfig.Addr)}
	c.wrap(&seams)
	c.addNode(router.New(routerConfig), seams)
	if m.Mode == config.Colocated {
		return c.addColocated(m, at(wire.Colocated), at(wire.Router))
	}
	if err := c.addPrefill(m, at(wire.Prefill), at(wire.Decode), at(wire.Router)); err != nil {
		return err
	}
	return c.addDecode(m, at(wire.Decode), at(wire.Prefill), at(wire.Router))
}

func (c *Cluster) addPrefill(m config.Model, addr, decodeAddr, routerAddr wire.Addr) error {
	seams, recordBase, err := c.seams(addr, m.Prefill, 1)
	if err != nil {
		return err
	}
	transport := c.options.Parts.transport(memory.Config{Addr: addr, Registry: c.registry, Record: c.record})
	c.actors = append(c.actors, transport)
	seams.Transport = transport
	c.wrap(&seams)
	c.addNode(prefill.New(prefill.Config{
		Addr: addr, Decode: decodeAddr, Router: routerAddr, Worker: m.Prefill, Guards: m.Guards,
		RecordDigests: m.RecordDigests, Admission: seams.Admission, Desk: c.options.Parts.desk(), Allocator: seams.Allocator,
		Slots: c.newSlots(m.Prefill), Pool: seams.Pool, RecordBase: recordBase,
	}), seams)
	return nil
}

func (c *Cluster) addDecode(m config.Model, addr, prefillAddr, routerAddr wire.Addr) error {
	seams, recordBase, err := c.seams(addr, m.Decode, int(decode.Queues))
	if err != nil {
		return err
	}
	c.wrap(&seams)
	c.addNode(decode.New(decode.Config{
		Addr: addr, Prefill: prefillAddr, Router: routerAddr, Worker: m.Decode, Guards: m.Guards,
		RecordDigests: m.RecordDigests, Admission: seams.Admission, Desk: c.options.Parts.desk(), Allocator: seams.Allocator,
		Slots: c.newSlots(m.Decode), Pool: seams.Pool, RecordBase: recordBase,
	}), seams)
	return nil
}

func (c *Cluster) addColocated(m config.Model, addr, routerAddr wire.Addr) error {
	seams, _, err := c.seams(addr, m.Prefill, 1)
	if err != nil {
		return err
	}
	c.wrap(&seams)
	c.addNode(colocated.New(colocated.Config{
		Addr: addr, Router: routerAddr, Worker: m.Prefill, Guards: m.Guards, Admission: seams.Admission,
		Desk: c.options.Parts.desk(), Allocator: seams.Allocator, Pool: seams.Pool,
	}), seams)
	return nil
}

// seams maps a worker's pool and record region and builds what every worker with a pool has.
func (c *Cluster) seams(addr wire.Addr, w config.Worker, queues int) (port.Seams, uint16, error) {
	base := uint16(2 * len(c.pools))
	layout := port.Layout{Base: base, Pages: w.PoolPages(), PageSize: w.PageSize, RowBytes: code.RowDimensions}
	pool, err := c.newPool(layout)
	if err != nil {
		return port.Seams{}, 0, err
	}
	c.pools = append(c.pools, pool)
	records := make([]byte, w.MetadataSlots*port.RecordBytes)
	if err := errors.Join(c.registry.RegisterPool(addr, pool), c.registry.Register(base+1, addr, records)); err != nil {
		return port.Seams{}, 0, err
	}
	device := c.options.Parts.device(host.Config{
		Addr: addr, Pool: pool, Registry: c.registry, Model: c.options.Model, Scratch: c.options.Scratch,
		Queues: queues, Record: c.record,
	})
	c.actors = append(c.actors, device)
	allocator := kv.NewAllocator(w.AllocatorOrder, layout.Pages)
	c.books = append(c.books, allocator)
	return port.Seams{
		Addr: addr, Link: c.net.End(addr), Device: device, Memory: c.registry, Admission: kv.NewLimits(w),
		Allocator: allocator, Pool: layout,
	}, base + 1, nil
}

// newSlots makes the metadata slots of one worker; what they have to say of impossible releases is asked at rest.
func (c *Cluster) newSlots(w config.Worker) *kv.Slots {
	slots := kv.NewSlots(w.MetadataSlots)
	c.books = append(c.books, slots)
	return slots
}

// largePoolBytes is the size from which a pool is mapped with huge pages, if the kernel gives them, and touched at once:
// otherwise first-touch faults cost more than all the work on it.
const largePoolBytes = 16 << 20

func (c *Cluster) newPool(layout port.Layout) (*kv.Pool, error) {
	if c.options.Slab != nil {
		if slab := c.options.Slab(layout.Bytes()); slab != nil {
			return kv.NewPoolOver(layout, slab)
		}
	}
	large := layout.Bytes() >= largePoolBytes
	return kv.NewPool(layout, kv.Options{HugePages: large, Touch: large})
}

func (c *Cluster) wrap(s *port.Seams) {
	if c.options.Wrap != nil {
		c.options.Wrap(s)
	}
}

func (c *Cluster) addNode(w port.Worker, s port.Seams) {
	n := c.options.Parts.node(c, w, s)
	c.nodes = append(c.nodes, n)
	c.actors = append(c.actors, n)
}
