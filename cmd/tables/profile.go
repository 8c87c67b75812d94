package tables

import (
	"fmt"

	"capcli/cmd/report"
	"capcli/profile"
)

// shownGPUs and shownJobs are the most rows shown to people.
const (
	shownGPUs = 48
	shownJobs = 20
)

// ProfileDoc is the report of a summary of profiles.
func ProfileDoc(r *profile.Result) report.Doc {
	return report.Doc{
		Lead: r.Lead(), Notes: r.Notes(), Data: r, Charts: busyChart(r),
		Tables: []report.Table{gpuTable(r), jobTable(r), tenantUseTable(r), fitTable(r), findingTable(r), worthTable(r), rankTable(r), hourTable(r), eventTable(r)},
	}
}

// Hundredths is the table cell of a figure in percent.
func Hundredths(v float64) any { return report.Percent(v / 100) }

// useFields are the columns of use, after the columns first. use returns the use of a row.
func useFields[R any](r *profile.Result, use func(R) *profile.UseResult, first ...report.Field[R]) []report.Field[R] {
	field := func(name, head string, priority int, as func(float64) any, get func(u *profile.UseResult) any) report.Field[R] {
		return report.Field[R]{Name: name, Head: head, Priority: priority, As: as, Cell: func(row R) any { return get(use(row)) }}
	}
	out := append(
		first,
		field("held_gpu_hours", "held h", 1, nil, func(u *profile.UseResult) any { return u.Held }),
		field("used_gpu_hours", "used GPUh", 2, nil, func(u *profile.UseResult) any { return u.Used }),
		field("util_gpu", "busy", 0, Hundredths, func(u *profile.UseResult) any { return u.Util }),
		field("sm_active", "SM", 0, Hundredths, func(u *profile.UseResult) any { return u.SM }),
		field("tensor_active", "tensor", 0, Hundredths, func(u *profile.UseResult) any { return u.Tensor }),
		field("dram_active", "DRAM", 2, Hundredths, func(u *profile.UseResult) any { return u.DRAM }),
		field("mem_p95", "mem p95", 1, Hundredths, func(u *profile.UseResult) any { return u.Mem95 }),
		field("mem_max_gib", "mem max GiB", 3, nil, memoryCell),
		field("power_w", "W", 2, report.AsTenths, func(u *profile.UseResult) any { return u.Watts }),
		field("energy_kwh", "kWh", 3, nil, func(u *profile.UseResult) any { return u.Energy }),
		field("idle_held_s", "idle", 1, nil, func(u *profile.UseResult) any { return report.MeanTime(float64(u.Use.Idle) / 1e6) }),
	)
	if r.Price != nil {
		out = append(out, field("idle_cost_usd", "idle $", 1, nil, func(u *profile.UseResult) any { return u.IdleCost }))
	}
	return append(out, report.Field[R]{Name: "verdict", Align: report.Left, Cell: func(row R) any {
		return report.Label{Name: string(use(row).Verdict), Head: use(row).Words}
	}})
}

// memoryCell is the cell of the peak memory in use, in GiB; nil where it was never measured.
func memoryCell(u *profile.UseResult) any {
	if u.MemMax == 0 && u.Use.Memory.Time() == 0 {
		return nil
	}
	return u.MemMax / (1 << 30)
}

func gpuTable(r *profile.Result) report.Table {
	return report.Fill(report.Table{Name: "gpus", Most: shownGPUs}, r.GPUs, useFields(
		r, func(g profile.GPUResult) *profile.UseResult { return &g.UseResult },
		report.Field[profile.GPUResult]{Name: "host", Priority: 2},
		report.Field[profile.GPUResult]{Name: "gpu", Align: report.Left, Cell: func(g profile.GPUResult) any { return g.Device.Label() }},
		report.Field[profile.GPUResult]{Name: "gpu_share", Head: "share", Priority: 4},
		report.Field[profile.GPUResult]{Name: "job", Align: report.Left, Cell: func(g profile.GPUResult) any { return jobsCell(g.Jobs, g.Shared > 0) }},
	))
}

// jobsCell names the last job and the number of jobs before it, or beside it on a shared GPU.
func jobsCell(jobs []string, shared bool) any {
	switch len(jobs) {
	case 0:
		return nil
	case 1:
		return jobs[0]
	}
	word := "before"
	if shared {
		word = "more"
	}
	return fmt.Sprintf("%s and %d %s", jobs[len(jobs)-1], len(jobs)-1, word)
}

func jobTable(r *profile.Result) report.Table {
	return report.Fill(report.Table{Name: "jobs", Title: "jobs, by GPU-hours held", Most: shownJobs}, r.Jobs, useFields(
		r, func(j profile.JobResult) *profile.UseResult { return &j.UseResult },
		report.Field[profile.JobResult]{Name: "job_id", Head: "job", Align: report.Left},
		report.Field[profile.JobResult]{Name: "tenant", Align: report.Left},
		report.Field[profile.JobResult]{Name: "gpus", Head: "GPUs"},
		report.Field[profile.JobResult]{Name: "gpu_share", Head: "share", Priority: 4},
	))
}

func tenantUseTable(r *profile.Result) report.Table {
	return report.Fill(report.Table{Name: "tenants", Title: "tenants", Most: shownJobs}, r.Tenants, useFields(
		r, func(t profile.TenantResult) *profile.UseResult { return &t.UseResult },
		report.Field[profile.TenantResult]{Name: "tenant", Align: report.Left},
		report.Field[profile.TenantResult]{Name: "jobs"},
	))
}

// fitTable shows, for each job, the smaller GPU or part of a GPU that it would fit on.
func fitTable(r *profile.Result) report.Table {
	var jobs []profile.JobResult
	for _, j := range r.Jobs {
		if j.Kind != "unknown" {
			jobs = append(jobs, j)
		}
	}
	return report.Fill(report.Table{Name: "fits", Aside: true}, jobs, []report.Field[profile.JobResult]{
		{Name: "job_id", Head: "job", Align: report.Left},
		{Name: "gpu_model", Align: report.Left, Priority: 2},
		{Name: "held_gpu_hours", Head: "held GPUh", Priority: 1},
		{Name: "mem_max_gib", Head: "mem max GiB", Cell: func(j profile.JobResult) any { return memoryCell(&j.UseResult) }},
		{Name: "sm_active_p95", Head: "SM p95", As: report.AsPercent, Cell: func(j profile.JobResult) any { return Figure(j.Fits.Need.SM) }},
		{Name: "dram_active_p95", Head: "DRAM p95", Priority: 1, As: report.AsPercent, Cell: func(j profile.JobResult) any { return Figure(j.Fits.Need.DRAM) }},
		{Name: "fits_on", Align: report.Left, Cell: func(j profile.JobResult) any { return TextCell(j.Fits.Text()) }},
		{Name: "binding", Align: report.Left, Cell: func(j profile.JobResult) any { return j.Fits.Binding() }},
		{Name: "freed_gpu_hours", Head: "frees GPUh", Cell: func(j profile.JobResult) any { return j.Fits.Freed }},
		{Name: "shareable_gpu_milli", Head: "milli", Priority: 1, Cell: func(j profile.JobResult) any { return j.Fits.Milli }},
		{Name: "note", Align: report.Left, Priority: 1, Cell: func(j profile.JobResult) any { return TextCell(j.Fits.Note()) }},
	})
}

// findingTable shows what the time of each job was, and what it cost.
func findingTable(r *profile.Result) report.Table {
	fields := []report.Field[profile.JobFinding]{
		{Name: "job_id", Head: "job", Align: report.Left, Cell: func(f profile.JobFinding) any { return f.Job }},
		{Name: "tenant", Align: report.Left, Priority: 2, Cell: func(f profile.JobFinding) any { return f.Tenant }},
		{Name: "finding", Align: report.Left, Cell: func(f profile.JobFinding) any {
			return report.Label{Name: string(f.Kind), Head: f.Words}
		}},
		{Name: "share", As: report.AsPercent},
		{Name: "held_gpu_hours", Head: "held h", Priority: 1},
		{Name: "lost_gpu_hours", Head: "lost h"},
	}
	if r.Price != nil {
		fields = append(fields, report.Field[profile.JobFinding]{Name: "lost_cost_usd", Head: "lost $", Cell: func(f profile.JobFinding) any { return f.LostCost }})
	}
	return report.Fill(report.Table{Name: "findings", Aside: true}, r.JobFindings(), append(
		fields,
		report.Field[profile.JobFinding]{Name: "confidence", Head: "sure", Align: report.Left},
		report.Field[profile.JobFinding]{Name: "do", Align: report.Left, Priority: 3},
	))
}

// TextCell is the cell of a text; nil for "".
func TextCell(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func hourTable(r *profile.Result) report.Table {
	return report.Fill(report.Table{Name: "hours", Aside: true}, r.Hours, []report.Field[profile.HourResult]{
		{Name: "weekday", Align: report.Left},
		{Name: "hour"},
		{Name: "held_share", Head: "held", As: report.AsPercent},
		{Name: "busy_share", Head: "busy", As: report.AsPercent},
	})
}

func eventTable(r *profile.Result) report.Table {
	return report.Fill(report.Table{Name: "events", Aside: true}, r.Events, []report.Field[profile.HostEvent]{
		{Name: "at"},
		{Name: "host", Align: report.Left},
		{Name: "kind", Align: report.Left, Cell: func(e profile.HostEvent) any { return string(e.Kind) }},
		{Name: "gpu_uuid", Align: report.Left},
		{Name: "value"},
		{Name: "text", Align: report.Left},
	})
}

// busyChart draws the busy share by hour, with a row for each weekday seen.
func busyChart(r *profile.Result) []report.Chart {
	grid := report.Chart{
		Title: fmt.Sprintf("busy by weekday and hour, %s; a full block is 100%%", r.Zone), Grid: true, Top: 1,
		From: fmt.Sprintf("%-12s%-12s%-12s%s", "0", "6", "12", "18"), // two columns an hour
	}
	for _, d := range r.Summary.BusyHours() {
		grid.Lines = append(grid.Lines, report.Line{Name: d.Day.String(), Values: d.Busy})
	}
	if len(grid.Lines) == 0 {
		return nil
	}
	return []report.Chart{grid}
}
