package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/outcome"
)

func newCompare(e *env) *cobra.Command {
	var o outputOptions
	var by string
	cmd := &cobra.Command{
		Use:   "compare RUNS RUNS…",
		Short: "Set saved results side by side, run against run",
		Long: "Compares results that capcli simulate wrote (--out DIR, or -o json into a file). The first is what the others are\n" +
			"compared with. Runs with the same seed met the same chance, so they are compared in pairs.",
		Example: "  capcli simulate a.yaml b.yaml --runs 20 --out runs/\n" +
			"  capcli compare runs/a runs/b\n" +
			"  capcli compare runs/a runs/b --by tenant -o csv",
		RunE: func(_ *cobra.Command, args []string) error { return runCompare(e, o, by, args) },
	}
	addOutputFlags(cmd, &o)
	cmd.Flags().StringVar(&by, "by", "", "split the cost by `WHAT`: tenant, pool, tier or month")
	complete(cmd, "by", func() []string { return []string{"tenant", "pool", "tier", "month"} })
	return cmd
}

// savedPlan is the runs of one plan, as they were saved.
type savedPlan struct {
	name string
	runs []outcome.Outcome
}

func runCompare(e *env, o outputOptions, by string, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if by != "" && !slices.Contains([]string{"tenant", "pool", "tier", "month"}, by) {
		return &usageError{text: fmt.Sprintf("unknown --by %q: have tenant, pool, tier, month", by)}
	}
	var plans []savedPlan
	for _, name := range args {
		more, err := readRuns(e, name)
		if err != nil {
			return err
		}
		plans = append(plans, more...)
	}
	if len(plans) < 2 {
		return &usageError{text: fmt.Sprintf("compare wants at least two plans, found %d", len(plans)), hint: "capcli compare runs/a runs/b"}
	}
	if by != "" {
		return emit(e, o, compareBy(plans, by))
	}
	return emit(e, o, comparePlans(plans))
}

// runsMax bounds a saved result.
const runsMax = 1 << 30

// readRuns reads a saved result: a folder that simulate wrote, or its JSON.
func readRuns(e *env, name string) ([]savedPlan, error) {
	file := name
	if info, err := e.disk.stat(name); err == nil && info.IsDir() {
		file = filepath.Join(name, resultFile)
	}
	in, done, err := openInput(e, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	var data outcome.Document
	dec := json.NewDecoder(io.LimitReader(in.R, runsMax))
	if err := dec.Decode(&data); err != nil {
		return nil, &capcli.InputError{
			File: file, Text: "expected a result of capcli simulate, found " + err.Error(),
			Hint: "write one with capcli simulate --out DIR or -o json", Err: err,
		}
	}
	if data.Schema != "capcli/simulate/v1" || len(data.Runs) == 0 {
		return nil, &capcli.InputError{
			File: file, Field: "schema", Text: fmt.Sprintf("expected capcli/simulate/v1 with runs, found %q with %d", data.Schema, len(data.Runs)),
		}
	}
	return plansOf(data.Runs), nil
}

// plansOf puts the runs of one scenario, policy and placement together.
func plansOf(runs []outcome.Outcome) []savedPlan {
	var out []savedPlan
	for _, r := range runs {
		name := strings.Join([]string{r.Scenario, r.Policy, r.Placement}, "/")
		i := slices.IndexFunc(out, func(p savedPlan) bool { return p.name == name })
		if i < 0 {
			out = append(out, savedPlan{name: name})
			i = len(out) - 1
		}
		out[i].runs = append(out[i].runs, r)
	}
	return out
}

// compareJSON is what compare -o json writes: schema capcli/compare/v1.
type compareJSON struct {
	Schema  string           `json:"schema"`
	Plans   []string         `json:"plans"`
	Runs    int              `json:"paired_runs"`
	Lengths []capcli.Seconds `json:"length_s"` // by plan; 0 where its runs differ
	Figures []comparedJSON   `json:"figures"`
}

type comparedJSON struct {
	Name       string       `json:"name"`
	Mean       []*float64   `json:"mean"`
	AtLeast    []*float64   `json:"mean_at_least,omitempty"` // by plan, where only so much is known
	Difference []*rangeJSON `json:"difference_to_first"`
}

// rangeJSON is a mean of paired differences and the range that holds 90% of them.
type rangeJSON struct {
	Mean float64 `json:"mean"`
	Lo   float64 `json:"lo"`
	Hi   float64 `json:"hi"`
}

// comparePlans has a row for each figure and, for each plan after the first,
// its difference to the first.
func comparePlans(plans []savedPlan) report.Doc {
	data := &compareJSON{Schema: "capcli/compare/v1"}
	t := report.Table{Name: "figures", Columns: []report.Column{{Name: "figure", Head: " "}}}
	for i := range plans {
		name := plans[i].name
		data.Plans = append(data.Plans, name)
		data.Lengths = append(data.Lengths, plans[i].length())
		t.Columns = append(t.Columns, report.Column{Name: name, Align: report.Right})
		if i > 0 {
			t.Columns = append(t.Columns, report.Column{Name: "difference_" + name, Head: "difference", Align: report.Right})
		}
	}
	pairs := pairs(plans)
	data.Runs = len(pairs)
	for k := range comparedFigures {
		row, j := comparedFigures[k].row(plans, pairs)
		t.Rows = append(t.Rows, row)
		data.Figures = append(data.Figures, j)
	}
	d := report.Doc{Lead: leadOfCompare(plans, pairs), Tables: []report.Table{t}, Data: data}
	if len(pairs) > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d paired runs; ranges hold 90%% of the differences", len(pairs)))
	}
	d.Notes = append(d.Notes, lengthsNote(plans))
	return d
}

// row is a figure of each plan, for people and for programs.
func (f *comparedFigure) row(plans []savedPlan, pairs []int) ([]any, comparedJSON) {
	row, j := []any{f.head}, comparedJSON{Name: f.name}
	least := make([]*float64, len(plans))
	for i := range plans {
		own, diffs := f.paired(plans, i, pairs)
		mean, known := outcome.SpreadOver(own)
		switch {
		case !known:
			row, j.Mean = append(row, nil), append(j.Mean, nil)
		case mean.Mean.AtLeast:
			row, j.Mean, least[i] = append(row, foundCell(mean.Mean, f.cell)), append(j.Mean, nil), &mean.Mean.Value
			j.AtLeast = least
		default:
			row, j.Mean = append(row, foundCell(mean.Mean, f.cell)), append(j.Mean, &mean.Mean.Value)
		}
		if i == 0 {
			continue
		}
		diff, known := outcome.SpreadOver(diffs)
		change, exact := f.change(diff, known)
		row, j.Difference = append(row, change), append(j.Difference, exact)
	}
	return row, j
}

// change is a difference for people, with its range where there are runs, and for
// programs where it is known exactly.
func (f *comparedFigure) change(d outcome.Spread, known bool) (any, *rangeJSON) {
	if !known {
		return nil, nil
	}
	cell := func(v float64) any { return signed(f.cell, v) }
	change := report.Change{Of: spreadCell(d, cell)}
	if d.Mean.AtLeast {
		return change, nil
	}
	return change, &rangeJSON{d.Mean.Value, d.Lo.Value, d.Hi.Value}
}

// signed makes a cell of a figure that may be negative: cells round half up.
func signed(cell func(float64) any, v float64) any {
	if v >= 0 {
		return cell(v)
	}
	switch c := cell(-v).(type) {
	case capcli.USD:
		return -c
	case capcli.Seconds:
		return -c
	case capcli.GPUTime:
		return -c
	case int64:
		return -c
	case report.Percent:
		return -c
	case report.Ratio:
		return -c
	case report.MeanTime:
		return -c
	default:
		return v
	}
}

// pairs are the runs that every plan has, by their number.
func pairs(plans []savedPlan) []int {
	var out []int
	for _, r := range plans[0].runs {
		all := true
		for _, p := range plans[1:] {
			all = all && slices.ContainsFunc(p.runs, func(x outcome.Outcome) bool { return x.Run == r.Run })
		}
		if all {
			out = append(out, r.Run)
		}
	}
	return out
}

func (p *savedPlan) findRun(run int) *outcome.Outcome {
	i := slices.IndexFunc(p.runs, func(x outcome.Outcome) bool { return x.Run == run })
	return &p.runs[i]
}

// length is how long the runs are; 0 where they differ.
func (p *savedPlan) length() capcli.Seconds {
	for i := range p.runs {
		if p.runs[i].Ended != p.runs[0].Ended {
			return 0
		}
	}
	return p.runs[0].Ended
}

// lengthsNote says what time the money is of.
func lengthsNote(plans []savedPlan) string {
	all := plans[0].length()
	for i := range plans {
		if n := plans[i].length(); n == 0 || n != all {
			return "the runs are of different lengths, so compare what a year of each costs: the cost x 365.25 d / its length"
		}
	}
	return fmt.Sprintf("costs are for the %s of each run; a year of it is the cost x 365.25 d / that, for comparison alone", lengthText(all))
}

// leadOfCompare says what a second plan costs, serves and waits against the
// first; of more plans, which is the cheapest.
func leadOfCompare(plans []savedPlan, pairs []int) string {
	if len(pairs) == 0 {
		return "The plans have no run in common."
	}
	ranks := make([]ranked, len(plans))
	for i := range plans {
		ranks[i] = plans[i].ranked(pairs)
	}
	if len(plans) > 2 {
		return leadOfRanks(ranks)
	}
	a, b := &ranks[0], &ranks[1]
	if a.cost == nil || b.cost == nil || a.wait == nil || b.wait == nil {
		return ""
	}
	by := capcli.USD(math.Abs(*b.cost-*a.cost)*1e6 + 0.5)
	text := fmt.Sprintf("%s costs %s more than %s", b.name, by, a.name)
	switch {
	case by < capcli.Dollar/200: // what reads as $0.00
		text = fmt.Sprintf("%s costs the same as %s", b.name, a.name)
	case *b.cost < *a.cost:
		text = fmt.Sprintf("%s costs %s less than %s", b.name, by, a.name)
	}
	text += beside(b, a)
	asText := func(f *outcome.Figure) string {
		return f.Text(func(v float64) string { return capcli.Seconds(v + 0.5).String() })
	}
	from, to := asText(a.wait), asText(b.wait)
	if from == to {
		return fmt.Sprintf("%s; the 95th percentile of waits is %s in both.", text, from)
	}
	return fmt.Sprintf("%s; the 95th percentile of waits goes from %s to %s.", text, from, to)
}

// ranked gives what a plan is ranked by, over the pairs.
func (p *savedPlan) ranked(pairs []int) ranked {
	out := ranked{name: p.name, length: p.length()}
	mean := func(name string) *outcome.Figure {
		f := figureNamed(name)
		own, _ := f.paired([]savedPlan{*p}, 0, pairs)
		if s, ok := outcome.SpreadOver(own); ok {
			return &s.Mean
		}
		return nil
	}
	if c := mean("cost_usd"); c != nil {
		out.cost = &c.Value
	}
	out.wait = mean("wait_p95_s")
	if q := mean("queue_time_mean_s"); q != nil {
		out.queued = &q.Value
	}
	if j := mean("jct_mean_s"); j != nil {
		out.jct = j.Value
	}
	if n := mean("preemptions"); n != nil {
		out.preempts = n.Value > 0
	}
	if u := mean("unserved_share"); u != nil {
		out.undone = &outcome.Unserved{Share: u.Value, GPUHours: mean("unserved_gpu_hours").Value}
		for _, run := range pairs {
			jobs := &p.findRun(run).UnservedJobs
			out.undone.Waiting += float64(jobs.Waiting) / float64(len(pairs))
			out.undone.Unplaceable += float64(jobs.Unplaceable) / float64(len(pairs))
		}
	}
	return out
}
