package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/scenarios/play"
	"capcli/simulate/billing"
	"capcli/simulate/outcome"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// simulateOptions are the flags of capcli simulate.
type simulateOptions struct {
	output     outputOptions
	trace      string
	read       traceOptions
	policies   []string
	placements []string
	sets       []string
	period     string // --period until it has become a change of the scenario
	models     string
	prices     string
	seed       uint64
	seeded     bool // --seed was given
	runs       int
	jobsOut    string
	dir        string
	failIf     []string
	enforce    bool
	perfect    bool
	log        *inputLog           // files that were read, where they are to be kept
	kept       *play.ScenarioInput // the scenario of a folder of runs, in place of a file
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
			"  capcli simulate --trace log.swf.gz --policy fifo,easy,conservative\n" +
			"  capcli simulate plan.yaml --set capacity[0].gpus=72 --fail-if 'wait_p95>30m'\n" +
			"  capcli simulate queue-collapse --policy fifo,easy,fair --runs 20 --out runs/",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.seeded = cmd.Flags().Changed("seed")
			return runSimulate(cmd.Context(), e, &o, args)
		},
	}
	addFormFlags(cmd, &o.output)
	o.output.allowFocus(cmd)
	f := cmd.Flags()
	f.StringVar(&o.trace, "trace", "", "job log to replay, `FILE` or - for stdin, in place of the scenario's")
	addFormatFlag(cmd, &o.read)
	addReadFlag(cmd, &o.read)
	f.StringSliceVar(&o.policies, "policy", nil, "scheduling policies, `a,b,c`: "+strings.Join(policy.Catalog.Names(), ", "))
	f.StringSliceVar(&o.placements, "placement", nil, "placements, `a,b`: "+strings.Join(placement.Catalog.Names(), ", "))
	f.StringArrayVar(&o.sets, "set", nil, "change a field of the scenario: `path=value`, capacity[0].gpus=72 (may be repeated)")
	o.addOverrideFlags(cmd)
	addPricesFlag(cmd, &o.prices)
	f.Uint64Var(&o.seed, "seed", 0, "seed of all chance, in place of the scenario's: a whole `NUMBER` from 0")
	f.IntVar(&o.runs, "runs", 1, "replications with seeds of their own; figures then carry the range of 90% of the runs: `N`")
	f.StringVar(&o.jobsOut, "jobs-out", "", "write what became of each job to this `FILE` (csv; one run only)")
	f.StringVar(&o.dir, "out", "", "write each plan's runs into a folder of this `DIR`, for capcli compare; - or a FILE.json (-o focus: any file) takes the result itself")
	f.StringArrayVar(&o.failIf, "fail-if", nil, "exit 5 if this is true of a run: `'wait_p95>30m'` (may be repeated)")
	f.BoolVar(&o.enforce, "enforce-limits", false, "exit 5 when a limit of the scenario is not held")
	f.BoolVar(&o.perfect, "perfect-estimates", false, "policies believe true run times, not the limits that users asked for")
	completeList(cmd, "policy", func() []string { return entries(&policy.Catalog) })
	completeList(cmd, "placement", func() []string { return entries(&placement.Catalog) })
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
		o.log = logInputs(e)
	}
	plans, err := o.plans(ctx, e, args)
	if err != nil {
		return err
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
		return o.verdict(plans, results)
	}
	if err := nothingRan(plans, results); err != nil {
		return err
	}
	doc := describeRuns(plans, results, o.output.shape(e))
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
	return o.verdict(plans, results)
}

// oneRun refuses what takes one run only where the call has more.
func (o *simulateOptions) oneRun(n int) error {
	what := ""
	switch {
	case n == 1:
	case o.jobsOut != "":
		what = "--jobs-out"
	case o.output.form == focusForm:
		what = "-o focus"
	}
	if what == "" {
		return nil
	}
	return &usageError{
		text: fmt.Sprintf("%s takes one run, but this call has %d", what, n),
		hint: "name one scenario, one policy, one placement and leave out --runs",
	}
}

// check refuses flags that cannot work before anything is read.
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
	for _, c := range o.failIf {
		if _, err := outcome.ParseCheck(c); err != nil {
			return &usageError{text: "--fail-if: " + err.Error(), hint: "for example --fail-if 'wait_p95>30m'"}
		}
	}
	if strings.HasSuffix(o.dir, ".json") || o.dir == "-" || o.output.form == focusForm {
		o.output.out, o.dir = o.dir, ""
	}
	if _, err := o.read.options(); err != nil {
		return err
	}
	q := play.Question{Sets: o.sets, Period: o.period, Models: o.models, Trace: o.trace}
	err := q.Settle()
	o.sets, o.period, o.models = q.Sets, q.Period, q.Models
	return err
}

// verdict turns a finished result into the exit code: 4 when jobs are missing
// from it, 5 when a condition is true.
func (o *simulateOptions) verdict(plans []*play.Case, results [][]*play.Run) error {
	var partial *partialError
	for i, p := range plans {
		for _, r := range results[i] {
			if err := o.conditions(p, r); err != nil {
				return err
			}
			if partial == nil {
				partial = missingJobs(r)
			}
		}
	}
	if partial != nil {
		return partial
	}
	return nil
}

// conditions checks --fail-if and, when asked, the limits.
func (o *simulateOptions) conditions(p *play.Case, r *play.Run) error {
	for _, text := range o.failIf {
		c, err := outcome.ParseCheck(text)
		if err != nil {
			return err
		}
		holds, known := c.Holds(&r.Outcome)
		if !known {
			return &conditionError{fmt.Sprintf("--fail-if %s: this figure is not known for %s%s", text, p.Label(), whyUnknown(r))}
		}
		if holds {
			return &conditionError{fmt.Sprintf("%s is true of %s: it is %s", c, p.Label(), metricText(r, c.Metric))}
		}
	}
	if !o.enforce {
		return nil
	}
	for _, c := range p.Scenario.Limits {
		holds, known := c.Holds(&r.Outcome)
		if !known {
			return &conditionError{fmt.Sprintf("whether the limit %s is held by %s is not known%s", c, p.Label(), whyUnknown(r))}
		}
		if !holds {
			return &conditionError{fmt.Sprintf("the limit %s is not held by %s: it is %s", c, p.Label(), metricText(r, c.Metric))}
		}
	}
	return nil
}

// whyUnknown says why a figure of the run is not known, where that is known.
func whyUnknown(r *play.Run) string {
	switch {
	case r.Result.Started() == 0:
		return ": no job started"
	case r.Result.Jobs.Finished == 0:
		return ": no job finished"
	case !r.Priced():
		return ": no price is stated for " + strings.Join(r.Case.Scenario.Unpriced(), ", ")
	}
	return ""
}

// metricText writes a metric of the run for people.
func metricText(r *play.Run, m *outcome.Metric) string {
	v, ok := m.Read(&r.Outcome)
	if !ok {
		return "n/a"
	}
	return v.Text(m.Text)
}

// nothingRan refuses a result in which no job of a log ever started: it would
// be a table of zeros.
func nothingRan(plans []*play.Case, results [][]*play.Run) error {
	for i, p := range plans {
		if !p.FromLog() || slices.ContainsFunc(results[i], func(r *play.Run) bool { return r.Result.Started() > 0 }) {
			continue
		}
		r := results[i][0].Result
		why := "they wait, for capacity is there too late or never free"
		if len(r.Refused) > 0 {
			why = fmt.Sprintf("the first, %s, %s", r.Refused[0].ID, r.Refused[0].Why)
		}
		return &capcli.InputError{
			File: p.Source.Name, Text: fmt.Sprintf("expected jobs that can start on %s, found none of %s: %s", p.Label(), grouped(r.Jobs.Read), why),
			Hint: "--set capacity[0].gpus=N gives more room; capcli scenarios init --trace " + capcli.ShellWord(p.Source.Name) + " --out plan.yaml writes a scenario that fits the log",
		}
	}
	return nil
}

// missingJobs says which jobs the result lacks, if any: those that can never run,
// and those that still waited when nothing more could happen.
func missingJobs(r *play.Run) *partialError {
	j, p := &r.Jobs, r.Case
	switch {
	case j.Unplaceable > 0:
		first := r.Result.Refused[0]
		return &partialError{
			text: fmt.Sprintf("%s of %s can never run on %s; the first is job %s: %s", grouped(j.Unplaceable), jobCount(j.Read), p.Label(), first.ID, first.Why),
			hint: "the result has all other jobs; -o json lists the first of these under unplaceable_jobs",
		}
	case r.Result.Endless:
		return &partialError{
			text: fmt.Sprintf("fifty years after the last job came %s still waited on %s and %s ran; the run was ended there", grouped(j.Waiting), p.Label(), grouped(j.Running)),
			hint: "their work may be lost as often as it is done: look at failures, hazard and preemption",
		}
	case j.Waiting > 0 && !r.Result.Stopped:
		return &partialError{
			text: fmt.Sprintf("%s still waited on %s when nothing more could happen", jobCount(j.Waiting), p.Label()),
			hint: "capacity ended before they could start: look at from, until and spot availability",
		}
	case r.Cut:
		return &partialError{text: "the trace was cut short; jobs after its end are missing from the result"}
	}
	return nil
}

// addOverrideFlags gives cmd the flags that make a scenario look at a log that
// it was not written for.
func (o *simulateOptions) addOverrideFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.period, "period", "", "time looked at, in place of the scenario's: `'A to B'`, or trace for the days of the log")
	f.StringVar(&o.models, "models", "", "`any`: run jobs on GPUs of any model, whatever the log says that they want")
	complete(cmd, "period", func() []string { return []string{"trace\tthe days on which the jobs of --trace were submitted"} })
	complete(cmd, "models", func() []string { return []string{"any\tjobs run on GPUs of any model"} })
}

// emitFocus writes the invoice of one run in FOCUS.
func (o *simulateOptions) emitFocus(e *env, r *play.Run) error {
	for _, n := range play.Warnings([]*play.Run{r}) {
		e.note(n)
	}
	if !r.Priced() {
		return &capcli.InputError{File: r.Case.Scenario.File, Field: "price", Text: "a bill wants a price for every pool", Hint: r.Cost.WhyNoTotal}
	}
	until := r.Start + capcli.Time(r.Ended)
	var contracts []billing.PoolContract
	for i := range r.Contracts {
		c := &r.Contracts[i]
		contracts = append(contracts, billing.PoolContract{Pool: c.Name, Term: billing.Period{From: c.Start, Until: c.End}, Upfront: c.Upfront, Paid: c.Paid})
	}
	return writeFocus(e, o.output.out, func(add func(*billing.FOCUS)) {
		r.Invoice.FocusRows(r.Result.Record, until, focusAccount, contracts, add)
	})
}
