package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile"
)

// useColumns are those of every table of use.
func (p *profiled) useColumns(first ...report.Column) []report.Column {
	out := append(
		first,
		report.Column{Name: "held_gpu_hours", Head: "held h", Priority: 1}, report.Column{Name: "used_gpu_hours", Head: "used h", Priority: 2},
		report.Column{Name: "util_gpu", Head: "busy"}, report.Column{Name: "sm_active", Head: "SM"}, report.Column{Name: "tensor_active", Head: "tensor"},
		report.Column{Name: "dram_active", Head: "DRAM", Priority: 2}, report.Column{Name: "mem_p95", Head: "mem p95", Priority: 1}, report.Column{Name: "mem_max_gib", Head: "mem max GiB", Priority: 3},
		report.Column{Name: "power_w", Head: "W", Priority: 2}, report.Column{Name: "energy_kwh", Head: "kWh", Priority: 3},
		report.Column{Name: "idle_held_s", Head: "idle", Priority: 1},
	)
	if p.Price != nil {
		out = append(out, report.Column{Name: "idle_cost_usd", Head: "idle $", Priority: 1})
	}
	return append(out, report.Column{Name: "verdict", Align: report.Left})
}

func (p *profiled) useCells(first []any, u *profile.UseResult) []any {
	share := func(v figure) any { return knownPercent(float64(v) / 100) }
	out := append(
		first, float64(u.Held), figureCell(u.Used), share(u.Util), share(u.SM), share(u.Tensor), share(u.DRAM),
		share(u.Mem95), gib(u), orNil(math.Round(10*float64(u.Watts))/10), float64(u.Energy), report.MeanTime(float64(u.Use.Idle)/1e6),
	)
	if u.IdleCost != nil {
		out = append(out, *u.IdleCost)
	}
	return append(out, report.Label{Name: string(u.Verdict), Head: u.Words})
}

// gib is the most memory in use; nil where it was never told.
func gib(u *profile.UseResult) any {
	if u.MemMax == 0 && u.Use.Memory.Time() == 0 {
		return nil
	}
	return float64(u.MemMax) / (1 << 30)
}

func (p *profiled) gpuTable() report.Table {
	t := report.Table{Name: "gpus", Most: shownGPUs, Columns: p.useColumns(
		report.Column{Name: "host", Priority: 2}, report.Column{Name: "gpu", Align: report.Left}, report.Column{Name: "job", Align: report.Left},
	)}
	for i := range p.GPUs {
		g := &p.GPUs[i]
		gpu := strconv.Itoa(g.GPU)
		if g.Device.MIG() {
			gpu += fmt.Sprintf(" %s #%d", g.MIG, g.Device.GI)
		}
		t.Rows = append(t.Rows, p.useCells([]any{g.Host, gpu, jobsText(g.Jobs)}, &g.UseResult))
	}
	return t
}

// jobsText names the last job, and how many there were before.
func jobsText(jobs []string) any {
	switch len(jobs) {
	case 0:
		return nil
	case 1:
		return jobs[0]
	}
	return fmt.Sprintf("%s and %d before", jobs[len(jobs)-1], len(jobs)-1)
}

func (p *profiled) jobTable() report.Table {
	t := report.Table{Name: "jobs", Title: "jobs, those that held most first", Most: shownJobs, Columns: p.useColumns(
		report.Column{Name: "job_id", Head: "job", Align: report.Left}, report.Column{Name: "tenant", Align: report.Left}, report.Column{Name: "gpus", Head: "GPUs"},
	)}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		t.Rows = append(t.Rows, p.useCells([]any{j.ID, j.Tenant, j.GPUs}, &j.UseResult))
	}
	return t
}

func (p *profiled) tenantTable() report.Table {
	t := report.Table{Name: "tenants", Title: "tenants", Most: shownJobs, Columns: p.useColumns(report.Column{Name: "tenant", Align: report.Left}, report.Column{Name: "jobs"})}
	for i := range p.Tenants {
		x := &p.Tenants[i]
		t.Rows = append(t.Rows, p.useCells([]any{x.Tenant, x.Jobs}, &x.UseResult))
	}
	return t
}

func (p *profiled) hourTable() report.Table {
	t := report.Table{Name: "hours", Aside: true, Columns: []report.Column{
		{Name: "weekday", Align: report.Left}, {Name: "hour"}, {Name: "held_share", Head: "held"}, {Name: "busy_share", Head: "busy"},
	}}
	for _, h := range p.Hours {
		t.Rows = append(t.Rows, []any{h.Weekday, h.Hour, knownPercent(float64(h.Held)), knownPercent(float64(h.Busy))})
	}
	return t
}

func (p *profiled) eventTable() report.Table {
	t := report.Table{Name: "events", Aside: true, Columns: []report.Column{
		{Name: "at"}, {Name: "host", Align: report.Left}, {Name: "kind", Align: report.Left}, {Name: "gpu_uuid", Align: report.Left}, {Name: "value"}, {Name: "text", Align: report.Left},
	}}
	for _, e := range p.Events {
		t.Rows = append(t.Rows, []any{e.At, e.Host, string(e.Kind), e.Device, e.Value, e.Text})
	}
	return t
}

// heat draws how busy the hours were: a row for each weekday that was seen.
func (p *profiled) heat() []report.Chart {
	grid := report.Chart{
		Title: fmt.Sprintf("busy by weekday and hour, %s; a full block is 100%%", p.zone), Grid: true, Top: 1,
		From: fmt.Sprintf("%-12s%-12s%-12s%s", "0", "6", "12", "18"), // two columns an hour
	}
	for i := range 7 {
		day := time.Weekday((i + 1) % 7) // from Monday
		values, seen := make([]float64, 24), false
		for hour, c := range p.Summary.Heat[day] {
			values[hour] = math.NaN()
			if c.BusyFor > 0 {
				values[hour], seen = c.Busy/float64(c.BusyFor), true
			}
		}
		if seen {
			grid.Lines = append(grid.Lines, report.Line{Name: day.String(), Values: values})
		}
	}
	if len(grid.Lines) == 0 {
		return nil
	}
	return []report.Chart{grid}
}

// notes are what the reader must know.
func (p *profiled) notes() []string {
	var out []string
	total := p.Total.Use
	if total.Util.Time() > 0 {
		out = append(out, `"busy" is NVML's GPU utilisation: a kernel was running. It does not say how much of the GPU worked; SM and tensor do.`)
	}
	if total.SM.Time() == 0 && total.Seen > 0 {
		out = append(out, "SM and tensor activity were not told: they need a Hopper GPU or later, or a source such as dcgm with profiling fields (capcli doctor)")
	}
	if p.Guessed {
		out = append(out, "the source tells of no processes: a GPU with over 2% of its memory in use counts as held")
	}
	if text := p.fitsWords(); text != "" {
		out = append(out, text)
	}
	if total.Shared > 0 {
		out = append(out, fmt.Sprintf("%.1f GPU-hours were held by more than one job: they are divided evenly, and activity, power and memory of a GPU cannot be told apart by job", float64(total.Shared)/3.6e9))
	}
	if p.Summary.Gaps > 0 {
		out = append(out, fmt.Sprintf("%s were not sampled; they count as nothing seen", capcli.Seconds(p.Summary.Gaps/1e6)))
	}
	if total.ByPower {
		out = append(out, "some energy is summed from power, for want of a counter; sensors see a part of the time, so it may be off by some percent")
	}
	shown := 0
	for _, e := range p.Events {
		switch e.Kind {
		case profile.Xid, profile.ECCError, profile.GPULost, profile.Stalled, profile.DriverGone, profile.ClockJump, profile.MIGChanged, profile.Recovered:
			if shown++; shown <= shownEvents {
				out = append(out, fmt.Sprintf("%s %s: %s %s", e.At, e.Host, eventWords(e), e.Text))
			}
		default:
		}
	}
	if shown > shownEvents {
		out = append(out, fmt.Sprintf("%d more events: --table events", shown-shownEvents))
	}
	return out
}

func eventWords(e profile.HostEvent) string {
	text := string(e.Kind)
	if e.Kind == profile.Xid {
		text = fmt.Sprintf("Xid %d", e.Value)
	}
	if e.Device != "" {
		text += " on " + e.Device
	}
	return text
}
