package replay

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/money/focus"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// SimulateOptions are the flags of capcli simulate.
type SimulateOptions struct {
	output     shell.OutputOptions
	Ask        play.Question // the next case, filled by the flags
	Policies   []string
	Placements []string
	More       *[]string // further job logs; nil where the command takes one
	Prices     string
	Runs       int
	jobsOut    string
	queueOf    string // the job of --explain-queue
	dir        string
	conditions play.Conditions
	opened     *files.Opened // the files read, if --out is to list them; else nil
	kueue      shell.KueueOptions
	timeline   string // how to show the run over time: auto, gantt; "" is not
}

func newSimulate(e *shell.Env) *cobra.Command {
	var o SimulateOptions
	cmd := &cobra.Command{
		Use:   "simulate [SCENARIO…]",
		Short: "Replay a job trace against capacity and rules: cost, waits, stranded GPUs",
		Long: "Replays jobs against the capacity of a scenario (a YAML file, or one of the library: capcli scenarios list) and says\n" +
			"what it costs, how long jobs wait and what is stranded. Several scenarios, policies or placements give a comparison.",
		Example: "  capcli simulate                                   # the default scenario, with made-up jobs\n" +
			"  capcli simulate plan.yaml --trace jobs.parquet\n" +
			"  capcli simulate --trace log.swf.gz --policy fifo,easy --runs 20 --out runs/\n" +
			"  capcli simulate plan.yaml --set capacity[0].gpus=72 --fail-if 'wait_p95>30m'\n" +
			"  capcli simulate --kueue objects.yaml --decisions-out decisions.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.kueue.Asked(cmd) {
				return runKueue(cmd, e, &o, args)
			}
			return runSimulate(cmd.Context(), e, &o, args)
		},
	}
	shell.AddFormFlags(cmd, &o.output)
	o.kueue.AddFlags(cmd)
	o.output.AllowFocus(cmd)
	f := cmd.Flags()
	o.AddCaseFlags(cmd, "job log to replay, `FILE` or - for stdin, in place of the scenario's",
		"scheduling policies, `a,b,c`: "+strings.Join(policy.Catalog.Names(), ", "), "placements, `a,b`: "+strings.Join(placement.Catalog.Names(), ", "))
	f.Lookup("set").Usage = "change a field: `path=value`, capacity[0].gpus=72 (may be repeated)"
	shell.AddFormatFlag(cmd, &o.Ask.Read)
	shell.AddReadFlag(cmd, &o.Ask.Read)
	shell.AddPricesFlag(cmd, &o.Prices)
	f.IntVar(&o.Runs, "runs", 1, "replications, `N`; figures then have the range of 90% of them")
	f.StringVar(&o.jobsOut, "jobs-out", "", "write the outcome of each job to this `FILE` (csv; one run only)")
	f.StringVar(&o.queueOf, "explain-queue", "", "explain the wait of this `JOB`: what was ahead of it, and when it started")
	f.StringVar(&o.dir, "out", "", "write each plan's runs into a folder of `DIR`; - or FILE.json for the result")
	f.StringVar(&o.timeline, "timeline", "", "also the run over time; `=gantt` draws each job")
	f.Lookup("timeline").NoOptDefVal = timelineAuto
	f.StringArrayVar(&o.conditions.FailIf, "fail-if", nil, "exit 5 if this is true of a run: `'wait_p95>30m'` (may be repeated)")
	f.BoolVar(&o.conditions.Limits, "enforce-limits", false, "exit 5 when a limit of the scenario is not held")
	shell.CompleteList(cmd, "policy", func() []string { return shell.Entries(&policy.Catalog) })
	shell.CompleteList(cmd, "placement", func() []string { return shell.Entries(&placement.Catalog) })
	shell.Complete(cmd, "timeline", func() []string { return []string{timelineAuto, timelineGantt} })
	shell.CompleteSign(cmd, "fail-if", ">")
	cmd.ValidArgsFunction = shell.CompleteScenarios
	return cmd
}

func runSimulate(ctx context.Context, e *shell.Env, o *SimulateOptions, args []string) error {
	if err := o.Check(); err != nil {
		return err
	}
	if err := o.oneRun(max(1, len(args)) * len(shell.OrOne(o.Policies)) * len(shell.OrOne(o.Placements)) * o.Runs); err != nil {
		return err
	}
	if o.dir != "" {
		o.opened = e.WatchOpened()
	}
	plans, err := o.plans(ctx, e, args)
	if err != nil {
		return err
	}
	if o.queueOf != "" {
		return o.explainQueue(ctx, e, plans[0])
	}
	folders := play.Folders(plans)
	ended := o.recordJobs(e, plans)
	results, err := o.Play(ctx, e, plans)
	err = ended(err)
	plans, results, part, err := o.finishedRuns(ctx, plans, results, err)
	if err != nil {
		return err
	}
	if o.output.Form == shell.FocusForm {
		if err := o.emitFocus(e, results[0][0]); err != nil {
			return err
		}
		return o.conditions.Judge(results)
	}
	if err := play.CheckStarted(plans, results); err != nil {
		return err
	}
	if part == nil {
		if err := play.HoldAgainstPast(ctx, plans, results); err != nil {
			return err
		}
	}
	doc := tables.DescribeRuns(plans, results, o.output.Shape(e))
	o.addTimeline(&doc, results[0][0].Timeline, o.output.Shape(e))
	if part != nil {
		doc.Lead = tables.JoinSentences(tables.PartialLead(part), doc.Lead)
		doc.Data.(*outcome.Document).Partial = part
	}
	if err := o.save(e, plans, folders, results, part); err != nil {
		return err
	}
	if err := shell.Emit(e, o.output, doc); err != nil {
		return err
	}
	if part != nil {
		return o.stoppedError(ctx, part)
	}
	return o.conditions.Judge(results)
}

// oneRun refuses --jobs-out and -o focus, which take one run, if there are n != 1 runs.
func (o *SimulateOptions) oneRun(n int) error {
	what := ""
	switch {
	case n == 1:
	case o.jobsOut != "":
		what = "--jobs-out"
	case o.queueOf != "":
		what = "--explain-queue"
	case o.output.Form == shell.FocusForm:
		what = "-o focus"
	case o.timeline != "" && n != o.Runs:
		what, n = "--timeline", n/o.Runs
	}
	if what == "" {
		return nil
	}
	return &shell.UsageError{
		Text: fmt.Sprintf("%s takes one run, but this call has %d", what, n),
		Hint: "name one scenario, one policy, one placement and leave out --runs",
	}
}

// Check refuses flags that cannot work before any file is read.
func (o *SimulateOptions) Check() error {
	if o.Runs < 1 || o.Runs > 1_000_000 {
		return &shell.UsageError{Text: fmt.Sprintf("--runs wants 1 to 1000000, found %d", o.Runs)}
	}
	for _, p := range o.Policies {
		if _, err := policy.Catalog.Get(p); err != nil {
			return err
		}
	}
	for _, p := range o.Placements {
		if _, err := placement.Catalog.Get(p); err != nil {
			return err
		}
	}
	if err := o.conditions.Check(); err != nil {
		return err
	}
	if o.timeline != "" && o.timeline != timelineAuto && o.timeline != timelineGantt {
		return &shell.UsageError{Text: fmt.Sprintf("--timeline wants auto or gantt, found %q", o.timeline), Hint: "--timeline, or --timeline=gantt for a row for each job"}
	}
	if strings.HasSuffix(o.dir, ".json") || o.dir == "-" || o.output.Form == shell.FocusForm {
		o.output.Out, o.dir = o.dir, ""
	}
	if _, err := o.Ask.Read.Parse(); err != nil {
		return err
	}
	return o.Ask.Settle()
}

// AddCaseFlags adds the flags that choose the case to cmd. trace, policies and placements are the
// usage texts of the flags of these names.
func (o *SimulateOptions) AddCaseFlags(cmd *cobra.Command, trace, policies, placements string) {
	f := cmd.Flags()
	f.Var(o.traceFlag(), "trace", trace)
	f.StringSliceVar(&o.Policies, "policy", nil, policies)
	f.StringSliceVar(&o.Placements, "placement", nil, placements)
	f.StringArrayVar(&o.Ask.Sets, "set", nil, "change a field: `path=value` (may be repeated)")
	f.StringVar(&o.Ask.Period, "period", "", "period of the run: `'A to B'`, or trace for the days of the log")
	f.StringVar(&o.Ask.Models, "models", "", "`any`: run jobs on GPUs of any model, whatever model the log names")
	f.Var(shell.SeedFlag{Seed: &o.Ask.Seed}, "seed", "random seed, in place of the scenario's: a whole `NUMBER`")
	f.BoolVar(&o.Ask.Perfect, "perfect-estimates", false, "policies know true run times, not only the limits that users asked for")
	bundle.Rename(cmd, "perfect-estimates", "--set policy.perfect_estimates=true")
	shell.Complete(cmd, "period", func() []string { return []string{"trace\tthe days on which the jobs of --trace were submitted"} })
	shell.Complete(cmd, "models", func() []string { return []string{"any\tjobs run on GPUs of any model"} })
}

// emitFocus writes the invoice of one run in FOCUS. It fails if a pool has no price.
func (o *SimulateOptions) emitFocus(e *shell.Env, r *play.Run) error {
	for _, n := range play.Warnings([]*play.Run{r}) {
		e.Note(n)
	}
	if !r.Priced() {
		return &capcli.InputError{File: r.Case.Scenario.File, Field: "price", Text: "a bill needs a price for every pool", Hint: r.Cost.WhyNoTotal}
	}
	return shell.WriteFocus(e, o.output.Out, func(add func(*focus.Row)) { r.FocusRows(shell.FocusAccount, add) })
}

// traceFlag returns the value of --trace: one job log, or several where the command takes them.
func (o *SimulateOptions) traceFlag() pflag.Value {
	one := shell.LogFlag{Name: &o.Ask.Trace, More: o.More}
	if o.More != nil {
		return shell.LogsFlag{LogFlag: one}
	}
	return one
}

// FromRuns takes the inputs of the runs in a folder into o. Flags take precedence.
func (o *SimulateOptions) FromRuns(e *shell.Env, path string) error {
	if name := o.Ask.Scenario; name != "" {
		return &shell.UsageError{Text: fmt.Sprintf("--from %s names a scenario, and so does %s", path, name), Hint: "leave out one of them"}
	}
	folder := e.Folder(path)
	in, err := folder.Inputs()
	if err != nil {
		return err
	}
	if in == nil {
		return &capcli.InputError{
			File: filepath.Join(path, play.InputsFile), Text: "expected the inputs of the runs, found no such file",
			Hint: "write the folder with capcli simulate … --out " + path,
		}
	}
	if o.Runs == 0 {
		o.Runs = min(in.Runs, runsPlayed)
	}
	if err := folder.Complete(&o.Ask, in); err != nil {
		return err
	}
	if len(o.Policies) == 0 {
		o.Ask.Sets = append(o.Ask.Sets, "policy.name="+in.Policy)
	}
	if len(o.Placements) == 0 {
		o.Ask.Sets = append(o.Ask.Sets, "placement="+in.Placement)
	}
	o.Ask.Scenario, o.Ask.Policy, o.Ask.Place = o.Ask.KeptName(), "", ""
	return nil
}
