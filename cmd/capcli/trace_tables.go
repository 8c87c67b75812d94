package main

import (
	"fmt"
	"time"

	"capcli"
	"capcli/cmd/report"
	"capcli/profile/trace"
)

// shownShares is how many tenants, partitions or models a terminal shows.
const shownShares = 10

// figures are the description's single figures, one in a row.
func (d *description) figures() report.Table {
	t := newFigures("figures")
	t.add("jobs", "jobs", d.Jobs)
	t.add("cpu_only_jobs", "of them without a GPU", d.CPUOnlyJobs)
	t.add("first_submit", "first submit", d.FirstSubmit)
	t.add("last_submit", "last submit", d.LastSubmit)
	t.add("span_s", "span", capcli.Seconds(d.SpanS))
	t.add("gpu_hours", "GPU-hours wanted", d.GPUHours)
	quantiles := func(name string, q *trace.Quantiles) {
		if q == nil {
			t.add(name+"_p50_s", name+" p50", nil)
			return
		}
		t.add(name+"_mean_s", name+" mean", capcli.Seconds(q.MeanS+0.5))
		t.add(name+"_p50_s", name+" p50", q.P50)
		t.add(name+"_p90_s", name+" p90", q.P90)
		t.add(name+"_p95_s", name+" p95", q.P95)
		t.add(name+"_p99_s", name+" p99", q.P99)
		t.add(name+"_max_s", name+" max", q.Max)
	}
	quantiles("run", &d.Run)
	quantiles("wait", d.Wait)
	level := func(name string, l *trace.Level) {
		if l == nil {
			t.add(name+"_mean_gpus", name+", mean GPUs", nil)
			return
		}
		t.add(name+"_mean_gpus", name+", mean GPUs", l.MeanGPUs)
		t.add(name+"_peak_hour_gpus", name+", busiest hour, GPUs", l.PeakGPUs)
		t.add(name+"_peak_hour", name+", busiest hour", l.PeakAt)
	}
	level("demand", &d.Demand)
	level("use", d.Use)
	if d.Read.MachineGPUs != nil {
		t.add("machine_gpus", "GPUs of the machine", *d.Read.MachineGPUs)
	}
	return t.Table
}

// arrivals draws when jobs come, in one line each.
func (d *description) arrivals() []report.Chart {
	spark := func(title string, counts []int64) report.Chart {
		values := make([]float64, len(counts))
		for i, n := range counts {
			values[i] = float64(n)
		}
		return report.Chart{Title: title, Height: 1, Lines: []report.Line{{Values: values}}}
	}
	return []report.Chart{
		spark("arrivals by hour, 0 to 23, "+d.Zone+":", d.Hours[:]),
		spark("arrivals by weekday, Monday to Sunday:", d.Weekdays[:]),
	}
}

// shareColumns are those of every table of parts of the whole.
func shareColumns(first ...report.Column) []report.Column {
	return append(
		first,
		report.Column{Name: "jobs"},
		report.Column{Name: "gpu_hours", Head: "GPU-hours"},
		report.Column{Name: "gpu_hours_share", Head: "share"},
		report.Column{Name: "bar", Head: " ", Align: report.Left, Priority: 1, Picture: true},
	)
}

func shareCells(jobs int64, hours, part float64) []any {
	return []any{jobs, hours, report.Percent(part), report.Bar(part, 1, 20)}
}

func (d *description) sizes() report.Table {
	t := report.Table{Name: "sizes", Columns: shareColumns(report.Column{Name: "gpus", Head: "GPUs"}), Most: 20}
	for _, s := range d.Sizes {
		var gpus any = s.GPUs
		if s.GPUs == float64(int64(s.GPUs)) {
			gpus = int64(s.GPUs)
		}
		t.Rows = append(t.Rows, append([]any{gpus}, shareCells(s.Jobs, s.GPUHours, s.Part)...))
	}
	return t
}

func (d *description) lengths() report.Table {
	t := report.Table{Name: "run_classes", Columns: shareColumns(
		report.Column{Name: "run_from_s", Head: "run from"}, report.Column{Name: "run_to_s", Head: "to under"},
	)}
	for _, c := range d.RunClasses {
		var to any = c.ToS
		if c.ToS == 0 {
			to = report.Label{Head: "no end"}
		}
		t.Rows = append(t.Rows, append([]any{c.FromS, to}, shareCells(c.Jobs, c.GPUHours, c.Part)...))
	}
	return t
}

// shares is a table of tenants, partitions, models or states. One that names
// nothing is put aside.
func shares(name, head string, list []trace.Share) report.Table {
	t := report.Table{
		Name: name, Columns: shareColumns(report.Column{Name: "name", Head: head, Align: report.Left}),
		Most: shownShares, Aside: len(list) == 0 || len(list) == 1 && list[0].Name == "",
	}
	for _, s := range list {
		var who any = s.Name
		if s.Name == "" {
			who = "(unnamed)"
		}
		t.Rows = append(t.Rows, append([]any{who}, shareCells(s.Jobs, s.GPUHours, s.Part)...))
	}
	return t
}

func (d *description) hours() report.Table {
	t := report.Table{Name: "arrivals_by_hour", Aside: true, Columns: []report.Column{{Name: "hour"}, {Name: "jobs"}}}
	for h, n := range d.Hours {
		t.Rows = append(t.Rows, []any{fmt.Sprintf("%02d:00 %s", h, d.Zone), n})
	}
	return t
}

func (d *description) weekdays() report.Table {
	t := report.Table{Name: "arrivals_by_weekday", Aside: true, Columns: []report.Column{{Name: "weekday"}, {Name: "jobs"}}}
	for i, n := range d.Weekdays {
		t.Rows = append(t.Rows, []any{time.Weekday((i + 1) % 7).String(), n})
	}
	return t
}
