// Package anomaly finds what went wrong with GPUs, and since when: levels that shift, memory that creeps,
// counters of errors that rise, GPUs slower than their peers, clocks held back, periods that are lost, and gaps
// in the recording. It takes ticks and looks at windows of a quarter of an hour.
package anomaly

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"capcli"
	"capcli/profile"
)

// Severity says how urgent an anomaly is.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // hardware fails, or data are lost
	Warning  Severity = "warning"  // work is lost or slowed down
	Info     Severity = "info"     // worth a look
)

// Kind is a kind of anomaly.
type Kind struct {
	Severity Severity
	What     string // in words
	Do       string // what to do about it
}

// Kinds are the kinds of anomalies by name.
var Kinds = capcli.Catalog[Kind]{Kind: "kind of anomaly"}

// The names of the kinds.
const (
	powerShift   = "power_shift"
	smShift      = "sm_shift"
	memoryShift  = "memory_shift"
	heatShift    = "temperature_shift"
	periodLost   = "period_lost"
	memoryCreep  = "memory_creep"
	eccRising    = "ecc_corrected_rising"
	eccFatal     = "ecc_uncorrected"
	rowsRemapped = "rows_remapped"
	linkErrors   = "link_errors"
	xids         = "xid"
	slowGPU      = "slow_gpu"
	heatCapped   = "heat_capped"
	powerCapped  = "power_capped"
	recorderGap  = "recorder_gap"
)

func init() {
	Kinds.Add(powerShift, "power of a job has another level", Kind{Warning, "power shifted", "compare the job's configuration and input from before and after; look for a lowered power limit"})
	Kinds.Add(smShift, "SM activity of a job has another level", Kind{Warning, "SM activity shifted", "see what changed in the job or its input at that time: capcli profile show DIR --gpu UUID --from TIME"})
	Kinds.Add(memoryShift, "memory in use of a job has another level", Kind{Info, "memory in use shifted", "a new phase, or another process on the GPU: capcli profile jobs"})
	Kinds.Add(heatShift, "a GPU is hotter at the same power, and its peers are not", Kind{Warning, "hotter than its peers at the same power", "look at fans, filters, coolant and the neighbours in the rack"})
	Kinds.Add(periodLost, "activity that came and went with a period does so no more", Kind{Warning, "a period was lost", "ask whether requests, checkpoints or epochs stopped coming"})
	Kinds.Add(memoryCreep, "memory of a job grows without end", Kind{Warning, "memory creeps", "look for a leak; restart the job at a checkpoint before the date"})
	Kinds.Add(eccRising, "corrected memory errors come far more often", Kind{Warning, "corrected memory errors rise", "watch the remapped rows; run diagnostics (dcgmi diag -r 3) when the node is free"})
	Kinds.Add(eccFatal, "memory errors that were not corrected", Kind{Critical, "memory errors not corrected", "drain the node and reset the GPU; ask for service if it comes again"})
	Kinds.Add(rowsRemapped, "rows of memory were replaced, or wait for it", Kind{Critical, "rows of memory replaced", "reset the GPU where a row waits; ask for service if more follow"})
	Kinds.Add(linkErrors, "packets over PCIe or NVLink are sent again", Kind{Warning, "link errors", "reseat the board; look at riser, cable or NVSwitch"})
	Kinds.Add(xids, "the driver reported Xid errors", Kind{Warning, "Xid errors", "docs.nvidia.com/deploy/xid-errors says what each number means"})
	Kinds.Add(slowGPU, "a GPU's clock is below that of its peers in the same job", Kind{Warning, "slower than its peers", "the whole job waits for it: look at its temperature, power limit and clocks; exclude the GPU"})
	Kinds.Add(heatCapped, "heat holds the clocks back", Kind{Warning, "clocks held back by heat", "look at fans, air flow, coolant and the neighbours of the box"})
	Kinds.Add(powerCapped, "the power limit holds the clocks back", Kind{Info, "clocks held back by the power limit", "usual for dense work at the board's own limit: nvidia-smi -q -d POWER says whether it was lowered"})
	Kinds.Add(recorderGap, "nothing was recorded", Kind{Warning, "nothing was recorded", "look at the recorder's own messages, and at Restart= of its unit"})
}

// Anomaly is something that went wrong.
type Anomaly struct {
	Kind       string   `json:"kind"`
	Severity   Severity `json:"severity"`
	What       string   `json:"what"`
	Host       string   `json:"host"`
	GPU        *int     `json:"gpu,omitempty"` // none where it is of a box, or of a job on several GPUs
	UUID       string   `json:"gpu_uuid,omitempty"`
	Job        string   `json:"job,omitempty"`
	Since      string   `json:"since"`           // RFC 3339
	Until      string   `json:"until,omitempty"` // "" where it goes on
	Size       float64  `json:"size"`
	Unit       string   `json:"unit"` // of the size
	Evidence   string   `json:"evidence"`
	Confidence float64  `json:"confidence"` // 0 to 1: how far it is above what noise gives
	Do         string   `json:"do"`

	since profile.Instant
}

// Delays after which an anomaly is found, for tests and documents: Window is the resolution, and a level must
// have lasted for Lasting.
const (
	Window  = 15 * time.Minute
	Lasting = lasting * Window
	lasting = 12

	windowMicros = profile.Instant(Window / time.Microsecond)
	mostFound    = 10_000
)

// Finder takes ticks and finds anomalies. Ticks of one box come in order of time; its memory grows with the
// windows of the boxes whose ticks come alternately, not of those that are through.
type Finder struct {
	host  *box
	found []*Anomaly
	more  int
	any   bool // a tick had samples
}

// Add takes a tick of a box.
func (f *Finder) Add(host string, t *profile.Tick) {
	if f.host == nil || f.host.name != host {
		f.finish()
		f.host = &box{name: host, devices: map[string]*device{}}
	}
	f.host.add(t)
	f.any = f.any || len(t.Samples) > 0
}

// finish judges the box whose ticks came last.
func (f *Finder) finish() {
	if f.host == nil {
		return
	}
	b := f.host
	b.close()
	b.gaps()
	for _, d := range b.order {
		b.counters(d)
		b.caps(d)
	}
	b.heat()
	b.jobs()
	for _, a := range b.found {
		if len(f.found) == mostFound {
			f.more++
			continue
		}
		f.found = append(f.found, a)
	}
	f.host = nil
}

// Result returns what was found, the most severe first, then by date. input are the names of the folders. It
// fails with *capcli.InputError where there were no samples.
func (f *Finder) Result(input []string) (*Result, error) {
	f.finish()
	if !f.any {
		return nil, &capcli.InputError{File: strings.Join(input, ", "), Text: "expected samples of GPUs, found none", Hint: "is it a folder that capcli profile wrote, and do --from, --to, --host and --gpu leave any?"}
	}
	r := &Result{Schema: "capcli/profile_check/v1", Input: input, Anomalies: []*Anomaly{}, LeftOut: f.more, Counts: map[string]int{}}
	r.Anomalies = append(r.Anomalies, f.found...)
	slices.SortStableFunc(r.Anomalies, func(a, b *Anomaly) int {
		return cmp.Or(cmp.Compare(rank(a.Severity), rank(b.Severity)), cmp.Compare(a.since, b.since), strings.Compare(a.Host, b.Host), strings.Compare(a.UUID, b.UUID), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Job, b.Job))
	})
	for _, a := range r.Anomalies {
		r.Counts[a.Kind]++
	}
	return r, nil
}

func rank(s Severity) int { return slices.Index([]Severity{Critical, Warning, Info}, s) }

// Result is what was found.
type Result struct {
	Schema     string         `json:"schema"`
	Input      []string       `json:"input"`
	Anomalies  []*Anomaly     `json:"anomalies"` // the most severe first, then by date
	LeftOut    int            `json:"anomalies_left_out"`
	Counts     map[string]int `json:"counts"` // by kind
	Conditions []Condition    `json:"conditions"`
}

// Condition is a condition of --fail-if and whether it is true.
type Condition struct {
	Text string        `json:"condition"`
	Is   capcli.Figure `json:"is"`
	True bool          `json:"true"`
}

// report adds an anomaly of a device, or of the box where d is nil. until is 0 where it goes on.
func (b *box) report(kind string, d *device, job string, since, until profile.Instant, size float64, unit string, confidence float64, evidence string, values ...any) {
	k, err := Kinds.Get(kind)
	if err != nil {
		panic(err)
	}
	a := &Anomaly{
		Kind: kind, Severity: k.Severity, What: k.What, Host: b.name, Job: job, Since: since.Std().Format(time.RFC3339), Size: size, Unit: unit,
		Evidence: fmt.Sprintf(evidence, values...), Confidence: min(1, confidence), Do: k.Do, since: since,
	}
	if d != nil {
		a.GPU, a.UUID = &d.device.Index, d.device.UUID
	}
	if until != 0 {
		a.Until = until.Std().Format(time.RFC3339)
	}
	b.found = append(b.found, a)
}

// confidenceOf returns a confidence for a size that is so many times its threshold: 0.5 at the threshold, 0.9 at five
// times that.
func confidenceOf(times float64) float64 { return times / (times + 1) }
