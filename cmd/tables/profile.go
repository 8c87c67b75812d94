package tables

import (
	"fmt"
	"strings"
	"time"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile"
	"capcli/profile/anomaly"
	"capcli/profile/heat"
	"capcli/profile/nvml"
	"capcli/profile/scaling"
	"capcli/profile/store"
	"capcli/profile/upkeep"
	pictures "capcli/scenarios/figure"
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
	if u.MemMax == 0 && u.Use.Memory.Micros == 0 {
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

// worthTable shows what each job is worth knowing by.
func worthTable(r *profile.Result) report.Table {
	rate := func(r *profile.RateResult, get func(*profile.RateResult) any) any {
		if r == nil {
			return nil
		}
		return get(r)
	}
	return report.Fill(report.Table{Name: "worth", Aside: true}, r.JobsWorth(), []report.Field[profile.JobResult]{
		{Name: "job_id", Head: "job", Align: report.Left},
		{Name: "tenant", Align: report.Left, Priority: 3},
		{Name: "gpus", Head: "GPUs"},
		{Name: "tokens_per_s_p50", Head: "tok/s", Cell: func(j profile.JobResult) any {
			return rate(j.Worth.Tokens, func(r *profile.RateResult) any { return r.P50 })
		}},
		{Name: "tokens_per_s_p5", Head: "tok/s p5", Priority: 2, Cell: func(j profile.JobResult) any {
			return rate(j.Worth.Tokens, func(r *profile.RateResult) any { return r.P5 })
		}},
		{Name: "samples_per_s_p50", Head: "samples/s", Priority: 2, Cell: func(j profile.JobResult) any {
			return rate(j.Worth.Samples, func(r *profile.RateResult) any { return r.P50 })
		}},
		{Name: "tokens_per_gpu_hour", Head: "tok/GPUh", Priority: 1, Cell: func(j profile.JobResult) any { return j.Worth.TokensPerGPUHour }},
		{Name: "usd_per_million_tokens", Head: "$/Mtok", Priority: 1, Cell: func(j profile.JobResult) any { return j.Worth.USDPerMTokens }},
		{Name: "mfu", Head: "MFU", As: Hundredths, Cell: func(j profile.JobResult) any { return j.Worth.MFU }},
		{Name: "mfu_at_most", Head: "MFU ≤", As: Hundredths, Cell: func(j profile.JobResult) any { return j.Worth.MFUAtMost }},
		{Name: "step_s", Head: "step s", Cell: func(j profile.JobResult) any { return j.Worth.Step.Seconds }},
		{Name: "step_source", Head: "by", Align: report.Left, Priority: 2, Cell: func(j profile.JobResult) any { return TextCell(j.Worth.Step.Source) }},
		{Name: "speed_if_input_kept_up", Head: "input ×", Priority: 1, Cell: func(j profile.JobResult) any { return j.Worth.InputKeptUp }},
		{Name: "straggler", Align: report.Left, Cell: func(j profile.JobResult) any { return TextCell(j.Worth.Straggler.Label()) }},
		{Name: "straggler_lost_gpu_hours", Head: "lost GPUh", Priority: 1, Cell: func(j profile.JobResult) any {
			if j.Worth.Straggler == nil {
				return nil
			}
			return j.Worth.Straggler.Lost
		}},
	})
}

// rankRow is a rank of a job.
type rankRow struct {
	job string
	profile.RankResult
}

// rankTable shows what each job did on each of its GPUs.
func rankTable(r *profile.Result) report.Table {
	var rows []rankRow
	for _, j := range r.Jobs {
		for _, x := range j.Worth.Ranks {
			rows = append(rows, rankRow{j.ID, x})
		}
	}
	return report.Fill(report.Table{Name: "ranks", Aside: true}, rows, []report.Field[rankRow]{
		{Name: "job_id", Head: "job", Align: report.Left, Cell: func(x rankRow) any { return x.job }},
		{Name: "host", Align: report.Left, Cell: func(x rankRow) any { return x.Host }},
		{Name: "gpu", Cell: func(x rankRow) any { return x.GPU }},
		{Name: "held_hours", Head: "held h", Priority: 1, Cell: func(x rankRow) any { return x.Held }},
		{Name: "mem_max_gib", Head: "mem max GiB", Cell: func(x rankRow) any { return x.MemMax / (1 << 30) }},
		{Name: "util_gpu", Head: "busy", As: Hundredths, Cell: func(x rankRow) any { return x.Util }},
		{Name: "sm_active", Head: "SM", As: Hundredths, Cell: func(x rankRow) any { return x.SM }},
		{Name: "tensor_active", Head: "tensor", As: Hundredths, Priority: 1, Cell: func(x rankRow) any { return x.Tensor }},
		{Name: "wait", As: Hundredths, Cell: func(x rankRow) any { return x.Wait }},
	})
}

// AnomalyDoc is the report of what went wrong.
func AnomalyDoc(r *anomaly.Result) report.Doc {
	gpu := func(a *anomaly.Anomaly) any {
		if a.GPU == nil {
			return nil
		}
		return fmt.Sprint(*a.GPU)
	}
	return report.Doc{Lead: r.Lead(), Notes: r.Notes(), Data: r, Tables: []report.Table{report.Fill(report.Table{Name: "anomalies", Most: 40, Aside: len(r.Anomalies) == 0}, r.Anomalies, []report.Field[*anomaly.Anomaly]{
		{Name: "since"},
		{Name: "until", Priority: 2, Cell: func(a *anomaly.Anomaly) any { return TextCell(a.Until) }},
		{Name: "severity", Align: report.Left, Priority: 1, Cell: func(a *anomaly.Anomaly) any { return string(a.Severity) }},
		{Name: "host", Align: report.Left},
		{Name: "gpu", Align: report.Left, Cell: gpu},
		{Name: "job", Align: report.Left, Priority: 1, Cell: func(a *anomaly.Anomaly) any { return TextCell(a.Job) }},
		{Name: "kind", Align: report.Left, Priority: 3},
		{Name: "what", Align: report.Left},
		{Name: "evidence", Align: report.Left},
		{Name: "size", Priority: 4},
		{Name: "unit", Align: report.Left, Priority: 4},
		{Name: "confidence", Priority: 3, As: report.AsPercent},
		{Name: "do", Head: "what to do", Align: report.Left, Priority: 4},
	})}}
}

// DoctorDoc is the report of what can be read of GPUs here.
func DoctorDoc(d *nvml.Document) report.Doc {
	out := report.Doc{Lead: fmt.Sprintf("%s: GPUs can be sampled.", d.Host), Data: d}
	if !d.OK {
		out.Lead = fmt.Sprintf("%s: no GPU can be sampled.", d.Host)
	}
	out.Tables = []report.Table{report.Fill(report.Table{Name: "checks"}, d.Checks, []report.Field[nvml.Check]{
		{Name: "name", Head: "", Align: report.Left},
		{Name: "state", Head: "", Align: report.Left, Cell: func(c nvml.Check) any { return report.Verdict{Text: string(c.State), Good: c.State == nvml.Good} }},
		{Name: "text", Head: "found", Align: report.Left},
		{Name: "fix", Head: "what to do", Align: report.Left, Priority: 1},
	})}
	if len(d.GPUs) > 0 {
		out.Tables = append(out.Tables, report.Fill(report.Table{Name: "gpus", Title: "metrics of each GPU", Most: shownGPUs}, d.GPUs, []report.Field[nvml.SeenGPU]{
			{Name: "gpu", Align: report.Left, Cell: func(g nvml.SeenGPU) any { return strings.TrimSpace(fmt.Sprintf("%d %s", g.GPU, g.Profile)) }},
			{Name: "gpu_model", Head: "model", Align: report.Left},
			{Name: "measured", Head: "metrics", Cell: func(g nvml.SeenGPU) any { return len(g.Measured) }},
			{Name: "missing", Align: report.Left, Cell: func(g nvml.SeenGPU) any { return TextCell(g.MissingText()) }},
		}))
	}
	return out
}

// UpkeepDoc is the report of what was done.
func UpkeepDoc(r *upkeep.Result) report.Doc {
	return report.Doc{Lead: r.Lead(), Data: r, Tables: []report.Table{
		report.Fill(report.Table{Name: "removed", Aside: true}, r.Removed, []report.Field[upkeep.RemovedDay]{
			{Name: "host", Align: report.Left}, {Name: "day", Align: report.Left}, {Name: "files"}, {Name: "bytes"}, {Name: "why", Align: report.Left},
		}),
	}}
}

// HeatDoc is the report of a heatmap for a terminal of a width.
func HeatDoc(r *heat.Result, width int) report.Doc {
	p := r.Picture(max(width-r.NameWidth()-1, 10))
	chart := report.Chart{Title: fmt.Sprintf("%s, %s a column, %s", r.Title, p.Hours(), r.Zone), Top: p.Top, Shades: &report.Shades{Labels: p.Labels, Legend: r.Text(p.Top)}}
	for _, row := range p.Rows {
		chart.Lines = append(chart.Lines, report.Line{Name: row.Name, Values: row.Values})
	}
	type hour struct {
		row *heat.Row
		at  int
	}
	var hours []hour
	for _, row := range r.Rows {
		for i := range row.Values {
			hours = append(hours, hour{row, i})
		}
	}
	cells := report.Fill(report.Table{Name: "cells", Aside: true}, hours, []report.Field[hour]{
		{Name: "name", Align: report.Left, Cell: func(h hour) any { return h.row.Name }},
		{Name: "from", Cell: func(h hour) any { return r.Columns[h.at].From }},
		{Name: r.ColumnName(), Cell: func(h hour) any { return h.row.Values[h.at] }},
	})
	fields := []report.Field[*heat.Row]{
		{Name: "name", Align: report.Left},
		{Name: r.ColumnName(), Head: r.Title, Cell: func(h *heat.Row) any { return heatCell(r, h.Value) }},
		{Name: "held_gpu_hours", Head: "held GPUh"},
		{Name: "idle_held_gpu_hours", Head: "idle GPUh"},
	}
	if r.Price != nil {
		fields = append(fields, report.Field[*heat.Row]{Name: "idle_cost_usd", Head: "idle $", Cell: func(h *heat.Row) any { return h.Cost }})
	}
	rows := report.Fill(report.Table{Name: "rows", Most: 10}, append(r.Rows[:len(r.Rows):len(r.Rows)], r.Total), fields)
	return report.Doc{Lead: r.Lead(), Tables: []report.Table{cells, rows}, Charts: []report.Chart{chart}, Notes: r.Notes(), Data: r}
}

func heatCell(r *heat.Result, v capcli.Figure) any {
	if r.Unit == "%" {
		return Hundredths(float64(v))
	}
	return v
}

// HeatFigure is a heatmap as a pictures.
func HeatFigure(r *heat.Result) *pictures.Figure {
	const mostColumns = 168 // that have room
	p := r.Picture(mostColumns)
	f := &pictures.Figure{
		ID: "heat", Title: fmt.Sprintf("%s, %s a column, %s", r.Title, p.Hours(), r.Zone), Sentence: r.Lead(), Kind: pictures.Heat, Notes: r.Notes(),
		X: pictures.Axis{Unit: pictures.Name, Names: p.Names}, Y: pictures.Axis{Label: r.Title + ", " + r.Unit, Unit: pictures.Count},
	}
	if r.Unit == "USD" {
		f.Y.Unit = pictures.USD
	}
	for _, row := range p.Rows {
		f.Series = append(f.Series, pictures.Series{Name: row.Name, Y: pictures.Numbers(row.Values)})
	}
	return f
}

// scalingRow is a point of a curve.
type scalingRow struct {
	*scaling.Curve
	scaling.Point
}

// ScalingDoc is the report of how jobs scale over GPUs.
func ScalingDoc(r *scaling.Result) report.Doc {
	var rows []scalingRow
	for i := range r.Curves {
		for _, p := range r.Curves[i].Points {
			rows = append(rows, scalingRow{&r.Curves[i], p})
		}
	}
	share := func(v capcli.Figure) any { return report.Percent(float64(v)) }
	points := report.Fill(report.Table{Name: "curves"}, rows, []report.Field[scalingRow]{
		{Name: "job_type", Head: "job", Align: report.Left, Cell: func(x scalingRow) any { return x.Name }},
		{Name: "gpu_model", Align: report.Left, Cell: func(x scalingRow) any { return x.Model }},
		{Name: "gpus", Head: "GPUs", Cell: func(x scalingRow) any { return x.GPUs }},
		{Name: "steps_per_s", Head: "a second", Cell: func(x scalingRow) any { return x.PerS }},
		{Name: "unit", Align: report.Left, Cell: func(x scalingRow) any { return x.Unit }},
		{Name: "low", Priority: 1, Cell: func(x scalingRow) any { return x.Low }},
		{Name: "high", Priority: 1, Cell: func(x scalingRow) any { return x.High }},
		{Name: "runs", Cell: func(x scalingRow) any { return x.Runs }},
		{Name: "speedup", Cell: func(x scalingRow) any { return x.Speedup }},
		{Name: "efficiency", Cell: func(x scalingRow) any { return share(x.Efficiency) }},
	})
	left := report.Fill(report.Table{Name: "left_out", Aside: true}, r.Left, []report.Field[scaling.LeftOut]{
		{Name: "job_id", Head: "job", Align: report.Left},
		{Name: "why", Align: report.Left},
	})
	return report.Doc{Lead: r.Lead(), Notes: r.Notes(), Data: r, Tables: []report.Table{points, left}}
}

// TrackDoc is the report of one GPU over time.
func TrackDoc(t *store.Track, zone *time.Location) report.Doc {
	text := func(at profile.Instant) string { return at.Std().In(zone).Format("2006-01-02 15:04:05") }
	name := "GPU " + t.Device.Label()
	samples := fmt.Sprintf(", %v samples", t.Every)
	if t.Share > 1 {
		samples += fmt.Sprintf(", %s in a column: their mean, and the highest", capcli.Grouped(t.Share))
	}
	d := report.Doc{Lead: fmt.Sprintf("%s of %s, %s: %s to %s.", name, t.Host, t.Device.Model, text(t.From), text(t.To)), Data: t}
	for _, l := range t.Lines {
		if !l.Known {
			d.Notes = append(d.Notes, l.Title+" was not reported")
			continue
		}
		lines := []report.Line{{Name: "mean", Values: l.Mean}}
		if t.Share > 1 {
			lines = append(lines, report.Line{Name: "highest", Values: l.Max})
		}
		d.Charts = append(d.Charts, report.Chart{Title: name + " " + l.Title + samples, Height: 5, Top: l.Top, From: text(t.From), To: text(t.To), Lines: lines})
		samples = "" // the first chart alone says how samples are grouped
	}
	rows := make([]int, len(t.Starts))
	fields := []report.Field[int]{
		{Name: "from", Cell: func(i int) any { return t.Starts[i].Stamp() }},
		{Name: "samples", Cell: func(i int) any { return t.Samples[i] }},
	}
	for _, l := range t.Lines {
		fields = append(fields,
			report.Field[int]{Name: l.Name + "_mean", Cell: func(i int) any { return Figure(l.Mean[i]) }},
			report.Field[int]{Name: l.Name + "_max", Cell: func(i int) any { return Figure(l.Max[i]) }})
	}
	for i := range rows {
		rows[i] = i
	}
	d.Tables = []report.Table{report.Fill(report.Table{Name: "samples", Aside: true}, rows, fields)}
	return d
}
