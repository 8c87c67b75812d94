package tables

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
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
