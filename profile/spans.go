package profile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli/profile/judge"
	"capcli/profile/rhythm"
)

const (
	maxEvents    = 1000
	heldMemory   = 0.02 // share of a device's memory in use that tells it is held
	mostSpan     = 3    // intervals that a sample may stand for
	defaultEvery = time.Second
	hourMicros   = 3_600_000_000
	minuteMicros = 60_000_000
	// knownFor is how long after a look at processes it is known who holds a device.
	knownFor = Instant(hourMicros)
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
	Samples int64
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

func (h *Holder) ref() jobRef { return jobRef{h.Kind, h.Namespace, h.Name, h.PID} }

// Everywhere tells whether the job is the same on every box.
func (h *Holder) Everywhere() bool { return h.Kind == "slurm" || h.Kind == "pod" }

// Spanner turns ticks, those of one box in the order of their times, into spans. Its memory grows
// with devices. What it makes of a tick depends on the ticks of the hour before at most, as long as
// ticks are no more than 20 minutes apart: who holds a device is known for an hour after the last look.
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
	told    bool    // processes, less than knownFor ago
	looked  Instant // time of the last look at processes

	box      HostSample // as last seen
	boxKnown bool
	boxAt    Instant // when it was seen
	looks    int     // at the box or at jobs' processes
	groups   []groupWaits
	groupsAt Instant // when they were seen
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
	gap     Instant // time since the last sample in which none was taken, as events say
	energy  float64
	counted bool // energy is that of the last sample
	held    []Holder
	looked  Instant  // time of the last look at who holds it
	next    []Holder // while processes are read
	own     []*Use   // of the parts of a span with several holders
}

// NewSpanner returns a Spanner that gives spans and what programs told, and minutes unless minute is nil.
func NewSpanner(span func(*Span), told func(*ToldSpan), minute func(*Span, *Minute)) *Spanner {
	return &Spanner{Span: span, Told: told, Minute: minute}
}

// Add takes a tick of a box.
func (p *Spanner) Add(host string, t *Tick) {
	if len(t.Samples)+len(t.Events)+len(t.Groups) == 0 && !t.LookedAtHost && !t.LookedAtProcesses {
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
			for _, d := range h.devices {
				d.gap += Instant(e.Value)
			}
		}
	}
	if t.LookedAtProcesses {
		h.told, h.looked = true, t.At
	}
	if len(t.Samples) == 0 {
		return
	}
	p.find(h, t)
	h.mig.look(t)
	if t.LookedAtProcesses {
		p.processes(h, t)
	}
	h.told = h.told && t.At-h.looked <= knownFor
	every := t.Every
	if every <= 0 {
		every = defaultEvery
	}
	for i := range t.Samples {
		if t.Samples[i].Answered() { // what the others did is not known
			p.sample(h, h.recent[i], t.At, every, &t.Samples[i])
			h.recent[i].gap = 0
		}
	}
	_ = h.mig.rests(t, func(s *Sample) error {
		d := p.device(h, s.Device)
		d.device = s.Device
		p.sample(h, d, t.At, every, s)
		d.gap = 0
		return nil
	})
	if len(t.Readings) > 0 && p.Told != nil {
		p.countTold(h, t)
	}
}

// find sets h.recent to the devices of the tick's samples.
func (p *Spanner) find(h *spanHost, t *Tick) {
	for i := range t.Samples {
		d := t.Samples[i].Device
		if i < len(h.recent) && (h.recent[i].device == d || h.recent[i].device.key() == d.key()) {
			h.recent[i].device = d
			continue
		}
		x := p.device(h, d)
		x.device = d
		h.recent = append(h.recent[:min(i, len(h.recent))], x)
	}
	h.recent = h.recent[:len(t.Samples)]
}

func (p *Spanner) device(h *spanHost, d *Device) *spanDevice {
	s := h.devices[d.key()]
	if s == nil {
		s = &spanDevice{device: d}
		s.seen = Span{Host: h.name, Use: NewUse()}
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
			d.looked = t.At
			p.swap(d)
		}
	}
}

// sampled returns the device of a process among those that the tick has samples of. What a process
// tells of its device may be no more than the UUID.
func (h *spanHost) sampled(d *Device) *spanDevice {
	var same *spanDevice
	for _, x := range h.recent {
		if x.device == d || x.device.key() == d.key() {
			return x
		}
		if x.device.UUID == d.UUID {
			same = x
		}
	}
	return same
}

// swap makes next the holders of d. A span tells them as they were seen last before it.
func (p *Spanner) swap(d *spanDevice) {
	if len(d.next) > 1 {
		slices.SortFunc(d.next, func(a, b Holder) int { return a.Compare(&b) })
	}
	if !slices.EqualFunc(d.held, d.next, func(a, b Holder) bool { return a.Compare(&b) == 0 }) {
		p.finish(d)
		d.beat.drop()
	}
	d.held, d.next = d.next, d.held
}

// sample counts one sample for its device and for who holds it.
func (p *Spanner) sample(h *spanHost, d *spanDevice, at Instant, every time.Duration, s *Sample) {
	micros := every.Microseconds()
	if d.any && at-d.last > knownFor {
		p.finish(d)
		d.any, d.counted = false, false
		d.beat.drop()
	}
	if d.any {
		since := int64(at - d.last - d.gap)
		if d.gap > 0 || since <= 0 || since > mostSpan*micros {
			p.finish(d) // a gap, or a clock that was set
			d.counted = false
		}
		if since > 0 && since <= mostSpan*micros {
			micros = since
		} // else this sample stands for itself alone
	}
	energy := d.energySpent(s, micros)
	d.last, d.any = at, true
	p.lapse(h, d, at)
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
	sp.Samples++
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

// lapse forgets holders that were told of too long ago, or by another way than they are told of now.
func (p *Spanner) lapse(h *spanHost, d *spanDevice, at Instant) {
	if len(d.held) > 0 && (h.told == (d.held[0].Kind == unknownKind) || h.told && at-d.looked > knownFor) {
		d.next = d.next[:0]
		p.swap(d)
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
		sp.Device, sp.Samples = d.device, 0
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

// Lead takes a tick of a box of which nothing counts, but which tells of what is known at the next one,
// such as who holds which device. It drops what is under way.
func (p *Spanner) Lead(host string, t *Tick) {
	p.forget()
	span, minute, told := p.Span, p.Minute, p.Told
	p.Span, p.Minute = func(*Span) {}, nil
	if told != nil {
		p.Told = func(*ToldSpan) {}
	}
	p.Add(host, t)
	p.Span, p.Minute, p.Told = span, minute, told
	p.forget()
}

func (p *Spanner) forget() {
	for _, d := range p.order {
		d.open, d.minute = false, Minute{}
		d.window.Window, d.window.part = judge.Window{}, 0
	}
	for _, h := range p.boxes {
		for _, s := range h.tellers.order {
			s.span.Told = Told{Bins: s.span.Told.Bins[:0]}
		}
	}
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
