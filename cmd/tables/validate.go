package tables

import (
	"fmt"

	"capcli/cmd/report"
	"capcli/scenarios/validate"
)

// ValidateDoc is the report of a log held against its simulation.
func ValidateDoc(r *validate.Result, form string) report.Doc {
	d := report.Doc{Lead: JoinSentences(r.Answer, r.Sentence), Data: r}
	if form != "csv" && form != "tsv" {
		d.Notes = r.Notes
	}
	d.Tables = []report.Table{measureTable(r), explainedTable(r.Explanations)}
	if r.Fit != nil {
		d.Lead = JoinSentences(d.Lead, r.Fit.Text())
		d.Tables = append(d.Tables, choiceTable(r.Fit))
	}
	weeks := waitGroups("weeks", "By week, from the first job", r.Weeks)
	weeks.Aside = true
	d.Tables = append(
		d.Tables, waitGroups("sizes", "By size, in "+r.SizeUnit(), r.Sizes), waitGroups("tenants", "By tenant, longest total wait first", r.Tenants), weeks,
		report.Fill(report.Table{Name: "most_wrong", Title: "Largest errors by tenant and week", Most: 5}, r.Wrong, []report.Field[validate.TenantWeek]{
			{Name: "week"}, {Name: "tenant", Align: report.Left}, {Name: "recorded_s", Head: "recorded wait"}, {Name: "simulated_s", Head: "simulated wait"},
		}),
		report.Fill(report.Table{Name: "no_starts", Title: "Times without a start, although jobs of two tenants would have fitted", Most: 5, Aside: len(r.NoStarts) == 0}, r.NoStarts, []report.Field[validate.Pause]{
			{Name: "from"}, {Name: "to"}, {Name: "from_s", Priority: 2}, {Name: "to_s", Priority: 2},
		}),
		report.Fill(report.Table{Name: "overtaken", Title: "Jobs overtaken by later jobs that are no smaller and no shorter: held back by a rule or a hold", Most: 5, Aside: len(r.Overtaken) == 0}, r.Overtaken, []report.Field[validate.Held]{
			{Name: "job_id", Head: "job", Align: report.Left}, {Name: "tenant", Align: report.Left}, {Name: "wait_s", Head: "wait"}, {Name: "by", Head: "by jobs"}, {Name: "not_eligible_before", Head: "not before"}, {Name: "not_eligible_before_s", Priority: 3},
		}),
	)
	return d
}

// measureTable has a row a measure: the whole log, its floor, and the later half.
func measureTable(r *validate.Result) report.Table {
	t := report.Table{Name: "measures", Title: "Recorded against simulated waits (distance and error of log10(wait + 60 s))", Columns: []report.Column{
		{Name: "measure"},
		{Name: "recorded"},
		{Name: "simulated"},
		{Name: "floor"},
		{Name: "limits_are_runs", Head: "limits = runs", Priority: 1},
		{Name: "later_recorded", Head: "later half: recorded"},
		{Name: "later_simulated", Head: "simulated"},
		{Name: "later_floor", Head: "floor", Priority: 2},
	}}
	for _, m := range r.Measures() {
		t.Rows = append(t.Rows, []any{report.Label{Name: m.Name, Head: m.Head}, m.Recorded, m.Simulated, m.Floor, m.Perfect, m.LaterRecorded, m.LaterSimulated, m.LaterFloor})
	}
	return t
}

func explainedTable(list []validate.Explanation) report.Table {
	return report.Fill(report.Table{Name: "explained", Title: "With hindsight, to see why they differ (not a measure of the model)"}, list, []report.Field[validate.Explanation]{
		{Name: "with", Align: report.Left, Head: "replay that knows"},
		{Name: "p95_s", Head: "wait p95", Cell: func(x validate.Explanation) any { return x.Simulated.P95 }},
		{Name: "mean_s", Head: "mean", Cell: func(x validate.Explanation) any { return report.MeanTime(x.Simulated.Mean) }},
		{Name: "qdist", Head: "quantile distance", As: report.AsRatio},
		{Name: "mae_log10", Head: "error by job", As: report.AsRatio},
		{Name: "brier_1h", Head: "Brier >1 h", As: report.AsRatio, Priority: 1},
	})
}

func waitGroups(name, title string, list []validate.Group) report.Table {
	return report.Fill(report.Table{Name: name, Title: title, Most: 10, Aside: len(list) < 2}, list, []report.Field[validate.Group]{
		{Name: "group", Head: " ", Align: report.Left},
		{Name: "measured_jobs", Head: "jobs"},
		{Name: "recorded_p95_s", Head: "p95 recorded", Cell: func(g validate.Group) any { return g.Recorded.P95 }},
		{Name: "simulated_p95_s", Head: "simulated", Cell: func(g validate.Group) any { return g.Simulated.P95 }},
		{Name: "recorded_mean_s", Head: "mean recorded", Cell: func(g validate.Group) any { return report.MeanTime(g.Recorded.Mean) }},
		{Name: "simulated_mean_s", Head: "simulated", Cell: func(g validate.Group) any { return report.MeanTime(g.Simulated.Mean) }},
		{Name: "bias_log10", Head: "bias", As: report.AsRatio, Priority: 1},
		{Name: "mae_log10", Head: "error", As: report.AsRatio, Priority: 2},
	})
}

func choiceTable(f *validate.Fit) report.Table {
	rows := append([]validate.Choice{f.Asked}, f.Chosen)
	return report.Fill(report.Table{Name: "fit", Title: fmt.Sprintf("Asked for, and best of %d on the jobs before %s", f.Tried, f.Cut.Date())}, rows, []report.Field[validate.Choice]{
		{Name: "choice", Align: report.Left, Cell: func(c validate.Choice) any { return c.Text() }},
		{Name: "earlier_qdist", Head: "earlier half: distance", Cell: func(c validate.Choice) any { return report.Ratio(c.Earlier.Distance) }},
		{Name: "earlier_mae_log10", Head: "error", Cell: func(c validate.Choice) any { return report.Ratio(c.Earlier.Error) }},
		{Name: "later_qdist", Head: "later half: distance", Cell: func(c validate.Choice) any { return report.Ratio(c.Later.Distance) }},
		{Name: "later_mae_log10", Head: "error", Cell: func(c validate.Choice) any { return report.Ratio(c.Later.Error) }},
		{Name: "later_brier_1h", Head: "Brier >1 h", Priority: 1, Cell: func(c validate.Choice) any { return report.Ratio(c.Later.Brier) }},
	})
}
