package data

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/invoice"
	"capcli/cmd/shell"
	"capcli/scenarios/money/spend"
)

// billSpendOptions are the flags of capcli bill spend.
type billSpendOptions struct {
	billOptions
	spend.Request
	cash    bool
	budgets []string
	seed    uint64
}

func newBillSpend(e *shell.Env) *cobra.Command {
	o := billSpendOptions{billOptions: billOptions{grain: "month"}}
	cmd := &cobra.Command{
		Use:   "spend USE",
		Short: "What projects and teams spend by day, week or month, and what the month comes to",
		Long: "Says what was spent by project, team, environment or any tag, with the change against the period before, and\n" +
			"forecasts the cost of the running month from that of its days, beside its budget. A bill in FOCUS is taken as it was\n" +
			"billed; with --portfolio its use is priced anew, as CSV is. -o openmetrics writes the figures for Prometheus, whose\n" +
			"rules and dashboard are in contrib/.",
		Example: "  capcli bill spend focus.csv.gz --by project,env --grain week\n" +
			"  capcli bill spend use.csv --portfolio portfolio.yaml --by tenant,class --budget 100k,tenant:search=40k\n" +
			"  capcli bill spend focus.csv.gz --by project -o openmetrics --out spend.prom",
		Args: shell.WantArgs("USE"),
		RunE: func(cmd *cobra.Command, args []string) error { return runBillSpend(cmd.Context(), e, &o, args[0]) },
	}
	shell.AddOutputFlags(cmd, &o.output)
	o.addUseFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.by, "by", []string{"tenant"}, "`KEYS` to split the cost by: tags, or tenant, account, class")
	f.StringVar(&o.Grain, "grain", "month", "length of the periods: `PERIOD` day, week or month")
	f.StringSliceVar(&o.budgets, "budget", nil, "of a month: `AMOUNT` for all, KEY:VALUE=AMOUNT for one (default: the portfolio's)")
	f.BoolVar(&o.cash, "cash", false, "count what is invoiced, not what is used up (amortised)")
	f.StringVar(&o.Model, "model", spend.DefaultModel, "forecasting model, by `NAME` (capcli forecast models)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the futures that are drawn: `N`")
	shell.Complete(cmd, "grain", func() []string { return spend.Grains })
	return cmd
}

func runBillSpend(ctx context.Context, e *shell.Env, o *billSpendOptions, name string) error {
	if err := o.Check(); err != nil {
		return err
	}
	b := spend.NewBook(o.by, o.cash)
	if o.portfolio == "" {
		o.rows = b.AddRow
	}
	r, notes, err := o.request(e, name)
	if err != nil {
		return overflown(name, err)
	}
	bought, err := o.readPortfolio(e, r)
	if err != nil {
		return err
	}
	if len(r.Use.Lines) > 0 {
		if err := b.Price(r); err != nil {
			return placedError(err, name, bought)
		}
	}
	if err := b.Window(r.From, r.Until); err != nil {
		return err
	}
	o.Seed = capcli.Seed(o.seed)
	more, err := o.ReadBudgets(o.budgets, o.by, r.Budget)
	if err != nil {
		return err
	}
	s, err := spend.Watch(ctx, b, o.Request)
	if err != nil {
		return overflown(name, err)
	}
	s.Use, s.Portfolio = name, o.portfolio
	s.Notes = shell.ListOf(slices.Concat(notes, more, s.Notes))
	return shell.Emit(e, o.output, (&invoice.Spend{Result: s}).Doc())
}
