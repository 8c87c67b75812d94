package profile

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
)

// Bounds on the names of who holds GPUs on a page: a box on which many small jobs come and go must not fill
// the server that scrapes it.
const (
	mostHolders       = 256 // of all devices
	mostDeviceHolders = 16  // of one device
	otherHolders      = "other"
)

// Exporter keeps the last tick of a box for scrapers of metrics. Its methods may be called at the same time.
type Exporter struct {
	// More writes families of metrics after those of the GPUs. It is called while a page is made.
	More func(p *Page)
	// IsUp, unless nil, tells whether the last tick is recent. Where it is not, a page has More alone:
	// old values are not repeated for ever.
	IsUp func() bool
	// Free, unless nil, tells how many bytes the recorder may still write to its disk.
	Free func() (uint64, error)

	host  string
	mu    sync.Mutex
	tick  Tick
	told  bool // a tick had processes
	boxed bool // a tick looked at the box
	xids  map[string]*xidCount
}

// xidCount is the Xids of a device that were seen.
type xidCount struct{ seen, last int64 }

// NewExporter returns an Exporter of the box host.
func NewExporter(host string) *Exporter {
	return &Exporter{host: host, xids: map[string]*xidCount{}}
}

// Observe keeps a tick. It keeps the processes of the last tick that looked at them, and the samples of the
// last tick that had any.
func (x *Exporter) Observe(t *Tick) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == Xid && e.Device != "" {
			x.xid(e.Device, e.Value)
		}
	}
	if t.LookedAtHost {
		x.tick.Host, x.boxed = t.Host, true
	}
	if len(t.Samples) == 0 {
		return
	}
	x.tick.At, x.tick.Took = t.At, t.Took
	x.tick.Samples = append(x.tick.Samples[:0], t.Samples...)
	if t.LookedAtProcesses {
		x.told = true
		x.tick.Processes = append(x.tick.Processes[:0], t.Processes...)
	}
}

// mostXidDevices is the number of devices whose Xids are counted.
const mostXidDevices = 4096

func (x *Exporter) xid(device string, code int64) {
	c := x.xids[device]
	if c == nil {
		if len(x.xids) >= mostXidDevices {
			return
		}
		c = &xidCount{}
		x.xids[device] = c
	}
	c.seen, c.last = c.seen+1, code
}

// Page returns the metrics, as OpenMetrics 1.0 or in the text format 0.0.4 of Prometheus. A missing value has
// no line, so that a scraper does not see 0. Command lines of processes are not on it.
func (x *Exporter) Page(openMetrics bool) []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := &Page{Open: openMetrics}
	if x.IsUp == nil || x.IsUp() {
		x.devices(p)
		x.holders(p)
		x.box(p)
	}
	if x.Free != nil {
		if n, err := x.Free(); err == nil {
			p.Family("capcli_profile_disk_free_bytes", GaugeFamily, "bytes", "what the recorder may still write to its disk")
			p.Sample(float64(n), "host", x.host)
		}
	}
	if x.More != nil {
		x.More(p)
	}
	return p.Bytes()
}

func (x *Exporter) devices(p *Page) {
	samples := x.tick.Samples
	if len(samples) == 0 {
		return
	}
	for m := range Metrics {
		d := &Metrics[m]
		e, headed := d.exposed("capcli_gpu_"), false
		for i := range samples {
			v, ok := samples[i].Get(Metric(m))
			if !ok {
				continue
			}
			if !headed {
				p.Family(e.name, d.kind(), e.unit, d.Doc)
				headed = true
			}
			p.Sample(v*e.mul/e.div, samples[i].Device.labels(x.host)...)
		}
	}
	p.Family("capcli_gpu_xids", CounterFamily, "", "Xid errors of the driver that the recorder saw")
	for i := range samples {
		d := samples[i].Device
		p.Sample(float64(x.xidOf(d).seen), d.labels(x.host)...)
	}
	p.Family("capcli_gpu_last_xid", GaugeFamily, "", "number of the last Xid error that the recorder saw; 0 is none")
	for i := range samples {
		d := samples[i].Device
		p.Sample(float64(x.xidOf(d).last), d.labels(x.host)...)
	}
	p.Family("capcli_gpu", InfoFamily, "", "what the device is")
	for i := range samples {
		d := samples[i].Device
		p.Sample(1, append(d.labels(x.host), "bus", d.Bus, "driver", d.Driver, "parent", d.Parent, "ci", number(d.CI, d.MIG()))...)
	}
	p.Family("capcli_profile_read_seconds", GaugeFamily, "seconds", "time that the last look at the GPUs took")
	p.Sample(x.tick.Took.Seconds(), "host", x.host)
}

func (x *Exporter) xidOf(d *Device) xidCount {
	if c := x.xids[d.UUID]; c != nil {
		return *c
	}
	return xidCount{}
}

// number returns n as text, and "" where it is not known.
func number(n int, known bool) string {
	if !known {
		return ""
	}
	return strconv.Itoa(n)
}

// labels returns the labels of the metrics of a device, names and values in turn.
func (d *Device) labels(host string) []string {
	return []string{"host", host, "gpu", strconv.Itoa(d.Index), "uuid", d.UUID, "model", d.Model, "mig_profile", d.Profile, "gi", number(d.GI, d.MIG())}
}

func (x *Exporter) box(p *Page) {
	if !x.boxed {
		return
	}
	for m := range HostMetrics {
		d := &HostMetrics[m]
		v, ok := x.tick.Host.Get(HostMetric(m))
		if !ok {
			continue
		}
		e := d.exposed("capcli_box_")
		p.Family(e.name, d.kind(), e.unit, d.Doc)
		p.Sample(v*e.mul/e.div, "host", x.host)
	}
}

// holder is a job, or the processes of a user outside of jobs, on a device.
type holder struct {
	device *Device
	owner  Owner
	count  int64 // processes
}

// holdersOf returns who holds the device, the one with the most processes first.
func (x *Exporter) holdersOf(d *Device) []holder {
	var out []holder
	for i := range x.tick.Processes {
		p := &x.tick.Processes[i]
		if p.Device.UUID != d.UUID {
			continue
		}
		o := p.Owner()
		k := slices.IndexFunc(out, func(h holder) bool { return h.owner == o })
		if k < 0 {
			k = len(out)
			out = append(out, holder{device: d, owner: o})
		}
		out[k].count++
	}
	slices.SortFunc(out, func(a, b holder) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.owner.Job, b.owner.Job), cmp.Compare(a.owner.Namespace, b.owner.Namespace),
			cmp.Compare(a.owner.Pod, b.owner.Pod), cmp.Compare(a.owner.Container, b.owner.Container), cmp.Compare(a.owner.User, b.owner.User))
	})
	return out
}

// holders writes how many processes hold each device, and who they are. Their number is bounded: who is over
// it is summed up as "other".
func (x *Exporter) holders(p *Page) {
	if !x.told {
		return // who holds a device is not known, which is not the same as nobody
	}
	var named []holder
	left, shown := int64(0), 0
	p.Family("capcli_gpu_held", GaugeFamily, "", "processes that hold the GPU")
	for i := range x.tick.Samples {
		d := x.tick.Samples[i].Device
		all := x.holdersOf(d)
		room := min(len(all), mostDeviceHolders, mostHolders-shown)
		shown += room
		processes, rest := int64(0), holder{device: d, owner: Owner{User: otherHolders, Job: otherHolders}}
		for k, h := range all {
			processes += h.count
			if k >= room {
				rest.count += h.count
				left++
			}
		}
		p.Sample(float64(processes), d.labels(x.host)...)
		if named = append(named, all[:room]...); rest.count > 0 {
			named = append(named, rest)
		}
	}
	// The names of labels are such that those of a scraped target (job, pod, namespace) do not collide.
	p.Family("capcli_gpu_held_by", GaugeFamily, "", "processes that hold the GPU, by whose they are")
	for _, h := range named {
		d, o := h.device, h.owner
		p.Sample(float64(h.count), "host", x.host, "gpu", strconv.Itoa(d.Index), "uuid", d.UUID, "mig_profile", d.Profile, "gi", number(d.GI, d.MIG()),
			"tenant", cmp.Or(o.Namespace, o.User), "job_id", o.Job, "pod_name", o.Pod, "pod_namespace", o.Namespace, "container_id", o.Container, "user", o.User)
	}
	p.Family("capcli_gpu_holders_left_out", GaugeFamily, "", `holders of GPUs that capcli_gpu_held_by sums up as "other"`)
	p.Sample(float64(left), "host", x.host)
}
