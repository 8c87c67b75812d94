//go:build linux && cgo && nvml

package nvml

import (
	"time"

	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"capcli/profile"
)

// gpu is a GPU and its worker. While the worker is at work (busy) all of it but
// the first group belongs to the worker, else to Read.
type gpu struct {
	ask  chan order
	done chan struct{}
	busy bool
	// stalled and lost tell what Read said last about the GPU, and since when.
	stalled, lost bool
	stalledAt     time.Duration
	probeAt       time.Duration // when a lost GPU is asked again
	probeWait     time.Duration
	unknown       bool              // not in the driver's list any more
	asked         bool              // in this tick
	shown         []*profile.Device // of the last tick in which it answered
	first         *profile.Device   // the GPU as it was bound

	lib    *library
	now    func() (profile.Instant, time.Duration)
	timer  *time.Timer // of the worker, to wait for its turn with GPM
	turn   time.Duration
	slow   bool // SourceOptions.Slow
	every  time.Duration
	index  int
	dev    *profile.Device
	handle driver.Device

	order      order
	code       code // why the last look failed as a whole
	samples    []profile.Sample
	procs      []holder
	processWhy profile.Reason // why the list of processes is not there
	eccRose    int64          // by how much errors not corrected grew, where no event tells of it

	never      [numGetters]bool // not supported by this device
	neverField [numFields]bool
	neverSince time.Duration
	kept       profile.Sample // what is asked every five seconds
	lastSeen   [2]uint64      // of utilisation samples, in the driver's clock
	values     [numFields]driver.FieldValue
	which      [numFields]uint8
	sums       [profile.NumMetrics]sum
	rates      [profile.NumMetrics]rate
	repair     repair  // when the library was set up
	folded     bool    // the used memory of GetMemoryInfo_v2 holds the reserved
	total      float64 // bytes of device memory
	eccEvents  bool    // the GPU tells of errors by event
	gpmWhy     profile.Reason
	gpmGives   [profile.NumMetrics]bool
	gpm        pair
	metrics    driver.GpmMetricsGetType
	seenUtil   uint64 // of processes

	mig        bool
	noMIG      bool
	migAt      time.Duration
	parts      []*instance
	scratch    []member
	migChanged bool
}

// order is what a worker is asked to do.
type order struct {
	at        time.Duration // of the tick
	processes bool
	state     bool          // also what hardly moves
	rebind    bool          // find the GPU again first
	gate      chan struct{} // GPM is one call at a time
	stop      bool
}

// forgetAfter is how long a device's word that it does not support something is
// taken for granted.
const forgetAfter = 10 * time.Minute

func newGPU(l *library, out outside, o profile.SourceOptions) *gpu {
	g := &gpu{
		lib: l, now: out.now, slow: o.Slow, every: o.Every, turn: out.patience / 4,
		ask: make(chan order, 1), done: make(chan struct{}, 1),
		timer: newTimer(), samples: make([]profile.Sample, 1, 8),
	}
	go g.work()
	return g
}

// work is the worker: it ends when it is told to stop.
func (g *gpu) work() {
	for o := range g.ask {
		if o.stop {
			return
		}
		g.look(o)
		g.done <- struct{}{}
	}
}

// bind gives the GPU a handle of a library that was just set up, and forgets
// what it knew of the old one.
func (g *gpu) bind(f *found) {
	g.handle, g.index = f.handle, f.device.Index
	if g.dev == nil || *g.dev != f.device {
		dev := f.device
		g.dev = &dev
		g.first, g.shown = g.dev, g.shown[:0]
	}
	g.forgetSupport()
	g.mig, g.noMIG, g.migAt, g.parts = false, !g.lib.hasMIG(), 0, nil
	g.gpm = pair{}
	g.gpmWhy, g.folded, g.total, g.eccEvents, g.repair = f.gpmWhy, f.folded, f.total, f.eccEvents, f.repair
	g.kept.Clear(profile.NotAsked)
}

// forgetSupport clears what the device was found not to support, and the base of its rates
// and histories.
func (g *gpu) forgetSupport() {
	g.never, g.neverField, g.neverSince = [numGetters]bool{}, [numFields]bool{}, -1
	g.gpmGives = [profile.NumMetrics]bool{}
	g.rates = [profile.NumMetrics]rate{}
	g.lastSeen, g.seenUtil = [2]uint64{}, 0
}

// look sees all there is to see of the GPU.
func (g *gpu) look(o order) {
	g.order = o // on the heap once, not at every look
	g.code, g.processWhy, g.eccRose = success, profile.NotAsked, 0
	g.samples, g.procs = g.samples[:1], g.procs[:0]
	s := &g.samples[0]
	s.Device = g.dev
	s.Clear(profile.NotAsked)
	if o.rebind {
		g.rebind()
	}
	if g.neverSince < 0 {
		g.neverSince = o.at
	} else if o.at-g.neverSince > forgetAfter {
		g.never, g.neverField, g.neverSince = [numGetters]bool{}, [numFields]bool{}, o.at
	}
	stages := [...]func(*gpu, *profile.Sample, *order){
		(*gpu).divide, (*gpu).utilisation, (*gpu).wholeMemory, (*gpu).wholeGPM,
		(*gpu).fields, (*gpu).callGetters, (*gpu).keep, (*gpu).instances, (*gpu).processes,
	}
	for _, stage := range stages {
		if g.failed() {
			break
		}
		stage(g, &g.samples[0], &g.order)
	}
	if g.failed() {
		g.samples, g.procs = g.samples[:1], g.procs[:0]
		g.samples[0].Clear(profile.Lost)
	}
}

func (g *gpu) failed() bool { return g.code.isGPULost() || g.code.isDriverGone() }

// note records a code that means that the whole GPU, or the driver, cannot be used.
func (g *gpu) note(c code) code {
	if c.isGPULost() || c.isDriverGone() {
		g.code = c
	}
	return c
}

// rebind finds the GPU again: its handle may be of before it was lost.
func (g *gpu) rebind() {
	if !g.lib.has[symHandleByUUID] {
		return
	}
	h, ret := g.lib.lib.DeviceGetHandleByUUID(g.dev.UUID)
	if g.note(code(ret)) != success {
		if g.code == success {
			g.code = gpuLost
		}
		return
	}
	g.handle = h
	g.forgetSupport()
	g.gpm.have = false
}

// miss says why a metric is not there, unless another source gave it or a better
// reason: that one source lacks it counts for less than how another failed.
func (g *gpu) miss(s *profile.Sample, m profile.Metric, r profile.Reason) {
	if r == profile.Unsupported && g.mig {
		r = profile.UnderMIG
	}
	if worth(r) >= worth(s.Why[m]) {
		s.Miss(m, r)
	}
}

func worth(r profile.Reason) int {
	switch r {
	case profile.NotAsked:
		return 0
	case profile.NoSymbol:
		return 1
	case profile.Unsupported, profile.UnderMIG:
		return 2
	case profile.Known:
		return 4
	default:
		return 3
	}
}
