package profile

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"capcli"
)

// LevelMeasure is the quantity that Levels adds up.
type LevelMeasure uint8

// The measures: GPUs held by a process; GPUs times the share of time in which a kernel ran; GPUs
// times the share of active SMs; and watts.
const (
	LevelHeld LevelMeasure = iota
	LevelBusy
	LevelSM
	LevelPower
)

// ErrTooManySteps is the error of Levels above its limit on memory.
var ErrTooManySteps = errors.New("too many boxes, groups and steps")

const (
	defaultLevelCells = 20_000_000 // 160 MB
	enoughCover       = 0.5        // sampled share from which a step is known
	wholeCover        = 0.95       // sampled share from which a step counts as whole
	peakOver          = 300        // seconds over which a peak is averaged
)

// Levels adds up the ticks of all boxes to levels on regular steps, by group. The ticks of one box
// must come in order of time. Its memory grows with boxes, groups and steps, not with ticks.
//
// A sample stands for the time since the sample before, up to three intervals, and its time is
// divided exactly between the steps. A step that was sampled for less than half of its time is a
// gap. In other steps the time without samples counts like the time with samples. A box does not
// exist before its first sample and after its last.
type Levels struct {
	Measure LevelMeasure
	Step    capcli.Step
	Zone    *time.Location // nil is UTC
	Peaks   bool           // levels are the highest five-minute mean in each step, not the step's mean
	// Groups returns the groups in which the share of a device counts that a tenant holds; ""
	// is nobody. Places returns the groups of a device that do not depend on the tenant, so that
	// their GPUs can be counted.
	Groups   func(host string, d *Device, tenant string) []string
	Places   func(host string, d *Device) []string
	MaxCells int // most numbers held in memory; 0 is 20 million

	Guessed bool // some samples came without processes, so that memory in use decided what is held

	grid  capcli.Grid
	hosts map[string]*levelHost
	order []*levelHost
	names []string
	known map[string]bool
	cells int
}

// levelHost is one box.
type levelHost struct {
	name    string
	devices map[string]*levelDevice
	spans   [][2]Instant // time ranges of ticks that came in order
	last    Instant      // time of the last tick
	told    bool         // a tick had processes
	mig     division
	base    int // step of index 0
	cover   levelCover
	groups  map[string]*levelCells
	step    int // current step, which lasts from..to
	from    Instant
	to      Instant
}

// levelCover holds by step the microseconds covered by ticks, the GPU-microseconds of capacity,
// and the GPU-microseconds with a known value.
type levelCover struct{ ticks, there, known []float64 }

// levelCells holds by step a group's GPU-microseconds (or W x microseconds), and its
// GPU-microseconds of capacity if it is a place.
type levelCells struct{ value, there []float64 }

type levelDevice struct {
	last    Instant
	any     bool
	holders []levelHolder
	places  []string
	asked   map[string][]string // groups by tenant
}

// levelHolder is a job on a device.
type levelHolder struct {
	job    jobRef
	tenant string
}

// jobRef identifies a job on a box.
type jobRef struct {
	kind, space, name string
	pid               int64
}

func (p *Process) ref() jobRef {
	switch {
	case p.Job != "":
		return jobRef{kind: "slurm", name: p.Job}
	case p.Pod != "":
		return jobRef{kind: "pod", space: p.Namespace, name: p.Pod}
	case p.Container != "":
		return jobRef{kind: "container", name: p.Container}
	}
	return jobRef{kind: "process", name: p.User, pid: p.PID}
}

// Add adds a tick of a box. It fails with ErrTooManySteps.
func (l *Levels) Add(host string, t *Tick) error {
	if len(t.Samples) == 0 {
		return nil
	}
	h := l.host(host, t.At)
	every := t.Every
	if every <= 0 {
		every = defaultEvery
	}
	micros := every.Microseconds()
	begin := t.At.Add(-every)
	if n := len(h.spans); n == 0 || t.At <= h.last {
		h.spans = append(h.spans, [2]Instant{begin, t.At})
	} else {
		if since := int64(t.At - h.last); since <= mostSpan*micros {
			begin = h.last
		}
		h.spans[n-1][1] = t.At
	}
	h.last = t.At
	h.mig.look(t)
	if t.LookedAtProcesses {
		h.told = true
		h.holders(t)
	}
	err := l.spread(h, begin, t.At, func(i int, part float64) { h.cover.ticks[i] += part })
	for i := range t.Samples {
		if err != nil {
			return err
		}
		err = l.sample(h, t, micros, &t.Samples[i])
	}
	if err != nil {
		return err
	}
	return h.mig.rests(t, func(s *Sample) error { return l.sample(h, t, micros, s) })
}

func (l *Levels) host(name string, at Instant) *levelHost {
	if l.hosts == nil {
		l.hosts, l.known = map[string]*levelHost{}, map[string]bool{}
		l.grid = l.fine().Grid(at.Second(), l.Zone)
	}
	h := l.hosts[name]
	if h == nil {
		h = &levelHost{name: name, devices: map[string]*levelDevice{}, groups: map[string]*levelCells{}}
		l.hosts[name] = h
		l.order = append(l.order, h)
	}
	return h
}

// fine returns the step of the sums: five minutes or less for peaks, else Step.
func (l *Levels) fine() capcli.Step {
	if !l.Peaks {
		return l.Step
	}
	n := capcli.Seconds(peakOver)
	if s := l.Step.Seconds; s > 0 {
		for n = min(n, s); s%n != 0; {
			n--
		}
	}
	return capcli.Step{Seconds: n}
}

func (h *levelHost) device(d *Device) *levelDevice {
	x := h.devices[d.UUID]
	if x == nil {
		x = &levelDevice{asked: map[string][]string{}}
		h.devices[d.UUID] = x
	}
	return x
}

// holders records which jobs hold which devices from now on.
func (h *levelHost) holders(t *Tick) {
	for i := range t.Samples {
		d := h.device(t.Samples[i].Device)
		d.holders = d.holders[:0]
	}
	for i := range t.Processes {
		p := &t.Processes[i]
		d, ref := h.device(p.Device), p.ref()
		if !slices.ContainsFunc(d.holders, func(x levelHolder) bool { return x.job == ref }) {
			d.holders = append(d.holders, levelHolder{ref, cmp.Or(p.Namespace, p.User)})
		}
	}
}

// sample counts one sample for the groups of the tenants that hold the device.
func (l *Levels) sample(h *levelHost, t *Tick, micros int64, s *Sample) error {
	d := h.device(s.Device)
	from := t.At - Instant(micros)
	if since := int64(t.At - d.last); d.any && since > 0 && since <= mostSpan*micros {
		from = d.last
	}
	d.last, d.any = t.At, true
	if !h.told {
		l.guess(d, s)
	}
	weight, rest := l.weight(h, s.Device)
	if weight == 0 {
		return nil
	}
	if d.places == nil {
		d.places = append([]string{}, l.Places(h.name, s.Device)...)
		for _, name := range d.places {
			l.cell(h, name)
		}
	}
	if rest {
		d.holders = d.holders[:0] // who is told to hold a divided GPU holds an instance
	}
	level, known := l.level(s, len(d.holders) > 0)
	if rest && l.Measure != LevelPower {
		level, known = 0, true
	}
	err := l.spread(h, from, t.At, func(i int, part float64) {
		h.cover.there[i] += weight * part
		if known {
			h.cover.known[i] += weight * part
		}
		for _, name := range d.places {
			h.groups[name].there[i] += weight * part
		}
	})
	if err != nil || !known || level == 0 {
		return err
	}
	if l.Measure != LevelPower {
		level *= weight
	}
	if len(d.holders) == 0 {
		return l.put(h, s.Device, d, "", from, t.At, level)
	}
	for _, x := range d.holders {
		if err := l.put(h, s.Device, d, x.tenant, from, t.At, level/float64(len(d.holders))); err != nil {
			return err
		}
	}
	return nil
}

// guess counts a device as held if over heldMemory of its memory is in use.
func (l *Levels) guess(d *levelDevice, s *Sample) {
	l.Guessed = true
	used, ok := s.Get(MemUsed)
	total, has := s.Get(MemTotal)
	d.holders = d.holders[:0]
	if ok && has && used > heldMemory*total {
		d.holders = append(d.holders, levelHolder{tenant: "(not told)"})
	}
}

// level returns the measure of a sample for a whole device, in GPUs or watts.
func (l *Levels) level(s *Sample, held bool) (v float64, known bool) {
	switch l.Measure {
	case LevelHeld:
		if held {
			return 1, true
		}
		return 0, true
	case LevelPower:
		return s.Get(Power)
	case LevelSM:
		v, known = s.Get(SMActive)
	case LevelBusy:
		v, known = s.Get(UtilGPU)
	}
	return v / 100, known
}

// weight returns the share of a GPU that a device counts as, and whether it is the rest of a divided
// GPU. Only whole GPUs have power.
func (l *Levels) weight(h *levelHost, d *Device) (weight float64, rest bool) {
	parts, rest := h.mig.shareOf(d)
	switch {
	case l.Measure != LevelPower:
		return float64(parts) / wholeGPU, rest
	case d.MIG():
		return 0, false
	}
	return 1, rest
}

func (l *Levels) put(h *levelHost, dev *Device, d *levelDevice, tenant string, from, to Instant, level float64) error {
	groups, asked := d.asked[tenant]
	if !asked {
		groups = l.Groups(h.name, dev, tenant)
		d.asked[tenant] = groups
		for _, name := range groups {
			l.cell(h, name)
		}
	}
	return l.spread(h, from, to, func(i int, part float64) {
		for _, name := range groups {
			h.groups[name].value[i] += level * part
		}
	})
}

// cell makes the cells of a group on a box, unless they exist.
func (l *Levels) cell(h *levelHost, name string) {
	if h.groups[name] != nil {
		return
	}
	n := len(h.cover.ticks)
	h.groups[name] = &levelCells{make([]float64, n), make([]float64, n)}
	l.cells += 2 * n
	if !l.known[name] {
		l.known[name] = true
		l.names = append(l.names, name)
	}
}

// spread divides a time range between steps. It calls put with the index of each step and the
// microseconds of the range in it.
func (l *Levels) spread(h *levelHost, from, to Instant, put func(i int, part float64)) error {
	for from < to {
		if h.to <= from || h.from > from || h.to == 0 {
			h.step = l.grid.Index(from.Second())
			h.from, h.to = instantOf(l.grid.At(h.step)), instantOf(l.grid.At(h.step+1))
		}
		if err := l.reach(h, h.step); err != nil {
			return err
		}
		end := min(to, h.to)
		put(h.step-h.base, float64(end-from))
		from = end
	}
	return nil
}

func instantOf(t capcli.Time) Instant { return Instant(int64(t) * 1_000_000) }

// reach grows the slices of a box so that they hold step i. It fails with ErrTooManySteps.
func (l *Levels) reach(h *levelHost, i int) error {
	n := len(h.cover.ticks)
	if n == 0 {
		h.base = i
	}
	before, after := max(0, h.base-i), max(0, i-h.base-n+1)
	if before+after == 0 {
		return nil
	}
	most := l.MaxCells
	most = cmp.Or(most, defaultLevelCells)
	if l.cells += (before + after) * (3 + 2*len(h.groups)); l.cells > most {
		return ErrTooManySteps
	}
	grow := func(v []float64) []float64 {
		if before > 0 {
			v = append(make([]float64, before), v...)
		}
		return append(v, make([]float64, after)...)
	}
	c := &h.cover
	c.ticks, c.there, c.known = grow(c.ticks), grow(c.there), grow(c.known)
	for _, g := range h.groups {
		g.value, g.there = grow(g.value), grow(g.there)
	}
	h.base -= before
	return nil
}
