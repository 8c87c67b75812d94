package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// ownField is a family of an Exporter's page, which promSource reads back.
type ownField struct {
	metric Metric
	box    bool // metric is a HostMetric
	e      exposure
	over   string // the function that sums up a step; "" is the value at its end
}

// Families that are read back although they are not metrics.
const (
	ownHeld   = "capcli_gpu_held"
	ownHeldBy = "capcli_gpu_held_by"
	ownInfo   = "capcli_gpu_info"
	ownXids   = "capcli_gpu_xids_total"
	ownXid    = "capcli_gpu_last_xid"
)

// ownFields are the families by the name of their samples.
var ownFields = newOwnFields()

func newOwnFields() map[string]ownField {
	// Who holds a GPU is taken at the end of the step: a mean would keep a job that has ended.
	out := map[string]ownField{ownHeld: {}, ownHeldBy: {}, ownInfo: {over: "last"}, ownXids: {over: "last"}, ownXid: {over: "last"}}
	add := func(d *Describe, prefix string, f ownField) {
		f.e = d.exposed(prefix)
		name := f.e.name
		f.over = "avg"
		if d.Counter || d.Unit == "" || d.Unit == "bits" {
			f.over = "last" // the mean of a counter, a state or bits means nothing
		}
		if d.Counter {
			name += "_total"
		}
		out[name] = f
	}
	for m := range Metrics {
		add(&Metrics[m], "capcli_gpu_", ownField{metric: Metric(m)})
	}
	for m := range HostMetrics {
		add(&HostMetrics[m], "capcli_box_", ownField{metric: Metric(m), box: true})
	}
	return out
}

// query returns the PromQL query for the family called name, of the box host or of all boxes.
func (f *ownField) query(name, host string, step capcli.Seconds) string {
	if host != "" {
		name += "{host=" + strconv.Quote(host) + "}"
	}
	if f.over == "" {
		return name
	}
	return fmt.Sprintf("%s_over_time(%s[%ds])", f.over, name, step)
}

// ownBox makes ticks of what a server kept of one Exporter.
type ownBox struct {
	o      SourceOptions
	rows   map[string]*ownRow // by UUID
	order  []*ownRow          // by index and UUID where sorted is set
	sorted bool
	round  int
	tells  bool // who holds GPUs is known in this round
	box    HostSample
	boxed  bool
}

// ownRow holds the values of a device in one round.
type ownRow struct {
	device  *Device
	round   int  // number of the last round with this device
	known   bool // it has a value in it; who held the device alone does not make a sample
	sample  Sample
	holders []Process
	xids    float64 // counted so far; negative is not known
	now     float64
	xid     int64
}

func newOwnBox(o SourceOptions) *ownBox { return &ownBox{o: o, rows: map[string]*ownRow{}} }

func (b *ownBox) begin() {
	b.round++
	b.tells, b.boxed = false, false
	b.box = HostSample{}
	for m := range b.box.Why {
		b.box.Why[m] = Unsupported
	}
}

// enter sets the value of a point. It fails above maxDCGMDevices.
func (b *ownBox) enter(p *point, v float64) error {
	f := ownFields[p.name]
	if f.box {
		b.boxed = true
		b.box.Values[f.metric], b.box.Why[f.metric] = v*f.e.div/f.e.mul, Known
		return nil
	}
	uuid := p.get("exported_uuid", "uuid")
	if uuid == "" {
		return nil
	}
	r, err := b.row(p, uuid)
	if err != nil {
		return err
	}
	switch p.name {
	case ownHeld:
		b.tells = true
	case ownHeldBy:
		r.hold(p, v)
	case ownInfo:
		r.describe(p)
	case ownXids:
		r.now = v
	case ownXid:
		r.xid = int64(v)
	default:
		r.known = true
		r.sample.Set(f.metric, v*f.e.div/f.e.mul)
	}
	return nil
}

// row returns the row of the device uuid, and resets it at its first point of a round.
func (b *ownBox) row(p *point, uuid string) (*ownRow, error) {
	r := b.rows[uuid]
	if r == nil {
		if len(b.order) >= maxDCGMDevices {
			return nil, &capcli.InputError{File: b.o.Where, Text: fmt.Sprintf("more than %d GPUs and MIG instances of one box", maxDCGMDevices), Hint: "name one box: --host"}
		}
		d := &Device{UUID: uuid, Model: p.get("model"), GI: -1, CI: -1}
		d.Index, _ = strconv.Atoi(p.get("gpu"))
		if gi := p.get("gi"); gi != "" {
			d.Profile = p.get("mig_profile")
			d.GI, _ = strconv.Atoi(gi)
			d.CI = 0
		}
		r = &ownRow{device: d, xids: -1}
		b.rows[uuid] = r
		b.order, b.sorted = append(b.order, r), false
	}
	if r.round != b.round {
		r.round, r.known, r.now, r.xid, r.holders = b.round, false, -1, 0, r.holders[:0]
		r.sample.Device = r.device
		r.sample.Clear(Unsupported)
	}
	return r, nil
}

// hold adds a holder of the device, once for each of its processes.
func (r *ownRow) hold(p *point, v float64) {
	one := Process{
		Device: r.device, Kind: "compute", Job: p.get("job_id"), Pod: p.get("pod_name"), Namespace: p.get("pod_namespace"), Container: p.get("container_id"),
		User: p.get("user"), MemWhy: Unsupported, SMWhy: Unsupported, Start: capcli.NoTime,
	}
	for range int64(min(v, 64)) {
		r.holders = append(r.holders, one)
	}
}

// describe takes what capcli_gpu_info says of the device. A device does not change, so another takes its place.
func (r *ownRow) describe(p *point) {
	d := *r.device
	d.Model, d.Bus, d.Driver, d.Parent = p.get("model"), p.get("bus"), p.get("driver"), p.get("parent")
	if ci := p.get("ci"); ci != "" {
		d.CI, _ = strconv.Atoi(ci)
	}
	if d == *r.device {
		return
	}
	r.device, r.sample.Device = &d, &d
	for i := range r.holders {
		r.holders[i].Device = &d
	}
}

// tell adds the samples, holders and events of this round to t. It reports whether there was a sample.
func (b *ownBox) tell(t *Tick) bool {
	if !b.sorted {
		slices.SortFunc(b.order, func(x, y *ownRow) int {
			return cmp.Or(cmp.Compare(x.device.Index, y.device.Index), strings.Compare(x.device.UUID, y.device.UUID))
		})
		b.sorted = true
	}
	if b.boxed {
		t.Host, t.LookedAtHost = b.box, true
	}
	t.LookedAtProcesses = b.o.Processes > 0 && b.tells
	any := false
	for _, r := range b.order {
		if r.round != b.round || !r.known {
			continue
		}
		any = true
		*t.NextSample(r.device) = r.sample
		if r.xids >= 0 && r.now > r.xids {
			t.Events = append(t.Events, Event{At: t.At, Kind: Xid, Device: r.device.UUID, Value: r.xid, Text: "told by Prometheus"})
		}
		if r.now >= 0 {
			r.xids = r.now
		}
		if t.LookedAtProcesses {
			t.Processes = append(t.Processes, r.holders...)
		}
	}
	return any
}
