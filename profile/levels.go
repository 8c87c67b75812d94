package profile

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"capcli"
)

// LevelMeasure is what Levels sums.
type LevelMeasure uint8

// The measures: GPUs that a process held; GPUs busy, by the share of time in
// which a kernel ran; GPUs by the share of their SMs that were active; and watts.
const (
	LevelHeld LevelMeasure = iota
	LevelBusy
	LevelSM
	LevelPower
)

// ErrTooManySteps is what Levels gives up with.
var ErrTooManySteps = errors.New("too many boxes, groups and steps")

const (
	defaultLevelCells = 20_000_000 // 160 MB
	enoughCover       = 0.5        // of a step's time, for the step to be known
	wholeCover        = 0.95       // of the first and the last step, for them to be whole
	peakOver          = 300        // seconds
)

// Levels takes ticks, those of one box in the order of their times, and gives
// what all boxes did on regular steps, group by group. Its memory grows with
// boxes, groups and steps, not with ticks.
//
// A sample stands for the time since the one before, up to three intervals, and
// its time is divided exactly between the steps. A step of which less than half
// was sampled is a gap; of the others what was not sampled is taken to be as
// what was. Before its first sample and after its last a box is not there.
type Levels struct {
	Measure LevelMeasure
	Step    capcli.Step
	Zone    *time.Location // nil is UTC
	Peaks   bool           // the highest mean of five minutes in each step, instead of its mean
	// Groups gives the groups that the part of a device counts in that a tenant
	// holds; "" is nobody. Places gives those of them whose GPUs can be counted,
	// because they do not ask for the tenant.
	Groups   func(host string, d *Device, tenant string) []string
	Places   func(host string, d *Device) []string
	MaxCells int // 0 is 20 million

	Guessed bool // some samples came without processes: held is memory in use

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
	spans   [][2]Instant // of ticks in order
	last    Instant
	told    bool // processes
	base    int  // the step of the first element
	cover   levelCover
	groups  map[string]*levelCells
	step    int // that holds from..to
	from    Instant
	to      Instant
}

// levelCover is, by step, microseconds that ticks stand for, GPU-microseconds
// that were there, and those of them whose figure was known.
type levelCover struct{ ticks, there, known []float64 }

// levelCells are a group's GPU-microseconds (or W x microseconds) by step, and
// where it is a place what was there.
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

// jobRef tells jobs of a box apart.
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

// Add takes a tick of a box.
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
	return err
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

// fine is the step on which sums are kept.
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

// sample counts one sample for the groups of who holds the device.
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
	weight := l.weight(t, s.Device)
	if weight == 0 {
		return nil
	}
	if d.places == nil {
		d.places = append([]string{}, l.Places(h.name, s.Device)...)
		for _, name := range d.places {
			l.cell(h, name)
		}
	}
	level, known := l.level(s, len(d.holders) > 0)
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

// guess takes a device for held where over heldMemory of its memory is in use.
func (l *Levels) guess(d *levelDevice, s *Sample) {
	l.Guessed = true
	used, ok := s.Get(MemUsed)
	total, has := s.Get(MemTotal)
	d.holders = d.holders[:0]
	if ok && has && used > heldMemory*total {
		d.holders = append(d.holders, levelHolder{tenant: "(not told)"})
	}
}

// level is what a sample says of a whole device.
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

// weight returns the share of a GPU that a device counts as: an instance counts as its
// slices, and a divided GPU as 0, since its instances count. Only whole GPUs have power.
func (l *Levels) weight(t *Tick, d *Device) float64 {
	if d.MIG() {
		if l.Measure == LevelPower {
			return 0
		}
		return d.Slices()
	}
	if l.Measure == LevelPower {
		return 1
	}
	for i := range t.Samples {
		if x := t.Samples[i].Device; x.MIG() && x.Parent == d.UUID {
			return 0
		}
	}
	return 1
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

// cell makes the cells of a group on a box.
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

// spread divides the time from one instant to another between steps.
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

// reach makes room for step i of a box.
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
	if most == 0 {
		most = defaultLevelCells
	}
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
