package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/cmd/timeline"
	"capcli/scenarios/money/focus"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/simulate"
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

// plans makes one case for each scenario, policy and placement.
func (o *SimulateOptions) plans(ctx context.Context, e *shell.Env, args []string) ([]*play.Case, error) {
	if len(args) == 0 {
		args = []string{""}
		if o.Ask.Trace == "" {
			e.Note("no scenario and no trace: the library's default scenario, with made-up jobs (capcli scenarios show default)")
		}
	}
	maker := shell.NewMaker(e)
	var out []*play.Case
	for _, name := range args {
		for _, policy := range shell.OrOne(o.Policies) {
			for _, placement := range shell.OrOne(o.Placements) {
				o.Ask.Scenario, o.Ask.Policy, o.Ask.Place = name, policy, placement
				p, err := o.Plan(ctx, e, maker)
				if err != nil {
					return nil, err
				}
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// Plan makes the case that the flags ask for. Changes that the log makes to the scenario are added
// to those of --set.
func (o *SimulateOptions) Plan(ctx context.Context, e *shell.Env, maker *play.Maker) (c *play.Case, err error) {
	if o.Ask.Prices, err = shell.OwnPrices(e, o.Prices); err != nil {
		return nil, err
	}
	return maker.Case(ctx, &o.Ask)
}

// Play runs every plan --runs times.
func (o *SimulateOptions) Play(ctx context.Context, e *shell.Env, plans []*play.Case) ([][]*play.Run, error) {
	unit := "jobs"
	if len(plans)*o.Runs > 1 {
		unit = "runs"
	}
	p, done := shell.NewProgress(e, unit), int64(0)
	out, err := play.Play(ctx, plans, play.Request{Runs: o.Runs, Timeline: o.dir != "" || o.timeline != "", Lines: o.lines(), Note: e.Note, Progress: func(n, total int64) {
		done = n
		p.Report(n, total)
	}})
	if err == nil || unit == "runs" {
		p.End(done)
	}
	return out, err
}

// recordJobs makes the run of the plan write its jobs to --jobs-out. The function it returns
// finishes the file: it commits the file if the run succeeded and discards it otherwise.
func (o *SimulateOptions) recordJobs(e *shell.Env, plans []*play.Case) func(error) error {
	if o.jobsOut == "" {
		return func(err error) error { return err }
	}
	var out *files.Output
	var rows *play.JobRows
	plans[0].Prepare = func(_ int, cfg *simulate.Config) (err error) {
		if out != nil { // the run starts again with sorted jobs
			out.Abort()
		}
		if out, err = e.Create(o.jobsOut); err == nil {
			rows = play.NewJobRows(out, plans[0], report.Guard)
			cfg.Observers = append(cfg.Observers, rows)
		}
		return err
	}
	return func(err error) error {
		switch {
		case out == nil:
			return err
		case err != nil:
			out.Abort()
			return err
		}
		if err := rows.Close(); err != nil {
			return out.Failed(err)
		}
		return out.Commit()
	}
}

// save writes each plan's runs into a folder of --out: result.json, which capcli compare reads,
// inputs.json, from which capcli explain replays the runs, and the tables of services.
func (o *SimulateOptions) save(e *shell.Env, plans []*play.Case, folders map[*play.Case]string, results [][]*play.Run, part *outcome.Partial) error {
	if o.dir == "" {
		return nil
	}
	var wrote []string
	read, err := o.opened.Sums(&e.Disk)
	if err != nil {
		return err
	}
	used := capcli.Map(read, func(f files.Sum) play.FileInput { return play.FileInput{File: f.Name, SHA256: f.SHA256} })
	for i, p := range plans {
		folder := filepath.Join(o.dir, folders[p])
		data := play.Document(results[i : i+1])
		data.Notes, data.Partial = p.Notes, part
		inputs := play.InputsOf(p, &o.Ask, len(results[i]), func(file string) string { return shell.SeenFrom(folder, file) }, used)
		inputs.Version = shell.VersionText()
		if err := e.Disk.Mkdir(folder); err != nil {
			return &files.WriteError{Path: folder, Err: err}
		}
		contents, err := inputs.Contents(data, results[i][0])
		if err != nil {
			return err
		}
		for _, c := range contents {
			if err := shell.WriteWhole(e, filepath.Join(folder, c.Name), c.Text); err != nil {
				return err
			}
		}
		wrote = append(wrote, folder)
	}
	replays := o.Ask.Trace != "-" && plans[0].Scenario.Kueue == nil // neither jobs from stdin nor Kueue's can be replayed
	e.Say("wrote " + strings.Join(wrote, ", ") + play.Next(wrote, results[0][0], replays))
	return nil
}

// finishedRuns returns the runs of each plan that were done when a signal came: those from the
// first on without a gap, so that the result can be replayed. Plans without any are left out.
// Without an error it returns the plans and a nil Partial. It fails where the error is no signal,
// or where nothing can be kept.
func (o *SimulateOptions) finishedRuns(ctx context.Context, plans []*play.Case, results [][]*play.Run, err error) ([]*play.Case, [][]*play.Run, *outcome.Partial, error) {
	if err == nil {
		return plans, results, nil, nil
	}
	var by shell.Stopped
	if !errors.As(context.Cause(ctx), &by) {
		return nil, nil, nil, err
	}
	kept, out, done := play.Finished(plans, results)
	if done == 0 {
		return nil, nil, nil, by
	}
	part := &outcome.Partial{Done: done, Asked: o.Runs * len(plans), Why: by.Error()}
	return kept, out, part, nil
}

// stoppedError is the error after an interrupted result was written.
func (o *SimulateOptions) stoppedError(ctx context.Context, p *outcome.Partial) error {
	var by shell.Stopped
	errors.As(context.Cause(ctx), &by)
	where := "the result is of those"
	if o.dir != "" {
		where = "they are in " + o.dir
	}
	return &shell.KeptError{By: by, Text: fmt.Sprintf("%d of %d runs were done: %s", p.Done, p.Asked, where)}
}

// The values of --timeline.
const (
	timelineAuto  = "auto"
	timelineGantt = "gantt"
)

// ganttMost is the most jobs that --timeline=gantt shows.
const ganttMost = 1000

// lines returns how many jobs of a run are followed one by one.
func (o *SimulateOptions) lines() int {
	if o.timeline == timelineGantt {
		return ganttMost
	}
	return timeline.MaxJobs
}

// addTimeline adds the run over time to the report, as charts for people and as tables. For a form of
// one table it comes first. Without --timeline, a timeline that --out keeps is not shown.
func (o *SimulateOptions) addTimeline(d *report.Doc, t *outcome.Timeline, form string) {
	if o.timeline == "" {
		o.hideTimeline(d)
		return
	}
	tables := timeline.Tables(t)
	if form == "table" || form == "md" {
		d.Tables = append(d.Tables, tables...)
		d.Charts = timeline.Charts(t, 12)
	} else {
		d.Tables = append(tables, d.Tables...)
	}
	if o.timeline == timelineGantt && t.Jobs == nil {
		d.Notes = append(d.Notes, fmt.Sprintf("the jobs are not shown one by one, for there are over %d: --period shows a part of them", ganttMost))
	}
}

// hideTimeline leaves the timeline that --out keeps out of a document that did not ask for it.
func (o *SimulateOptions) hideTimeline(d *report.Doc) {
	if data, is := d.Data.(*outcome.Document); is {
		for i := range data.Runs {
			data.Runs[i].Timeline = nil
		}
	}
}
