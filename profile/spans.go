package profile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli/profile/rhythm"
)

const (
	maxEvents    = 1000
	heldMemory   = 0.02 // share of a device's memory in use that tells it is held
	mostSpan     = 3    // intervals that a sample may stand for
	defaultEvery = time.Second
	hourMicros   = 3_600_000_000
	minuteMicros = 60_000_000
)

// Span is what one device did within one whole hour of UTC while the same jobs held it and no
// samples were missing. A Summary is the sum of spans, and the sum is the same whether they come
// from samples or were kept.
type Span struct {
	Host   string
	Device *Device
	Hour   Instant // begin of the hour
	// Begin is where the time begins for which the first sample stands; First and Last are the
	// times of the first and of the last sample. A span whose Begin is the Last of the device's
	// span before goes on where that ended.
	Begin, First, Last Instant
	// Share is the part of a GPU that the device counts as, in parts of accelerator.WholeGPU. Of a GPU
	// that MIG divides it is what no instance has, and then nobody holds it. The times of Use and of
	// the Parts are those of the device, not weighed by it.
	Share   int64
	Divided bool
	Guessed bool // nothing told of processes: memory in use decided who holds the device
	Use     *Use
	Parts   []Part // of the holders, in the order of Holder.Compare; none is free
}

// Part is what one of the holders of a span did: all of it where it is alone, else an even share
// of time and energy.
type Part struct {
	Holder Holder
	Use    *Use // that of the span where the holder is alone
}

// Holder is a job as it is seen on a box.
type Holder struct {
	Kind      string // "slurm", "pod", "container", "process", or "unknown"
	Namespace string // of a pod
	Name      string // of the job, pod or container, or the user of a process
	PID       int64  // of a process, else 0
	Tenant    string
	Command   string
}

// unknownKind is the kind of a holder that only memory in use tells of.
const unknownKind = "unknown"

// HolderOf returns the job that a process belongs to.
func HolderOf(p *Process) Holder {
	r := p.ref()
	return Holder{Kind: r.kind, Namespace: r.space, Name: r.name, PID: r.pid, Tenant: cmp.Or(p.Namespace, p.User), Command: p.Command}
}

// Compare orders holders by what they are; two that compare as 0 are the same job on a box.
func (h *Holder) Compare(o *Holder) int {
	return cmp.Or(strings.Compare(h.Kind, o.Kind), strings.Compare(h.Namespace, o.Namespace), strings.Compare(h.Name, o.Name), cmp.Compare(h.PID, o.PID))
}

// ID is the name of the job in a Summary.
func (h *Holder) ID() string {
	switch h.Kind {
	case "pod":
		return h.Namespace + "/" + h.Name
	case "process":
		return h.Name + "/" + strconv.FormatInt(h.PID, 10)
	case unknownKind:
		return "(not told)"
	}
	return h.Name
}

// Everywhere tells whether the job is the same on every box.
func (h *Holder) Everywhere() bool { return h.Kind == "slurm" || h.Kind == "pod" }

// Spanner turns ticks, those of one box in the order of their times, into spans. Its memory grows
// with devices.
type Spanner struct {
	// Span takes each span when it ends, those of one device in order. The span and its Uses are
	// valid until it returns.
	Span func(*Span)
	// Minute, unless nil, takes each minute of a device when it ends, before Span takes the span
	// that it belongs to. It may add to the span's Uses.
	Minute func(*Span, *Minute)

	// Told, unless nil, takes what programs told of themselves in each hour when it ends. The span is valid until it
	// returns.
	Told func(*ToldSpan)

	hosts  map[string]*spanHost
	boxes  []*spanHost
	order  []*spanDevice
	finder rhythm.Finder
}

type spanHost struct {
	tellers tellers
	name    string
	devices map[deviceKey]*spanDevice
	recent  []*spanDevice // of the samples of the last tick
	mig     division
	told    bool    // processes
	gap     Instant // time since the last samples in which none were taken, as events say

	box      HostSample // as last seen
	boxKnown bool
	looks    int // at the box or at jobs' processes
	groups   []groupWaits
}

// deviceKey tells devices of a box apart: sources use names of instances again, for other profiles.
type deviceKey struct{ uuid, profile string }

func (d *Device) key() deviceKey { return deviceKey{d.UUID, d.Profile} }

// spanDevice is a device and the span that is under way.
type spanDevice struct {
	device  *Device
	seen    Span
	open    bool
	minute  Minute
	beat    beat
	window  minuteWindow
	last    Instant
	any     bool
	energy  float64
	counted bool // energy is that of the last sample
	held    []Holder
	next    []Holder // while processes are read
	own     []*Use   // of the parts of a span with several holders
}

// Add takes a tick of a box.
func (p *Spanner) Add(host string, t *Tick) {
	if len(t.Samples)+len(t.Events)+len(t.Groups) == 0 && !t.LookedAtHost {
		return
	}
	h := p.hosts[host]
	if h == nil {
		if p.hosts == nil {
			p.hosts = map[string]*spanHost{}
		}
		h = &spanHost{name: host, devices: map[deviceKey]*spanDevice{}}
		p.hosts[host] = h
		p.boxes = append(p.boxes, h)
	}
	h.look(t)
	for i := range t.Events {
		if e := &t.Events[i]; e.isGap() {
			h.gap += Instant(e.Value)
		}
	}
	if len(t.Samples) == 0 {
		return
	}
	p.find(h, t)
	h.mig.look(t)
	if t.LookedAtProcesses {
		h.told = true
		p.processes(h, t)
	}
	every := t.Every
	if every <= 0 {
		every = defaultEvery
	}
	answered := false
	for i := range t.Samples {
		if t.Samples[i].Answered() { // what the others did is not known
			answered = true
			p.sample(h, h.recent[i], t.At, every, &t.Samples[i])
		}
	}
	_ = h.mig.rests(t, func(s *Sample) error {
		p.sample(h, p.device(h, s.Device), t.At, every, s)
		return nil
	})
	if answered {
		h.gap = 0
	}
	if len(t.Readings) > 0 && p.Told != nil {
		p.countTold(h, t)
	}
}

// find sets h.recent to the devices of the tick's samples.
func (p *Spanner) find(h *spanHost, t *Tick) {
	for i := range t.Samples {
		d := t.Samples[i].Device
		if i < len(h.recent) && (h.recent[i].device == d || h.recent[i].device.key() == d.key()) {
			continue
		}
		h.recent = append(h.recent[:min(i, len(h.recent))], p.device(h, d))
	}
	h.recent = h.recent[:len(t.Samples)]
}

func (p *Spanner) device(h *spanHost, d *Device) *spanDevice {
	s := h.devices[d.key()]
	if s == nil {
		s = &spanDevice{device: d}
		s.seen = Span{Host: h.name, Device: d, Use: NewUse()}
		h.devices[d.key()] = s
		p.order = append(p.order, s)
	}
	return s
}

// processes notes who holds what from now on. A device that did not answer keeps its holders.
func (p *Spanner) processes(h *spanHost, t *Tick) {
	for _, d := range h.recent {
		d.next = d.next[:0]
	}
	for i := range t.Processes {
		d := h.sampled(t.Processes[i].Device)
		if d == nil {
			continue // it did not answer, and keeps its holders
		}
		x := HolderOf(&t.Processes[i])
		if !slices.ContainsFunc(d.next, func(o Holder) bool { return o.Compare(&x) == 0 }) {
			d.next = append(d.next, x)
		}
	}
	for i, d := range h.recent {
		if t.Samples[i].Answered() {
			p.swap(d)
		}
	}
}

// sampled returns the device of the tick's samples that a process holds, or nil. Sources may not tell the
// profile of a process's instance.
func (h *spanHost) sampled(d *Device) *spanDevice {
	for _, x := range h.recent {
		if x.device == d || x.device.UUID == d.UUID && (d.Profile == "" || d.Profile == x.device.Profile) {
			return x
		}
	}
	return nil
}

// swap makes next the holders of d.
func (p *Spanner) swap(d *spanDevice) {
	if len(d.next) > 1 {
		slices.SortFunc(d.next, func(a, b Holder) int { return a.Compare(&b) })
	}
	if slices.EqualFunc(d.held, d.next, func(a, b Holder) bool { return a.Compare(&b) == 0 }) {
		return
	}
	p.finish(d)
	d.beat.drop()
	for i := range d.next { // a job keeps the command it was first seen with
		if k := slices.IndexFunc(d.held, func(o Holder) bool { return o.Compare(&d.next[i]) == 0 }); k >= 0 {
			d.next[i] = d.held[k]
		}
	}
	d.held, d.next = d.next, d.held
}

// sample counts one sample for its device and for who holds it.
func (p *Spanner) sample(h *spanHost, d *spanDevice, at Instant, every time.Duration, s *Sample) {
	micros := every.Microseconds()
	if d.any {
		since := int64(at - d.last - h.gap)
		if h.gap > 0 || since <= 0 || since > mostSpan*micros {
			p.finish(d) // a gap, or a clock that was set
			d.counted = false
		}
		if since > 0 && since <= mostSpan*micros {
			micros = since
		} // else this sample stands for itself alone
	}
	energy := d.energySpent(s, micros)
	d.last, d.any = at, true
	if !h.told {
		p.guess(d, s)
	}
	sp := &d.seen
	if share, divided := h.mig.shareOf(s.Device); share != sp.Share || divided != sp.Divided {
		p.finish(d)
		sp.Share, sp.Divided = share, divided
	}
	p.reach(d, at, micros)
	sp.Last = at
	sp.Guessed = sp.Guessed || !h.told
	if sp.Divided {
		sp.Use.addWhole(s, micros, energy)
		return
	}
	if p.Minute != nil {
		d.minute.add(s, micros)
	}
	sp.Use.add(s, micros, energy)
	n := int64(len(sp.Parts))
	if n == 0 {
		return
	}
	sp.Use.hold(s, micros, n > 1)
	d.window.observe(s, h, d.held, at, micros)
	if n == 1 {
		p.follow(d, s, at, every)
		return
	}
	part, units := micros/n, energy.units/uint64(n)
	for k := range sp.Parts {
		u, part, units := sp.Parts[k].Use, part, units
		if k == 0 { // so that the parts sum to the whole
			part, units = micros-part*(n-1), energy.units-units*uint64(n-1)
		}
		u.add(s, part, spent{units, energy.byPower})
		u.hold(s, part, true)
	}
}

// reach has the span and the minute of d be those of a sample at that time.
func (p *Spanner) reach(d *spanDevice, at Instant, micros int64) {
	sp := &d.seen
	if d.open && (at < sp.Hour || at >= sp.Hour+hourMicros) {
		p.finish(d)
	}
	if !d.open {
		d.open = true
		sp.Hour, sp.Begin, sp.First, sp.Guessed = at-positive(at, hourMicros), at-Instant(micros), at, false
		sp.Use.Reset()
		d.share()
	}
	if d.window.Samples > 0 && (at < d.window.start || at >= d.window.start+minuteMicros) {
		d.window.end(sp)
	}
	if p.Minute != nil && (d.minute.Samples == 0 || at < d.minute.Start || at >= d.minute.Start+minuteMicros) {
		p.endMinute(d)
		d.minute.Start = at - positive(at, minuteMicros)
	}
}

// positive is the rest of t by n, which is never under 0.
func positive(t, n Instant) Instant {
	if t %= n; t < 0 {
		t += n
	}
	return t
}

// share sets the parts of a span that begins.
func (d *spanDevice) share() {
	sp := &d.seen
	sp.Parts = sp.Parts[:0]
	if sp.Divided {
		return
	}
	if len(d.held) == 1 {
		sp.Parts = append(sp.Parts, Part{d.held[0], sp.Use})
		return
	}
	for i := range d.held {
		if i == len(d.own) {
			d.own = append(d.own, NewUse())
		}
		d.own[i].Reset()
		sp.Parts = append(sp.Parts, Part{d.held[i], d.own[i]})
	}
}

func (p *Spanner) endMinute(d *spanDevice) {
	if d.minute.Samples > 0 {
		p.Minute(&d.seen, &d.minute)
	}
	d.minute = Minute{}
}

// finish ends the span of d that is under way.
func (p *Spanner) finish(d *spanDevice) {
	if !d.open {
		return
	}
	d.window.end(&d.seen)
	if p.Minute != nil {
		p.endMinute(d)
	}
	d.open = false
	p.Span(&d.seen)
}

// Flush ends all spans that are under way. Samples may go on after it. A minute that it cuts is judged
// as two: where that matters, it comes between two minutes.
func (p *Spanner) Flush() {
	for _, d := range p.order {
		p.finish(d)
	}
	for _, h := range p.boxes {
		p.flushTold(h, h.tellers.hour)
	}
}

// energySpent is the energy since the last sample: by the counter, where it goes on,
// else by power. Instances have none of their own.
func (d *spanDevice) energySpent(s *Sample, micros int64) spent {
	if d.device.MIG() {
		return spent{}
	}
	e, ok := s.Get(Energy)
	last, had := d.energy, d.counted
	d.energy, d.counted = e, ok
	if ok && had && e >= last {
		return spent{eighths(e-last) * (unitsPerJoule / 8), false}
	}
	w, has := s.Get(Power)
	return spent{eighths(w) * uint64(micros), has && !ok} // between counters power stands in for a moment
}

// guess takes memory in use for a sign that a device is held, where no source
// tells of processes.
func (p *Spanner) guess(d *spanDevice, s *Sample) {
	used, ok := s.Get(MemUsed)
	total, has := s.Get(MemTotal)
	held := ok && has && used > heldMemory*total
	if held == (len(d.held) > 0) {
		return
	}
	d.next = d.next[:0]
	if held {
		d.next = append(d.next, Holder{Kind: unknownKind, Name: d.device.UUID})
	}
	p.swap(d)
}
