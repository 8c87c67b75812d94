package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli"
	"capcli/cmd/files"
	"capcli/scenarios/play"
	"capcli/simulate/billing/focus"
	"capcli/simulate/outcome"
	"capcli/simulate/placement"
	"capcli/simulate/policy"

	"capcli/cmd/bundle"
)

// simulateOptions are the flags of capcli simulate.
type simulateOptions struct {
	output     outputOptions
	ask        play.Question // the next case, filled by the flags
	policies   []string
	placements []string
	more       *[]string // further job logs; nil where the command takes one
	prices     string
	runs       int
	jobsOut    string
	queueOf    string // the job of --explain-queue
	dir        string
	conditions play.Conditions
	opened     *files.Opened // the files read, if --out is to list them; else nil
	kueue      kueueOptions
	timeline   string // how to show the run over time: auto, gantt; "" is not
}

func newSimulate(e *env) *cobra.Command {
	var o simulateOptions
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
			if o.kueue.asked(cmd) {
				return runKueue(cmd, e, &o, args)
			}
			return runSimulate(cmd.Context(), e, &o, args)
		},
	}
	addFormFlags(cmd, &o.output)
	o.kueue.addFlags(cmd)
	o.output.allowFocus(cmd)
	f := cmd.Flags()
	o.addCaseFlags(cmd, "job log to replay, `FILE` or - for stdin, in place of the scenario's",
		"scheduling policies, `a,b,c`: "+strings.Join(policy.Catalog.Names(), ", "), "placements, `a,b`: "+strings.Join(placement.Catalog.Names(), ", "))
	f.Lookup("set").Usage = "change a field: `path=value`, capacity[0].gpus=72 (may be repeated)"
	addFormatFlag(cmd, &o.ask.Read)
	addReadFlag(cmd, &o.ask.Read)
	addPricesFlag(cmd, &o.prices)
	f.IntVar(&o.runs, "runs", 1, "replications, `N`; figures then have the range of 90% of them")
	f.StringVar(&o.jobsOut, "jobs-out", "", "write the outcome of each job to this `FILE` (csv; one run only)")
	f.StringVar(&o.queueOf, "explain-queue", "", "explain the wait of this `JOB`: what was ahead of it, and when it started")
	f.StringVar(&o.dir, "out", "", "write each plan's runs into a folder of `DIR`; - or FILE.json for the result")
	f.StringVar(&o.timeline, "timeline", "", "also the run over time; `=gantt` draws each job")
	f.Lookup("timeline").NoOptDefVal = timelineAuto
	f.StringArrayVar(&o.conditions.FailIf, "fail-if", nil, "exit 5 if this is true of a run: `'wait_p95>30m'` (may be repeated)")
	f.BoolVar(&o.conditions.Limits, "enforce-limits", false, "exit 5 when a limit of the scenario is not held")
	completeList(cmd, "policy", func() []string { return entries(&policy.Catalog) })
	completeList(cmd, "placement", func() []string { return entries(&placement.Catalog) })
	complete(cmd, "timeline", func() []string { return []string{timelineAuto, timelineGantt} })
	completeSign(cmd, "fail-if", ">")
	cmd.ValidArgsFunction = completeScenarios
	return cmd
}

func runSimulate(ctx context.Context, e *env, o *simulateOptions, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.oneRun(max(1, len(args)) * len(orOne(o.policies)) * len(orOne(o.placements)) * o.runs); err != nil {
		return err
	}
	if o.dir != "" {
		o.opened = e.watchOpened()
	}
	plans, err := o.plans(ctx, e, args)
	if err != nil {
		return err
	}
	if o.queueOf != "" {
		return o.explainQueue(ctx, e, plans[0])
	}
	folders := runFolders(plans)
	ended := o.recordJobs(e, plans)
	results, err := o.play(ctx, e, plans)
	err = ended(err)
	plans, results, part, err := o.finishedRuns(ctx, plans, results, err)
	if err != nil {
		return err
	}
	if o.output.form == focusForm {
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
	doc := describeRuns(plans, results, o.output.shape(e))
	o.addTimeline(&doc, results[0][0].Timeline, o.output.shape(e))
	if part != nil {
		doc.Lead = joinSentences(partialLead(part), doc.Lead)
		doc.Data.(*outcome.Document).Partial = part
	}
	if err := o.save(e, plans, folders, results, part); err != nil {
		return err
	}
	if err := emit(e, o.output, doc); err != nil {
		return err
	}
	if part != nil {
		return o.stoppedError(ctx, part)
	}
	return o.conditions.Judge(results)
}

// oneRun refuses --jobs-out and -o focus, which take one run, if there are n != 1 runs.
func (o *simulateOptions) oneRun(n int) error {
	what := ""
	switch {
	case n == 1:
	case o.jobsOut != "":
		what = "--jobs-out"
	case o.queueOf != "":
		what = "--explain-queue"
	case o.output.form == focusForm:
		what = "-o focus"
	case o.timeline != "" && n != o.runs:
		what, n = "--timeline", n/o.runs
	}
	if what == "" {
		return nil
	}
	return &usageError{
		text: fmt.Sprintf("%s takes one run, but this call has %d", what, n),
		hint: "name one scenario, one policy, one placement and leave out --runs",
	}
}

// check refuses flags that cannot work before any file is read.
func (o *simulateOptions) check() error {
	if err := o.output.check(); err != nil {
		return err
	}
	if o.runs < 1 || o.runs > 1_000_000 {
		return &usageError{text: fmt.Sprintf("--runs wants 1 to 1000000, found %d", o.runs)}
	}
	for _, p := range o.policies {
		if _, err := policy.Catalog.Get(p); err != nil {
			return err
		}
	}
	for _, p := range o.placements {
		if _, err := placement.Catalog.Get(p); err != nil {
			return err
		}
	}
	if err := o.conditions.Check(); err != nil {
		return err
	}
	if o.timeline != "" && o.timeline != timelineAuto && o.timeline != timelineGantt {
		return &usageError{text: fmt.Sprintf("--timeline wants auto or gantt, found %q", o.timeline), hint: "--timeline, or --timeline=gantt for a row for each job"}
	}
	if strings.HasSuffix(o.dir, ".json") || o.dir == "-" || o.output.form == focusForm {
		o.output.out, o.dir = o.dir, ""
	}
	if _, err := o.ask.Read.Parse(); err != nil {
		return err
	}
	return o.ask.Settle()
}

// addCaseFlags adds the flags that choose the case to cmd. trace, policies and placements are the
// usage texts of the flags of these names.
func (o *simulateOptions) addCaseFlags(cmd *cobra.Command, trace, policies, placements string) {
	f := cmd.Flags()
	f.Var(o.traceFlag(), "trace", trace)
	f.StringSliceVar(&o.policies, "policy", nil, policies)
	f.StringSliceVar(&o.placements, "placement", nil, placements)
	f.StringArrayVar(&o.ask.Sets, "set", nil, "change a field: `path=value` (may be repeated)")
	f.StringVar(&o.ask.Period, "period", "", "period of the run: `'A to B'`, or trace for the days of the log")
	f.StringVar(&o.ask.Models, "models", "", "`any`: run jobs on GPUs of any model, whatever model the log names")
	f.Var(seedFlag{&o.ask.Seed}, "seed", "random seed, in place of the scenario's: a whole `NUMBER`")
	f.BoolVar(&o.ask.Perfect, "perfect-estimates", false, "policies know true run times, not only the limits that users asked for")
	bundle.Rename(cmd, "perfect-estimates", "--set policy.perfect_estimates=true")
	complete(cmd, "period", func() []string { return []string{"trace\tthe days on which the jobs of --trace were submitted"} })
	complete(cmd, "models", func() []string { return []string{"any\tjobs run on GPUs of any model"} })
}

// emitFocus writes the invoice of one run in FOCUS. It fails if a pool has no price.
func (o *simulateOptions) emitFocus(e *env, r *play.Run) error {
	for _, n := range play.Warnings([]*play.Run{r}) {
		e.note(n)
	}
	if !r.Priced() {
		return &capcli.InputError{File: r.Case.Scenario.File, Field: "price", Text: "a bill needs a price for every pool", Hint: r.Cost.WhyNoTotal}
	}
	return writeFocus(e, o.output.out, func(add func(*focus.Row)) { r.FocusRows(focusAccount, add) })
}

// traceFlag returns the value of --trace: one job log, or several where the command takes them.
func (o *simulateOptions) traceFlag() pflag.Value {
	one := logFlag{&o.ask.Trace, o.more}
	if o.more != nil {
		return logsFlag{one}
	}
	return one
}
