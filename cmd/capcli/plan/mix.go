package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/capcli/replay"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// mixOptions are the flags of a plan of a scenario's mix.
type mixOptions struct {
	logs       []string               // further job logs, each a future
	sim        replay.SimulateOptions // trace, policies, placements, sets, seed, runs
	ask        mix.Request            // filled by the flags
	hold       string
	within     string
	confidence string
	goal       string
	save       string
	from       string
	weights    string
}

func (o *mixOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.ask.Vary, "vary", nil, "values to try: `PATH=VALUES`, overflow.patience=0,15m,1h (may be repeated)")
	f.StringArrayVar(&o.ask.Max, "max", nil, "upper limit, `METRIC=VALUE`: wait_p95=30m, stranded=50k (may be repeated)")
	f.StringArrayVar(&o.ask.Min, "min", nil, "lower limit, `METRIC=VALUE`: availability=0.95 (may be repeated)")
	f.StringVar(&o.hold, "hold", "95%", "`SHARE` of the runs in which all limits must hold")
	f.BoolVar(&o.ask.PriceUnserved, "price-unserved", false, "price unserved work at the on-demand price, in place of the limit of "+mix.UndoneMost+" on its share")
	f.StringVar(&o.within, "within", "", "availability is the share of jobs that start within `WAIT` (default: the wait limit, or 1h)")
	f.IntVar(&o.sim.Runs, "runs", 0, "runs of each mix: `N` (default: 20; 1 if nothing is random)")
	f.StringVar(&o.confidence, "confidence", "99%", "confidence of early dropping, `SHARE`; 0 drops by proof alone")
	f.StringVar(&o.goal, "goal", "frontier", "early dropping keeps this `WHAT`: frontier (of cost against wait) or cheapest")
	f.BoolVar(&o.ask.Exhaustive, "exhaustive", false, "try every mix, not only those around the best of a coarse grid")
	f.BoolVar(&o.ask.All, "all", false, "list every mix that was run in full, dominated ones too")
	f.BoolVar(&o.ask.ByGPU, "by-gpu", false, "use is billed by the GPU, though --term is bought in machines of --lot")
	f.StringVar(&o.ask.WaitCost, "wait-cost", "", "what an hour that a job waits counts in the choice, `$`")
	f.StringVar(&o.from, "from", "", "plan for the inputs of the runs in this `DIR` of capcli simulate --out")
	f.StringVar(&o.save, "save", "", "also write the plan as JSON to this `FILE`")
	o.sim.More = &o.logs
	f.StringVar(&o.weights, "weights", "", "weights of several --trace as futures, `A:B`, whole numbers (default: all alike)")
	o.sim.AddCaseFlags(cmd, "job log to plan for, `FILE`, in place of the scenario's (repeated: futures, each one run)", "scheduling policies to try, `a,b,c`", "placements to try, `a,b`")
	shell.AddPricesFlag(cmd, &o.sim.Prices)
	bundle.Add(cmd, "search", "settings of the search, `KEY=VALUE`,…: hold=95%, within=30m, confidence=99%, goal=cheapest, exhaustive, all, price-unserved, wait-cost=1 ($ that an hour of a job's waiting counts in the choice; default where the plan chooses the patience), weights=3:1 (of several --trace), every=1mo, lot=8 (GPUs) and by-gpu (jobs share machines) of --term", true,
		bundle.SameKeys("hold", "within", "confidence", "goal", "exhaustive", "all", "price-unserved", "wait-cost", "weights", "every", "lot", "by-gpu")...)
	shell.ExplainedBy(cmd, "capcli simulate", "prices", "trace", "policy", "placement", "set", "period", "models", "seed")
	shell.CompleteList(cmd, "policy", func() []string { return shell.Entries(&policy.Catalog) })
	shell.CompleteList(cmd, "placement", func() []string { return shell.Entries(&placement.Catalog) })
	shell.CompleteSign(cmd, "max", "=")
	shell.CompleteSign(cmd, "min", "=")
	shell.Complete(cmd, "goal", func() []string { return []string{"frontier", "cheapest"} })
}

func newPlanMix(e *shell.Env) *cobra.Command { return newPlanMixOf(e, &planOptions{}) }

// newPlanMixOf makes the command capcli plan mix, whose flags are stored in o.
func newPlanMixOf(e *shell.Env, o *planOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mix [SCENARIO]",
		Short: "Find the best mix of capacity for the jobs of a scenario, under limits",
		Long: "Simulates mixes of a scenario on its jobs: the sizes of its committed pools and the patience, or what --vary says. A mix\n" +
			"is dropped early once a proof or a test shows that another costs less and waits no longer.",
		Example: "  capcli plan mix plan.yaml --trace jobs.parquet --max wait_p95=30m --search hold=95%\n" +
			"  capcli plan mix plan.yaml --vary capacity.base.gpus=0..128:8 --vary overflow.patience=0,15m,1h --policy easy,sjf",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.runMix(cmd.Context(), e, cmd, args)
		},
	}
	shell.AddOutputFlags(cmd, &o.output)
	addDemandFlags(cmd, &o.curve.history)
	o.curve.addTermFlags(cmd)
	o.mix.addFlags(cmd)
	addShardFlags(cmd, &o.shard)
	cmd.Flags().StringVar(&o.curve.series, "series", "", "only the futures of the series called `NAME`")
	o.futures.addAheadFlags(cmd, bundle.Key{"series", "series"})
	cmd.ValidArgsFunction = shell.CompleteScenarios
	return cmd
}

func (o *planOptions) runMix(ctx context.Context, e *shell.Env, cmd *cobra.Command, args []string) error {
	o.futures.ask.Seed = 1
	if o.mix.sim.Ask.Seed != nil {
		o.futures.ask.Seed = *o.mix.sim.Ask.Seed
	}
	o.shard.begin(e, cmd, args)
	return planMix(ctx, e, o, args)
}

// request returns the request of the flags for case c. runs is the number of runs of each mix; 0 is
// the default.
func (o *mixOptions) request(e *shell.Env, c *play.Case, runs int) (*mix.Request, error) {
	q := &o.ask
	q.Case, q.Policies, q.Placements, q.Runs, q.Note = c, o.sim.Policies, o.sim.Placements, runs, e.Note
	if o.within != "" {
		s, err := capcli.ParseSeconds(o.within)
		if err != nil || s < 0 {
			return nil, &shell.UsageError{Text: fmt.Sprintf("--within %q is not a length of time", o.within), Hint: "--within 30m"}
		}
		q.Within = &s
	}
	var err error
	if q.Hold, err = mix.ParseShare("hold", o.hold); err != nil {
		return nil, err
	}
	if q.Confidence, err = mix.ParseShare("confidence", o.confidence); err != nil {
		return nil, err
	}
	q.Goal, err = mix.ParseGoal(o.goal)
	return q, err
}

// mixCall is one run of capcli plan mix.
type mixCall struct {
	e       *shell.Env
	o       *planOptions
	planner *mix.Planner
}

// newMixCall reads the scenario and the jobs, and prepares the planner.
func newMixCall(ctx context.Context, e *shell.Env, o *planOptions, args []string) (*mixCall, error) {
	if len(args) > 1 {
		return nil, &shell.UsageError{Text: fmt.Sprintf("plan takes one scenario, found %d", len(args)), Hint: "capcli plan plan.yaml --max wait_p95=30m"}
	}
	m := &mixCall{e: e, o: o}
	sim := &o.mix.sim
	if len(args) == 1 {
		sim.Ask.Scenario = args[0]
	}
	sim.Ask.Read = o.curve.history.Read
	if o.mix.from != "" {
		if err := sim.FromRuns(e, o.mix.from); err != nil {
			return nil, err
		}
	}
	runs := sim.Runs
	sim.Runs = max(1, runs)
	if err := sim.Check(); err != nil {
		return nil, err
	}
	if sim.Ask.Scenario == "" && sim.Ask.Trace == "" {
		e.Note("no scenario and no trace: the library's default scenario, with made-up jobs (capcli scenarios show default)")
	}
	c, err := sim.Plan(ctx, e, shell.NewMaker(e))
	if err != nil {
		return nil, err
	}
	q, err := o.mix.request(e, c, runs)
	if err != nil {
		return nil, err
	}
	q.Market = &o.curve.ask.Market
	if len(q.Market.Terms) > 0 {
		if q.Market.Prices, err = shell.ReadPrices(e, sim.Prices); err != nil {
			return nil, err
		}
	}
	if err := o.mix.addFutures(ctx, e, q); err != nil {
		return nil, err
	}
	if o.futures.wanted() || o.futures.ask.Risk != "mean" {
		if q.Risk, err = futures.ParseRisk(o.futures.ask.Risk); err != nil {
			return nil, err
		}
	}
	if o.futures.wanted() {
		if err := o.lookAhead(ctx, e, q); err != nil {
			return nil, err
		}
	}
	m.planner, err = mix.NewPlanner(ctx, q)
	return m, err
}

// addFutures makes several job logs the futures of q, each one run.
func (o *mixOptions) addFutures(ctx context.Context, e *shell.Env, q *mix.Request) error {
	if len(o.logs) == 0 && o.weights == "" {
		return nil
	}
	cases := []*play.Case{q.Case}
	for _, name := range o.logs {
		other := o.sim
		other.Ask.Trace = name
		c, err := other.Plan(ctx, e, shell.NewMaker(e))
		if err != nil {
			return err
		}
		cases = append(cases, c)
	}
	return q.AddFutures(cases, o.weights)
}

// lookAhead makes the runs of q play the futures chosen by the flags.
func (o *planOptions) lookAhead(ctx context.Context, e *shell.Env, q *mix.Request) (err error) {
	source := &o.futures.ask.Source
	if source.Demand, err = o.curve.source("demand"); err != nil {
		return err
	}
	if err := source.Parse(); err != nil {
		return err
	}
	q.Ahead = func(past []capcli.Job) (*futures.Set, error) {
		if source.File != "" {
			return source.Read(ctx, e.Sources())
		}
		return mix.AroundPast(q.Case.Source.Name, past, source)
	}
	return nil
}

// planMix plans a scenario: the whole search, or one shard or a merge of shards.
func planMix(ctx context.Context, e *shell.Env, o *planOptions, args []string) error {
	if err := o.shard.settle(e, o.output.Out); err != nil {
		return err
	}
	m, err := newMixCall(ctx, e, o, args)
	if err != nil {
		return err
	}
	if o.shard.cut {
		return m.shards(ctx)
	}
	return m.searchHere(ctx)
}

// searchHere runs the whole search in this process.
func (m *mixCall) searchHere(ctx context.Context) error {
	plain, err := m.timeOne(ctx)
	if err != nil {
		return err
	}
	search := m.planner.Search
	p := shell.NewProgress(m.e, "mixes")
	search.Progress = func(done, of int) {
		if search.Stride > 1 {
			p.ShowAtMost(int64(done), int64(of))
			return
		}
		p.Report(int64(done), int64(of))
	}
	began, spent := m.e.Now(), &mix.Effort{Now: m.e.Now}
	search.Problem.Effort = spent
	next := shell.FirstSign // then after twice the time, and so on
	search.Better = func(text string) {
		if took := m.e.Now().Sub(began); took >= next {
			next = 2 * took
			m.e.Say(fmt.Sprintf("best so far, after %.1f s: %s (Ctrl-C prints it)", took.Seconds(), text))
		}
	}
	found, stopped := m.planner.Find(ctx)
	if found == nil {
		return stopped
	}
	p.End(int64(len(found.Entries)))
	if stopped == nil {
		m.e.Say(found.SpeedText(m.e.Now().Sub(began), plain))
	}
	err = m.finish(ctx, found, stopped)
	if took := m.e.Now().Sub(began); took >= shell.Patience {
		m.e.Say(fmt.Sprintf("%.1f s in all: %s", took.Seconds(), spent.Text(took)))
	}
	return err
}

// shards computes one shard of the search, or merges all shards. A merge runs the same search and
// looks up the outcomes it would simulate.
func (m *mixCall) shards(ctx context.Context) error {
	work, err := m.planner.Pieces(ctx)
	if err != nil {
		return err
	}
	o := &m.o.shard
	if o.merge == nil {
		return m.planner.Fault(o.compute(ctx, m.e, m.o.output.Out, work))
	}
	outcomes, err := o.outcomes(m.e, work)
	if err != nil {
		return err
	}
	if m.planner.Search.Evaluate, err = work.Evaluate(outcomes); err != nil {
		return err
	}
	found, err := m.planner.Find(ctx)
	if err != nil {
		return err
	}
	return m.finish(ctx, found, nil)
}

// timeOne measures the time of one simulation of one mix: the scenario's own, or the first. It
// returns 0 where none ran.
func (m *mixCall) timeOne(ctx context.Context) (time.Duration, error) {
	if err := m.planner.ReadJobs(); err != nil {
		return 0, err
	}
	began := m.e.Now()
	ran, err := m.planner.TryOne(ctx)
	if !ran {
		return 0, err
	}
	return m.e.Now().Sub(began), err
}

// finish studies the best mix and writes the plan, also that of a search that was stopped.
func (m *mixCall) finish(ctx context.Context, found *mix.Found, stopped error) error {
	r, err := m.planner.Study(ctx, found)
	if r == nil {
		return errors.Join(err, stopped)
	}
	if stopped == nil {
		stopped = err
	}
	if err := shell.Emit(m.e, m.o.output, tables.MixDoc(r, m.o.output.Shape(m.e))); err != nil {
		return errors.Join(err, stopped)
	}
	if name := m.o.mix.save; name != "" {
		if err := shell.WriteJSON(m.e, name, r); err != nil {
			return errors.Join(err, stopped)
		}
		m.e.Say("wrote " + name + ". next: capcli report " + capcli.ShellWord(name) + " --out meeting.html")
	}
	switch {
	case r.Partial != "":
		return stopped
	case r.Best == nil:
		return r.NoPlan()
	}
	if n, _ := r.Best.Entry.Mean("unplaceable"); n == 0 { // simulate ends with exit 4 where jobs can never run
		m.e.Say("next: " + m.nextCommand(r))
	}
	return nil
}

// nextCommand returns the command that runs the best mix in full detail.
func (m *mixCall) nextCommand(r *mix.Result) string {
	words := []string{"capcli", "simulate"}
	ask := &m.o.mix.sim.Ask
	if ask.Scenario != "" {
		words = append(words, capcli.ShellWord(ask.Scenario))
	}
	if ask.Trace != "" {
		words = append(words, "--trace", capcli.ShellWord(ask.Trace))
	}
	sets := slices.Clone(ask.Sets)
	for _, c := range r.Best.Choices {
		sets = append(sets, c.Path+"="+c.Value)
	}
	for _, s := range sets {
		words = append(words, "--set", capcli.ShellWord(s))
	}
	if ask.Seed != nil {
		words = append(words, fmt.Sprintf("--seed %d", *ask.Seed))
	}
	if r.Runs > 1 {
		words = append(words, fmt.Sprintf("--runs %d", r.Runs))
	}
	return strings.Join(words, " ")
}
