package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

func init() {
	Sources.Add("dcgm", "a dcgm-exporter: the URL of its /metrics, or a file of them", func(o SourceOptions) (Source, error) {
		return newDCGM(o)
	})
}

// dcgmMetric says which metric a field of DCGM is.
type dcgmMetric struct {
	metric Metric
	scale  float64 // our value = their value x scale; 0 for the ratio whose unit is ambiguous
	rank   int     // of two fields for one metric the one with the lower rank is used
}

// dcgmFields are the metrics by field name, in DCGM 3 and in 4.6, which renamed many fields and
// kept the old names as aliases. Units: DEV fields are in percent, watts, millijoules, MiB and
// MHz; PROF fields are shares from 0 to 1, and bytes per second (DCGM field identifiers,
// docs.nvidia.com/datacenter/dcgm).
var dcgmFields = map[string]dcgmMetric{
	"DCGM_FI_DEV_GPU_UTIL":                         {UtilGPU, 1, 0},
	"DCGM_FI_DEV_GPU_UTIL_RATIO":                   {UtilGPU, 0, 1}, // a percent in DCGM 4.6, a share in 4.7: see ratioScale
	"DCGM_FI_PROF_GR_ENGINE_ACTIVE":                {UtilGPU, 100, 2},
	"DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO":            {UtilGPU, 100, 2},
	"DCGM_FI_DEV_MEM_COPY_UTIL":                    {UtilMem, 1, 0},
	"DCGM_FI_DEV_ENC_UTIL":                         {UtilEnc, 1, 0},
	"DCGM_FI_DEV_DEC_UTIL":                         {UtilDec, 1, 0},
	"DCGM_FI_PROF_SM_ACTIVE":                       {SMActive, 100, 0},
	"DCGM_FI_PROF_SM_UTIL_RATIO":                   {SMActive, 100, 0},
	"DCGM_FI_PROF_SM_OCCUPANCY":                    {SMOccupancy, 100, 0},
	"DCGM_FI_PROF_SM_OCCUPANCY_RATIO":              {SMOccupancy, 100, 0},
	"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE":              {TensorActive, 100, 0},
	"DCGM_FI_PROF_TENSOR_UTIL_RATIO":               {TensorActive, 100, 0},
	"DCGM_FI_PROF_DRAM_ACTIVE":                     {DRAMActive, 100, 0},
	"DCGM_FI_PROF_DRAM_UTIL_RATIO":                 {DRAMActive, 100, 0},
	"DCGM_FI_PROF_PIPE_FP64_ACTIVE":                {FP64Active, 100, 0},
	"DCGM_FI_PROF_PIPE_FP32_ACTIVE":                {FP32Active, 100, 0},
	"DCGM_FI_PROF_PIPE_FP16_ACTIVE":                {FP16Active, 100, 0},
	"DCGM_FI_PROF_FP64_UTIL_RATIO":                 {FP64Active, 100, 0},
	"DCGM_FI_PROF_FP32_UTIL_RATIO":                 {FP32Active, 100, 0},
	"DCGM_FI_PROF_FP16_UTIL_RATIO":                 {FP16Active, 100, 0},
	"DCGM_FI_DEV_FB_USED":                          {MemUsed, mib, 0},
	"DCGM_FI_DEV_FB_RESERVED":                      {MemReserved, mib, 0},
	"DCGM_FI_DEV_FB_TOTAL":                         {MemTotal, mib, 0},
	"DCGM_FI_DEV_POWER_USAGE":                      {Power, 1, 0},
	"DCGM_FI_DEV_BOARD_POWER_WATTS":                {Power, 1, 0},
	"DCGM_FI_DEV_POWER_MGMT_LIMIT":                 {PowerLimit, 1, 1},
	"DCGM_FI_DEV_ENFORCED_POWER_LIMIT":             {PowerLimit, 1, 0},
	"DCGM_FI_DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS": {PowerLimit, 1, 0},
	"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION":         {Energy, 1e-3, 0},
	"DCGM_FI_DEV_GPU_TEMP":                         {Temp, 1, 0},
	"DCGM_FI_DEV_GPU_TEMP_CELSIUS":                 {Temp, 1, 0},
	"DCGM_FI_DEV_MEMORY_TEMP":                      {MemTemp, 1, 0},
	"DCGM_FI_DEV_MEMORY_TEMP_CELSIUS":              {MemTemp, 1, 0},
	"DCGM_FI_DEV_SM_CLOCK":                         {ClockSM, 1, 0},
	"DCGM_FI_DEV_MEM_CLOCK":                        {ClockMem, 1, 0},
	"DCGM_FI_DEV_PSTATE":                           {PState, 1, 0},
	"DCGM_FI_DEV_GPU_PSTATE":                       {PState, 1, 0},
	"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS":           {Throttle, 1, 0},
	"DCGM_FI_DEV_CLOCKS_EVENT_REASONS":             {Throttle, 1, 0},
	"DCGM_FI_DEV_FAN_SPEED":                        {Fan, 1, 0},
	"DCGM_FI_PROF_PCIE_TX_BYTES":                   {PCIeTx, 1.0 / mib, 0},
	"DCGM_FI_PROF_PCIE_RX_BYTES":                   {PCIeRx, 1.0 / mib, 0},
	"DCGM_FI_PROF_NVLINK_TX_BYTES":                 {NVLinkTx, 1.0 / mib, 0},
	"DCGM_FI_PROF_NVLINK_RX_BYTES":                 {NVLinkRx, 1.0 / mib, 0},
	"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL":                {ECCCorrected, 1, 0},
	"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL":                {ECCUncorrected, 1, 0},
	"DCGM_FI_DEV_THERMAL_VIOLATION":                {ThrottleThermal, 1e-6, 0}, // see dcgmParts
	"DCGM_FI_DEV_PCIE_REPLAY_COUNTER":              {PCIeReplays, 1, 0},
	"DCGM_FI_DEV_ROW_REMAP_PENDING":                {RowsPending, 1, 0},
}

const mib = 1 << 20

// Fields that are read although they are not metrics.
const (
	dcgmFree   = "DCGM_FI_DEV_FB_FREE" // free memory: total memory = used + free + reserved
	dcgmXid    = "DCGM_FI_DEV_XID_ERRORS"
	dcgmXidNew = "DCGM_FI_DEV_XID_ERROR"
)

// maxDCGMDevices is the most GPUs and MIG instances of one exporter, which is the exporter of one
// box, or of a rack behind a proxy.
const maxDCGMDevices = 10_000

// dcgmSource reads the metrics of a dcgm-exporter.
type dcgmSource struct {
	o      SourceOptions
	host   string
	xid    map[string]int64    // last Xid, by UUID
	scale  float64             // scale of the ambiguous ratio; 0 until it is known
	rows   map[string]*dcgmRow // by UUID and MIG instance
	order  []*dcgmRow          // by index and UUID where sorted is set
	sorted bool
	round  int  // number of the current scrape
	told   bool // a scrape was told
	tells  bool // the exporter says who holds a GPU; if it did not, all GPUs would look free
	// exported says that a server renamed labels: the plain ones are then those of the exporter's pod.
	exported bool
	labels   dcgmLabels // of the point that is read
}

func newDCGMSource(o SourceOptions) *dcgmSource {
	return &dcgmSource{o: o, xid: map[string]int64{}, rows: map[string]*dcgmRow{}}
}

// dcgmRow holds the values of a device in one scrape.
type dcgmRow struct {
	device        *Device
	round         int // number of the last scrape with this device
	sample        Sample
	rank          [NumMetrics]int
	free          float64
	hasFree       bool
	ratio         float64
	hasRatio      bool
	ratioFraction bool
	xid           int64
	sums          dcgmSums
	holders       []dcgmHolder
	plain         []dcgmHolder // by labels that may be the target's own
	there, known  bool         // it was in the last scrape that was told, and in any
}

func newDCGM(o SourceOptions) (*dcgmSource, error) {
	if o.Where == "" || o.Fetch == nil {
		return nil, errors.New("the source dcgm wants the address of a dcgm-exporter, such as http://127.0.0.1:9400/metrics, or a file of its metrics")
	}
	s := newDCGMSource(o)
	var first Tick
	if err := s.Read(context.Background(), &first); err != nil {
		return nil, err
	}
	return s, nil // this read also recorded old Xids, so that they are not reported as new
}

// Host returns the name of the box in the exporter's labels, or its address where they have none. It
// returns "" for an exporter on this box whose labels have no name that stays.
func (s *dcgmSource) Host() string {
	u, err := url.Parse(s.o.Where)
	if s.host == "" && err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()) {
		return ""
	}
	return cmp.Or(s.host, s.o.Where)
}

// Close does nothing, because Read closes its input.
func (s *dcgmSource) Close() error { return nil }

// Read scrapes the exporter once. It fails for a page without a GPU: an exporter that lost its GPUs,
// or has not found them yet, does not say that they are free.
func (s *dcgmSource) Read(ctx context.Context, t *Tick) error {
	in, err := s.o.Fetch(ctx, s.o.Where)
	if err != nil {
		return err
	}
	s.round++
	err = readExposition(s.o.Where, in, func(p *point) error {
		if p.line%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return s.take(p)
	})
	if e := in.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(s.order, func(r *dcgmRow) bool { return r.round == s.round }) {
		return &capcli.InputError{File: s.o.Where, Text: "expected metrics of a GPU (DCGM_FI_…), found none", Hint: "is this the /metrics of a dcgm-exporter?"}
	}
	s.tell(t)
	return nil
}

// tell adds the samples, processes and events of this scrape to t.
func (s *dcgmSource) tell(t *Tick) {
	s.sort()
	s.settle()
	s.settleHolders()
	s.tellChanges(t)
	t.LookedAtProcesses = s.o.Processes > 0 && s.tells
	for _, r := range s.order {
		if r.round != s.round {
			continue
		}
		*t.NextSample(r.device) = r.sample
		if last := s.xid[r.device.UUID]; r.xid != last && r.xid != 0 {
			t.Events = append(t.Events, Event{At: t.At, Kind: Xid, Device: r.device.UUID, Value: r.xid, Text: "told by DCGM"})
		}
		s.xid[r.device.UUID] = r.xid
		if !t.LookedAtProcesses {
			continue
		}
		for _, h := range r.holders {
			t.Processes = append(t.Processes, Process{
				Device: r.device, Kind: "compute", Pod: h.pod, Namespace: h.namespace, Container: h.container, Job: h.job,
				MemWhy: Unsupported, SMWhy: Unsupported, Start: capcli.NoTime,
			})
		}
	}
}

// take sets the value of one point; it ignores a point that is not a GPU's DCGM field.
func (s *dcgmSource) take(p *point) error {
	if !strings.HasPrefix(p.name, "DCGM_FI_") {
		return nil
	}
	if s.labels.read(p); s.labels.uuid == "" {
		return nil // a metric of the box, not of a GPU
	}
	v, err := strconv.ParseFloat(p.value, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return &capcli.InputError{File: s.o.Where, Line: p.line, Field: p.name, Text: fmt.Sprintf("expected a number, found %.60q", p.value)}
	}
	return s.enter(p, &s.labels, v)
}

// sort sorts the devices by index and UUID, if new devices came.
func (s *dcgmSource) sort() {
	if s.sorted {
		return
	}
	slices.SortFunc(s.order, func(a, b *dcgmRow) int {
		return cmp.Or(cmp.Compare(a.device.Index, b.device.Index), strings.Compare(a.device.UUID, b.device.UUID))
	})
	s.sorted = true
}

// enter sets the value of a point of the device that its labels l name. It fails above maxDCGMDevices.
func (s *dcgmSource) enter(p *point, l *dcgmLabels, v float64) error {
	r, err := s.row(p, l)
	if err != nil {
		return err
	}
	s.tells, s.exported = s.tells || l.mapped, s.exported || l.exported
	r.hold(l)
	s.set(r, p, v)
	return nil
}

func (s *dcgmSource) set(r *dcgmRow, p *point, v float64) {
	ok := dcgmKnown(v)
	switch p.name {
	case dcgmFree:
		r.free, r.hasFree = v*mib, ok
		return
	case dcgmXid, dcgmXidNew:
		if ok {
			r.xid = int64(v)
		}
		return
	default:
	}
	if r.sums.take(p.name, v, ok) {
		return
	}
	f, known := dcgmFields[p.name]
	if !known || r.rank[f.metric] < f.rank && r.sample.Why[f.metric] == Known {
		return
	}
	switch {
	case !ok:
		if r.sample.Why[f.metric] != Known {
			r.sample.Miss(f.metric, Unsupported)
		}
		return
	case f.scale == 0:
		r.ratio, r.hasRatio = v, true
		r.ratioFraction = v < 1
		return
	}
	v *= f.scale
	if Metrics[f.metric].Unit == "%" && v > 101 { // profiling fields may be slightly over 100
		r.sample.Miss(f.metric, OutOfRange)
		return
	}
	if Metrics[f.metric].Unit == "%" {
		v = min(v, 100)
	}
	r.rank[f.metric] = f.rank
	r.sample.Set(f.metric, v)
}

// forget drops the devices that are neither in this scrape nor in the one before.
func (s *dcgmSource) forget() {
	s.order = slices.DeleteFunc(s.order, func(r *dcgmRow) bool {
		gone := r.round < s.round-1
		if gone {
			delete(s.rows, r.device.UUID)
			delete(s.xid, r.device.UUID)
		}
		return gone
	})
}

// row returns the row of a point's device, and resets it at its first point in a scrape. It fails
// above maxDCGMDevices.
func (s *dcgmSource) row(p *point, l *dcgmLabels) (*dcgmRow, error) {
	key := l.uuid
	if l.instance != "" {
		key += "/" + l.instance
	}
	r := s.rows[key]
	if r == nil {
		if len(s.order) >= maxDCGMDevices {
			s.forget()
		}
		if len(s.order) >= maxDCGMDevices {
			return nil, &capcli.InputError{
				File: s.o.Where, Line: p.line, Text: fmt.Sprintf("more than %d GPUs and MIG instances", maxDCGMDevices),
				Hint: "ask the exporter of each box, not one page of all",
			}
		}
		r = &dcgmRow{device: newDCGMDevice(p, key, l.uuid, l.instance)}
		s.rows[key] = r
		s.order, s.sorted = append(s.order, r), false
		if s.host == "" {
			if name, stays := l.box(nil); stays {
				s.host = name
			}
		}
	}
	if r.round != s.round {
		d := asLabelled(r.device, p)
		known := r.known && d.Profile == r.device.Profile // else the number of the instance was used again
		s.sorted = s.sorted && d.Index == r.device.Index
		*r = dcgmRow{device: d, round: s.round, there: r.there, known: known, holders: r.holders[:0], plain: r.plain[:0]}
		r.sample.Device = d
		r.sample.Clear(Unsupported)
		for m := range r.rank {
			r.rank[m] = math.MaxInt
		}
	}
	return r, nil
}

// asLabelled returns d, or another device where the labels of p say that it has another number, driver
// or profile now. A device does not change.
func asLabelled(d *Device, p *point) *Device {
	index, driver, profile := d.Index, cmp.Or(p.get("DCGM_FI_DRIVER_VERSION"), d.Driver), d.Profile
	if d.MIG() {
		profile = cmp.Or(p.get("GPU_I_PROFILE"), d.Profile)
	}
	if text := p.get("gpu"); text != "" {
		if n, err := strconv.Atoi(text); err == nil {
			index = n
		}
	}
	if index == d.Index && driver == d.Driver && profile == d.Profile {
		return d
	}
	now := *d
	now.Index, now.Driver, now.Profile = index, driver, profile
	return &now
}

func newDCGMDevice(p *point, key, uuid, instance string) *Device {
	d := &Device{UUID: key, Model: p.get("modelName", "model_name"), Bus: p.get("pci_bus_id"), Driver: p.get("DCGM_FI_DRIVER_VERSION"), GI: -1, CI: -1}
	d.Index, _ = strconv.Atoi(p.get("gpu")) // 0 without the label, so that UUIDs give the order
	if instance != "" {
		d.Parent, d.Profile = uuid, p.get("GPU_I_PROFILE")
		d.GI, _ = strconv.Atoi(instance)
	}
	return d
}

// settle sets the metrics that follow from several fields of a scrape: utilisation from the
// ambiguous ratio, and total memory.
func (s *dcgmSource) settle() {
	for _, r := range s.order {
		if r.round == s.round && r.hasRatio {
			switch {
			case r.ratio > 1:
				s.scale = 1
			case r.ratioFraction && r.ratio > 0:
				s.scale = 100
			}
		}
	}
	for _, r := range s.order {
		if r.round != s.round {
			continue
		}
		r.sums.settle(&r.sample)
		if r.hasRatio && r.sample.Why[UtilGPU] != Known {
			switch {
			case r.ratio == 0:
				r.sample.Set(UtilGPU, 0)
			case s.scale > 0 && r.ratio*s.scale <= 101:
				r.sample.Set(UtilGPU, min(100, r.ratio*s.scale))
			default: // a 1 may be 1 percent or 100 percent
				r.sample.Miss(UtilGPU, OutOfRange)
			}
		}
		used, ok := r.sample.Get(MemUsed)
		if _, has := r.sample.Get(MemTotal); ok && !has && r.hasFree {
			reserved, _ := r.sample.Get(MemReserved)
			r.sample.Set(MemTotal, used+r.free+reserved)
		}
	}
}

// dcgmKnown reports whether a value is valid: finite, not negative, and not one of DCGM's blanks,
// the numbers that stand for a missing value (dcgm_structs.h).
func dcgmKnown(v float64) bool {
	const (
		blank32 = float64(0x7ffffff0)
		blankFP = 140737488355328.0
		blank64 = float64(0x7ffffffffffffff0)
	)
	switch {
	case math.IsNaN(v), math.IsInf(v, 0), v < 0:
		return false
	case v >= blank32 && v <= blank32+3, v >= blankFP && v < blankFP+1, v >= blank64-4096:
		return false
	}
	return true
}
