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
	runs []runJSON
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
	var data simulateJSON
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
func plansOf(runs []runJSON) []savedPlan {
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

// comparedFigure is a row of the comparison.
type comparedFigure struct {
	name, head string
	get        func(*runJSON) (float64, bool)
	cell       func(float64) any
}

var comparedFigures = []comparedFigure{
	{"cost_usd", "cost", func(r *runJSON) (float64, bool) { return usdOr(r.Cost.Total) }, moneyCell},
	{"per_used_gpu_hour_usd", "  per used GPU-hour", func(r *runJSON) (float64, bool) { return usdOr(r.Cost.PerGPUHour) }, moneyCell},
	{"on_demand_equivalent_usd", "  all on demand", func(r *runJSON) (float64, bool) { return usdOr(r.Cost.Equivalent) }, moneyCell},
	{"effective_savings_rate", "  saved", func(r *runJSON) (float64, bool) { return floatOr(r.Cost.Savings) }, percentCell},
	{"stranded_usd", "stranded", func(r *runJSON) (float64, bool) { return usdOr(r.Cost.Stranded) }, moneyCell},
	{"stranded_gpu_hours", "  GPU-hours", func(r *runJSON) (float64, bool) { return r.Capacity.Stranded.Hours(), true }, hoursCell},
	{"allocation_rate", "used", func(r *runJSON) (float64, bool) { return floatOr(r.Capacity.AllocationRate) }, percentCell},
	{"wait_mean_s", "mean wait", func(r *runJSON) (float64, bool) { return r.WaitMean, true }, secondsCell},
	{"wait_p50_s", "wait p50", func(r *runJSON) (float64, bool) { return float64(r.WaitP50), true }, secondsCell},
	{"wait_p95_s", "wait p95", func(r *runJSON) (float64, bool) { return float64(r.WaitP95), true }, secondsCell},
	{"bounded_slowdown_mean", "slowdown", func(r *runJSON) (float64, bool) { return r.BoundedSlowdown, true }, ratioCell},
	{"preemptions", "preemptions", func(r *runJSON) (float64, bool) { return float64(r.Jobs.Preemptions), true }, countCell},
	{"redone_gpu_hours", "GPU-hours redone", func(r *runJSON) (float64, bool) { return r.Capacity.Redone.Hours(), true }, hoursCell},
	{"finished_jobs", "jobs finished", func(r *runJSON) (float64, bool) { return float64(r.Jobs.Finished), true }, countCell},
}

func usdOr(u *capcli.USD) (float64, bool) {
	if u == nil {
		return 0, false
	}
	return u.Float(), true
}

func floatOr(f *float64) (float64, bool) {
	if f == nil {
		return 0, false
	}
	return *f, true
}

// compareJSON is what compare -o json writes: schema capcli/compare/v1.
type compareJSON struct {
	Schema  string         `json:"schema"`
	Plans   []string       `json:"plans"`
	Runs    int            `json:"paired_runs"`
	Figures []comparedJSON `json:"figures"`
}

type comparedJSON struct {
	Name       string       `json:"name"`
	Mean       []*float64   `json:"mean"`
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
	for i, p := range plans {
		data.Plans = append(data.Plans, p.name)
		t.Columns = append(t.Columns, report.Column{Name: p.name, Align: report.Right})
		if i > 0 {
			t.Columns = append(t.Columns, report.Column{Name: "difference_" + p.name, Head: "difference", Align: report.Right})
		}
	}
	pairs := pairs(plans)
	data.Runs = len(pairs)
	for _, f := range comparedFigures {
		row, j := []any{f.head}, comparedJSON{Name: f.name}
		for i := range plans {
			mean, diff := f.over(plans, i, pairs)
			j.Mean = append(j.Mean, mean)
			row = append(row, cellOr(f.cell, mean))
			if i == 0 {
				continue
			}
			j.Difference = append(j.Difference, diff)
			row = append(row, f.change(diff, len(pairs)))
		}
		t.Rows = append(t.Rows, row)
		data.Figures = append(data.Figures, j)
	}
	d := report.Doc{Lead: leadOfCompare(plans, pairs), Tables: []report.Table{t}, Data: data}
	if len(pairs) > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d paired runs; ranges hold 90%% of the differences", len(pairs)))
	}
	return d
}

func cellOr(cell func(float64) any, v *float64) any {
	if v == nil {
		return nil
	}
	return cell(*v)
}

// change is a difference for people, with its range where there are runs.
func (f *comparedFigure) change(d *rangeJSON, runs int) any {
	if d == nil {
		return nil
	}
	if runs < 2 {
		return report.Change{Of: signed(f.cell, d.Mean)}
	}
	return report.Change{Of: report.Range{Mid: signed(f.cell, d.Mean), Lo: signed(f.cell, d.Lo), Hi: signed(f.cell, d.Hi)}}
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
			all = all && slices.ContainsFunc(p.runs, func(x runJSON) bool { return x.Run == r.Run })
		}
		if all {
			out = append(out, r.Run)
		}
	}
	return out
}

// over gives the mean of plan i over the pairs, and of its differences to the
// first plan.
func (f *comparedFigure) over(plans []savedPlan, i int, pairs []int) (*float64, *rangeJSON) {
	var sum float64
	var diffs []float64
	for _, run := range pairs {
		a, okA := f.get(plans[0].of(run))
		b, okB := f.get(plans[i].of(run))
		if !okB {
			return nil, nil
		}
		sum += b
		if okA {
			diffs = append(diffs, b-a)
		}
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	mean := sum / float64(len(pairs))
	if len(diffs) != len(pairs) {
		return &mean, nil
	}
	d := rangeJSON{}
	for _, x := range diffs {
		d.Mean += x / float64(len(diffs))
	}
	slices.Sort(diffs)
	d.Lo, d.Hi = diffs[(5*len(diffs)+99)/100-1], diffs[(95*len(diffs)+99)/100-1]
	return &mean, &d
}

func (p *savedPlan) of(run int) *runJSON {
	i := slices.IndexFunc(p.runs, func(x runJSON) bool { return x.Run == run })
	return &p.runs[i]
}

// leadOfCompare says what the second plan costs and waits against the first.
func leadOfCompare(plans []savedPlan, pairs []int) string {
	if len(pairs) == 0 {
		return "The plans have no run in common."
	}
	cost, wait := &comparedFigures[0], &comparedFigures[9]
	_, dc := cost.over(plans, 1, pairs)
	a, dw := wait.over(plans, 0, pairs)
	b, _ := wait.over(plans, 1, pairs)
	if dc == nil || dw == nil || a == nil || b == nil {
		return ""
	}
	by := capcli.USD(math.Abs(dc.Mean)*1e6 + 0.5)
	text := fmt.Sprintf("%s costs %s more than %s", plans[1].name, by, plans[0].name)
	switch {
	case by < capcli.Dollar/200: // what reads as $0.00
		text = fmt.Sprintf("%s costs the same as %s", plans[1].name, plans[0].name)
	case dc.Mean < 0:
		text = fmt.Sprintf("%s costs %s less than %s", plans[1].name, by, plans[0].name)
	}
	from, to := capcli.Seconds(*a+0.5).String(), capcli.Seconds(*b+0.5).String()
	if from == to {
		return fmt.Sprintf("%s; the 95th percentile of waits is %s in both.", text, from)
	}
	return fmt.Sprintf("%s; the 95th percentile of waits goes from %s to %s.", text, from, to)
}
