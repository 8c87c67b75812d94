package tables

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate/workflow"
)

// DescribeRuns is the report of the results: a lead, then tables. A single plan is shown in depth,
// several side by side. People see only the largest tenants; programs see all.
func DescribeRuns(plans []*play.Case, results [][]*play.Run, form string) report.Doc {
	people := form == "table" || form == "md"
	data := play.Document(results)
	d := report.Doc{Data: data}
	for i, p := range plans {
		if form != "csv" && form != "tsv" { // these forms have no place for notes, and stderr already has them
			d.Notes = append(d.Notes, p.Notes...)
		}
		d.Notes = append(d.Notes, play.Notes(results[i])...)
	}
	d.Notes = slices.Compact(d.Notes)
	data.Notes = d.Notes
	d.Tables = append(d.Tables, summaryTable(plans, results, people))
	recorded := JoinSentences(recordedWaits(plans, results), ownPast(plans, results))
	if len(plans) > 1 {
		d.Lead = JoinSentences(leadOfMany(results), recorded)
		if len(results[0]) > 1 {
			d.Notes = append(d.Notes, rangesNote(results))
		}
		return d
	}
	r := results[0][0]
	d.Lead = JoinSentences(leadOf(plans[0], results[0]), play.ServicesLead(results[0]), recorded)
	if people && len(results[0]) == 1 && len(plans[0].Scenario.Limits) > 0 {
		d.Tables = append(d.Tables, limitTable(r))
	}
	runs := results[0]
	d.Tables = append(d.Tables, stageTables(runs)...)
	d.Tables = append(d.Tables, serviceTables(runs)...)
	d.Tables = append(d.Tables, poolTable(runs))
	d.Tables = append(d.Tables, boughtTables(runs)...)
	d.Tables = append(d.Tables, nearTables(runs)...)
	d.Tables = append(d.Tables, placeTables(runs)...)
	d.Tables = append(d.Tables, sliceTables(runs)...)
	d.Tables = append(d.Tables, tenantTable(runs, people))
	d.Tables = append(d.Tables, tagTables(runs, people)...)
	d.Tables = append(append(d.Tables, sizeTable(runs)), wayTable(runs)...)
	d.Tables = append(d.Tables, loadTable(runs))
	d.Tables = append(d.Tables, contractTables(runs)...)
	d.Tables = append(d.Tables, moneyTablesOf(runs)...)
	if len(runs) > 1 {
		d.Notes = append(d.Notes, rangesNote(results))
	}
	if people {
		d.Charts = append(d.Charts, chartOf(runs)...)
	}
	return d
}

// JoinSentences puts each sentence on its own line and leaves out empty ones.
func JoinSentences(list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), "\n")
}

func rangesNote(results [][]*play.Run) string {
	return capcli.RangeNote(len(results[0]), "runs") + "; the figure before a range is their mean"
}

// chartOf draws GPUs in use against committed GPUs. Several runs are drawn as their mean if they
// have the same length.
func chartOf(runs []*play.Run) []report.Chart {
	values, peaks := play.GPUsInUse(runs)
	if values == nil {
		return nil
	}
	title := "GPUs in use"
	if n := len(runs); n > 1 {
		title = fmt.Sprintf("GPUs in use, mean of %d runs", n)
	}
	first := runs[0]
	c := report.Chart{
		Title: title, Height: 8,
		Lines: []report.Line{{Name: "in use", Values: values, Peaks: peaks}},
		From:  first.Start.Date(),
		To:    (first.Start + capcli.Time(first.Ended)).Date(),
	}
	level := first.Curve.Committed(first.Result.Record.Pools, first.Ended, len(values))
	if most := slices.Max(append(level, 0)); most > 0 && most < 1<<24 {
		c.Lines = append(c.Lines, report.Line{Name: "committed", Values: level})
	}
	return []report.Chart{c}
}

// leadOf answers in one sentence: the jobs done, the length of time, the cost and the waits.
// Several runs are summed up by their means.
func leadOf(p *play.Case, runs []*play.Run) string {
	text := ""
	if n := len(runs); n > 1 {
		text = fmt.Sprintf("Mean of %d runs: ", n)
	}
	if outcome.Mean(runs, "finished") > 0 || len(p.Scenario.Services) == 0 {
		text += outcome.JobsText(outcome.Mean(runs, "finished")) + " on "
	}
	text += p.Scenario.Name + " "
	if cost, ok := outcome.SpreadOf(runs, "cost"); ok {
		text += "cost " + spreadText(cost, usdText) + inLength(play.MeanLength(runs), cost.Mean.Value)
	} else {
		text += "in " + lengthText(play.MeanLength(runs)) + ", at an unknown cost"
	}
	text += "; " + waitedText(runs)
	if committed := outcome.Mean(runs, "committed"); runs[0].Priced() && committed > 0 {
		stranded := outcome.Mean(runs, "stranded_usd")
		text += fmt.Sprintf("; %s (%.0f%%) of the commitments was stranded", usdText(stranded), 100*stranded/committed)
	}
	if machines := outcome.Mean(runs, "rounding_usd"); machines > 0 {
		text += "; " + usdText(machines) + " of the cost is for rounding jobs up to whole machines"
	}
	if u := outcome.MeanUnserved(runs); u.Share >= 0.0005 || u.Waiting+u.Unplaceable+u.Dropped > 0 {
		text += "; " + unservedText(&u) + " was left undone"
	}
	if due := runs[0].Jobs.Deadlines; due > 0 && len(runs) == 1 {
		text += fmt.Sprintf("; %s of %s %s missed", capcli.Grouped(runs[0].Jobs.Misses), capcli.Grouped(due), capcli.Plural(due, "deadline"))
	}
	return text + "."
}

// inLength states the length of time that an amount of dollars covers, and the amount per year; ""
// where no year can be computed.
func inLength(length capcli.Seconds, cost float64) string {
	year, ok := billing.PerYear(capcli.USDOf(cost), length)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" in %s (%s a year at that rate)", lengthText(length), year.Brief())
}

func usdText(v float64) string { return capcli.USDOf(v).String() }

func secondsText(v float64) string { return capcli.Seconds(v + 0.5).String() }

// waitedText says how long jobs waited for their start. Jobs that never started count as the
// longest waits.
func waitedText(runs []*play.Run) string {
	half, okHalf := outcome.SpreadOf(runs, "wait_p50")
	most, okMost := outcome.SpreadOf(runs, "wait_p95")
	longest, okAll := outcome.SpreadOf(runs, "wait_max")
	if !okHalf || !okMost || !okAll {
		return "no job came"
	}
	none := func(s outcome.Spread) bool { return s.Hi.Value == 0 && !s.Mean.AtLeast }
	switch {
	case !slices.ContainsFunc(runs, func(r *play.Run) bool { return r.Started > 0 }):
		return "none started"
	case none(longest):
		return "none waited"
	case none(most):
		return "95% did not wait, the longest waited " + spreadText(longest, secondsText)
	}
	first := "half waited at most " + spreadText(half, secondsText)
	switch {
	case none(half):
		first = "half did not wait"
	case half.Mean.AtLeast:
		first = "half waited " + spreadText(half, secondsText) + " or never started"
	}
	if most.Mean.AtLeast {
		return first + ", 5% waited " + spreadText(most, secondsText) + " or never started"
	}
	return first + ", 95% waited at most " + spreadText(most, secondsText)
}

// leadOfMany names the cheapest plan and the one with the least wait.
func leadOfMany(results [][]*play.Run) string {
	all := make([]outcome.Ranking, len(results))
	for i, runs := range results {
		all[i] = play.Rank(runs)
	}
	return leadOfRanks(all)
}

// recordedWaits compares the waits recorded in the log with the simulated ones. It returns "" where
// the log records none, or where the plans have different logs.
func recordedWaits(plans []*play.Case, results [][]*play.Run) string {
	first := results[0][0].Recorded
	if first.Jobs == 0 {
		return ""
	}
	var simulated []string
	for i, p := range plans {
		if results[i][0].Recorded != first {
			return ""
		}
		text := "not known"
		if slices.ContainsFunc(results[i], func(r *play.Run) bool { _, exact := r.Exact("wait_p95"); return exact }) {
			text = secondsText(outcome.Mean(results[i], "wait_p95"))
		}
		if len(plans) > 1 {
			text += " with " + planDifference(plans, p)
		}
		simulated = append(simulated, text)
	}
	of := ""
	if read := results[0][0].Jobs.Read; first.Jobs < read {
		of = fmt.Sprintf(" of the %s of %s with a recorded start", capcli.Grouped(first.Jobs), outcome.JobsText(float64(read)))
	}
	return fmt.Sprintf("Waits in the log: p95 %s%s; simulated: %s; the log's scheduler, outages and limits differ.", first.P95, of, strings.Join(simulated, ", "))
}

// ownPast says how far each plan's policy is from the waits that the log records; "" where it
// records none.
func ownPast(plans []*play.Case, results [][]*play.Run) string {
	var lines []string
	for i, p := range plans {
		past := results[i][0].OwnPast
		if past == nil {
			continue
		}
		text := past.Sentence
		if len(plans) > 1 {
			text = strings.TrimSuffix(text, ".") + " with " + planDifference(plans, p) + "."
		}
		if !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return JoinSentences(lines...)
}

// planDifference names p by what distinguishes it from the other plans: its policy where scenarios
// and placements are the same, else its label.
func planDifference(plans []*play.Case, p *play.Case) string {
	for _, other := range plans {
		if other.Scenario.Name != p.Scenario.Name || other.Scenario.PlacementName() != p.Scenario.PlacementName() {
			return p.Label()
		}
	}
	return p.Scenario.PolicyName()
}

// PartialLead says how many runs an interrupted result has.
func PartialLead(p *outcome.Partial) string {
	why := strings.ToUpper(p.Why[:1]) + p.Why[1:]
	return fmt.Sprintf("%s after %d of %d runs: what follows is of those.", why, p.Done, p.Asked)
}

// unservedText describes the work left undone: "38.2% of the work (1,204 GPU-hours; 446 jobs wait
// at the end, 3 can never run)".
func unservedText(u *outcome.Unserved) string {
	if u.GPUHours == 0 && u.Waiting+u.Unplaceable+u.Dropped == 0 {
		return "none of the work"
	}
	text := fmt.Sprintf("%s of the work (%s GPU-hours", outcome.ShareText(u.Share), capcli.BriefNumber(u.GPUHours))
	switch {
	case u.Waiting == 1:
		text += "; 1 job waits at the end"
	case u.Waiting > 0:
		text += fmt.Sprintf("; %s wait at the end", outcome.JobsText(u.Waiting))
	}
	if u.Unplaceable > 0 {
		text += fmt.Sprintf("; %s can never run", outcome.JobsText(u.Unplaceable))
	}
	if u.Dropped > 0 {
		text += fmt.Sprintf("; %s dropped", outcome.JobsText(u.Dropped))
	}
	return text + ")"
}

// moreUndone says that plan a leaves more work undone than plan than; "" where it does not, or
// where that is unknown.
func moreUndone(a, than *outcome.Ranking) string {
	if a.Unserved == nil || than.Unserved == nil || !a.Unserved.Exceeds(than.Unserved) {
		return ""
	}
	return fmt.Sprintf(", but leaves %s undone where %s leaves %s", unservedText(a.Unserved), than.Name, unservedText(than.Unserved))
}

// undoneOfBoth says how much work each of two plans leaves undone, where the amounts differ.
func undoneOfBoth(a, b *outcome.Ranking) string {
	if a.Unserved != nil && b.Unserved != nil && b.Unserved.Exceeds(a.Unserved) {
		return fmt.Sprintf(", and leaves %s undone where %s leaves %s", unservedText(a.Unserved), b.Name, unservedText(b.Unserved))
	}
	return moreUndone(a, b)
}

// leadOfRanks names the cheapest plan and the plan with the least wait, and says whether they leave
// more work undone than another.
func leadOfRanks(all []outcome.Ranking) string {
	first, least, text := outcome.LeadersOf(all), "", ""
	if r := first.Quickest; r.Queued != nil {
		least = fmt.Sprintf("least waiting: %s, mean %s", r.Name, capcli.Seconds(*r.Queued+0.5))
		if r.Preempts {
			least += fmt.Sprintf(" with the waits after preemptions, and jobs end %s after they come", capcli.Seconds(r.JCT+0.5))
		}
		least += moreUndone(r, first.Fullest)
	}
	switch c := first.Cheapest; {
	case !first.Priced:
		text = fmt.Sprintf("%d plans, not all with prices", len(all))
	case first.SameCost:
		text = fmt.Sprintf("%s cost %s%s", capcli.Agree(len(all)-1, "Both plans", fmt.Sprintf("All %d plans", len(all))), usdText(*all[0].Cost), inLength(all[0].Length, *all[0].Cost))
	default:
		text = fmt.Sprintf("Cheapest of %d plans: %s, %s%s%s", len(all), c.Name, usdText(*c.Cost), inLength(c.Length, *c.Cost), moreUndone(c, first.Fullest))
	}
	if least != "" {
		text += "; " + least
	}
	return text + "."
}

// summaryFigure is a column of the summary.
type summaryFigure struct {
	*outcome.Metric
	column report.Column
}

// summaryFigures are the columns of the summary. For people it leaves out on-demand cost, spot cost
// and preemptions where no plan has any.
func summaryFigures(plans []*play.Case, results [][]*play.Run, people bool) []summaryFigure {
	starred := people && slices.ContainsFunc(plans, func(p *play.Case) bool { return len(p.Scenario.Assumptions()) > 0 })
	var out []summaryFigure
	for _, c := range []struct {
		metric, head string
		priority     int
	}{
		{"cost", "cost", 0},
		{"cost_per_year", "a year", 2},
		{"unserved_share", "unserved", 0},
		{"wait_mean", "mean wait", 1},
		{"wait_p50", "wait p50", 5},
		{"wait_p95", "wait p95", 0},
		{"queue_time_mean", "queued", 1},
		{"jct_mean", "turnaround", 1},
		{"bounded_slowdown_mean", "slowdown", 4},
		{"allocation_rate", "used", 0},
		{"stranded_gpu_hours", "stranded GPUh", 4},
		{"stranded_usd", "stranded", 0},
		{"on_demand", "on-demand", 3},
		{"spot", "spot", 6},
		{"effective_savings_rate", "saved", 3},
		{"finished", "jobs", 7},
		{"preemptions", "preempted", 8},
	} {
		switch c.metric {
		case "queue_time_mean": // without preemptions it equals the wait for the first start
			if people && !anyHas(results, "preemptions") {
				continue
			}
		case "on_demand", "spot", "preemptions":
			if people && !anyHas(results, c.metric) {
				continue
			}
		}
		m := outcome.MetricNamed(c.metric)
		if starred && (m.Unit == outcome.InUSD || c.metric == "effective_savings_rate") {
			c.head += "*"
		}
		out = append(out, summaryFigure{m, report.Column{Name: m.Column(), Head: c.head, Priority: c.priority}})
	}
	return out
}

func summaryTable(plans []*play.Case, results [][]*play.Run, people bool) report.Table {
	figures := summaryFigures(plans, results, people)
	t := report.Table{Name: "plans", Columns: []report.Column{
		{Name: "scenario"}, {Name: "policy"}, {Name: "placement", Priority: 9},
	}}
	for _, f := range figures {
		t.Columns = append(t.Columns, f.column)
	}
	var limits []string
	if len(plans) > 1 || len(results[0]) > 1 || !people { // otherwise limits have a table of their own
		limits = play.CommonLimits(plans)
	}
	for _, l := range limits {
		t.Columns = append(t.Columns, report.Column{Name: "held: " + l, Head: l + " held"})
	}
	var bounded []string
	if !people { // programs get the bound of "over 3 h" in a column of its own
		bounded = []string{"wait_p50", "wait_p95"}
	}
	for _, m := range bounded {
		t.Columns = append(t.Columns, report.Column{Name: m + "_at_least_s"})
	}
	for i, p := range plans {
		row := []any{p.Scenario.Name, p.Scenario.PolicyName(), p.Scenario.PlacementName()}
		for _, f := range figures {
			row = append(row, overRuns(results[i], f.Name, metricCell(f.Metric)))
		}
		for k := range limits {
			row = append(row, heldCell(results[i], k))
		}
		for _, m := range bounded {
			row = append(row, boundOver(results[i], m))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// anyHas reports whether a figure is not 0 in some plan.
func anyHas(results [][]*play.Run, metric string) bool {
	return slices.ContainsFunc(results, func(runs []*play.Run) bool { return outcome.Mean(runs, metric) != 0 })
}

// heldCell is the cell of the share of runs in which limit k of their plan held.
func heldCell(runs []*play.Run, k int) any {
	share, known := play.HeldShare(runs, k)
	switch {
	case !known:
		return report.Verdict{Text: "not known"}
	case len(runs) > 1:
		return report.Percent(share)
	case share == 1:
		return report.Verdict{Text: "yes", Good: true}
	}
	return report.Verdict{Text: "no"}
}

// stageTables show what became of each workflow and of its stages; none without workflows.
func stageTables(runs []*play.Run) []report.Table {
	if runs[0].Stages == nil || len(runs[0].Stages.Workflows) == 0 {
		return nil
	}
	flows := rowsOf(partsOf(runs, func(r *play.Run) []outcome.Workflow { return r.Stages.Workflows }))
	seconds := func(of func(*outcome.Stage) float64) func(*outcome.Stage) any {
		return func(s *outcome.Stage) any { return report.AsSeconds(of(s)) }
	}
	tables := []report.Table{
		fillRuns(report.Table{Name: "workflows", Title: "Workflows: lengths of the runs that ended well; critical path: had nothing waited"}, flows, []report.Field[*outcome.Workflow]{
			{Name: "workflow"},
			{Name: "runs"},
			{Name: "finished"},
			{Name: "broken"},
			{Name: "open"},
			{Name: "length_mean_s", Head: "length", Cell: func(w *outcome.Workflow) any { return report.AsSeconds(w.Length) }},
			{Name: "critical_path_mean_s", Head: "critical path", Cell: func(w *outcome.Workflow) any { return report.AsSeconds(w.Least) }},
			{Name: "deadline_misses", Head: "late", Priority: 1},
			{Name: "gpu_hours", Head: "GPU-hours", Priority: 2},
			{Name: "cost_usd", Head: "cost"},
			{Name: "over_dollars", Head: "over $", Priority: 3},
		}),
		fillRuns(report.Table{Name: "stages", Title: "Stages: drag is how much shorter a run would be if the stage took no time"}, rowsOf(partsOf(runs, (*play.Run).StageRows)), []report.Field[*outcome.Stage]{
			{Name: "workflow", Priority: 4},
			{Name: "stage"},
			{Name: "jobs", Priority: 3},
			{Name: "retries", Priority: 2},
			{Name: "failed", Priority: 3},
			{Name: "cancelled", Priority: 3},
			{Name: "ended_early", Head: "cut short", Priority: 4},
			{Name: "gpu_hours", Head: "GPU-hours"},
			{Name: "cost_usd", Head: "cost", Priority: 1},
			{Name: "wait_mean_s", Head: "wait", Cell: seconds(func(s *outcome.Stage) float64 { return s.Wait })},
			{Name: "deadline_misses", Head: "late", Priority: 4},
			{Name: "critical_share", Head: "critical", As: report.AsPercent, Cell: func(s *outcome.Stage) any { return report.AsPercent(s.Critical) }},
			{Name: "critical_wait_mean_s", Head: "its wait", Cell: seconds(func(s *outcome.Stage) float64 { return s.CriticalWait })},
			{Name: "drag_mean_s", Head: "drag", Cell: seconds(func(s *outcome.Stage) float64 { return s.Drag })},
			{Name: "slack_mean_s", Head: "slack", Cell: seconds(func(s *outcome.Stage) float64 { return s.Slack })},
		}),
	}
	for i := range runs[0].Stages.Workflows {
		if w := &runs[0].Stages.Workflows[i]; len(w.Faster) > 0 && len(runs) == 1 {
			tables = append(tables, fasterTable(w))
		}
	}
	return tables
}

// fasterTable shows what an hour earlier costs.
func fasterTable(w *outcome.Workflow) report.Table {
	return report.Fill(report.Table{Name: "faster_" + w.Name, Title: "What an hour earlier costs: " + w.Name + ", cheapest first, without waits"}, w.Faster, []report.Field[workflow.Crash]{
		{Name: "stage"},
		{Name: "also", Priority: 2},
		{Name: "gpus", Head: "GPUs"},
		{Name: "gpus_wider", Head: "to"},
		{Name: "earlier_s", Head: "earlier", Cell: func(c workflow.Crash) any { return c.Earlier }},
		{Name: "extra_usd", Head: "extra"},
		{Name: "usd_per_hour_earlier", Head: "an hour"},
		{Name: "length_s", Head: "length", Cell: func(c workflow.Crash) any { return c.Span }},
	})
}
