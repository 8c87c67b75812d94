package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"capcli"
	"capcli/profile/judge"
)

// hoursOfMonth is the length of the month for monthly costs: 8760 hours / 12.
const hoursOfMonth = 730

// Result is the use of recorded GPUs, by GPU, job and tenant. Unknown values are null.
type Result struct {
	Schema  string         `json:"schema"`
	Input   []string       `json:"input"`
	From    string         `json:"from"` // RFC 3339, to the millisecond
	To      string         `json:"to"`
	Zone    string         `json:"zone"` // time zone of Hours
	Ticks   int64          `json:"ticks"`
	Gaps    capcli.Figure  `json:"gaps_s"`
	Guessed bool           `json:"held_by_memory"`
	Price   *capcli.USD    `json:"price_usd_per_gpu_hour"`
	GPUs    []GPUResult    `json:"gpus"`
	Jobs    []JobResult    `json:"jobs"`
	Tenants []TenantResult `json:"tenants"`
	JobsOut int            `json:"jobs_left_out,omitempty"` // jobs beyond the 5,000 that held GPUs longest
	Total   UseResult      `json:"total"`
	Hours   []HourResult   `json:"hours"`
	Events  []HostEvent    `json:"events"`
	Dropped int            `json:"events_left_out"`
	// Overlaps are what several folders hold in common, which counts once; SameNames are the names that
	// several boxes have.
	Overlaps  []Overlap  `json:"overlaps"`
	SameNames []SameName `json:"same_host_names"`

	Summary *Summary `json:"-"`
}

// UseResult is the use of GPUs, or the use by a job or a tenant.
type UseResult struct {
	Verdict     judge.Kind    `json:"verdict"`
	Words       string        `json:"verdict_words"`
	Confidence  string        `json:"verdict_confidence"` // "high", "medium" or "low"
	Work        *WorkResult   `json:"work,omitempty"`     // kind of work; nil where several jobs are summed
	Seen        capcli.Figure `json:"seen_gpu_hours"`
	Held        capcli.Figure `json:"held_gpu_hours"`
	Used        capcli.Figure `json:"used_gpu_hours"`
	Idle        capcli.Figure `json:"idle_held_gpu_hours"`
	Shared      capcli.Figure `json:"shared_gpu_hours"`
	Util        capcli.Figure `json:"util_gpu_pct_mean"`
	SM          capcli.Figure `json:"sm_active_pct_mean"`
	SM95        capcli.Figure `json:"sm_active_pct_p95"`
	Occupancy   capcli.Figure `json:"sm_occupancy_pct_mean"`
	Tensor      capcli.Figure `json:"tensor_active_pct_mean"`
	Tensor95    capcli.Figure `json:"tensor_active_pct_p95"`
	DRAM        capcli.Figure `json:"dram_active_pct_mean"`
	DRAM95      capcli.Figure `json:"dram_active_pct_p95"`
	Mem50       capcli.Figure `json:"mem_used_pct_p50"`
	Mem95       capcli.Figure `json:"mem_used_pct_p95"`
	MemMax      capcli.Figure `json:"mem_used_bytes_max"`
	MemTotal    capcli.Figure `json:"mem_total_bytes"`
	Watts       capcli.Figure `json:"power_w_mean"`
	Watts95     capcli.Figure `json:"power_w_p95"`
	Link        capcli.Figure `json:"link_mib_s_mean"`
	Energy      capcli.Figure `json:"energy_kwh"`
	ByPower     bool          `json:"energy_from_power"`
	Longest     capcli.Figure `json:"longest_idle_s"`
	Starved     capcli.Figure `json:"starved_s"`
	Pauses      int64         `json:"starved_pauses"`
	Burst       capcli.Figure `json:"burst_s_median"`
	IdleCost    *capcli.USD   `json:"idle_cost_usd,omitempty"`       // cost of the hours in which a GPU was held and idle; nil without a price
	IdleCostPer *capcli.USD   `json:"idle_cost_usd_month,omitempty"` // idle cost of a month at the same rate; nil without a price

	Findings []FindingResult `json:"findings"` // the time held by what it was, the worst first

	Use *Use `json:"-"`
}

// GPUResult is the use of one GPU or MIG instance.
type GPUResult struct {
	Host   string `json:"host"`
	GPU    int    `json:"gpu"`
	UUID   string `json:"gpu_uuid"`
	MIG    string `json:"mig_profile,omitempty"`
	Parent string `json:"parent_uuid,omitempty"`
	Model  string `json:"gpu_model"`
	// Share is what it counts as: 1, or of a MIG instance its compute or its memory, whichever is more.
	// Of a divided GPU it is what no instance has.
	Share   capcli.Figure `json:"gpu_share"`
	Divided bool          `json:"mig_divided"`
	Jobs    []string      `json:"jobs"`
	UseResult

	Device *Device `json:"-"`
}

// JobResult is the use by one job, and the smaller hardware on which it could run.
type JobResult struct {
	ID      string `json:"job_id"`
	Kind    string `json:"kind"`
	Tenant  string `json:"tenant"`
	Command string `json:"command"`
	Model   string `json:"gpu_model"`
	Profile string `json:"mig_profile,omitempty"`
	GPUs    int    `json:"gpus"` // most at once; a MIG instance is one of them
	// Share is the most GPUs at once, of which a MIG instance is its share.
	Share capcli.Figure `json:"gpu_share"`
	Hosts []string      `json:"hosts"`
	From  string        `json:"from"`
	To    string        `json:"to"`
	UseResult
	Fits  FitResult   `json:"fits"`
	Worth WorthResult `json:"worth"`
}

// TenantResult is the use by the jobs of one tenant.
type TenantResult struct {
	Tenant string `json:"tenant"`
	Jobs   int    `json:"jobs"`
	UseResult
}

// HourResult is how busy all GPUs were in one hour of the week.
type HourResult struct {
	Weekday string        `json:"weekday"`
	Hour    int           `json:"hour"`
	Held    capcli.Figure `json:"held_share"`
	Busy    capcli.Figure `json:"busy_share"`
}

// FitResult is the smaller hardware on which a job could run. Unknown values are null.
type FitResult struct {
	Bytes    capcli.Figure `json:"mem_used_bytes_max"`
	SM       capcli.Figure `json:"sm_active_pct_p95"`
	ByUtil   bool          `json:"sm_from_util"`
	DRAM     capcli.Figure `json:"dram_active_pct_p95"`
	Reserved bool          `json:"mem_looks_reserved"`
	Slice    *string       `json:"mig_profile"`
	Model    *string       `json:"gpu_model"`
	Binds    *Resource     `json:"binding"` // resource that rules out the next smaller candidate
	Milli    *int          `json:"shareable_gpu_milli"`
	Freed    capcli.Figure `json:"freed_gpu_hours"`
	Why      *string       `json:"unknown_why"`

	Need Need `json:"-"`
}

// Result returns the summary as a Result. input are the names of the folders, price is the price
// of a GPU-hour, nil if unknown, and zone is the time zone of the summary's hours.
func (s *Summary) Result(input []string, price *capcli.USD, zone *time.Location) *Result {
	r := &Result{
		Schema: "capcli/profile_summary/v1", Input: input, From: s.From.Stamp(), To: s.To.Stamp(), Zone: zone.String(), Price: price,
		Ticks: s.Ticks, JobsOut: s.JobsLeftOut(), Gaps: capcli.Figure(float64(s.Gaps) / 1e6), Guessed: s.Guessed, Dropped: s.Dropped,
		GPUs: []GPUResult{}, Jobs: []JobResult{}, Tenants: []TenantResult{}, Hours: []HourResult{}, Events: append([]HostEvent{}, s.Events...),
		Overlaps: append([]Overlap{}, s.Overlaps...), SameNames: append([]SameName{}, s.SameNames...),
		Summary: s,
	}
	tenants := s.Tenants()
	v := s.Judge(tenants)
	r.Total = r.use(s.Total(), &v.Total)
	for i, d := range s.Devices {
		g := GPUResult{
			Host: d.Host, GPU: d.Device.Index, UUID: d.Device.UUID, MIG: d.Device.Profile, Parent: d.Device.Parent, Model: d.Device.Model,
			Share: shareFigure(d.Share), Divided: d.Divided, Jobs: append([]string{}, d.Jobs...), UseResult: r.use(d.Use, &v.Devices[i]), Device: d.Device,
		}
		if d.Divided {
			g.Verdict, g.Words = judge.Free, fmt.Sprintf("divided by MIG, %.0f%% of it in no instance", 100*float64(g.Share))
		}
		r.GPUs = append(r.GPUs, g)
	}
	for i, j := range s.Jobs {
		r.Jobs = append(r.Jobs, JobResult{
			ID: j.ID, Kind: j.Kind, Tenant: j.Tenant, Command: j.Command, Model: j.Model, Profile: j.Profile, GPUs: j.Devices, Share: shareFigure(j.Share),
			Hosts: append([]string{}, j.Hosts()...), From: j.From.Stamp(), To: j.To.Stamp(), UseResult: r.use(j.Use, &v.Jobs[i]), Fits: j.fitResult(), Worth: j.Worth(r.Price),
		})
	}
	for i, t := range tenants {
		r.Tenants = append(r.Tenants, TenantResult{t.Tenant, t.Jobs, r.use(t.Use, &v.Tenants[i])})
	}
	for day := range s.Heat {
		for hour := range s.Heat[day] {
			if c := &s.Heat[day][hour]; c.Seen > 0 {
				r.Hours = append(r.Hours, HourResult{time.Weekday(day).String(), hour, capcli.Figure(c.HeldShare()), capcli.Figure(c.BusyShare())})
			}
		}
	}
	return r
}

// shareFigure returns a share as a number of GPUs.
func shareFigure(parts int64) capcli.Figure { return capcli.Figure(float64(parts) / wholeGPU) }

func (r *Result) use(u *Use, v *Verdict) UseResult {
	hours := func(micros int64) capcli.Figure { return capcli.Figure(float64(micros) / 3.6e9) }
	seconds := func(micros int64) capcli.Figure { return capcli.Figure(float64(micros) / 1e6) }
	out := UseResult{
		Verdict: v.Kind, Words: v.Words, Confidence: v.Confidence.String(), Work: workResult(v.Work), Findings: r.findings(u, v), Seen: hours(u.Seen), Held: hours(u.Held), Used: capcli.Figure(u.UsedHours()), Idle: hours(u.Idle), Shared: hours(u.Shared),
		Util: capcli.Figure(u.Util.Mean()), SM: capcli.Figure(u.SM.Mean()), SM95: capcli.Figure(u.SM.Quantile(0.95)), Occupancy: capcli.Figure(u.Occupancy.Mean()),
		Tensor: capcli.Figure(u.Tensor.Mean()), Tensor95: capcli.Figure(u.Tensor.Quantile(0.95)), DRAM: capcli.Figure(u.DRAM.Mean()), DRAM95: capcli.Figure(u.DRAM.Quantile(0.95)),
		Mem50: capcli.Figure(u.Memory.Quantile(0.5)), Mem95: capcli.Figure(u.Memory.Quantile(0.95)), MemMax: capcli.Figure(u.MemoryBytes), MemTotal: capcli.Figure(u.MemoryTotal),
		Watts: capcli.Figure(u.Watts.Mean()), Watts95: capcli.Figure(u.Watts.Quantile(0.95)), Link: capcli.Figure(u.Link.Mean()),
		Energy: energyFigure(u), ByPower: u.ByPower, Longest: seconds(u.Longest), Starved: seconds(u.Starved), Pauses: u.Pauses, Burst: capcli.Figure(u.Burst()),
		Use: u,
	}
	if r.Price != nil {
		cost := capcli.USD(math.Round(float64(*r.Price) * float64(u.Idle) / 3.6e9))
		month := capcli.USD(0)
		if span := r.Span().Hours(); span > 0 {
			month = capcli.USD(math.Round(float64(cost) * hoursOfMonth / span))
		}
		out.IdleCost, out.IdleCostPer = &cost, &month
	}
	return out
}

// energyFigure returns the energy in kWh, unknown where neither it nor power was reported, as of MIG
// instances.
func energyFigure(u *Use) capcli.Figure {
	if u.Watts.Micros == 0 && u.Energy == (Sum{}) {
		return capcli.Figure(math.NaN())
	}
	return capcli.Figure(u.Joules() / 3.6e6)
}

// Span returns the time from the first sample to the last, or the longest time for which a device
// was sampled if that is longer: a sample stands for an interval.
func (r *Result) Span() time.Duration {
	if len(r.Summary.Devices) == 0 {
		return 0
	}
	most := int64(0)
	for _, d := range r.Summary.Devices {
		most = max(most, d.Use.Watched)
	}
	return max(r.Summary.To.Sub(r.Summary.From), time.Duration(most)*time.Microsecond)
}

func (j *JobUse) fitResult() FitResult {
	f := j.Fits()
	out := FitResult{
		Bytes: capcli.Figure(f.Need.Bytes), SM: capcli.Figure(100 * f.Need.SM), ByUtil: f.Need.ByUtil, DRAM: capcli.Figure(100 * f.Need.DRAM), Reserved: f.Need.Reserved,
		Freed: capcli.Figure(f.FreedHours(j.Use.HeldHours())), Need: f.Need,
	}
	if f.Why != "" {
		out.Why = &f.Why
		return out
	}
	binds := f.Binds
	if f.Model != nil {
		out.Model, binds = &f.Model.Model, f.Model.Binds
	}
	if f.Slice != nil {
		out.Slice, binds = &f.Slice.Slice, f.Slice.Binds
	}
	if binds != "" {
		out.Binds = &binds
	}
	if f.Milli > 0 {
		out.Milli = &f.Milli
	}
	return out
}

// Shared counts the jobs that ask for a share of a GPU, and the sum of their shares in
// thousandths.
type Shared struct{ Jobs, Milli int64 }

// The tags of recorded jobs.
const (
	WorkTag      = "work"           // kind of work, where the recording is sure enough: see judge.WorkKind
	VerdictTag   = "verdict"        // the verdict, where the class says something else: see judge.Kind
	InputWaitTag = "input_wait_pct" // share of the time held in which a job short of input waited for it, in whole percent
)

// recordTags returns the tags of a job with its verdict.
func (j *JobUse) recordTags(v *Verdict) *capcli.Tags {
	var list []capcli.Tag
	if w := v.Work; w != nil && w.Confidence > judge.Low && w.Kind != judge.UnknownWork {
		list = append(list, capcli.Tag{Name: WorkTag, Value: string(w.Kind)})
	}
	if u := j.Use; v.Kind == judge.Starved && u.Held > 0 {
		list = append(list, capcli.Tag{Name: InputWaitTag, Value: strconv.FormatInt((100*u.Starved+u.Held/2)/u.Held, 10)})
	}
	return capcli.NewTags(list...)
}

// Record returns the jobs of the summary in order of their start, without jobs that the source
// could not name. Times are whole seconds: a job starts in the second of its first sample. A job on
// MIG instances asks for their share of a GPU, rounded down, so that as many fit on a GPU as were on
// it; from a whole GPU on it asks for whole ones. Where share is set, a job that could share a GPU
// asks for a share of one.
func (s *Summary) Record(share bool) (out []capcli.Job, parts Shared) {
	for j := range s.EachJob() {
		if j.Kind == "unknown" {
			continue
		}
		start := j.From.Second()
		end := max(j.To.Second(), start+1)
		state := "COMPLETED"
		if j.To.Sub(s.To) == 0 {
			state = "RUNNING"
		}
		verdict := j.Judge()
		job := capcli.Job{
			ID: j.ID, Tenant: j.Tenant, GPUModel: j.Model, Class: string(verdict.Kind), Tags: j.recordTags(&verdict), State: state, GPUs: max(1, j.Devices),
			Submit: start, Start: start, End: end, Run: capcli.Seconds(end - start), Eligible: capcli.NoTime, Deadline: capcli.NoTime,
		}
		if j.MIG {
			job.GPUs, job.GPUMilli = 1, int(1000*j.Share/wholeGPU)
			if j.Share >= wholeGPU {
				job.GPUs, job.GPUMilli = int((j.Share+wholeGPU-1)/wholeGPU), 0
			}
		}
		if milli := j.Fits().Milli; share && milli > 0 {
			job.GPUMilli = milli
			parts.Jobs, parts.Milli = parts.Jobs+1, parts.Milli+int64(milli)
		}
		out = append(out, job)
	}
	slices.SortStableFunc(out, func(a, b capcli.Job) int { return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID)) })
	return out, parts
}
