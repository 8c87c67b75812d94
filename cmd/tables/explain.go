package tables

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/decide/eta"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/scenarios/validate"
)

// ExplainDoc is the report of an explanation: a lead, the parts of the figure, the effect of single
// changes, and the assumptions behind it.
func ExplainDoc(runs []*play.Run, data *explain.Result) report.Doc {
	m := outcome.MetricNamed(data.Metric)
	d := report.Doc{Lead: explainLead(m, runs, data), Data: data}
	for _, by := range []struct{ by, title string }{
		{"pool", "Breakdown by pool"}, {"month", "Breakdown by month"}, {"tenant", "Breakdown by tenant"},
	} {
		if t := partsTable(m, data.Parts, by.by, by.title); len(t.Rows) > 0 {
			d.Tables = append(d.Tables, t)
		}
	}
	if len(data.Causes) > 0 {
		d.Tables = append(d.Tables, causesTable(data))
	}
	if len(data.Again) > 0 {
		shown, rest, n := splitCauses(data.Again)
		if n > 0 && rest.Time > 0 {
			rest.Text = "others, each under 2% (-o json has them)"
			shown = append(shown, rest)
		}
		d.Tables = append(d.Tables, report.Fill(report.Table{Name: "again", Title: "Waits after a preemption or a failure, not counted above"}, shown, causeFields[:3]))
	}
	if len(data.Changes) > 0 {
		d.Tables = append(d.Tables, changesTable(m, data))
	}
	if len(d.Tables) == 0 {
		d.Tables = append(d.Tables, report.Table{Name: "figure", Columns: []report.Column{{Name: "metric"}, {Name: "value"}}, Rows: [][]any{{m.Name, explain.Text(m, data.Value)}}})
	}
	for _, u := range data.Unknown {
		d.Notes = append(d.Notes, "not known: "+u)
	}
	d.Notes = append(d.Notes, data.Notes...)
	for _, a := range data.Assumed {
		d.Notes = append(d.Notes, "* "+a)
	}
	return d
}

var causeFields = []report.Field[explain.Cause]{
	{Name: "cause", Head: "cause of the wait", Cell: func(c explain.Cause) any { return c.Text }},
	{Name: "share", As: report.AsPercent},
	{Name: "job_hours", Head: "job-hours", As: report.AsRatio, Cell: func(c explain.Cause) any { return c.Time.Hours() }},
	{Name: "jobs", Priority: 2, Cell: func(c explain.Cause) any {
		if c.Jobs == 0 {
			return nil
		}
		return c.Jobs
	}},
	{Name: "mostly", Head: " ", Priority: 1},
}

// causesShown is the number of rows of causes shown at least; further small causes are summed.
const causesShown = 7

// splitCauses returns the causes to show, the sum of the others and their number.
func splitCauses(all []explain.Cause) (shown []explain.Cause, rest explain.Cause, n int) {
	for i, c := range all {
		if i < causesShown || c.Share >= 0.02 {
			shown = append(shown, c)
			continue
		}
		rest.Share, rest.Time, n = rest.Share+c.Share, rest.Time+c.Time, n+1
	}
	return shown, rest, n
}

func causesTable(data *explain.Result) report.Table {
	shown, rest, n := splitCauses(data.Causes)
	switch {
	case len(data.Causes) <= causesShown+1: // a row for the sum would be no shorter
		shown = slices.Clip(data.Causes)
	case n > 0:
		rest.Text = fmt.Sprintf("%d other sets of causes, each under 2%% (-o json has them)", n)
		shown = append(shown, rest)
	}
	if len(data.Causes) > 1 {
		shown = append(shown, explain.Cause{Text: "all", Share: 1, Time: data.LookedAt.Time, Jobs: data.LookedAt.Jobs})
	}
	return report.Fill(report.Table{Name: "causes", Title: "Why " + data.LookedAt.Which + " waited"}, shown, causeFields)
}

// changesTable lists the changes, those that improve the figure first and those that serve less
// work last.
func changesTable(m *outcome.Metric, data *explain.Result) report.Table {
	as := metricCell(m)
	if m.Unit == outcome.InCount { // the mean of counts is no whole number
		as = report.AsRatio
	}
	cell := func(v *float64, over bool) any {
		if v == nil {
			return nil
		}
		return outcomeCell(outcome.Figure{Value: *v, AtLeast: over}, as)
	}
	t := report.Table{Name: "changes", Title: fmt.Sprintf("One change at a time (%d %s each, same seed)", data.Runs, capcli.Plural(int64(data.Runs), "run"))}
	return report.Fill(t, data.Changes, []report.Field[explain.Change]{
		{Name: "change", Cell: func(c explain.Change) any {
			if c.ServesLess {
				return "serves less work: " + c.Text
			}
			return c.Text
		}},
		{Name: "before", Head: m.Name, Priority: 2, Align: report.Right, Cell: func(c explain.Change) any { return cell(c.Before, c.BeforeOver) }},
		{Name: "after", Head: "then", Align: report.Right, Cell: func(c explain.Change) any { return cell(c.After, c.AfterOver) }},
		{Name: "difference", Align: report.Right, Priority: 1, Cell: func(c explain.Change) any {
			if c.Difference == nil || c.BeforeOver {
				return nil
			}
			return report.Change{Of: cell(c.Difference, c.AfterOver)}
		}},
		{Name: "cost_difference_usd", Head: "cost*", Align: report.Right, Cell: func(c explain.Change) any {
			if c.Cost == nil {
				return nil
			}
			return report.Change{Of: *c.Cost}
		}},
		{Name: "unserved_share", Head: "unserved", Align: report.Right, As: report.AsPercent},
	})
}

// explainLead answers in a sentence or two.
func explainLead(m *outcome.Metric, runs []*play.Run, data *explain.Result) string {
	star := ""
	if m.Unit == outcome.InUSD && data.Value != nil {
		star = "*"
	}
	over := ""
	if data.ValueOver {
		over = "over "
	}
	text := fmt.Sprintf("%s of %s is %s%s%s", m.Name, runs[0].Case.Label(), over, explain.Text(m, data.Value), star)
	if data.Value == nil {
		return text + ": " + data.ValueWhy + "."
	}
	if n := len(runs); n > 1 {
		lo, hi := slices.MinFunc(data.PerRun, byValue), slices.MaxFunc(data.PerRun, byValue)
		text += fmt.Sprintf(" (mean of %d runs, %s to %s)", n, explain.Text(m, lo), explain.Text(m, hi))
	}
	switch part := largest(data.Parts); {
	case part != nil:
		text += fmt.Sprintf("; most of it: %s, %s (%.0f%%)", part.Name, part.What, 100*part.Share)
	case data.LookedAt == nil || explain.IsSum(m):
	case data.LookedAt.Time == 0:
		text += "; none of these jobs waited"
	default:
		t := data.LookedAt
		text += fmt.Sprintf("; %s (%s) waited %s job-hours, most for: %s", t.Which, outcome.JobsText(float64(t.Jobs)), hoursText(t.Time), data.Causes[0].Text)
	}
	if u := outcome.MeanUnserved(runs); u.Share >= 0.0005 || u.Unplaceable > 0 {
		text += fmt.Sprintf("; %s is left undone", unservedText(&u))
	}
	text += "."
	if best := bestChange(m, data); best != "" {
		text += " " + best
	}
	return text
}

// largest returns the largest part by pool; nil where there is none.
func largest(parts []explain.Part) *explain.Part {
	var out *explain.Part
	for i := range parts {
		if p := &parts[i]; p.By == "pool" && (out == nil || p.Share > out.Share) {
			out = p
		}
	}
	return out
}

// hoursText formats job-hours of waiting for a sentence.
func hoursText(s capcli.Seconds) string {
	if s < 100*capcli.Hour {
		return fmt.Sprintf("%.1f", s.Hours())
	}
	return capcli.Grouped(int64(s.Hours() + 0.5))
}

func byValue(a, b *float64) int {
	switch {
	case a == nil || b == nil || *a == *b:
		return 0
	case *a < *b:
		return -1
	}
	return 1
}

// bestChange names the change that improves the figure most without serving less work.
func bestChange(m *outcome.Metric, data *explain.Result) string {
	if len(data.Changes) == 0 || data.Changes[0].Better == nil {
		return ""
	}
	c := &data.Changes[0]
	if !*c.Better {
		less := ""
		if slices.ContainsFunc(data.Changes, func(c explain.Change) bool { return c.ServesLess }) {
			less = " without serving less work"
		}
		return fmt.Sprintf("None of %d single changes improves it%s.", len(data.Changes), less)
	}
	text := fmt.Sprintf("The most effective of %d single changes: %s, to %s", len(data.Changes), c.Text, outcome.Figure{Value: *c.After, AtLeast: c.AfterOver}.Text(func(v float64) string { return explain.Text(m, &v) }))
	if c.Cost != nil {
		text += fmt.Sprintf(" (cost* %s)", signedUSD(*c.Cost))
	}
	if c.Undone > c.UndoneWas {
		text += fmt.Sprintf(", with %s of the work left undone instead of %s", outcome.ShareText(c.Undone), outcome.ShareText(c.UndoneWas))
	}
	return text + "."
}

func signedUSD(u capcli.USD) string {
	if u > 0 {
		return "+" + u.String()
	}
	return u.String()
}

// partsTable is the table of the parts by one dimension: pool, month or tenant.
func partsTable(m *outcome.Metric, parts []explain.Part, by, title string) report.Table {
	fields := []report.Field[explain.Part]{{Name: by, Cell: func(p explain.Part) any { return p.Name }}}
	if by != "month" {
		fields = append(fields, report.Field[explain.Part]{Name: "what", Head: "for"})
	}
	amount := report.Field[explain.Part]{Name: "gpu_hours", Head: "GPU-hours"}
	if m.Unit == outcome.InUSD {
		amount = report.Field[explain.Part]{Name: "cost_usd", Head: "cost*"}
	}
	fields = append(fields, amount, report.Field[explain.Part]{Name: "share", As: report.AsPercent})
	parts = slices.DeleteFunc(slices.Clone(parts), func(p explain.Part) bool { return p.By != by })
	return report.Fill(report.Table{Name: "by_" + by, Title: title}, parts, fields)
}

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

// ScoredDoc is the report of a log's estimates. Its first table has the estimate of each job.
func ScoredDoc(s *eta.Scored) report.Doc {
	jobs := report.Fill(report.Table{Name: "jobs", Title: "Estimate of each job at its submission", Aside: true}, s.Estimates, []report.Field[eta.JobEstimate]{
		{Name: "job_id", Align: report.Left}, {Name: "estimate_s"}, {Name: "lo_s"}, {Name: "hi_s"}, {Name: "p_over_1h"}, {Name: "wait_s"},
	})
	scores := report.Fill(report.Table{Name: "scores", Title: "Accuracy of the estimates; errors in log10(wait + 60 s)"}, s.Scores, []report.Field[eta.Rated]{
		{Name: "method", Align: report.Left},
		{Name: "of", Head: "over", Align: report.Left},
		{Name: "jobs", Priority: 3},
		{Name: "mae_log10", Head: "error", As: report.AsRatio},
		{Name: "med_abs_log10", Head: "median error", As: report.AsRatio, Priority: 2},
		{Name: "brier_1h", Head: "Brier >1 h", As: report.AsRatio},
		{Name: "cover80", Head: "held", As: report.AsPercent},
		{Name: "width_log10", Head: "width", As: report.AsRatio, Priority: 1},
		{Name: "interval_score", Head: "interval", As: report.AsRatio},
	})
	return report.Doc{Lead: s.Lead(), Notes: s.Notes, Data: s, Tables: []report.Table{jobs, scores}}
}

// AnswerDoc is the report of one job's estimated start.
func AnswerDoc(a *eta.Answer) report.Doc {
	figures := report.Figures("start", a, []report.Field[*eta.Answer]{
		{Name: "at", Head: "submitted"},
		{Name: "position", Head: "position in the queue"},
		{Name: "ahead_gpus", Head: "GPUs requested ahead in the queue"},
		{Name: "running_gpus", Head: "GPUs in use"},
		{Name: "capacity_gpus", Head: "capacity in GPUs, " + a.CapacityIs},
		{Name: "start", Head: "estimated start"},
		{Name: "start_lo", Head: "80% range: from"},
		{Name: "start_hi", Head: "80% range: to"},
		{Name: "estimate_s", Head: "estimated wait"},
		{Name: "p_over_1min", Head: "chance to wait over a minute", As: report.AsPercent},
		{Name: "p_over_1h", Head: "chance to wait over an hour", As: report.AsPercent},
		{Name: "replay_limits_s", Head: "wait if every job runs to its limit"},
		{Name: "replay_predicted_s", Head: "wait if jobs run as long as their tenant's last two"},
		{Name: "under_policy", Head: "wait under --policy", Cell: func(a *eta.Answer) any { return a.UnderRule.Cell() }},
		{Name: "preempts", Head: "jobs it would preempt"},
		{Name: "starts_now_gpus", Head: "most GPUs that would start at once, with this limit"},
		{Name: "starts_now_limit_s", Head: "longest limit that would start at once, with these GPUs"},
	})
	ends := report.Fill(report.Table{Name: "must_end_first", Title: "Running jobs that must end first", Most: 10}, a.MustEnd, []report.Field[eta.Blocker]{
		{Name: "job_id", Align: report.Left},
		{Name: "tenant", Align: report.Left, Priority: 2},
		{Name: "gpus", Head: "GPUs"},
		{Name: "started", Priority: 1},
		{Name: "believed_end", Head: "expected end"},
		{Name: "ends_in_s", Head: "in"},
	})
	tables := []report.Table{figures, ends}
	if len(a.Held) > 0 {
		tables = append(tables, report.Fill(report.Table{Name: "held", Title: "Waiting jobs that free GPUs would not start, by Slurm's reason: not in the line", Most: 10}, a.Held, []report.Field[eta.Held]{
			{Name: "reason", Align: report.Left}, {Name: "jobs"}, {Name: "gpus", Head: "GPUs"},
		}))
	}
	return report.Doc{Lead: a.Lead(), Notes: a.Notes, Data: a, Tables: tables}
}
