package anomaly

import (
	"slices"
	"time"

	"capcli/profile"
)

// box is one box and its windows.
type box struct {
	name    string
	devices map[string]*device
	order   []*device
	first   profile.Instant
	last    profile.Instant
	any     bool
	told    bool // who holds GPUs
	silent  []silence
	found   []*Anomaly
}

// silence is a time without ticks.
type silence struct{ from, to profile.Instant }

// device is one GPU or instance.
type device struct {
	device  *profile.Device
	windows []window
	now     window
	open    bool
	last    profile.Instant
	holder  string
	shared  bool // several hold it
	counts  [len(counted)]counter
	codes   []xidRow
	total   float64 // bytes of memory that processes can have
}

// window is what a device did in a quarter of an hour.
type window struct {
	at     profile.Instant // its begin
	seen   int64           // microseconds
	holder string          // "" is nobody
	mixed  bool            // not the same holder all the time, or several
	active int64           // microseconds
	hot    int64           // clocks held back by heat
	capped int64           // and by the power limit
	means  [len(meant)]average
}

// average is a sum over time.
type average struct {
	sum    float64
	micros int64
}

func (a average) mean() (float64, bool) { return a.sum / float64(a.micros), a.micros > 0 }

// meant are the metrics of which windows have means.
var meant = [...]profile.Metric{profile.Power, profile.SMActive, profile.UtilGPU, profile.MemUsed, profile.Temp, profile.ClockSM}

// Indices in meant.
const (
	power = iota
	smActive
	util
	memUsed
	temp
	clock
)

// Bits of NVML's clocks event reasons (nvml.h).
const (
	byPower = 0x4 | 0x80
	byHeat  = 0x20 | 0x40
)

// mostStands is how many intervals a sample stands for at most, as in summaries.
const mostStands = 3

func (b *box) add(t *profile.Tick) {
	for i := range t.Events {
		b.event(&t.Events[i])
	}
	if len(t.Samples) == 0 {
		return
	}
	every := t.Every
	if every <= 0 {
		every = time.Second
	}
	if b.any && t.At > b.last {
		if since := t.At.Sub(b.last); since > max(leastGap, 10*every) {
			b.silent = append(b.silent, silence{b.last, t.At})
		}
	}
	if !b.any {
		b.first = t.At
	}
	b.last, b.any = max(b.last, t.At), true
	for i := range t.Samples {
		b.device(t.Samples[i].Device)
	}
	if t.LookedAtProcesses {
		b.told = true
		b.holders(t)
	}
	for i := range t.Samples {
		b.sample(t.At, every, &t.Samples[i])
	}
}

func (b *box) device(d *profile.Device) *device {
	x := b.devices[d.UUID]
	if x == nil {
		x = &device{device: d}
		b.devices[d.UUID] = x
		b.order = append(b.order, x)
	}
	return x
}

// holders notes who holds each device from now on.
func (b *box) holders(t *profile.Tick) {
	for i := range t.Samples {
		d := b.device(t.Samples[i].Device)
		d.holder, d.shared = "", false
	}
	for i := range t.Processes {
		p := &t.Processes[i]
		h := profile.HolderOf(p)
		d, id := b.device(p.Device), h.ID()
		d.shared = d.shared || d.holder != "" && d.holder != id
		d.holder = id
	}
}

func (b *box) sample(at profile.Instant, every time.Duration, s *profile.Sample) {
	d := b.device(s.Device)
	micros := every.Microseconds()
	if since := int64(at - d.last); d.last != 0 && since > 0 && since <= mostStands*micros {
		micros = since
	}
	d.last = at
	start := at - at%windowMicros
	if d.open && d.now.at != start {
		d.windows, d.open = append(d.windows, d.now), false
	}
	w := &d.now
	if !d.open {
		*w, d.open = window{at: start, holder: d.holder, mixed: d.shared}, true
	}
	w.seen += micros
	w.mixed = w.mixed || d.shared || w.holder != d.holder
	for i, m := range meant {
		if v, ok := s.Get(m); ok {
			w.means[i].sum += v * float64(micros)
			w.means[i].micros += micros
		}
	}
	if active, known := s.Active(); known && active {
		w.active += micros
		if bits, ok := s.Get(profile.Throttle); ok {
			if uint64(bits)&byHeat != 0 {
				w.hot += micros
			}
			if uint64(bits)&byPower != 0 {
				w.capped += micros
			}
		}
	}
	if v, ok := s.Get(profile.MemTotal); ok {
		reserved, _ := s.Get(profile.MemReserved)
		d.total = max(d.total, v-reserved)
	}
	d.count(at, s)
}

// close ends the windows under way. One that was sampled for less than a third of its time is dropped.
func (b *box) close() {
	for _, d := range b.order {
		if d.open {
			d.windows, d.open = append(d.windows, d.now), false
		}
		d.windows = slices.DeleteFunc(d.windows, func(w window) bool { return w.seen*3 < int64(windowMicros) })
	}
}

// leastGap is the shortest time without ticks that is a gap in the recording.
const leastGap = 5 * time.Minute

// gaps reports the times without ticks.
func (b *box) gaps() {
	for _, s := range b.silent {
		length := s.to.Sub(s.from)
		b.report(recorderGap, nil, "", s.from, s.to, length.Seconds(), "s", 1, "no tick for %v", length.Round(time.Second))
	}
}
