package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/outcome"
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
	var out []string
	for _, m := range outcome.Metrics {
		out = append(out, m.Name)
	}
	return out
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
