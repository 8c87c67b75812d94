// Package timeline shows what a run did over time: as charts of text for a terminal, and as tables.
package timeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/outcome"
)

// MaxJobs is the most jobs that a chart shows one by one where it was not asked for.
const MaxJobs = 40

// words are the names of tiers for people.
var words = map[string]string{"committed": "committed", "on_demand": "on-demand", "spot": "spot"}

// Charts returns the charts of a timeline: GPUs in use by tier against committed capacity and
// demand, the queue, the hours of the week, and the jobs if the timeline has them. rows is the
// height of the first charts.
func Charts(t *outcome.Timeline, rows int) []report.Chart {
	out := []report.Chart{Use(t, rows), Queue(t, max(2, rows-2)), Week(t)}
	if len(t.Jobs) > 0 {
		out = append(out, Jobs(t))
	}
	return out
}

// Use returns the chart of GPUs in use by tier, under the lines of committed GPUs and of demand.
func Use(t *outcome.Timeline, rows int) report.Chart {
	c := report.Chart{Stack: true, Height: rows, Title: useTitle(t)}
	c.From, c.To = ends(t)
	for i := range t.Tiers {
		c.Lines = append(c.Lines, report.Line{Name: "used, " + words[t.Tiers[i].Tier], Values: t.Tiers[i].Used})
	}
	if slices.ContainsFunc(t.Committed, func(v float64) bool { return v > 0 }) {
		c.Lines = append(c.Lines, report.Line{Name: "committed", Values: t.Committed, Over: true})
	}
	c.Lines = append(c.Lines, report.Line{Name: "demand (unconstrained)", Values: t.Demand, Over: true})
	return c
}

// ends returns the days on which a timeline begins and ends.
func ends(t *outcome.Timeline) (from, to string) {
	end := t.Start + capcli.Time(t.Length)
	if t.Length < 2*24*capcli.Hour {
		return t.Start.Std().Format("2006-01-02 15:04"), end.Std().Format("2006-01-02 15:04")
	}
	return t.Start.Date(), end.Date()
}

// useTitle says how much was used and wanted, computed from the steps.
func useTitle(t *outcome.Timeline) string {
	m, used := meanOf{t}, []float64(nil)
	for i := range t.Demand {
		sum := capcli.Sum(t.Tiers, func(x outcome.TierLine) float64 { return x.Used[i] })
		used = append(used, sum)
	}
	return fmt.Sprintf("GPUs in use: %s on average, at most %s in a step of %s; demand %s on average, at most %s",
		gpus(m.meanOver(used)), gpus(largest(used)), stepText(t.Step), gpus(m.meanOver(t.Demand)), gpus(largest(t.Demand)))
}

// meanOver returns the mean of a line over the run: its last step may be shorter.
func (m meanOf) meanOver(values []float64) float64 {
	sum, length := 0.0, 0.0
	for i, v := range values {
		dt := float64(min(m.Step, m.Length-capcli.Seconds(i)*m.Step))
		sum, length = sum+v*dt, length+dt
	}
	if length == 0 {
		return 0
	}
	return sum / length
}

// meanOf takes means over the steps of a timeline.
type meanOf struct{ *outcome.Timeline }

func largest(values []float64) float64 {
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	return top
}

// gpus returns a number of GPUs as text, to a tenth below 100.
func gpus(v float64) string {
	if v < 99.95 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	}
	return capcli.Grouped(int64(math.Round(v)))
}

// Queue returns the chart of waiting jobs, with their peak.
func Queue(t *outcome.Timeline, rows int) report.Chart {
	peaks := capcli.Map(t.WaitingPeak, func(p int64) float64 { return float64(p) })
	at := 0
	for i := range peaks {
		if peaks[i] > peaks[at] {
			at = i
		}
	}
	m := meanOf{t}
	title := "Jobs waiting: none at any time"
	if len(peaks) > 0 && peaks[at] > 0 {
		title = fmt.Sprintf("Jobs waiting: %s on average, at most %s, on %s; they want %s GPUs on average",
			gpus(m.meanOver(t.Waiting)), gpus(peaks[at]), (t.Start + capcli.Time(at)*capcli.Time(t.Step)).Date(), gpus(m.meanOver(t.Queue)))
	}
	c := report.Chart{Title: title, Height: rows, Lines: []report.Line{{Name: "waiting, mean", Values: t.Waiting, Peaks: peaks}}}
	c.From, c.To = ends(t)
	return c
}

var days = [7]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// Week returns the heat map of GPUs in use by day of the week and hour of the day.
func Week(t *outcome.Timeline) report.Chart {
	c := report.Chart{}
	busy, calm, top, low := "", "", math.Inf(-1), math.Inf(1)
	for d := range t.HourOfWeek {
		l, known := report.Line{Name: days[d]}, false
		for h, v := range t.HourOfWeek[d] {
			if v == nil {
				l.Values = append(l.Values, math.NaN())
				continue
			}
			l.Values, known = append(l.Values, *v), true
			if *v > top {
				busy, top = fmt.Sprintf("%s %02d:00", days[d], h), *v
			}
			if *v < low {
				calm, low = fmt.Sprintf("%s %02d:00", days[d], h), *v
			}
		}
		if known { // a short run has few days
			c.Lines = append(c.Lines, l)
		}
	}
	for h := range 24 {
		c.Columns = append(c.Columns, fmt.Sprint(h))
	}
	c.Title = "GPUs in use by hour of the week, " + t.Zone
	if busy != "" {
		c.Title += fmt.Sprintf(": most on %s (%s), fewest on %s (%s)", busy, gpus(top), calm, gpus(low))
	}
	return c
}

// Jobs returns the Gantt chart of the jobs: when each waited, and in which pool it ran.
func Jobs(t *outcome.Timeline) report.Chart {
	s := &report.Spans{To: float64(t.Length), Kinds: []string{"waiting"}}
	preempted := 0
	for i := range t.Jobs {
		j := &t.Jobs[i]
		row := report.SpanRow{Name: j.ID, Note: report.CountText(j.GPUs)}
		for _, x := range j.Spells {
			kind := 0
			if x.State != outcome.SpellWaiting {
				kind = slices.Index(s.Kinds, "ran in "+x.Pool)
				if kind < 0 {
					kind = len(s.Kinds)
					s.Kinds = append(s.Kinds, "ran in "+x.Pool)
				}
			}
			broken := x.State == outcome.SpellPreempted
			if broken {
				preempted++
			}
			row.Bars = append(row.Bars, report.SpanBar{From: float64(x.From), To: float64(x.To), Kind: kind, Broken: broken})
		}
		switch j.State {
		case outcome.JobUnplaceable:
			row.After = "can never run"
		case outcome.JobDropped:
			row.After = "given up"
		case outcome.JobWaiting, outcome.JobRunning, outcome.JobFinished:
		}
		s.Rows = append(s.Rows, row)
	}
	c := report.Chart{Title: fmt.Sprintf("Jobs over time: %d jobs, with the GPUs that each wants; %d stays ended by preemption", len(t.Jobs), preempted), Spans: s}
	c.From, c.To = ends(t)
	return c
}

// Tables returns the timeline as tables: a row a step, a week, an hour of the week, and a spell of a
// job.
func Tables(t *outcome.Timeline) []report.Table {
	return []report.Table{stepTable(t), weekTable(t), hourTable(t), jobTable(t)}
}

func stepTable(t *outcome.Timeline) report.Table {
	out := report.Table{Name: "timeline", Aside: true, Title: fmt.Sprintf("Means over steps of %s, in GPUs", stepText(t.Step))}
	add := func(name string) { out.Columns = append(out.Columns, report.Column{Name: name}) }
	add("start")
	for i := range t.Tiers {
		add("used_" + t.Tiers[i].Tier + "_gpus")
		add("offered_" + t.Tiers[i].Tier + "_gpus")
	}
	for _, name := range []string{"committed_gpus", "demand_gpus", "idle_gpus", "blocked_gpus", "down_gpus", "waiting_jobs", "waiting_jobs_peak", "queue_gpus"} {
		add(name)
	}
	for i := range t.Demand {
		row := []any{t.Start + capcli.Time(i)*capcli.Time(t.Step)}
		for k := range t.Tiers {
			row = append(row, t.Tiers[k].Used[i], t.Tiers[k].Offered[i])
		}
		out.Rows = append(out.Rows, append(row, t.Committed[i], t.Demand[i], t.Idle[i], t.Blocked[i], t.Down[i], t.Waiting[i], t.WaitingPeak[i], t.Queue[i]))
	}
	return out
}

func weekTable(t *outcome.Timeline) report.Table {
	out := report.Table{Name: "weeks", Aside: true, Title: "Cost and use by week, from Monday (UTC)", Columns: []report.Column{
		{Name: "week"}, {Name: "length_s", Head: "length"}, {Name: "tier"}, {Name: "used_gpu_hours", Head: "used"}, {Name: "offered_gpu_hours", Head: "offered"}, {Name: "cost_usd", Head: "cost"},
	}}
	for i := range t.Weeks {
		w := &t.Weeks[i]
		for k := range w.Tiers {
			x := &w.Tiers[k]
			var cost any
			if x.Cost != nil {
				cost = *x.Cost
			}
			out.Rows = append(out.Rows, []any{w.Start.Date(), w.Length, x.Tier, x.Used, x.Offered, cost})
		}
	}
	return out
}

func hourTable(t *outcome.Timeline) report.Table {
	out := report.Table{Name: "hours", Aside: true, Title: "GPUs in use by hour of the week, " + t.Zone, Columns: []report.Column{{Name: "day"}, {Name: "hour"}, {Name: "used_gpus"}}}
	for d := range t.HourOfWeek {
		for h, v := range t.HourOfWeek[d] {
			var used any
			if v != nil {
				used = *v
			}
			out.Rows = append(out.Rows, []any{days[d], int64(h), used})
		}
	}
	return out
}

func jobTable(t *outcome.Timeline) report.Table {
	out := report.Table{Name: "spells", Aside: true, Title: "What each job did, in seconds since the start", Columns: []report.Column{
		{Name: "job_id"}, {Name: "tenant"}, {Name: "gpus"}, {Name: "state"}, {Name: "pool"}, {Name: "from_s"}, {Name: "to_s"},
	}}
	for i := range t.Jobs {
		j := &t.Jobs[i]
		for _, x := range j.Spells {
			out.Rows = append(out.Rows, []any{j.ID, j.Tenant, j.GPUs, string(x.State), x.Pool, x.From, x.To})
		}
	}
	return out
}

// stepText returns the length of a step as text: 2 h, 1 d.
func stepText(s capcli.Seconds) string {
	switch {
	case s%86400 == 0:
		return fmt.Sprintf("%d d", s/86400)
	case s%3600 == 0:
		return fmt.Sprintf("%d h", s/3600)
	case s%60 == 0:
		return fmt.Sprintf("%d min", s/60)
	}
	return fmt.Sprintf("%d s", s)
}
