package main

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
	"capcli/simulate/outcome"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// explainOptions are the flags of capcli explain. It replays runs with the options of capcli
// simulate.
type explainOptions struct {
	output   outputOptions
	sim      simulateOptions
	causes   bool // leave out the changes
	replayed bool // --runs was given
}

func newExplain(e *env) *cobra.Command {
	var o explainOptions
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
			o.replayed = cmd.Flags().Changed("runs")
			return runExplain(cmd.Context(), e, &o, args)
		},
	}
	addOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	o.sim.addCaseFlags(cmd, "job log to replay, `FILE` or - for stdin, in place of that of the run or scenario",
		"scheduling `POLICY` of a scenario, in place of its own", "`PLACEMENT` of a scenario, in place of its own")
	addFormatFlag(cmd, &o.sim.ask.Read)
	addReadFlag(cmd, &o.sim.ask.Read)
	f.IntVar(&o.sim.runs, "runs", 1, "replications: `N` (default: those of the folder, at most 20)")
	f.BoolVar(&o.causes, "causes-only", false, "leave out the effects of single changes")
	complete(cmd, "policy", func() []string { return entries(&policy.Catalog) })
	complete(cmd, "placement", func() []string { return entries(&placement.Catalog) })
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return metricNames(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func runExplain(ctx context.Context, e *env, o *explainOptions, args []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if err := o.sim.check(); err != nil {
		return err
	}
	if len(o.sim.policies) > 1 || len(o.sim.placements) > 1 {
		return &usageError{text: "explain takes one --policy and one --placement", hint: "explain one plan at a time"}
	}
	if len(args) == 0 || len(args) > 2 {
		return &usageError{text: fmt.Sprintf("explain needs RUN METRIC, found %d arguments", len(args)), hint: "capcli explain --help"}
	}
	text, err := planText(e, args[0])
	if err != nil {
		return err
	}
	if text != nil {
		return explainPlan(e, o, args, text)
	}
	if len(args) < 2 {
		return &usageError{
			text: "explain needs RUN METRIC: METRIC is missing",
			hint: fmt.Sprintf("capcli explain %s wait_p95; there is %s", args[0], strings.Join(metricNames(), ", ")),
		}
	}
	m, err := metricOf(args[1])
	if err != nil {
		return err
	}
	x := &explaining{o: o, metric: m, maker: newMaker(e)}
	if err := x.open(e, args[0]); err != nil {
		return err
	}
	runs, answer, err := x.explain(ctx, e, args[0])
	if err != nil {
		return err
	}
	if err := emit(e, o.output, explainDoc(runs, answer)); err != nil {
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
func planText(e *env, name string) ([]byte, error) {
	if !strings.HasSuffix(strings.ToLower(name), ".json") {
		return nil, nil //nolint:nilnil // not a file of JSON is no error
	}
	if info, err := e.disk.Stat(name); err == nil && info.IsDir() {
		return nil, nil //nolint:nilnil // a folder may be called so
	}
	b, err := readFile(e, name, planMax+1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && len(b) > planMax {
		err = &capcli.InputError{File: name, Text: "expected a plan of at most 256 MiB, found more"}
	}
	return bytes.TrimSpace(b), err
}

// planMax is the most bytes of a plan file that explain takes.
const planMax = 256 << 20
