package tables

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/outcome"
)

// MixDoc is the report of a plan: a lead on the best mix, then tables.
func MixDoc(r *mix.Result, form string) report.Doc {
	d := report.Doc{Lead: r.Lead(), Notes: r.Notes, Data: r, Tables: []report.Table{mixesTable(r)}}
	if r.Best == nil {
		d.Tables = append(d.Tables, closestTable(r))
	}
	if r.Commitments != nil {
		d.Tables = append(d.Tables, boughtTable(r), committedAsTable(r), billTieTable(r))
	}
	d.Tables = append(d.Tables, frontierTable(r))
	if r.Best != nil && r.Partial == "" {
		d.Tables = append(d.Tables, marginalTable(r), tieTable(r), tornadoTable(r))
	}
	if r.Futures != nil {
		d.Tables = append(d.Tables, playedTable(r))
	}
	if len(r.Models) > 0 {
		d.Tables = append(d.Tables, modelsTable(r))
	}
	if c, ok := frontierChart(r); ok && (form == "table" || form == "md") {
		d.Charts = append(d.Charts, c)
	}
	return d
}

func lengthText(s capcli.Seconds) string { return mix.LengthText(s) }

// forLength says, for a title, the length of time that amounts cover.
func forLength(r *mix.Result) string {
	for _, e := range r.Found.Entries {
		if e.Fate == mix.Full && r.Base.Period.IsKnown() {
			return fmt.Sprintf("; amounts are for %s", lengthText(e.Length()))
		}
	}
	return "; amounts are for the time that each mix takes for its jobs"
}

// mixFields are the columns that identify a mix: its number and its value on each axis.
func mixFields(r *mix.Result) []report.Field[*mix.Mix] {
	out := []report.Field[*mix.Mix]{{Name: "mix", Align: report.Right}}
	for i, axis := range r.Axes {
		out = append(out, report.Field[*mix.Mix]{Name: axis.Path, Head: mix.AxisName(axis.Path), Align: report.Right, Cell: func(m *mix.Mix) any { return m.Choices[i].Value }})
	}
	return out
}

// meanField is the column of a metric: the mean over the runs of a mix, with its range where there
// are several.
func meanField(name, head string, priority int, metric string, cell func(float64) any) report.Field[*mix.Mix] {
	return report.Field[*mix.Mix]{Name: name, Head: head, Priority: priority, Cell: func(m *mix.Mix) any {
		v, ok := m.Entry.Mean(metric)
		switch {
		case !ok:
			return nil
		case len(m.Entry.Outcomes) == 1:
			return cell(v)
		}
		lo, hi, _ := m.Entry.Range(metric)
		return report.Range{Mid: cell(v), Lo: cell(lo), Hi: cell(hi)}
	}}
}

// waitField is the column of the p95 wait. Its range has the error of the waits on the log's own past.
func waitField(r *mix.Result) report.Field[*mix.Mix] {
	f := meanField("wait_p95_s", "wait p95", 0, "wait_p95", report.AsSeconds)
	plain := f.Cell
	f.Cell = func(m *mix.Mix) any {
		v, ok := m.Entry.Mean("wait_p95")
		if !ok || r.OwnPast == nil {
			return plain(m)
		}
		return report.Range{Mid: report.AsSeconds(v), Lo: report.AsSeconds(m.WaitRange[0]), Hi: report.AsSeconds(m.WaitRange[1])}
	}
	return f
}

// heldField is the column with the share of the runs in which a mix holds the limits.
var heldField = report.Field[*mix.Mix]{Name: "held_share", Head: "limits held", As: report.AsPercent, Cell: func(m *mix.Mix) any { return m.Entry.HeldShare() }}

func mixesTable(r *mix.Result) report.Table {
	return report.Fill(report.Table{Name: "plans", Title: "Mixes, cheapest first" + forLength(r), Most: 12}, r.Listed(), append(mixFields(r),
		meanField("cost_usd", "cost", 0, "cost", report.AsMoney),
		report.Field[*mix.Mix]{Name: "cost_per_year_usd", Head: "per year", Priority: 4},
		meanField("unserved_share", "unserved", 0, "unserved_share", report.AsPercent),
		waitField(r),
		report.Field[*mix.Mix]{Name: "wait_mean_s", Head: "mean wait", As: report.AsSeconds, Priority: 1},
		report.Field[*mix.Mix]{Name: "wait_job_hours", Head: "job-hours", Priority: 1},
		meanField("stranded_usd", "stranded", 2, "stranded", report.AsMoney),
		meanField("availability", "available", 3, "availability", report.AsPercent),
		heldField,
		report.Field[*mix.Mix]{Name: "is", Head: " ", Align: report.Left, Priority: 1, Cell: func(m *mix.Mix) any { return strings.Join(m.Is, ", ") }},
	))
}

// boughtTable lists the commitments that are bills.
func boughtTable(r *mix.Result) report.Table {
	return report.Fill(report.Table{Name: "commitments", Title: "Commitments that cover use on demand, and are no place"}, r.Commitments.Bought, []report.Field[mix.Commitment]{
		{Name: "offer"},
		{Name: "gpu_model", Head: "GPU model", Priority: 2},
		{Name: "start", Cell: func(c mix.Commitment) any { return c.Start.Date() }},
		{Name: "end", Cell: func(c mix.Commitment) any { return c.End.Date() }},
		{Name: "units", Priority: 2},
		{Name: "gpus", Head: "GPUs"},
		{Name: "usd_per_unit_hour", Head: "$/unit-hour"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "cost_after_the_runs_usd", Head: "after the runs", Priority: 1},
	})
}

// committedAsTable compares the ways to commit.
func committedAsTable(r *mix.Result) report.Table {
	return report.Fill(report.Table{Name: "committed_as", Title: "Committed as a bill or as a place"}, r.CommittedAs, []report.Field[mix.CommittedAs]{
		{Name: "as"}, {Name: "mix", Align: report.Right}, {Name: "place_gpus", Head: "place GPUs"}, {Name: "bill_gpus", Head: "covers GPUs"}, {Name: "cost_usd", Head: "cost"}, {Name: "more_than_plan_usd", Head: "more"},
	})
}

// billTieTable has the break-even price of each offer that covers.
func billTieTable(r *mix.Result) report.Table {
	return report.Fill(report.Table{Name: "commitment_break_even", Title: "Break-even prices of what covers, on the use of the plan", Aside: len(r.Bills) == 0}, r.Bills, []report.Field[mix.BillTie]{
		{Name: "offer"}, {Name: "gpus", Head: "GPUs"}, {Name: "usd_per_gpu_hour", Head: "$/GPU-hour"}, {Name: "break_even_usd_per_gpu_hour", Head: "break-even"}, {Name: "without_it_usd", Head: "without it"},
	})
}

// modelsTable lists the best mix of each GPU model alone.
func modelsTable(r *mix.Result) report.Table {
	return report.Fill(report.Table{Name: "models", Title: "One GPU model alone, under the same rules"}, r.Models, []report.Field[mix.ModelMix]{
		{Name: "gpu_model", Head: "GPU model"},
		{Name: "committed_gpus", Head: "GPUs"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "more_than_plan_usd", Head: "more"},
		{Name: "jct_mean_s", Head: "mean end", As: report.AsSeconds},
		{Name: "holds_limits", Head: "limits", Cell: func(m mix.ModelMix) any { return yesNo(m.Holds) }},
	})
}

// closestTable shows how far the nearest mix is from each limit.
func closestTable(r *mix.Result) report.Table {
	t := report.Table{Name: "limits", Title: "Nearest mix", Columns: []report.Column{
		{Name: "limit"}, {Name: "found", Align: report.Right}, {Name: "beyond_by", Head: "beyond by", Align: report.Right}, {Name: "held_share", Head: "held"}, {Name: "binds"},
	}}
	if r.Closest == nil {
		return t
	}
	for i, d := range r.Found.Distances(r.Closest.Entry) {
		row := []any{d.Limit, nil, nil, report.Percent(d.Held), ""}
		if m := outcome.MetricNamed(r.Limits[i].Metric); d.Mean != nil {
			row[1] = m.Text(*d.Mean)
			if *d.Miss > 0 {
				row[2] = m.Text(*d.Miss)
			}
		}
		if i == r.Found.Binding() {
			row[4] = "yes"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// frontierTable lists the Pareto frontier of cost and wait: the mixes for which no other costs less
// and waits no longer.
func frontierTable(r *mix.Result) report.Table {
	return report.Fill(report.Table{Name: "frontier", Aside: true}, r.Frontier, append(mixFields(r),
		report.Field[*mix.Mix]{Name: "cost_usd", Head: "cost", Cell: func(m *mix.Mix) any { return m.Entry.Cost() }},
		report.Field[*mix.Mix]{Name: "unserved_share", Head: "unserved", As: report.AsPercent},
		report.Field[*mix.Mix]{Name: "wait_p95_s", Head: "wait p95", As: report.AsSeconds, Cell: func(m *mix.Mix) any { return m.Entry.Wait() }},
		heldField,
	))
}

// chartSteps is the number of costs at which the chart of the frontier is drawn.
const chartSteps = 72

// frontierChart draws the least p95 wait at each cost, from the cheapest mix to the one with the
// least wait. It reports false with fewer than two mixes on the frontier.
func frontierChart(r *mix.Result) (report.Chart, bool) {
	f := r.Frontier
	if len(f) < 2 {
		return report.Chart{}, false
	}
	values := r.WaitByCost(chartSteps)
	for i := range values {
		values[i] /= 60
	}
	return report.Chart{
		Title: "Least p95 wait, in minutes, by cost", Height: 8,
		Lines: []report.Line{{Name: "wait p95", Values: values}}, From: f[0].Entry.Cost().String(), To: f[len(f)-1].Entry.Cost().String(),
	}, true
}

// marginalTable shows the marginal value of the last GPUs of each committed pool, and marks where
// one more does not pay for itself.
func marginalTable(r *mix.Result) report.Table {
	type cutGPU struct {
		mix.MarginalGPU
		Cut string `json:"cut"`
	}
	var rows []cutGPU
	for i, m := range r.Marginal {
		cut := ""
		switch {
		case m.Best:
			cut = "<- this plan"
		case m.Why != "":
			cut = m.WhyBrief()
		case !m.Serves:
			cut = "too much unserved"
		case i > 0 && m.Saved != nil && *m.Saved <= 0 && r.Marginal[i-1].Best:
			cut = "does not pay off"
		}
		rows = append(rows, cutGPU{m, cut})
	}
	return report.Fill(report.Table{Name: "marginal", Title: "Marginal value of GPUs, over the same runs" + forLength(r)}, rows, []report.Field[cutGPU]{
		{Name: "pool"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "needed_share_of_time", Head: "needed", As: report.AsPercent},
		{Name: "cost_usd", Head: "cost"},
		{Name: "saved_usd", Head: "saved"},
		{Name: "unserved_share", Head: "unserved", As: report.AsPercent},
		{Name: "wait_p95_s", Head: "wait p95", As: report.AsSeconds},
		{Name: "cut", Head: " "},
	})
}

// tieTable has a break-even price for each pool, with the other prices unchanged.
func tieTable(r *mix.Result) report.Table {
	title := "Break-even prices"
	if r.Rival != nil {
		title = fmt.Sprintf("Break-even prices against the runner-up, mix %d (%s); the other prices stay", r.Rival.Index, r.Rival.Cost())
	}
	return report.Fill(report.Table{Name: "break_even", Title: title, Aside: len(r.BreakEven) == 0}, r.BreakEven, []report.Field[mix.Tie]{
		{Name: "pool"},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour"},
		{Name: "break_even_usd_per_gpu_hour", Head: "break-even"},
		{Name: "best_is_cheaper", Head: "this plan is cheaper", Cell: func(t mix.Tie) any {
			if t.At == nil {
				return "at any price"
			}
			return t.Best + " it"
		}},
	})
}

// tornadoTable shows the effect of each change on the best mix.
func tornadoTable(r *mix.Result) report.Table {
	most := capcli.USD(0)
	for _, w := range r.Tornado {
		most = max(most, w.Difference, -w.Difference)
	}
	return report.Fill(report.Table{Name: "sensitivity", Title: "Sensitivity: the same mix under other demand, prices and losses" + forLength(r)}, r.Tornado, []report.Field[mix.Swing]{
		{Name: "change"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "difference_usd", Head: "difference", Cell: func(w mix.Swing) any { return report.Change{Of: w.Difference} }},
		{Name: "bar", Head: " ", Picture: true, Cell: func(w mix.Swing) any {
			return report.Bar(max(w.Difference, -w.Difference).Float(), most.Float(), 20)
		}},
		{Name: "unserved_share", Head: "unserved", As: report.AsPercent},
		{Name: "wait_p95_s", Head: "wait p95", As: report.AsSeconds},
		{Name: "held_share", Head: "limits held", As: report.AsPercent},
	})
}

func playedTable(r *mix.Result) report.Table {
	return report.Fill(report.Table{Name: "futures", Title: "The best mix in each future, against the cheapest mix tried", Aside: true}, r.Futures.Runs, []report.Field[mix.PlayedFuture]{
		{Name: "future"},
		{Name: "asked_gpu_hours", Head: "forecast GPUh"},
		{Name: "drawn_gpu_hours", Head: "drawn GPUh"},
		{Name: "jobs"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "regret_usd", Head: "regret"},
		{Name: "all_limits_held", Head: "limits held"},
		{Name: "least_cost_mix", Head: "cheapest mix"},
	})
}
