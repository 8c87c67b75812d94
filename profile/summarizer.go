package profile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxEvents    = 1000
	heldMemory   = 0.02 // share of a device's memory in use that tells it is held
	mostSpan     = 3    // intervals that a sample may stand for
	defaultEvery = time.Second
)

// Summarizer takes ticks, those of one box in the order of their times, and
// gives their Summary. Its memory grows with devices and jobs, not with ticks.
type Summarizer struct {
	zone    *time.Location
	out     Summary
	hosts   map[string]*hostState
	jobs    map[jobOnHost]*JobUse
	devices []*deviceState
}

// NewSummarizer starts a summary whose hours and weekdays are those of a zone.
func NewSummarizer(zone *time.Location) *Summarizer {
	if zone == nil {
		zone = time.UTC
	}
	return &Summarizer{zone: zone, hosts: map[string]*hostState{}, jobs: map[jobOnHost]*JobUse{}}
}

type hostState struct {
	name    string
	devices map[string]*deviceState
	last    Instant
	any     bool
	told    bool // processes
	hour    Instant
	cell    *HeatCell // of the hour
}

type deviceState struct {
	use     *DeviceUse
	st      stretch
	last    Instant
	any     bool
	energy  float64
	counted bool // energy is that of the last sample
	held    []*holding
	next    []*holding // while processes are read
}

// holding is a job on one device.
type holding struct {
	job *JobUse
	st  stretch
}

// Add takes a tick of a box.
func (z *Summarizer) Add(host string, t *Tick) {
	h := z.hosts[host]
	if h == nil {
		h = &hostState{name: host, devices: map[string]*deviceState{}}
		z.hosts[host] = h
	}
	for _, e := range t.Events {
		if e.Kind == Gap {
			z.out.Gaps += e.Value
		}
		if len(z.out.Events) < maxEvents {
			z.out.Events = append(z.out.Events, HostEvent{e.At.Stamp(), host, e.Kind, e.Device, e.Value, e.Text})
		} else {
			z.out.Dropped++
		}
	}
	if len(t.Samples) == 0 {
		return
	}
	z.span(t)
	if t.LookedAtProcesses {
		h.told = true
		z.processes(h, t)
	}
	h.heat(z, t.At)
	every := t.Every
	if every <= 0 {
		every = defaultEvery
	}
	for i := range t.Samples {
		z.sample(h, t.At, every, &t.Samples[i])
	}
	h.last, h.any = t.At, true
}

func (z *Summarizer) span(t *Tick) {
	if z.out.Ticks == 0 || t.At < z.out.From {
		z.out.From = t.At
	}
	z.out.To = max(z.out.To, t.At)
	z.out.Ticks++
}

// heat finds the cell of the hour that holds at.
func (h *hostState) heat(z *Summarizer, at Instant) {
	const hour = Instant(3_600_000_000)
	if start := at - at%hour; h.cell == nil || start != h.hour {
		// Zones are whole quarters of an hour off; the cell is that of the hour's begin.
		local := at.Std().In(z.zone)
		h.hour, h.cell = start, &z.out.Heat[local.Weekday()][local.Hour()]
	}
}

func (z *Summarizer) device(h *hostState, d *Device) *deviceState {
	s := h.devices[d.UUID]
	if s == nil {
		s = &deviceState{use: &DeviceUse{Host: h.name, Device: d, Use: newUse()}}
		h.devices[d.UUID] = s
		z.devices = append(z.devices, s)
		z.out.Devices = append(z.out.Devices, s.use)
	}
	return s
}

// processes notes who holds what from now on.
func (z *Summarizer) processes(h *hostState, t *Tick) {
	for i := range t.Samples {
		s := z.device(h, t.Samples[i].Device)
		s.next = s.next[:0]
	}
	for i := range t.Processes {
		p := &t.Processes[i]
		s := z.device(h, p.Device)
		j := z.job(h.name, p)
		if slices.ContainsFunc(s.next, func(x *holding) bool { return x.job == j }) {
			continue
		}
		if k := slices.IndexFunc(s.held, func(x *holding) bool { return x.job == j }); k >= 0 {
			s.next = append(s.next, s.held[k])
			continue
		}
		s.next = append(s.next, &holding{job: j})
	}
	for i := range t.Samples {
		z.swap(h, z.device(h, t.Samples[i].Device))
	}
}

// swap makes next the holders of s.
func (z *Summarizer) swap(h *hostState, s *deviceState) {
	for _, x := range s.held {
		if !slices.Contains(s.next, x) {
			x.st.turn(x.job.Use, false)
			x.job.now--
		}
	}
	changed := len(s.held) != len(s.next)
	for _, x := range s.next {
		if !slices.Contains(s.held, x) {
			changed = true
			x.job.now++
			x.job.Devices = max(x.job.Devices, x.job.now)
			if !slices.Contains(s.use.Jobs, x.job.ID) {
				s.use.Jobs = append(s.use.Jobs, x.job.ID)
			}
			if !slices.Contains(x.job.hosts, h.name) {
				x.job.hosts = append(x.job.hosts, h.name)
			}
		}
	}
	if changed { // a pause of one job is not one of the next
		s.st.turn(s.use.Use, false)
		s.st = stretch{}
	}
	s.held, s.next = s.next, s.held
}

// jobOnHost tells jobs of all boxes apart.
type jobOnHost struct {
	jobRef
	host string // "" where the job is the same on every host
}

// job returns the job that a process belongs to.
func (z *Summarizer) job(host string, p *Process) *JobUse {
	key := jobOnHost{jobRef: p.ref(), host: host}
	id := key.name
	switch key.kind {
	case "slurm":
		key.host = "" // the same job on every host
	case "pod":
		key.host, id = "", key.space+"/"+key.name
	case "process":
		id += "/" + strconv.FormatInt(key.pid, 10)
	}
	j := z.jobs[key]
	if j == nil {
		j = &JobUse{ID: id, Kind: key.kind, Tenant: cmp.Or(p.Namespace, p.User), Command: p.Command, Model: p.Device.Model, MIG: p.Device.MIG(), Use: newUse()}
		z.jobs[key] = j
		z.out.Jobs = append(z.out.Jobs, j)
	}
	return j
}

// sample counts one sample for its device and for who holds it.
func (z *Summarizer) sample(h *hostState, at Instant, every time.Duration, s *Sample) {
	d := z.device(h, s.Device)
	micros := every.Microseconds()
	if d.any {
		since := int64(at - d.last)
		if since <= 0 || since > mostSpan*micros {
			d.cut() // a gap, or a clock that was set: this sample stands for itself alone
		} else {
			micros = since
		}
	}
	joules, byPower := d.joules(s, micros)
	d.last, d.any = at, true
	active, known := s.Active()
	u := d.use.Use
	u.add(s, micros, joules, byPower)
	cell := h.cell
	cell.Seen += micros
	if v, ok := s.Get(UtilGPU); ok {
		cell.Busy += v / 100 * float64(micros)
		cell.BusyFor += micros
	}
	if !h.told {
		z.guess(h, d, s)
	}
	if len(d.held) == 0 {
		return
	}
	cell.Held += micros
	u.Held += micros
	if len(d.held) > 1 {
		u.Shared += micros
	}
	if known {
		d.st.step(u, active, micros)
		if !active {
			u.Idle += micros
		}
	}
	share := micros / int64(len(d.held))
	for k, x := range d.held {
		part := share
		if k == 0 {
			part = micros - share*int64(len(d.held)-1) // so that the parts sum to the whole
		}
		x.add(s, at, part, joules*float64(part)/float64(micros), byPower, len(d.held) > 1)
	}
}

// add counts the part of a sample that is a job's.
func (x *holding) add(s *Sample, at Instant, micros int64, joules float64, byPower, shared bool) {
	j := x.job
	if j.From == 0 {
		j.From = at.Add(-time.Duration(micros) * time.Microsecond)
	}
	j.To = max(j.To, at)
	u := j.Use
	u.add(s, micros, joules, byPower)
	u.Held += micros
	if shared {
		u.Shared += micros
	}
	active, known := s.Active()
	if !known {
		return
	}
	x.st.step(u, active, micros)
	if !active {
		u.Idle += micros
	}
}

// cut ends what was under way: what came between is not known.
func (d *deviceState) cut() {
	d.st.turn(d.use.Use, false)
	d.st = stretch{}
	for _, x := range d.held {
		x.st.turn(x.job.Use, false)
		x.st = stretch{}
	}
	d.counted = false
}

// joules is the energy since the last sample: by the counter, where it goes on,
// else by power.
func (d *deviceState) joules(s *Sample, micros int64) (joules float64, byPower bool) {
	e, ok := s.Get(Energy)
	last, had := d.energy, d.counted
	d.energy, d.counted = e, ok
	if ok && had && e >= last {
		return e - last, false
	}
	w, has := s.Get(Power)
	return w * float64(micros) / 1e6, has && !ok // between counters power stands in for a moment
}

// guess takes memory in use for a sign that a device is held, where no source
// tells of processes.
func (z *Summarizer) guess(h *hostState, d *deviceState, s *Sample) {
	z.out.Guessed = true
	used, ok := s.Get(MemUsed)
	total, has := s.Get(MemTotal)
	held := ok && has && used > heldMemory*total
	if held == (len(d.held) > 0) {
		return
	}
	d.next = d.next[:0]
	if held {
		j := z.job(h.name, &Process{Device: s.Device, Container: "(not told) on " + s.Device.UUID})
		j.Kind, j.ID = "unknown", "(not told)"
		d.next = append(d.next, &holding{job: j})
	}
	z.swap(h, d)
}

// Summary ends the pauses that are under way and gives what was seen.
func (z *Summarizer) Summary() *Summary {
	for _, d := range z.devices {
		d.cut()
	}
	out := &z.out
	slices.SortFunc(out.Devices, func(a, b *DeviceUse) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), cmp.Compare(a.Device.Index, b.Device.Index), strings.Compare(a.Device.UUID, b.Device.UUID))
	})
	slices.SortStableFunc(out.Jobs, func(a, b *JobUse) int {
		return cmp.Or(cmp.Compare(b.Use.Held, a.Use.Held), strings.Compare(a.ID, b.ID))
	})
	return out
}
