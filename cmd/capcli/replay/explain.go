package replay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/decide/plan/rationale"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// ExplainOptions are the flags of capcli explain. It replays runs with the options of capcli
// simulate.
type ExplainOptions struct {
	output   shell.OutputOptions
	Sim      SimulateOptions
	causes   bool // leave out the changes
	Replayed bool // --runs was given
}

func newExplain(e *shell.Env) *cobra.Command {
	var o ExplainOptions
	cmd := &cobra.Command{
		Use:   "explain RUN METRIC",
		Short: "Explain a figure: its causes, and the effect of single changes",
		Long: "Repeats the runs that capcli simulate --out saved in a folder (or those of a scenario), assigns each second that\n" +
			"jobs waited, and each dollar, to its cause, and then applies one change at a time under the same seeds.\n" +
			"For a plan.json that capcli plan wrote, it says why that plan is better than the next. Metrics are those of --fail-if.",
		Example: "  capcli explain runs/flex-spot wait_p95\n" +
			"  capcli explain plan.yaml stranded_usd --trace jobs.parquet --runs 5\n" +
			"  capcli explain queue-collapse wait_mean --policy fifo -o json\n" +
			"  capcli explain plan.json",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Replayed = cmd.Flags().Changed("runs")
			return runExplain(cmd.Context(), e, &o, args)
		},
	}
	shell.AddOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	o.Sim.AddCaseFlags(cmd, "job log to replay, `FILE` or - for stdin, in place of that of the run or scenario",
		"scheduling `POLICY` of a scenario, in place of its own", "`PLACEMENT` of a scenario, in place of its own")
	shell.AddFormatFlag(cmd, &o.Sim.Ask.Read)
	shell.AddReadFlag(cmd, &o.Sim.Ask.Read)
	f.IntVar(&o.Sim.Runs, "runs", 1, "replications: `N` (default: those of the folder, at most 20)")
	f.BoolVar(&o.causes, "causes-only", false, "leave out the effects of single changes")
	shell.Complete(cmd, "policy", func() []string { return shell.Entries(&policy.Catalog) })
	shell.Complete(cmd, "placement", func() []string { return shell.Entries(&placement.Catalog) })
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return metricNames(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func runExplain(ctx context.Context, e *shell.Env, o *ExplainOptions, args []string) error {
	if err := o.Sim.Check(); err != nil {
		return err
	}
	if len(o.Sim.Policies) > 1 || len(o.Sim.Placements) > 1 {
		return &shell.UsageError{Text: "explain takes one --policy and one --placement", Hint: "explain one plan at a time"}
	}
	if len(args) == 0 || len(args) > 2 {
		return &shell.UsageError{Text: fmt.Sprintf("explain needs RUN METRIC, found %d arguments", len(args)), Hint: "capcli explain --help"}
	}
	text, err := planText(e, args[0])
	if err != nil {
		return err
	}
	if text != nil {
		return explainPlan(e, o, args, text)
	}
	if len(args) < 2 {
		return &shell.UsageError{
			Text: "explain needs RUN METRIC: METRIC is missing",
			Hint: fmt.Sprintf("capcli explain %s wait_p95; there is %s", args[0], strings.Join(metricNames(), ", ")),
		}
	}
	m, err := metricOf(args[1])
	if err != nil {
		return err
	}
	x := &Explaining{O: o, metric: m, Maker: shell.NewMaker(e)}
	if err := x.Open(e, args[0]); err != nil {
		return err
	}
	runs, answer, err := x.explain(ctx, e, args[0])
	if err != nil {
		return err
	}
	if err := shell.Emit(e, o.output, tables.ExplainDoc(runs, answer)); err != nil {
		return err
	}
	for _, r := range runs {
		if err := r.MissingJobs(); err != nil {
			return err
		}
	}
	return nil
}

// metricNames lists the metrics that can be explained.
func metricNames() []string {
	return capcli.Map(outcome.Metrics, func(m *outcome.Metric) string { return m.Name })
}

// metricOf finds a metric by its name, or by its name in results (wait_p95_s). For an unknown name
// it fails and suggests the nearest.
func metricOf(name string) (*outcome.Metric, error) {
	names := metricNames()
	for _, also := range []string{name, name + "_usd", strings.TrimSuffix(name, "_s"), strings.TrimSuffix(name, "_usd")} {
		if i := slices.Index(names, also); i >= 0 {
			return outcome.Metrics[i], nil
		}
	}
	return nil, capcli.CheckChoice("metric", name, names)
}

// planText reads a file whose name ends in .json. It returns nil for any other name, and for a
// folder.
func planText(e *shell.Env, name string) ([]byte, error) {
	if !strings.HasSuffix(strings.ToLower(name), ".json") {
		return nil, nil //nolint:nilnil // not a file of JSON is no error
	}
	if info, err := e.Disk.Stat(name); err == nil && info.IsDir() {
		return nil, nil //nolint:nilnil // a folder may be called so
	}
	b, err := shell.ReadFile(e, name, PlanMax+1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && len(b) > PlanMax {
		err = &capcli.InputError{File: name, Text: "expected a plan of at most 256 MiB, found more"}
	}
	return bytes.TrimSpace(b), err
}

// PlanMax is the most bytes of a plan file that explain takes.
const PlanMax = 256 << 20

// Explaining is the work of explaining one figure of one plan by replaying it.
type Explaining struct {
	O      *ExplainOptions
	metric *outcome.Metric
	Maker  *play.Maker
	saved  []outcome.Outcome // the saved runs of the folder; nil where a flag changes the plan
	played bool
}

// runsPlayed is the most runs of a folder that are replayed when --runs is not given.
const runsPlayed = 20

// Open finds what to play: a folder of runs, or a scenario.
func (x *Explaining) Open(e *shell.Env, name string) error {
	ask := &x.O.Sim.Ask
	ask.Policy, ask.Place = shell.OrOne(x.O.Sim.Policies)[0], shell.OrOne(x.O.Sim.Placements)[0]
	if !e.IsFolder(name) {
		ask.Scenario = name
		return nil
	}
	plans, err := readRuns(e, name)
	if err != nil {
		return err
	}
	if len(plans) != 1 {
		return &capcli.InputError{File: filepath.Join(name, shell.ResultFile), Text: fmt.Sprintf("expected the runs of one plan, found those of %d", len(plans))}
	}
	if len(ask.Sets) == 0 && ask.Trace == "" && ask.Seed == nil && ask.Policy == "" && ask.Place == "" {
		x.saved = plans[0].Runs
	}
	folder := e.Folder(name)
	in, err := folder.Inputs()
	if err != nil {
		return err
	}
	if in == nil {
		return &play.MissingInputError{
			Text: fmt.Sprintf("%s does not record the inputs of its runs (%s is missing), so they cannot be repeated", name, play.InputsFile),
			Hint: "write the folder again with capcli simulate … --out, or explain the scenario itself: capcli explain plan.yaml --trace jobs.parquet " + x.metric.Name,
		}
	}
	if !x.O.Replayed {
		x.O.Sim.Runs = min(in.Runs, runsPlayed)
	}
	return folder.Complete(ask, in)
}

// Make builds the plan with the changes of v. The notes about the jobs are given only for the plan
// itself.
func (x *Explaining) Make(ctx context.Context, e *shell.Env, v explain.Variation) (*play.Case, error) {
	if v.Text != "" {
		quiet := e.Quiet
		e.Quiet = true
		defer func() { e.Quiet = quiet }()
	}
	o := x.O.Sim
	o.Ask.Sets = append(slices.Clone(o.Ask.Sets), v.Sets...)
	o.Ask.Policy, o.Ask.Place = cmp.Or(v.Policy, o.Ask.Policy), cmp.Or(v.Placement, o.Ask.Place)
	c, err := o.Plan(ctx, e, x.Maker)
	if err == nil {
		c.Quiet = x.played
	}
	return c, err
}

func (x *Explaining) explain(ctx context.Context, e *shell.Env, subject string) ([]*play.Run, *explain.Result, error) {
	c, err := x.Make(ctx, e, explain.Variation{})
	if err != nil {
		return nil, nil, err
	}
	all, err := x.O.Sim.Play(ctx, e, []*play.Case{c})
	if err != nil {
		return nil, nil, err
	}
	x.played = true
	if err := play.CheckStarted([]*play.Case{c}, all); err != nil {
		return nil, nil, err
	}
	answer, err := explain.Explain(explain.Request{
		Subject: subject, Metric: x.metric, Runs: all[0], Saved: x.saved, CausesOnly: x.O.causes,
		Make: func(v explain.Variation) (*play.Case, error) { return x.Make(ctx, e, v) },
		Play: func(cases []*play.Case) ([][]*play.Run, error) { return x.O.Sim.Play(ctx, e, cases) },
	})
	return all[0], answer, err
}

// explainPlan explains why a plan written by capcli plan is the chosen one.
func explainPlan(e *shell.Env, o *ExplainOptions, args []string, text []byte) error {
	return shell.Answer(e, o.output, tables.RationaleDoc)(whyPlan(args[0], text, args[1:]))
}

// whyPlan explains the plan in text; more are the arguments after the file, which must be empty.
func whyPlan(file string, text []byte, more []string) (*rationale.Answer, error) {
	schema, err := rationale.ReadSchema(file, text)
	switch {
	case err != nil:
		return nil, err
	case schema == "capcli/simulate/v1":
		return nil, &play.MissingInputError{
			Text: file + " is a result without its inputs, so its runs cannot be repeated",
			Hint: "capcli simulate … --out DIR writes a folder with its inputs: capcli explain DIR/plan " + shell.OrOne(more)[0],
		}
	case len(more) > 0 && rationale.IsPlan(schema):
		return nil, &shell.UsageError{Text: fmt.Sprintf("a plan is explained as a whole, found also %q", more[0]), Hint: "capcli explain " + file}
	}
	return rationale.Explain(file, text)
}
