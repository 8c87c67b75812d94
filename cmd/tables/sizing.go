package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/decide/plan/sizing"
)

// PlanServiceDoc is the report of the size of a service.
func PlanServiceDoc(r *sizing.Result) report.Doc {
	d := report.Doc{Lead: r.Says, Notes: r.Notes, Data: r, Tables: []report.Table{}}
	if len(r.TriedRows()) > 0 {
		d.Tables = append(d.Tables, triesTable(r))
	} else {
		d.Tables = append(d.Tables, nearestTable(r))
	}
	if len(r.Choices) > 1 {
		d.Tables = append([]report.Table{choicesTable(r.Choices)}, d.Tables...)
	}
	if len(r.Costs) > 0 && r.Costs[0].Rate > 0 {
		d.Tables = append(d.Tables, serviceCostTable(r.Costs))
	}
	if len(r.Growth) > 0 {
		d.Tables = append(d.Tables, growthTable(r.Growth))
	}
	if len(r.Hours) > 0 {
		d.Tables = append(d.Tables, report.Fill(report.Table{Name: "hours", Title: "By hour", Most: 48}, r.Hours, []report.Field[sizing.Hour]{
			{Name: "start_s", Head: "hour from"},
			{Name: "requests"},
			{Name: "requests_per_s", Head: "rate", As: report.AsRatio, Priority: 1},
			{Name: "replicas"},
			{Name: "gpus", Head: "GPUs"},
		}))
	}
	if s := r.Split; s != nil && len(s.Purchases) > 0 {
		d.Tables = append(d.Tables, purchaseTable(s.Purchases))
	}
	return d
}

// triesTable shows each number of replicas that was tried, with what the promises came to.
func triesTable(r *sizing.Result) report.Table {
	t := report.Table{Name: "tried", Title: "Replicas tried", Most: 30, Columns: []report.Column{{Name: "replicas"}, {Name: "slo_met", Head: "SLO met", Priority: 1}}}
	for _, c := range r.TriedMetrics() {
		t.Columns = append(t.Columns, report.Column{Name: c.Name, Align: report.Right})
	}
	t.Columns = append(t.Columns, report.Column{Name: "holds"})
	for _, x := range r.TriedRows() {
		row := []any{int64(x.Replicas), x.Met}
		for i, c := range r.TriedMetrics() {
			row = append(row, promiseCell(c, &x.Promises[i]))
		}
		t.Rows = append(t.Rows, append(row, yesNo(x.Holds)))
	}
	return t
}

// nearestTable shows what the promises come to where each request has a replica to itself.
func nearestTable(r *sizing.Result) report.Table {
	t := report.Table{Name: "nearest", Title: "Where no request waits for another", Columns: []report.Column{{Name: "metric"}, {Name: "value", Align: report.Right}, {Name: "holds"}}}
	for i, c := range r.TriedMetrics() {
		if alone := r.Choices[0].Alone; i < len(alone) {
			t.Rows = append(t.Rows, []any{c.Name, promiseCell(c, &alone[i]), yesNo(alone[i].Holds)})
		}
	}
	return t
}

// promiseCell is what came of a promise: a time or a share; nil where it is not known.
func promiseCell(c sizing.Column, k *sizing.Kept) any {
	switch {
	case k.Value == nil:
		return nil
	case c.Share:
		return report.AsPercent(*k.Value)
	}
	return report.AsMicros(*k.Value * 1e6)
}

func yesNo(yes bool) report.Verdict {
	if yes {
		return report.Verdict{Text: "yes", Good: true}
	}
	return report.Verdict{Text: "no"}
}

func choicesTable(list []sizing.Size) report.Table {
	return report.Fill(report.Table{Name: "choices", Title: "By GPU model, width and weights"}, list, []report.Field[sizing.Size]{
		{Name: "gpu_model", Head: "GPU model"},
		{Name: "tensor_parallel", Head: "width", Cell: func(s sizing.Size) any {
			if s.Tensor == 0 {
				return nil
			}
			return s.Tensor
		}},
		{Name: "weights"},
		{Name: "replicas"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "usd_per_month", Head: "a month", Cell: func(s sizing.Size) any {
			if s.Cost == nil {
				return nil
			}
			return s.Cost.PerMonth
		}},
		{Name: "why", Head: "why not", Priority: 1, Cell: func(s sizing.Size) any { return s.WhyNot() }},
	})
}

func serviceCostTable(list []sizing.Cost) report.Table {
	return report.Fill(report.Table{Name: "costs", Title: "Cost by term, with all GPUs held all the time"}, list, []report.Field[sizing.Cost]{
		{Name: "term"},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour"},
		{Name: "usd_per_month", Head: "a month"},
		{Name: "usd_per_year", Head: "a year"},
		{Name: "usd_per_million_tokens", Head: "$/Mtok"},
		{Name: "usd_per_million_tokens_out", Head: "$/Mtok out", Priority: 1},
		{Name: "usd_per_1000_requests", Head: "$/1000 requests", Priority: 2},
	})
}

func growthTable(list []sizing.Grown) report.Table {
	return report.Fill(report.Table{Name: "growth", Title: "If the load grows"}, list, []report.Field[sizing.Grown]{
		{Name: "load", Head: "load", As: report.AsRatio},
		{Name: "replicas"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "usd_per_month", Head: "a month", Cell: func(g sizing.Grown) any {
			if g.Cost == nil {
				return nil
			}
			return g.Cost.PerMonth
		}},
		{Name: "holds_as_is", Head: "holds as is", Cell: func(g sizing.Grown) any { return yesNo(g.Holds) }},
		{Name: "why", Head: "why not", Priority: 1},
	})
}
