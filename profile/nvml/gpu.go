//go:build linux && cgo

package nvml

import (
	"io/fs"
	"time"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// gpu is a GPU and its worker. Read owns the first group of fields. The worker owns the other
// groups while busy is set; Read does otherwise.
type gpu struct {
	ask  chan order
	done chan struct{}
	busy bool
	// stalled and lost are the state of the GPU that the last event reported, stalled since
	// stalledAt.
	stalled, lost bool
	stalledAt     time.Duration
	probeAt       time.Duration // time of the next attempt to reach a lost GPU
	probeWait     time.Duration
	unknown       bool              // no longer in the list of the driver
	isListed      bool              // its processes were listed once
	asked         bool              // has an order of this tick
	shown         []*profile.Device // devices of the last tick in which it answered
	first         *profile.Device   // the whole GPU, as last bound

	lib    *library
	now    func() (profile.Instant, time.Duration)
	timer  *time.Timer // of the worker, limits the wait for the gate of GPM
	turn   time.Duration
	slow   bool // SourceOptions.Slow
	every  time.Duration
	index  int
	dev    *profile.Device
	handle driver.Device

	order       order
	root        fs.FS
	census      census // of the last order that asked for one
	code        code   // why the last look failed as a whole; success where it did not
	samples     []profile.Sample
	procs       []holder
	procsBefore []holder // of the last list that did not fail
	listedAt    time.Duration
	processWhy  profile.Reason // why the list of processes is missing
	eccRose     int64          // growth of uncorrected errors, where no event reports it

	never      [numGetters]bool // getters that this device does not support
	neverField [numFields]bool
	neverSince time.Duration
	kept       profile.Sample // last values of keptMetrics
	lastSeen   [2]uint64      // time of the last utilisation samples, in the clock of the driver
	values     [numFields]driver.FieldValue
	which      [numFields]uint8
	sums       [profile.NumMetrics]sum
	rates      [profile.NumMetrics]rate
	repair     repair  // state when the library was set up
	folded     bool    // used memory of GetMemoryInfo2 includes the reserved memory
	total      float64 // bytes of device memory
	eccEvents  bool    // the GPU reports memory errors by event
	gpmWhy     profile.Reason
	gpmGives   [profile.NumMetrics]bool
	gpm        pair
	metrics    driver.GPMMetrics
	seenUtil   uint64 // time of the last utilisation of processes, in the clock of the driver

	mig        bool
	noMIG      bool
	migAt      time.Duration
	parts      []*instance
	scratch    []member
	migChanged bool
}

// order is a request to a worker.
type order struct {
	at        time.Duration // time of the tick
	processes bool
	state     bool          // ask for the metrics that rarely change too
	rebind    bool          // get a new handle of the GPU first
	census    bool          // count the GPUs of the box
	refused   []int         // for the census: numbers of the GPUs that could not be used
	gate      chan struct{} // held during a call of GPM: one at a time over all GPUs
	stop      bool
}

// forgetAfter is the time after which calls that a device did not support are tried again.
const forgetAfter = 10 * time.Minute

func newGPU(l *library, out outside, o profile.SourceOptions) *gpu {
	g := &gpu{
		lib: l, now: out.now, root: out.root, slow: o.Slow, every: o.Every, turn: out.patience / 4,
		ask: make(chan order, 1), done: make(chan struct{}, 1),
		timer: newTimer(), samples: make([]profile.Sample, 1, 8),
	}
	go g.work()
	return g
}

// work runs the worker until an order to stop or the end of g.ask.
func (g *gpu) work() {
	for o := range g.ask {
		if o.stop {
			return
		}
		g.look(o)
		g.done <- struct{}{}
	}
}

// bind gives the GPU a handle of a library that was just set up, and resets all state of the old
// handle.
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

// forgetSupport clears the list of unsupported calls and the base of rates and histories.
func (g *gpu) forgetSupport() {
	g.never, g.neverField, g.neverSince = [numGetters]bool{}, [numFields]bool{}, -1
	g.gpmGives = [profile.NumMetrics]bool{}
	g.rates = [profile.NumMetrics]rate{}
	g.lastSeen, g.seenUtil = [2]uint64{}, 0
	g.procsBefore = g.procsBefore[:0]
}

// look reads the samples and processes of the GPU that o asks for.
func (g *gpu) look(o order) {
	g.order = o // g.order is on the heap already; &o would allocate at every look
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
	if o.census {
		g.takeCensus(o.refused)
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

// note returns c, and records it in g.code where it means that the whole GPU, or the driver,
// cannot be used.
func (g *gpu) note(c code) code {
	if c.isGPULost() || c.isDriverGone() {
		g.code = c
	}
	return c
}

// rebind gets a new handle of the GPU by its UUID: the old one may date from before the GPU was
// lost.
func (g *gpu) rebind() {
	if !g.lib.lib.Has(driver.SymHandleByUUID) {
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

// miss sets the reason why a metric is missing, unless another source gave a value or a stronger
// reason. An error of one source is stronger than the lack of support in another.
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
