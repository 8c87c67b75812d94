package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile"
)

// hoursOfMonth is the length of the month that costs are told for: a year's 8760
// hours over twelve.
const hoursOfMonth = 730

// shownGPUs and shownJobs are how many rows people see.
const (
	shownGPUs   = 48
	shownJobs   = 20
	shownEvents = 12
)

// profiled is a summary of profiles on its way out.
type profiled struct {
	input []string
	sum   *profile.Summary
	price *capcli.USD // per GPU-hour; nil is not known
	zone  *time.Location
}

// useJSON is what a GPU, a job or a tenant did. Figures that are not known are null.
type useJSON struct {
	Verdict     string  `json:"verdict"`
	Words       string  `json:"verdict_words"`
	Seen        figure  `json:"seen_gpu_hours"`
	Held        figure  `json:"held_gpu_hours"`
	Used        figure  `json:"used_gpu_hours"`
	Idle        figure  `json:"idle_held_gpu_hours"`
	Shared      figure  `json:"shared_gpu_hours"`
	Util        figure  `json:"util_gpu_pct_mean"`
	SM          figure  `json:"sm_active_pct_mean"`
	SM95        figure  `json:"sm_active_pct_p95"`
	Occupancy   figure  `json:"sm_occupancy_pct_mean"`
	Tensor      figure  `json:"tensor_active_pct_mean"`
	Tensor95    figure  `json:"tensor_active_pct_p95"`
	DRAM        figure  `json:"dram_active_pct_mean"`
	DRAM95      figure  `json:"dram_active_pct_p95"`
	Mem50       figure  `json:"mem_used_pct_p50"`
	Mem95       figure  `json:"mem_used_pct_p95"`
	MemMax      figure  `json:"mem_used_bytes_max"`
	MemTotal    figure  `json:"mem_total_bytes"`
	Watts       figure  `json:"power_w_mean"`
	Watts95     figure  `json:"power_w_p95"`
	Link        figure  `json:"link_mib_s_mean"`
	Energy      figure  `json:"energy_kwh"`
	ByPower     bool    `json:"energy_from_power"`
	Longest     figure  `json:"longest_idle_s"`
	Starved     figure  `json:"starved_s"`
	Pauses      int64   `json:"starved_pauses"`
	Burst       figure  `json:"burst_s_median"`
	IdleCost    *string `json:"idle_cost_usd,omitempty"`
	IdleCostPer *string `json:"idle_cost_usd_month,omitempty"`
}

func (p *profiled) use(u *profile.Use) useJSON {
	v := u.Judge()
	hours := func(micros int64) figure { return figure(float64(micros) / 3.6e9) }
	seconds := func(micros int64) figure { return figure(float64(micros) / 1e6) }
	out := useJSON{
		Verdict: string(v.Kind), Words: v.Words, Seen: hours(u.Seen), Held: hours(u.Held), Used: figure(u.UsedHours()), Idle: hours(u.Idle), Shared: hours(u.Shared),
		Util: figure(u.Util.Mean()), SM: figure(u.SM.Mean()), SM95: figure(u.SM.Quantile(0.95)), Occupancy: figure(u.Occupancy.Mean()),
		Tensor: figure(u.Tensor.Mean()), Tensor95: figure(u.Tensor.Quantile(0.95)), DRAM: figure(u.DRAM.Mean()), DRAM95: figure(u.DRAM.Quantile(0.95)),
		Mem50: figure(u.Memory.Quantile(0.5)), Mem95: figure(u.Memory.Quantile(0.95)), MemMax: figure(u.MemoryBytes), MemTotal: figure(u.MemoryTotal),
		Watts: figure(u.Watts.Mean()), Watts95: figure(u.Watts.Quantile(0.95)), Link: figure(u.Link.Mean()),
		Energy: figure(u.Joules / 3.6e6), ByPower: u.ByPower, Longest: seconds(u.Longest), Starved: seconds(u.Starved), Pauses: u.Pauses, Burst: figure(u.Burst()),
	}
	if cost, ok := p.idleCost(u); ok {
		text, month := cost.Decimal(), p.month(cost).Decimal()
		out.IdleCost, out.IdleCostPer = &text, &month
	}
	return out
}

// idleCost is what the hours cost in which a GPU was held and did nothing.
func (p *profiled) idleCost(u *profile.Use) (capcli.USD, bool) {
	if p.price == nil {
		return 0, false
	}
	return capcli.USD(math.Round(float64(*p.price) * float64(u.Idle) / 3.6e9)), true
}

// month scales what was seen to a month like it.
func (p *profiled) month(c capcli.USD) capcli.USD {
	span := p.span().Hours()
	if span <= 0 {
		return 0
	}
	return capcli.USD(math.Round(float64(c) * hoursOfMonth / span))
}

// span is the time from the first sample to the last, which stands for one more
// interval.
func (p *profiled) span() time.Duration {
	if len(p.sum.Devices) == 0 {
		return 0
	}
	most := int64(0)
	for _, d := range p.sum.Devices {
		most = max(most, d.Use.Seen)
	}
	return max(p.sum.To.Sub(p.sum.From), time.Duration(most)*time.Microsecond)
}

// profiledJSON is the JSON of profile summary.
type profiledJSON struct {
	Schema  string          `json:"schema"`
	Input   []string        `json:"input"`
	From    string          `json:"from"`
	To      string          `json:"to"`
	Zone    string          `json:"zone"`
	Ticks   int64           `json:"ticks"`
	Gaps    figure          `json:"gaps_s"`
	Guessed bool            `json:"held_by_memory"`
	Price   *string         `json:"price_usd_per_gpu_hour"`
	GPUs    []gpuJSON       `json:"gpus"`
	Jobs    []profJobJSON   `json:"jobs"`
	Tenants []profTenant    `json:"tenants"`
	Total   useJSON         `json:"total"`
	Hours   []hourJSON      `json:"hours"`
	Events  []profEventJSON `json:"events"`
	Dropped int             `json:"events_left_out"`
}

type gpuJSON struct {
	Host   string   `json:"host"`
	GPU    int      `json:"gpu"`
	UUID   string   `json:"gpu_uuid"`
	MIG    string   `json:"mig_profile,omitempty"`
	Parent string   `json:"parent_uuid,omitempty"`
	Model  string   `json:"gpu_model"`
	Jobs   []string `json:"jobs"`
	useJSON
}

type profJobJSON struct {
	ID      string   `json:"job_id"`
	Kind    string   `json:"kind"`
	Tenant  string   `json:"tenant"`
	Command string   `json:"command"`
	Model   string   `json:"gpu_model"`
	GPUs    int      `json:"gpus"`
	Hosts   []string `json:"hosts"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	useJSON
	Fits fitsJSON `json:"fits"`
}

type profTenant struct {
	Tenant string `json:"tenant"`
	Jobs   int    `json:"jobs"`
	useJSON
}

type hourJSON struct {
	Weekday string `json:"weekday"`
	Hour    int    `json:"hour"`
	Held    figure `json:"held_share"`
	Busy    figure `json:"busy_share"`
}

type profEventJSON struct {
	At     string `json:"at"`
	Host   string `json:"host"`
	Kind   string `json:"kind"`
	Device string `json:"gpu_uuid,omitempty"`
	Value  int64  `json:"value"`
	Text   string `json:"text"`
}

func (p *profiled) json() *profiledJSON {
	s := p.sum
	out := &profiledJSON{
		Schema: "capcli/profile_summary/v1", Input: p.input, From: stampText(s.From), To: stampText(s.To), Zone: p.zone.String(),
		Ticks: s.Ticks, Gaps: figure(float64(s.Gaps) / 1e6), Guessed: s.Guessed, Total: p.use(s.Total()), Dropped: s.Dropped,
		GPUs: []gpuJSON{}, Jobs: []profJobJSON{}, Tenants: []profTenant{}, Hours: []hourJSON{}, Events: []profEventJSON{},
	}
	if p.price != nil {
		text := p.price.Decimal()
		out.Price = &text
	}
	for _, d := range s.Devices {
		out.GPUs = append(out.GPUs, gpuJSON{d.Host, d.Device.Index, d.Device.UUID, d.Device.Profile, d.Device.Parent, d.Device.Model, list(d.Jobs), p.use(d.Use)})
	}
	for _, j := range s.Jobs {
		out.Jobs = append(out.Jobs, profJobJSON{j.ID, j.Kind, j.Tenant, j.Command, j.Model, j.Devices, list(j.Hosts()), stampText(j.From), stampText(j.To), p.use(j.Use), fitsOf(j)})
	}
	for _, t := range s.Tenants() {
		out.Tenants = append(out.Tenants, profTenant{t.Tenant, t.Jobs, p.use(t.Use)})
	}
	for day := range s.Heat {
		for hour := range s.Heat[day] {
			if c := s.Heat[day][hour]; c.Seen > 0 {
				out.Hours = append(out.Hours, hourJSON{time.Weekday(day).String(), hour, figure(float64(c.Held) / float64(c.Seen)), figure(c.Busy / float64(c.BusyFor))})
			}
		}
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, profEventJSON{stampText(e.At), e.Host, string(e.Kind), e.Device, e.Value, e.Text})
	}
	return out
}

// stampText gives an instant to the millisecond.
func stampText(i profile.Instant) string { return i.Std().Format("2006-01-02T15:04:05.000Z07:00") }

// doc is the summary as tables.
func (p *profiled) doc() report.Doc {
	return report.Doc{
		Lead: p.lead(), Notes: p.notes(), Data: p.json(), Charts: p.heat(),
		Tables: []report.Table{p.gpus(), p.jobs(), p.tenants(), p.fits(), p.hours(), p.events()},
	}
}

// lead says what matters in two sentences.
func (p *profiled) lead() string {
	total := p.sum.Total()
	if total.Seen == 0 {
		return "No samples."
	}
	hosts := map[string]bool{}
	verdicts := map[profile.VerdictKind]int{}
	for _, d := range p.sum.Devices {
		hosts[d.Host] = true
		verdicts[d.Use.Judge().Kind]++
	}
	where := p.sum.Devices[0].Host
	if len(hosts) > 1 {
		where = fmt.Sprintf("%d boxes", len(hosts))
	}
	n := len(p.sum.Devices)
	text := fmt.Sprintf("%d %s on %s, %s: held %.1f%% of the time", n, plural(int64(n), "GPU"), where, p.span().Round(time.Second), 100*float64(total.Held)/float64(total.Seen))
	if busy := total.BusyShare(); !math.IsNaN(busy) {
		text += fmt.Sprintf(", busy %.1f%%", 100*busy)
	}
	text += "."
	var found []string
	for _, v := range []struct {
		kind  profile.VerdictKind
		words string
	}{
		{profile.NeverBusy, "allocated but never busy"},
		{profile.MostlyIdle, "mostly idle"},
		{profile.Starved, "short of input"},
		{profile.CommBound, "waiting on other GPUs"},
		{profile.MemoryBound, "bound by memory"},
		{profile.Light, "lightly used"},
		{profile.Free, "free"},
	} {
		if k := verdicts[v.kind]; k > 0 {
			found = append(found, fmt.Sprintf("%d %s", k, v.words))
		}
	}
	if len(found) > 0 {
		text += " " + strings.Join(found, ", ") + "."
	}
	if cost, ok := p.idleCost(total); ok {
		text += fmt.Sprintf(" Held and idle: %s, %s a month at this rate.", cost, p.month(cost))
	}
	return text
}
