package plan

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"capcli/cmd/capcli/replay"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/review"
	"capcli/scenarios/money/focus"
	"capcli/scenarios/play"
	"capcli/simulate"
)

// reviewOptions are the flags of capcli plan review.
type reviewOptions struct {
	plan     planOptions // the output, the market and how to read the use
	scenario string
	last     string
	focus    bool
}

func newPlanReview(e *shell.Env) *cobra.Command {
	var o reviewOptions
	cmd := &cobra.Command{
		Use:   "review USED",
		Short: "Compare commitments with past use, and say what to change",
		Long: "USED is what was in use: a job log (from start to end of each job), a table of GPUs (ds, y), a folder that\n" +
			"capcli simulate --out wrote, or with --focus a bill. " +
			"Takes the last 90 days, and finds the best purchases for a\n" +
			"year ahead with the same use: what to buy, renew or let expire.",
		Example: "  capcli plan review sacct.psv.gz --held 64@2026-01-01..2027-01-01=2.20 --on-demand 3.90 --term 12mo=2.20\n" +
			"  capcli plan review used.csv --commitments plan.yaml --on-demand 3.90 --term 1mo=3.40 --term 12mo=2.20 -o json",
		Args: shell.WantArgs("USED"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.plan.curve.demand = cmp.Or(o.plan.curve.demand, args[0])
			if o.plan.curve.demand != args[0] {
				return &shell.UsageError{Text: "plan review takes the use as its argument, found also --demand " + o.plan.curve.demand}
			}
			return planReview(cmd.Context(), e, &o)
		},
	}
	shell.AddOutputFlags(cmd, &o.plan.output)
	o.plan.curve.addFlags(cmd)
	f := cmd.Flags()
	f.Lookup("held").Usage = "commitments, with their price: `64@2026-01-01..2027-01-01=2.20` (may be repeated)"
	f.StringVar(&o.scenario, "commitments", "", "commitments: the owned and reserved pools of a scenario, `FILE`")
	f.BoolVar(&o.focus, "focus", false, "USED is a bill in FOCUS: an hour of use is a GPU-hour")
	f.StringVar(&o.last, "last", "90d", "use the last `TIME` of the history")
	shell.ExplainedBy(cmd, "capcli plan curve", "demand", "series", "quantile", "what-if", "buy", "discount")
	return cmd
}

func planReview(ctx context.Context, e *shell.Env, o *reviewOptions) error {
	c := &o.plan.curve
	of, err := c.request(e)
	if err != nil {
		return err
	}
	ask := review.Request{Market: of.Market, Last: o.last}
	question, err := ask.Parse()
	if err != nil {
		return err
	}
	used, played, err := o.readUsed(ctx, e)
	if err != nil {
		return err
	}
	contracts, err := question.Contracts(used)
	if err != nil {
		return err
	}
	pools, err := o.pools(e, used, played, len(contracts))
	if err != nil {
		return err
	}
	r, err := question.Review(ctx, used, append(contracts, pools...))
	if err != nil {
		return err
	}
	return emitPart(e, o.plan.output, tables.ReviewDoc(r), r.Partial)
}

// pools returns the committed pools of the scenario of --commitments. Without that flag they
// are the pools of the replayed scenario, unless other commitments are given: given is their
// number. It returns nil where neither applies.
func (o *reviewOptions) pools(e *shell.Env, used *curve.Demand, played *play.Case, given int) ([]market.Contract, error) {
	var s *scenarios.Scenario
	var opts scenarios.Options
	switch {
	case o.scenario != "":
		text, err := shell.ReadFile(e, o.scenario, play.ScenarioMax)
		if err != nil {
			return nil, err
		}
		if s, err = scenarios.Parse(o.scenario, text); err != nil {
			return nil, err
		}
		opts = scenarios.Options{Seed: s.Seed, Open: func(name string) ([]byte, error) { return shell.ReadBeside(e, s.Dir, name) }}
	case played != nil && given == 0:
		s, opts = played.Scenario, scenarios.Options{Seed: played.Seed, Open: played.Open}
	default:
		return nil, nil
	}
	out, err := review.Pools(s, opts, used.Curve)
	if err == nil && len(out) == 0 {
		used.Notes = append(used.Notes, s.Name+" has no owned or reserved pool")
	}
	return out, err
}

// readUsed reads the use: a job log, a table, a bill, or a folder of runs, whose first run is
// replayed. The case is nil unless a run was replayed.
func (o *reviewOptions) readUsed(ctx context.Context, e *shell.Env) (*curve.Demand, *play.Case, error) {
	c := &o.plan.curve
	if e.IsFolder(c.demand) {
		return o.playAgain(ctx, e, c.demand)
	}
	if o.focus {
		use := &review.BillUse{File: c.demand}
		rep, err := shell.ReadFocus(ctx, e, c.demand, focus.Options{}, nil, use.Add)
		if err != nil {
			return nil, nil, err
		}
		used, err := use.Demand(rep.Notes())
		return used, nil, err
	}
	source, err := c.source("usage")
	if err != nil {
		return nil, nil, err
	}
	used, err := source.Read(ctx, e.Sources())
	return used, nil, err
}

// playAgain replays the first run of a folder written by capcli simulate --out and measures its
// use.
func (o *reviewOptions) playAgain(ctx context.Context, e *shell.Env, folder string) (*curve.Demand, *play.Case, error) {
	x := &replay.Explaining{O: &replay.ExplainOptions{Replayed: true}, Maker: shell.NewMaker(e)}
	x.O.Sim.Runs, x.O.Sim.Ask.Read = 1, o.plan.curve.history.Read
	if err := x.Open(e, folder); err != nil {
		return nil, nil, err
	}
	p, err := x.Make(ctx, e, explain.Variation{})
	if err != nil {
		return nil, nil, err
	}
	gauge := &review.Gauge{}
	p.Prepare = func(_ int, cfg *simulate.Config) error {
		cfg.Observers = append(cfg.Observers, gauge)
		return nil
	}
	all, err := x.O.Sim.Play(ctx, e, []*play.Case{p})
	if err != nil {
		return nil, nil, err
	}
	res := all[0][0].Result
	used, err := gauge.Demand(folder, res.Record.Start, res.Ended)
	return used, p, err
}
