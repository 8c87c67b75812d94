package main

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/explain"
	"capcli/scenarios/play"
	"capcli/simulate/outcome"
)

// explainDoc says the explanation: a sentence, what the figure is made of, what
// single changes do, and what rests on an assumption.
func explainDoc(runs []*play.Run, data *explain.Result) report.Doc {
	m := outcome.MetricNamed(data.Metric)
	d := report.Doc{Lead: explainLead(m, runs, data), Data: data}
	for _, by := range []struct{ by, title string }{
		{"pool", "What it is made of, by pool"}, {"month", "The same by month"}, {"tenant", "The same by who pays"},
	} {
		if t := partsTable(m, data.Parts, by.by, by.title); len(t.Rows) > 0 {
			d.Tables = append(d.Tables, t)
		}
	}
	if len(data.Causes) > 0 {
		d.Tables = append(d.Tables, causesTable(data))
	}
	if len(data.Again) > 0 {
		t := report.Table{Name: "again", Title: "Beside that, jobs waited after they had lost their GPUs", Columns: causeColumns()[:3]}
		var rest explain.Cause
		for i, c := range data.Again {
			if i >= causesShown && c.Share < 0.02 {
				rest.Share, rest.Time = rest.Share+c.Share, rest.Time+c.Time
				continue
			}
			t.Rows = append(t.Rows, []any{c.Text, report.Percent(c.Share), jobHours(c.Time)})
		}
		if rest.Time > 0 {
			t.Rows = append(t.Rows, []any{"others, each under 2% (-o json has them)", report.Percent(rest.Share), jobHours(rest.Time)})
		}
		d.Tables = append(d.Tables, t)
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

// jobHours is an amount of waiting for people.
func jobHours(s capcli.Seconds) any { return report.Ratio(s.Hours()) }

func causeColumns() []report.Column {
	return []report.Column{
		{Name: "cause", Head: "what they waited for"},
		{Name: "share"},
		{Name: "job_hours", Head: "job-hours"},
		{Name: "jobs", Priority: 2},
		{Name: "mostly", Head: " ", Priority: 1},
	}
}

// causesShown is how many rows of causes people see at least; small ones beyond
// are summed.
const causesShown = 7

func causesTable(data *explain.Result) report.Table {
	t := report.Table{Name: "causes", Title: "What " + data.LookedAt.Which + " waited for", Columns: causeColumns()}
	var rest explain.Cause
	small := 0
	for i, c := range data.Causes {
		if i >= causesShown && c.Share < 0.02 && len(data.Causes) > causesShown+1 {
			rest.Share, rest.Time, small = rest.Share+c.Share, rest.Time+c.Time, small+1
			continue
		}
		var jobs any
		if c.Jobs > 0 {
			jobs = c.Jobs
		}
		t.Rows = append(t.Rows, []any{c.Text, report.Percent(c.Share), jobHours(c.Time), jobs, c.Mostly})
	}
	if small > 0 {
		t.Rows = append(t.Rows, []any{fmt.Sprintf("%d other sets of causes, each under 2%% (-o json has them)", small), report.Percent(rest.Share), jobHours(rest.Time), nil, ""})
	}
	if len(data.Causes) > 1 {
		var jobs any
		if data.LookedAt.Jobs > 0 {
			jobs = data.LookedAt.Jobs
		}
		t.Rows = append(t.Rows, []any{"all", report.Percent(1), jobHours(data.LookedAt.Time), jobs, ""})
	}
	return t
}

// changesTable has the changes that better the figure first, and those after which
// less of the work is done last.
func changesTable(m *outcome.Metric, data *explain.Result) report.Table {
	n := data.Runs
	t := report.Table{
		Name: "changes", Title: fmt.Sprintf("One change at a time (%d %s each, same seed)", n, plural(int64(n), "run")),
		Columns: []report.Column{
			{Name: "change"},
			{Name: "before", Head: m.Name, Priority: 2, Align: report.Right},
			{Name: "after", Head: "then", Align: report.Right},
			{Name: "difference", Align: report.Right, Priority: 1},
			{Name: "cost_difference_usd", Head: "cost*", Align: report.Right},
			{Name: "unserved_share", Head: "not done", Align: report.Right},
		},
	}
	cell := metricCell(m)
	if m.Unit == outcome.InCount { // means of counts
		cell = report.AsRatio
	}
	for _, j := range data.Changes {
		var before, after, diff, cost any
		if j.Before != nil {
			before = outcomeCell(outcome.Figure{Value: *j.Before, AtLeast: j.BeforeOver}, cell)
		}
		if j.After != nil {
			after = outcomeCell(outcome.Figure{Value: *j.After, AtLeast: j.AfterOver}, cell)
		}
		if j.Difference != nil && !j.BeforeOver {
			diff = report.Change{Of: outcomeCell(outcome.Figure{Value: *j.Difference, AtLeast: j.AfterOver}, cell)}
		}
		if j.Cost != nil {
			cost = report.Change{Of: *j.Cost}
		}
		text := j.Text
		if j.ServesLess {
			text = "does less of the work: " + text
		}
		t.Rows = append(t.Rows, []any{text, before, after, diff, cost, report.Percent(j.Undone)})
	}
	return t
}

// explainLead is the answer in a sentence or two.
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
		text += "; none of the jobs in question waited"
	default:
		t := data.LookedAt
		text += fmt.Sprintf("; %s (%s) waited %s job-hours, most for: %s", t.Which, jobCount(t.Jobs), hoursText(t.Time), data.Causes[0].Text)
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

// largest is the largest part by pool, if there is any.
func largest(parts []explain.Part) *explain.Part {
	var out *explain.Part
	for i := range parts {
		if p := &parts[i]; p.By == "pool" && (out == nil || p.Share > out.Share) {
			out = p
		}
	}
	return out
}

// hoursText is an amount of waiting in a sentence.
func hoursText(s capcli.Seconds) string {
	if s < 100*capcli.Hour {
		return fmt.Sprintf("%.1f", s.Hours())
	}
	return grouped(int64(s.Hours() + 0.5))
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

// bestChange names the change that does most without doing less of the work.
func bestChange(m *outcome.Metric, data *explain.Result) string {
	if len(data.Changes) == 0 || data.Changes[0].Better == nil {
		return ""
	}
	c := &data.Changes[0]
	if !*c.Better {
		less := ""
		if slices.ContainsFunc(data.Changes, func(c explain.Change) bool { return c.ServesLess }) {
			less = " without doing less of the work"
		}
		return fmt.Sprintf("None of %d single changes betters it%s.", len(data.Changes), less)
	}
	text := fmt.Sprintf("Of %d single changes most is done by: %s, to %s", len(data.Changes), c.Text, outcome.Figure{Value: *c.After, AtLeast: c.AfterOver}.Text(func(v float64) string { return explain.Text(m, &v) }))
	if c.Cost != nil {
		text += fmt.Sprintf(" (cost* %s)", signedUSD(*c.Cost))
	}
	if c.Undone > c.UndoneWas {
		text += fmt.Sprintf(", with %s of the work left undone, %s before", outcome.ShareText(c.Undone), outcome.ShareText(c.UndoneWas))
	}
	return text + "."
}

func signedUSD(u capcli.USD) string {
	if u > 0 {
		return "+" + u.String()
	}
	return u.String()
}

// partsTable shows the parts of one kind.
func partsTable(m *outcome.Metric, parts []explain.Part, by, title string) report.Table {
	t := report.Table{Name: "by_" + by, Title: title, Columns: []report.Column{{Name: by}}}
	if by != "month" {
		t.Columns = append(t.Columns, report.Column{Name: "what", Head: "for"})
	}
	amount := report.Column{Name: "gpu_hours", Head: "GPU-hours"}
	if m.Unit == outcome.InUSD {
		amount = report.Column{Name: "cost_usd", Head: "cost*"}
	}
	t.Columns = append(t.Columns, amount, report.Column{Name: "share"})
	for _, p := range parts {
		if p.By != by {
			continue
		}
		row := []any{p.Name}
		if by != "month" {
			row = append(row, p.What)
		}
		if p.Cost != nil {
			row = append(row, *p.Cost)
		} else {
			row = append(row, *p.Time)
		}
		t.Rows = append(t.Rows, append(row, report.Percent(p.Share)))
	}
	return t
}
