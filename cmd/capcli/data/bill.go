package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/play"
)

// billOptions are the flags of capcli bill.
type billOptions struct {
	output      shell.OutputOptions
	portfolio   string
	onDemand    string
	discount    string
	requests    string
	tag         string
	from, until string
	grain       string
	spreadsheet bool
	by          []string                             // keys of capcli bill spend
	rows        func(*focus.Row, *capcli.Tags) error // takes the rows of a bill in FOCUS; nil prices its use
}

func newBill(e *shell.Env) *cobra.Command {
	var o billOptions
	cmd := &cobra.Command{
		Use:   "bill USE",
		Short: "Price metered use under commitments: the invoice, who pays, what went unused",
		Long: "Prices metered use under a portfolio of commitments as providers bill it, and says what each commitment cost and\n" +
			"left unused, cash and amortised, by tenant and month. USE is a bill in FOCUS (what if this had been bought?) or\n" +
			"CSV: start, seconds or end, units, instance_type, gpu_model, region, zone, tenant, account, job, kind, price.\n" + billing.ProductText(),
		Example: "  capcli bill use.csv --portfolio portfolio.yaml\n" +
			"  capcli bill focus.csv.gz --portfolio what-if.yaml --discount 8% -o json\n" +
			"  capcli bill use.csv --portfolio portfolio.yaml -o focus --grain hour --out bill.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !cmd.Flags().Changed("portfolio") {
				return cmd.Help()
			}
			if err := shell.WantArgs("USE")(cmd, args); err != nil {
				return err
			}
			return runBill(cmd.Context(), e, &o, args[0])
		},
		Args: cobra.ArbitraryArgs,
	}
	shell.AddOutputFlags(cmd, &o.output)
	o.output.AllowFocus(cmd)
	o.addUseFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.discount, "discount", "", "cost of capital per year, `10%`: adds the present value of payments")
	f.StringVar(&o.requests, "requests", "", "requests served, for the cost of 1000: a `NUMBER`, or a CSV file of time,requests")
	f.StringVar(&o.grain, "grain", "month", "charge periods of the rows (--table rows, -o focus): `PERIOD` hour, day or month")
	shell.Complete(cmd, "grain", func() []string { return []string{"hour", "day", "month"} })
	shell.ExplainedBy(cmd, "capcli bill check", "spreadsheet")
	cmd.AddCommand(newBillCheck(e), newBillSpend(e))
	return cmd
}

// addUseFlags gives cmd the flags that say what use is and under which commitments it is priced.
func (o *billOptions) addUseFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.portfolio, "portfolio", "", "commitments: YAML `FILE` (default: none, all on demand); see docs/from-a-bill.md")
	f.StringVar(&o.onDemand, "on-demand", "", "on-demand price of a unit-hour for use that states none, `$` or the key of a price")
	shell.Complete(cmd, "on-demand", func() []string { return shell.PriceKeys("on_demand") })
	f.StringVar(&o.tag, "tag", "", "FOCUS: the tag whose value is the tenant, `KEY` (default: tenant, team or project)")
	f.StringVar(&o.from, "from", "", "the bill begins on this `DAY` (default: with the first use or commitment)")
	f.StringVar(&o.until, "until", "", "the bill ends with this `DAY`")
	f.BoolVar(&o.spreadsheet, "spreadsheet", false, "FOCUS: also accept dates such as 4/1/25 (month first) and amounts such as $1,000.00")
}

func runBill(ctx context.Context, e *shell.Env, o *billOptions, name string) error {
	r, notes, err := o.request(e, name)
	if err != nil {
		return err
	}
	bought, err := o.readPortfolio(e, r)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	for _, l := range bought.Left {
		notes = append(notes, fmt.Sprintf("%s ends early, on %s instead of %s: %s is refunded; the cost that is not refunded is spread over the time until then",
			l.ID, l.Refund.At.Date(), l.End.Date(), l.Refund.Amount))
	}
	s, err := billing.State(r)
	if err != nil {
		return placedError(err, name, bought)
	}
	s.Notes = shell.ListOf(append(notes, s.Notes...))
	if o.output.Form == shell.FocusForm {
		for _, n := range s.Notes {
			e.Note(n)
		}
		return shell.WriteFocus(e, o.output.Out, func(add func(*focus.Row)) { s.Bill.FocusRows(shell.FocusAccount, add) })
	}
	s.Notes = append(s.Notes, slices.Concat(r.Approvals.Notes(r.Portfolio.Units()), r.Budget.Notes(s.Budget, false), s.Energy.Notes())...)
	return shell.Emit(e, o.output, (&tables.BillDoc{Statement: s, Limits: r.Budget, Discount: o.discount}).Doc())
}

// request builds the request from the flags and reads the use. notes list the assumptions made on
// the way.
func (o *billOptions) request(e *shell.Env, name string) (r *billing.Request, notes []string, err error) {
	grain, ok := map[string]billing.Grain{"hour": billing.ByHour, "day": billing.ByDay, "month": billing.ByMonth}[o.grain]
	if !ok {
		return nil, nil, &shell.UsageError{Text: fmt.Sprintf("unknown --grain %q: have hour, day, month", o.grain)}
	}
	r = &billing.Request{Grain: grain, UseName: name, PortfolioName: o.portfolio}
	if o.discount != "" {
		rate, err := market.ParseShare("discount", o.discount)
		if err != nil {
			return nil, nil, err
		}
		r.Discount = &rate
	}
	if r.From, err = shell.ParseDay("--from", o.from, 0); err != nil {
		return nil, nil, err
	}
	if r.Until, err = shell.ParseDay("--until", o.until, 1); err != nil {
		return nil, nil, err
	}
	if r.Requests, err = o.readRequests(e); err != nil {
		return nil, nil, err
	}
	uo := billing.UseOptions{Tag: o.tag, By: o.by, Rows: o.rows, Spreadsheet: o.spreadsheet}
	if o.onDemand != "" {
		keys := market.Keys{Prices: prices.Catalogue()}
		if uo.Price, err = keys.Rate("on-demand", o.onDemand); err != nil {
			return nil, nil, err
		}
		notes = keys.Notes()
	}
	text, file, done, err := shell.OpenText(e, name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = done.Close() }()
	if r.Use, r.Read, err = billing.ReadUse(file, text, uo); err != nil {
		return nil, nil, err
	}
	return r, append(notes, r.Read.Notes...), nil
}

// readRequests reads --requests: a number of requests, or a CSV file of requests over time.
func (o *billOptions) readRequests(e *shell.Env) (q billing.Requests, err error) {
	text := strings.TrimSpace(o.requests)
	if q, err = billing.ParseRequests(text); err != nil || text == "" || q.Count > 0 {
		return q, err
	}
	file, err := shell.ReadFile(e, text, play.BesideMax)
	if err != nil {
		return q, err
	}
	q.Name = text
	q.Series, err = billing.ReadSeries(text, bytes.NewReader(file), "")
	return q, err
}

// readPortfolio reads the portfolio and the files that it names into r. Without --portfolio the
// portfolio is empty.
func (o *billOptions) readPortfolio(e *shell.Env, r *billing.Request) (*scenarios.Portfolio, error) {
	if o.portfolio == "" {
		r.Portfolio.Currency = r.Use.Currency
		return &scenarios.Portfolio{}, nil
	}
	text, err := shell.ReadFile(e, o.portfolio, play.ScenarioMax)
	if err != nil {
		return nil, err
	}
	p, err := scenarios.ParsePortfolio(o.portfolio, text)
	if err != nil {
		return nil, err
	}
	open := func(name string) ([]byte, error) { return shell.ReadBeside(e, filepath.Dir(o.portfolio), name) }
	r.Portfolio, r.Budget, r.Approvals, r.Use.SpotPrices = p.Portfolio, p.Budget, p.Approvals, p.SpotPrices
	if p.SpotFile != "" {
		more, err := open(p.SpotFile)
		if err != nil {
			return nil, err
		}
		prices, err := billing.ReadSpotPrices(p.SpotFile, bytes.NewReader(more))
		if err != nil {
			return nil, err
		}
		r.Use.SpotPrices = append(r.Use.SpotPrices, prices...)
	}
	if p.Energy != nil {
		r.Energy, err = p.Energy.Load(open)
	}
	return p, err
}

// placedError turns an error about a commitment or a line of use into an InputError that names the
// file, and the line of a commitment. use is the name of the file of use.
func placedError(err error, use string, p *scenarios.Portfolio) error {
	var bad *billing.PortfolioError
	var line *billing.RecordError
	switch {
	case errors.As(err, &bad):
		return &capcli.InputError{File: p.File, Line: p.Line(bad.Index), Field: bad.Field, Text: bad.Text, Err: err}
	case errors.As(err, &line):
		return &capcli.InputError{File: use, Field: line.Field, Text: line.Error(), Err: err}
	}
	return overflown(use, err)
}

// overflown turns an overflow of amounts into an InputError about file; it returns other errors as
// they are.
func overflown(file string, err error) error {
	if !errors.Is(err, capcli.ErrOverflow) {
		return err
	}
	return &capcli.InputError{File: file, Text: err.Error(), Hint: "check the units of the prices and quantities", Err: err}
}
