package profile

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// defaultMostJobs is the most jobs that a Summary lists: some 25 MB as a document.
const defaultMostJobs = 5_000

// Summarizer sums up spans, or ticks, which it turns into spans. Spans and ticks of one box must
// come in the order of their times. Its memory grows with devices and jobs, not with ticks.
type Summarizer struct {
	// Each, unless nil, is shown each span, those of a box in order. The span is valid until it returns.
	Each func(*Span)

	// MostJobs is the number of jobs in Summary.Jobs; 0 is 5,000. The others are summed up all the same.
	MostJobs int

	trimmed int   // jobs when details of jobs were dropped last
	least   int64 // time for which a job held devices that has details

	fold    *folding // nil where all jobs are kept
	zone    *time.Location
	out     Summary
	spans   Spanner
	devices map[hostDevice]*deviceSum
	jobs    map[jobKey]*JobUse
	order   []*deviceSum
	hour    Instant
	cell    *HeatCell // of the hour
	told    map[jobKey][]*ToldUse
}

// NewSummarizer starts a summary whose hours and weekdays are those of a zone.
func NewSummarizer(zone *time.Location) *Summarizer {
	zone = cmp.Or(zone, time.UTC)
	z := &Summarizer{zone: zone, devices: map[hostDevice]*deviceSum{}, jobs: map[jobKey]*JobUse{}, told: map[jobKey][]*ToldUse{}}
	z.out.From = math.MaxInt64
	z.spans.Span, z.spans.Told = z.AddSpan, z.AddTold
	return z
}

type hostDevice struct {
	host string
	deviceKey
}

// jobKey tells jobs of all boxes apart.
type jobKey struct {
	host string // "" where the job is the same on every box
	jobRef
}

// deviceSum is a device and who holds it.
type deviceSum struct {
	use  *DeviceUse
	now  *Use // of the share that it is
	last Instant
	any  bool
	held []holding
	next []holding
}

// holding is a job on one device.
type holding struct {
	job   *JobUse
	use   *Use // of the job, on devices of the same share
	edges Edges
	from  Instant
	parts int64
	rank  *RankUse // of the job
}

// Add takes a tick of a box.
func (z *Summarizer) Add(host string, t *Tick) {
	z.AddEvents(host, t.Events)
	if len(t.Samples) > 0 {
		z.AddTicks(1)
	}
	z.spans.Add(host, t)
}

// Lead takes a tick of a box of which nothing counts, but which tells of what is known at the next one:
// who holds which device. The ticks of the hour before tell all of it. Flush goes before it.
func (z *Summarizer) Lead(host string, t *Tick) { z.spans.Lead(host, t) }

// Flush ends the spans that are under way, as before spans that were kept.
func (z *Summarizer) Flush() { z.spans.Flush() }

// AddTicks counts ticks with samples, whose spans AddSpan takes.
func (z *Summarizer) AddTicks(n int64) { z.out.Ticks += n }

// AddEvents takes events of a box.
func (z *Summarizer) AddEvents(host string, all []Event) {
	for i := range all {
		e := &all[i]
		if e.Kind == Machine { // no news
			z.out.meetMachine(host, e.Text)
			continue
		}
		if e.isGap() {
			z.out.Gaps += e.Value
		}
		if len(z.out.Events) < maxEvents {
			z.out.Events = append(z.out.Events, HostEvent{e.At.Stamp(), host, e.Kind, e.Device, e.Value, e.Text})
		} else {
			z.out.Dropped++
		}
	}
}

// AddSpan takes a span, which may change afterwards.
func (z *Summarizer) AddSpan(s *Span) {
	if z.Each != nil {
		z.Each(s)
	}
	z.out.From, z.out.To = min(z.out.From, s.First), max(z.out.To, s.Last)
	z.out.Guessed = z.out.Guessed || s.Guessed
	z.heat(s.Hour).add(s.Use, s.Share)
	d := z.device(s)
	use := d.use.uses.useOf(s.Share)
	joined := d.any && d.last == s.Begin && use == d.now
	if d.now != nil && (!joined || !d.isHeldBy(s.Parts)) { // a pause of one job is not one of the next
		d.now.Close()
	}
	d.now = use
	use.Append(s.Use)
	d.use.Share, d.use.Divided = s.Share, s.Divided
	z.hold(d, s, joined)
	d.last, d.any = s.Last, true
}

func (z *Summarizer) heat(start Instant) *HeatCell {
	if z.cell == nil || start != z.hour {
		// Zones are whole quarters of an hour off; the cell is that of the hour's begin.
		local := start.Std().In(z.zone)
		z.hour, z.cell = start, &z.out.Heat[local.Weekday()][local.Hour()]
	}
	return z.cell
}

func (z *Summarizer) device(s *Span) *deviceSum {
	key := hostDevice{s.Host, s.Device.key()}
	d := z.devices[key]
	if d == nil {
		d = &deviceSum{use: &DeviceUse{Host: s.Host, Device: s.Device}}
		z.devices[key] = d
		z.order = append(z.order, d)
		z.out.Devices = append(z.out.Devices, d.use)
	}
	return d
}

// isHeldBy tells whether the holders of d are those of the parts.
func (d *deviceSum) isHeldBy(parts []Part) bool {
	return slices.EqualFunc(d.held, parts, func(x holding, p Part) bool { return x.job.holder.Compare(&p.Holder) == 0 })
}

// hold has the parts of a span go on or begin, and what else held d end.
func (z *Summarizer) hold(d *deviceSum, s *Span, joined bool) {
	d.next = d.next[:0]
	for i := range s.Parts {
		p := &s.Parts[i]
		x := holding{from: s.Begin, parts: s.Share}
		k := -1
		if joined {
			k = slices.IndexFunc(d.held, func(o holding) bool { return o.job != nil && o.job.holder.Compare(&p.Holder) == 0 })
		}
		if k >= 0 {
			x, d.held[k].job = d.held[k], nil // taken over
		} else {
			x.job = z.job(s, p)
			x.use = x.job.uses.useOf(s.Share)
			if id := x.job.ID; !slices.Contains(d.use.Jobs, id) {
				d.use.Jobs = append(d.use.Jobs, id)
			}
		}
		x.job.To = max(x.job.To, s.Last)
		x.use.sum(p.Use)
		x.job.addHour(&x, s, p)
		x.edges.join(x.use, p.Use.Edges)
		d.next = append(d.next, x)
	}
	d.release()
	d.held, d.next = d.next, d.held
}

// release ends the holdings that were not taken over.
func (d *deviceSum) release() {
	for i := range d.held {
		if x := &d.held[i]; x.job != nil {
			x.edges.close(x.use)
			x.job.times = append(x.job.times, timeHeld{x.from, d.last, x.parts})
		}
	}
	d.held = d.held[:0]
}

// job returns the job of a part that begins with a span.
func (z *Summarizer) job(s *Span, p *Part) *JobUse {
	h := &p.Holder
	key := h.key(s.Host)
	j := z.jobs[key]
	if j == nil {
		j = &JobUse{From: s.Begin}
		z.jobs[key] = j
		z.out.Jobs = append(z.out.Jobs, j)
	}
	j.From = min(j.From, s.Begin)
	if !slices.Contains(j.hosts, s.Host) {
		j.hosts = append(j.hosts, s.Host)
	}
	// The job is described as where it was seen first.
	if at := (jobSeen{s.First, s.Host, s.Device.Index, s.Device.UUID}); j.ID == "" || at.Compare(&j.seen) < 0 {
		j.seen, j.holder = at, *h
		j.ID, j.Kind, j.Tenant, j.Command, j.Model = h.ID(), h.Kind, h.Tenant, h.Command, s.Device.Model
		j.MIG, j.Profile = s.Device.MIG(), s.Device.Profile
	}
	return j
}

// Summary ends the pauses that are under way and gives what was seen.
func (z *Summarizer) Summary() *Summary {
	z.settle()
	out := &z.out
	if len(out.Devices) == 0 {
		out.From = 0
	}
	for _, j := range out.Jobs {
		j.Devices, j.Share = mostAtOnce(j.times)
		slices.Sort(j.hosts)
		j.sumHeld()
	}
	slices.SortFunc(out.Devices, func(a, b *DeviceUse) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), cmp.Compare(a.Device.Index, b.Device.Index), strings.Compare(a.Device.UUID, b.Device.UUID))
	})
	z.shareTold()
	slices.SortFunc(out.Jobs, compareJobs)
	if most := z.mostJobs(); len(out.Jobs) > most {
		out.Jobs, out.more = out.Jobs[:most:most], out.Jobs[most:]
	}
	out.folded = z.fold
	for _, j := range out.Jobs {
		j.unpack()
		j.Use = j.uses.total()
	}
	return out
}

// settle ends what is under way.
func (z *Summarizer) settle() {
	z.spans.Flush()
	for _, d := range z.order {
		d.now.Close()
		d.release()
		d.any = false
		d.use.Use = d.use.uses.total()
	}
}

func (z *Summarizer) mostJobs() int {
	if z.MostJobs > 0 {
		return z.MostJobs
	}
	return defaultMostJobs
}

// timeHeld is a time in which a job held one device.
type timeHeld struct {
	from, to Instant
	parts    int64 // of a GPU, that the device is
}

// mostAtOnce is the most devices that were held at once, and the most parts of GPUs.
func mostAtOnce(all []timeHeld) (devices int, parts int64) {
	type turn struct {
		at    Instant
		more  int
		parts int64
	}
	var turns []turn
	for _, t := range all {
		turns = append(turns, turn{t.from, 1, t.parts}, turn{t.to, -1, -t.parts})
	}
	slices.SortFunc(turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.more, b.more), cmp.Compare(a.parts, b.parts))
	})
	now, held := 0, int64(0)
	for _, t := range turns {
		now, held = now+t.more, held+t.parts
		devices, parts = max(devices, now), max(parts, held)
	}
	return devices, parts
}
