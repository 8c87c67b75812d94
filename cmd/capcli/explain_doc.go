package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/cause"
	"capcli/simulate/outcome"
)

// describe says the explanation: a sentence, what the figure is made of, what
// single changes do, and what rests on an assumption.
func (x *explanation) describe() report.Doc {
	data := x.json()
	d := report.Doc{Lead: x.lead(data), Data: data}
	for _, by := range []struct{ by, title string }{
		{"pool", "What it is made of, by pool"}, {"month", "The same by month"}, {"tenant", "The same by who pays"},
	} {
		if t := x.partsTable(data.Parts, by.by, by.title); len(t.Rows) > 0 {
			d.Tables = append(d.Tables, t)
		}
	}
	if len(data.Causes) > 0 {
		d.Tables = append(d.Tables, x.causesTable(data))
	}
	if len(data.Again) > 0 {
		t := report.Table{Name: "again", Title: "Beside that, jobs waited after they had lost their GPUs", Columns: causeColumns()[:3]}
		var rest causeJSON
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
	if len(x.changes) > 0 {
		d.Tables = append(d.Tables, x.changesTable())
	}
	if len(d.Tables) == 0 {
		d.Tables = append(d.Tables, report.Table{Name: "figure", Columns: []report.Column{{Name: "metric"}, {Name: "value"}}, Rows: [][]any{{x.metric.Name, x.figureText(data.Value)}}})
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

func (x *explanation) causesTable(data *explainJSON) report.Table {
	t := report.Table{Name: "causes", Title: "What " + data.Told.Which + " waited for", Columns: causeColumns()}
	var rest causeJSON
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
		if data.Told.Jobs > 0 {
			jobs = data.Told.Jobs
		}
		t.Rows = append(t.Rows, []any{"all", report.Percent(1), jobHours(data.Told.Time), jobs, ""})
	}
	return t
}

// told are the jobs whose waits are told apart.
func (x *explanation) told() *toldJSON {
	out := &toldJSON{}
	for run, w := range x.waits {
		started, jobs, waited := w.Jobs()
		if x.metric.Name == "waiting" {
			still, rows := w.Still()
			jobs, waited = still, 0
			for _, r := range rows {
				waited += r.Time
			}
		}
		out.Of += started
		out.Jobs += jobs
		out.Time += waited
		out.AtLeast = append(out.AtLeast, x.least(run))
	}
	out.Which = map[string]string{
		"wait_p50": "the slower half of the jobs", "wait_p95": "the slowest 5% of the jobs", "wait_p99": "the slowest 1% of the jobs",
		"wait_max": "the slowest job", "waiting": "the jobs that never started",
	}[x.metric.Name]
	switch v, _ := x.results[0].Exact(x.metric.Name); {
	case out.Which == "":
		out.Which = "all jobs"
	case v == 0 && x.metric.Name != "waiting":
		out.Which = "the jobs that waited at all"
	}
	return out
}

// changesTable has the changes that better the figure first, and those after which
// less of the work is done last.
func (x *explanation) changesTable() report.Table {
	n := len(x.results)
	t := report.Table{
		Name: "changes", Title: fmt.Sprintf("One change at a time (%d %s each, same seed)", n, plural(int64(n), "run")),
		Columns: []report.Column{
			{Name: "change"},
			{Name: "before", Head: x.metric.Name, Priority: 2, Align: report.Right},
			{Name: "after", Head: "then", Align: report.Right},
			{Name: "difference", Align: report.Right, Priority: 1},
			{Name: "cost_difference_usd", Head: "cost*", Align: report.Right},
			{Name: "unserved_share", Head: "not done", Align: report.Right},
		},
	}
	for _, c := range x.changes {
		j := x.changeJSON(c)
		var before, after, diff, cost any
		if j.Before != nil {
			before = foundCell(outcome.Figure{Value: *j.Before, AtLeast: j.BeforeOver}, x.cell)
		}
		if j.After != nil {
			after = foundCell(outcome.Figure{Value: *j.After, AtLeast: j.AfterOver}, x.cell)
		}
		if j.Difference != nil && !j.BeforeOver {
			diff = report.Change{Of: foundCell(outcome.Figure{Value: *j.Difference, AtLeast: j.AfterOver}, func(v float64) any { return signed(x.cell, v) })}
		}
		if j.Cost != nil {
			cost = report.Change{Of: *j.Cost}
		}
		text := c.text
		if j.ServesLess {
			text = "does less of the work: " + text
		}
		t.Rows = append(t.Rows, []any{text, before, after, diff, cost, report.Percent(j.Undone)})
	}
	return t
}

// cell is a value of the figure for a table.
func (x *explanation) cell(v float64) any {
	switch x.metric.Unit {
	case outcome.InSeconds:
		return secondsCell(v)
	case outcome.InUSD:
		return moneyCell(v)
	case outcome.InGPUHours:
		return hoursCell(v)
	case outcome.InShare:
		return percentCell(v)
	case outcome.InCount:
	}
	return ratioCell(v)
}

// figureText is a value of the figure in a sentence.
func (x *explanation) figureText(v *float64) string {
	if v == nil {
		return "n/a"
	}
	switch x.metric.Unit {
	case outcome.InSeconds:
		if *v > 0 && *v < 10 && *v != math.Trunc(*v) {
			return fmt.Sprintf("%.2f s", *v)
		}
		return capcli.Seconds(*v + 0.5).String()
	case outcome.InUSD:
		return capcli.USD(*v*1e6 + 0.5).String()
	case outcome.InGPUHours:
		return fmt.Sprintf("%.1f GPU-hours", *v)
	case outcome.InShare:
		return fmt.Sprintf("%.1f%%", 100**v)
	case outcome.InCount:
	}
	return strings.TrimSuffix(fmt.Sprintf("%.2f", *v), ".00")
}

// lead is the answer in a sentence or two.
func (x *explanation) lead(data *explainJSON) string {
	star := ""
	if x.metric.Unit == outcome.InUSD && data.Value != nil {
		star = "*"
	}
	over := ""
	if data.ValueOver {
		over = "over "
	}
	text := fmt.Sprintf("%s of %s is %s%s%s", x.metric.Name, x.plan.Label(), over, x.figureText(data.Value), star)
	if data.Value == nil {
		return text + ": " + data.ValueWhy + "."
	}
	if n := len(x.results); n > 1 {
		lo, hi := slices.MinFunc(data.PerRun, byValue), slices.MaxFunc(data.PerRun, byValue)
		text += fmt.Sprintf(" (mean of %d runs, %s to %s)", n, x.figureText(lo), x.figureText(hi))
	}
	switch part := largest(data.Parts); {
	case part != nil:
		text += fmt.Sprintf("; most of it: %s, %s (%.0f%%)", part.Name, part.What, 100*part.Share)
	case data.Told == nil || slotsOf(x.metric.Name) != nil:
	case data.Told.Time == 0:
		text += "; none of the jobs in question waited"
	default:
		t := data.Told
		text += fmt.Sprintf("; %s (%s) waited %s job-hours, most for: %s", t.Which, jobCount(t.Jobs), hoursText(t.Time), data.Causes[0].Text)
	}
	if u := outcome.MeanUnserved(x.results); u.Share >= 0.0005 || u.Unplaceable > 0 {
		text += fmt.Sprintf("; %s is left undone", unservedText(&u))
	}
	text += "."
	if best := x.best(data); best != "" {
		text += " " + best
	}
	return text
}

// largest is the largest part by pool, if there is any.
func largest(parts []partJSON) *partJSON {
	var out *partJSON
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

// best names the change that does most without doing less of the work.
func (x *explanation) best(data *explainJSON) string {
	if len(data.Changes) == 0 || data.Changes[0].Better == nil {
		return ""
	}
	c := &data.Changes[0]
	if !*c.Better {
		less := ""
		if slices.ContainsFunc(data.Changes, func(c changedJSON) bool { return c.ServesLess }) {
			less = " without doing less of the work"
		}
		return fmt.Sprintf("None of %d single changes betters it%s.", len(data.Changes), less)
	}
	text := fmt.Sprintf("Of %d single changes most is done by: %s, to %s", len(data.Changes), c.Change, outcome.Figure{Value: *c.After, AtLeast: c.AfterOver}.Text(func(v float64) string { return x.figureText(&v) }))
	if c.Cost != nil {
		text += fmt.Sprintf(" (cost* %s)", signedUSD(*c.Cost))
	}
	if c.Undone > c.UndoneWas {
		text += fmt.Sprintf(", with %s of the work left undone, %s before", smallShare(c.Undone), smallShare(c.UndoneWas))
	}
	return text + "."
}

func signedUSD(u capcli.USD) string {
	if u > 0 {
		return "+" + u.String()
	}
	return u.String()
}

// whyNoValue says why the figure is not known.
func (x *explanation) whyNoValue() string {
	if un := x.plan.Scenario.Unpriced(); len(un) > 0 && (x.metric.Unit == outcome.InUSD || x.metric.Name == "effective_savings_rate") {
		return "no price is stated for " + strings.Join(un, ", ")
	}
	return "the runs have no such figure"
}

// unknown are the questions that the explanation leaves open.
func (x *explanation) unknown() []string {
	var out []string
	several := false
	for _, s := range x.causeSums() {
		several = several || (s.cause &^ cause.Quota).Several()
	}
	if several {
		out = append(out, "where a row says either of, each of its causes alone would have let the jobs start; which one was to blame cannot be told")
	}
	if !x.aboutWaits() && slotsOf(x.metric.Name) == nil {
		out = append(out, fmt.Sprintf("%s is no sum of causes; only what single changes make of it is known", x.metric.Name))
	}
	switch x.metric.Name {
	case "jct_mean", "bounded_slowdown_mean", "makespan", "deadline_misses", "queue_max", "queue_mean":
		out = append(out, fmt.Sprintf("the causes are those of all waits for a first start; how much of %s each of them makes is not told apart", x.metric.Name))
	case "stranded_usd", "stranded_gpu_hours", "blocked_gpu_hours":
		if len(x.causeSums()) == 0 {
			break
		}
		out = append(out, "the causes are why jobs waited over the same time; which of them left a GPU-hour blocked is not told apart")
	}
	return out
}

// notes are what must be known beside the figures.
func (x *explanation) notes() []string {
	var out []string
	out = append(out, x.plan.Notes...)
	if n := len(x.results); n > 1 && len(x.parts()) > 0 {
		out = append(out, fmt.Sprintf("the parts are of the first of %d runs, where %s is %s", n, x.metric.Name, x.figureText(x.mean(x.results[:1]))))
	}
	if len(x.waits) > 0 && len(x.causeSums()) > 0 {
		out = append(out, "each second of a wait is given to the causes that held then, each job looked at by itself: many may have waited for the same few GPUs, so what a change would do is in the table of changes; days and quarters (UTC) are those of submission")
		if x.metric.Name != "waiting" {
			if n := x.stillWaiting(); n > 0 {
				out = append(out, fmt.Sprintf("%s had not started when the runs ended and are not in these waits, though they count in wait_p95 and its like: capcli explain %s waiting", jobCount(n), x.subject))
			}
		}
	}
	if text := x.lengthNote(); text != "" {
		out = append(out, text)
	}
	for _, w := range warnings(x.results) {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// lengthNote says that changes are compared over runs of different lengths.
func (x *explanation) lengthNote() string {
	if x.plan.Scenario.Period.Known() {
		return ""
	}
	lo, hi := x.results[0].Result.Ended, x.results[0].Result.Ended
	for _, c := range x.changes {
		lo, hi = min(lo, c.after[0].Result.Ended), max(hi, c.after[0].Result.Ended)
	}
	if lo == hi {
		return ""
	}
	return fmt.Sprintf("there is no period, so capacity is paid until the last job has ended, and the changes make that %s to %s: give the scenario a period to compare costs over one length of time", lo, hi)
}

func (x *explanation) stillWaiting() int64 {
	var n int64
	for _, w := range x.waits {
		still, _ := w.Still()
		n += still
	}
	return n
}
