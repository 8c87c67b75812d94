package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/scenarios"
	"capcli/simulate/billing"
)

// billOptions are what the flags of bill say.
type billOptions struct {
	output      outputOptions
	portfolio   string
	onDemand    string
	discount    string
	requests    string
	tag         string
	from, until string
	grain       string
	spreadsheet bool
}

func newBill(e *env) *cobra.Command {
	var o billOptions
	cmd := &cobra.Command{
		Use:   "bill USE",
		Short: "Price metered use under commitments: the invoice, who pays, what went unused",
		Long: "Prices metered use under a portfolio of commitments as providers bill it, and says what each commitment cost and\n" +
			"left unused, cash and amortised, by tenant and month. USE is a bill in FOCUS (what if this had been bought?) or\n" +
			"CSV: start, seconds or end, units, instance_type, gpu_model, region, zone, tenant, account, job, kind, price.",
		Example: "  capcli bill use.csv --portfolio portfolio.yaml\n" +
			"  capcli bill focus.csv.gz --portfolio what-if.yaml --discount 8% -o json\n" +
			"  capcli bill use.csv --portfolio portfolio.yaml -o focus --grain hour --out bill.csv\n" +
			"  capcli bill check focus.csv.gz",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !cmd.Flags().Changed("portfolio") {
				return cmd.Help()
			}
			if err := wantArgs("USE")(cmd, args); err != nil {
				return err
			}
			return runBill(cmd.Context(), e, &o, args[0])
		},
		Args: cobra.ArbitraryArgs,
	}
	addOutputFlags(cmd, &o.output)
	o.output.allowFocus(cmd)
	f := cmd.Flags()
	f.StringVar(&o.portfolio, "portfolio", "", "what was bought: YAML `FILE` (default: nothing, all on demand); see the README")
	f.StringVar(&o.onDemand, "on-demand", "", "on-demand price of a unit-hour for use that states none, `$` or the key of a price")
	complete(cmd, "on-demand", func() []string { return keysOf("on_demand") })
	f.StringVar(&o.discount, "discount", "", "cost of capital a year, `10%`: adds the present value of payments")
	f.StringVar(&o.requests, "requests", "", "requests served, for the cost of 1000: a `NUMBER`, or a CSV file of time,requests")
	f.StringVar(&o.tag, "tag", "", "FOCUS: the tag whose value is the tenant, `KEY` (default: tenant, team or project)")
	f.StringVar(&o.from, "from", "", "the bill begins on this `DAY` (default: with the use, or what was bought that day)")
	f.StringVar(&o.until, "until", "", "and ends with this `DAY`")
	f.StringVar(&o.grain, "grain", "month", "charge periods of the rows (--table rows, -o focus): `PERIOD` hour, day or month")
	f.BoolVar(&o.spreadsheet, "spreadsheet", false, "FOCUS: take dates such as 4/1/25 (month first) and amounts such as $1,000.00 too")
	complete(cmd, "grain", func() []string { return []string{"hour", "day", "month"} })
	explainedBy(cmd, "capcli bill check", "spreadsheet")
	cmd.AddCommand(newBillCheck(e))
	return cmd
}

// billed is use, priced.
type billed struct {
	o          *billOptions
	file       string
	use        *billing.UseReport
	portfolio  *scenarios.Portfolio
	bill       *billing.Bill
	chargeback *billing.Chargeback
	months     []billing.BillMonth
	units      []unitCost
	discount   float64
	present    float64 // worth of the bill's payments
	notes      []string
	overview   overview // budget and energy
}

func runBill(ctx context.Context, e *env, o *billOptions, name string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	grain, ok := map[string]billing.Grain{"hour": billing.ByHour, "day": billing.ByDay, "month": billing.ByMonth}[o.grain]
	if !ok {
		return &usageError{text: fmt.Sprintf("unknown --grain %q: have hour, day, month", o.grain)}
	}
	b := &billed{o: o, file: name}
	if err := b.flags(); err != nil {
		return err
	}
	rec, err := b.read(e, name)
	if err != nil {
		return err
	}
	if err := b.bought(e, rec); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := b.price(e, rec, grain); err != nil {
		return err
	}
	if o.output.form == focusForm {
		return b.emitFocus(e)
	}
	return emit(e, o.output, b.doc())
}

// flags reads the flags that have a value to be read.
func (b *billed) flags() (err error) {
	if b.o.discount != "" {
		b.discount, err = parseShare("--discount", b.o.discount)
	}
	return err
}

// read reads the use.
func (b *billed) read(e *env, name string) (*billing.UseRecord, error) {
	uo := billing.UseOptions{Tag: b.o.tag, Spreadsheet: b.o.spreadsheet}
	if b.o.onDemand != "" {
		keys := keyedRates{prices: scenarios.Catalogue()}
		r, err := keys.parseRate("--on-demand", b.o.onDemand)
		if err != nil {
			return nil, err
		}
		b.notes = append(b.notes, keys.notes()...)
		uo.Price = r
	}
	text, file, done, err := openText(e, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	rec, rep, err := billing.ReadUse(file, text, uo)
	if err != nil {
		return nil, err
	}
	b.use = rep
	if err := b.window(rec); err != nil {
		return nil, err
	}
	b.notes = append(b.notes, rep.Notes...)
	if len(rep.Unknown) > 0 {
		b.notes = append(b.notes, fmt.Sprintf("columns that mean nothing here, and were passed over: %s", strings.Join(rep.Unknown, ", ")))
	}
	return rec, nil
}

// window sets the time that is billed where flags say it: never less than the
// use, for use that is left out would be money that is left out.
func (b *billed) window(rec *billing.UseRecord) error {
	for _, x := range []struct {
		flag, text string
		to         *capcli.Time
		last       bool
	}{{"--from", b.o.from, &rec.From, false}, {"--until", b.o.until, &rec.To, true}} {
		if x.text == "" {
			continue
		}
		at, err := parseDay(x.flag, x.text, x.last)
		if err != nil {
			return err
		}
		if !x.last && at > *x.to || x.last && at < *x.to {
			return &usageError{text: fmt.Sprintf("%s %s leaves use out: it is from %s to %s", x.flag, x.text, rec.From, rec.To), hint: "cut the file of use instead"}
		}
		*x.to = at
	}
	return nil
}

// bought reads the portfolio, with none where none is named.
func (b *billed) bought(e *env, rec *billing.UseRecord) error {
	b.portfolio = &scenarios.Portfolio{Portfolio: billing.Portfolio{Currency: rec.Currency}}
	if b.o.portfolio == "" {
		return nil
	}
	text, err := readFile(e, b.o.portfolio, scenarioMax)
	if err != nil {
		return err
	}
	if b.portfolio, err = scenarios.ParsePortfolio(b.o.portfolio, text); err != nil {
		return err
	}
	rec.SpotPrices = b.portfolio.SpotPrices
	if b.portfolio.SpotFile != "" {
		more, err := readBeside(e, filepath.Dir(b.o.portfolio), b.portfolio.SpotFile)
		if err != nil {
			return err
		}
		prices, err := billing.ReadSpotPrices(b.portfolio.SpotFile, strings.NewReader(string(more)))
		if err != nil {
			return err
		}
		rec.SpotPrices = append(rec.SpotPrices, prices...)
	}
	p := &b.portfolio.Portfolio
	if p.Currency == "" {
		p.Currency = "USD"
	}
	if have := orUSD(rec.Currency); p.Currency != have {
		return &capcli.InputError{
			File: b.o.portfolio, Field: "currency", Text: fmt.Sprintf("the portfolio is in %s and the use in %s", p.Currency, have),
			Hint: "one currency per run: capcli knows no rates of exchange",
		}
	}
	for _, l := range b.portfolio.Left {
		b.notes = append(b.notes, fmt.Sprintf("%s is left on %s, before its end on %s: %s comes back, and the bill has what was used up and what did not come back, spread over the time until then",
			l.ID, day(l.Refund.At), day(l.End), l.Refund.Amount))
	}
	b.widen(rec)
	return b.placed(p.CheckWindow(rec.From, rec.To))
}

// widen begins the bill with what was bought on the day of the first use, and
// ends it with what ran out on the day of the last, unless a flag says when:
// a reservation is paid in the hours before and after its use too.
func (b *billed) widen(rec *billing.UseRecord) {
	first, last := rec.From, rec.To
	for i := range b.portfolio.Portfolio.Commitments {
		c := &b.portfolio.Portfolio.Commitments[i]
		if b.o.from == "" && c.Start < rec.From && c.Start >= floorTo(first, capcli.Day) {
			rec.From = floorTo(c.Start, capcli.Hour)
		}
		if b.o.until == "" && c.End > rec.To && c.End <= floorTo(last-1, capcli.Day)+capcli.Time(capcli.Day) {
			rec.To = floorTo(c.End+capcli.Time(capcli.Hour)-1, capcli.Hour)
		}
	}
}

// floorTo is the last whole multiple of a span at or before t.
func floorTo(t capcli.Time, span capcli.Seconds) capcli.Time {
	n := t % capcli.Time(span)
	if n < 0 {
		n += capcli.Time(span)
	}
	return t - n
}

func orUSD(c string) string {
	if c == "" {
		return "USD"
	}
	return c
}

// placed puts what is wrong with a commitment where the file says it.
func (b *billed) placed(err error) error {
	var bad *billing.PortfolioError
	var line *billing.RecordError
	switch {
	case errors.As(err, &bad):
		return &capcli.InputError{File: b.o.portfolio, Line: b.portfolio.Line(bad.Index), Field: bad.Field, Text: bad.Text, Err: err}
	case errors.As(err, &line):
		return &capcli.InputError{File: b.file, Field: line.Field, Text: line.Error(), Err: err}
	}
	return overflown(b.file, err)
}

// overflown says of amounts that do not fit which file they are of.
func overflown(file string, err error) error {
	if !errors.Is(err, capcli.ErrOverflow) {
		return err
	}
	return &capcli.InputError{File: file, Text: err.Error(), Hint: "is a price or a quantity wrong by a factor?", Err: err}
}

// price makes the bill and everything that is seen in it.
func (b *billed) price(e *env, rec *billing.UseRecord, grain billing.Grain) error {
	rec.MatchSpotPrices()
	hours, err := rec.Hours(false)
	if err != nil {
		return b.placed(err)
	}
	p := &b.portfolio.Portfolio
	if b.bill, err = hours.Bill(p, grain); err != nil {
		return b.placed(err)
	}
	b.chargeback = b.bill.Chargeback()
	if err := b.balance(); err != nil {
		return &accountingError{err}
	}
	b.noteIdle()
	if b.months, err = b.bill.Months(p); err != nil {
		return overflown(b.file, err)
	}
	if b.o.discount != "" {
		if b.present, err = b.bill.PresentValue(b.discount); err != nil {
			return err
		}
	}
	if err := b.look(e, rec, hours); err != nil {
		return err
	}
	return b.unitCosts(e, rec)
}

// noteIdle names the commitments that no use of the file ran under, though their
// terms are in its time.
func (b *billed) noteIdle() {
	for i := range b.bill.Commitments {
		k := &b.bill.Commitments[i]
		if k.Share == 0 && k.Used == 0 {
			b.notes = append(b.notes, fmt.Sprintf("commitment %s (%s) matches no use: nothing of the file is in its scope and its term, and all of its %s is unused", k.ID, k.Product, b.said(k.Unused)))
		}
	}
}

// look sets the bill against the portfolio's budget, by the day, and sums the
// power of the use.
func (b *billed) look(e *env, rec *billing.UseRecord, hours *billing.Hours) error {
	p := b.portfolio
	if p.Budget != nil {
		days, err := hours.Bill(&p.Portfolio, billing.ByDay)
		if err != nil {
			return b.placed(err)
		}
		if b.overview.budget, err = p.Budget.Follow(days.Spending(days.Chargeback(), p.Budget.Cash)); err != nil {
			return overflown(b.file, err)
		}
	}
	if p.Energy == nil {
		return nil
	}
	b.notes = append(b.notes, "* power is that of the use: each unit is taken for a GPU, and what nobody used is taken to draw none")
	energy, err := p.Energy.Load(func(name string) ([]byte, error) { return readBeside(e, filepath.Dir(b.o.portfolio), name) })
	if err != nil {
		return err
	}
	if b.overview.energy, err = energy.OfUse(rec); err != nil {
		return &capcli.InputError{File: b.o.portfolio, Field: "energy.intensity", Text: err.Error(), Hint: "give a series that has every hour of some year, or a number"}
	}
	return nil
}

// committed is how many units are committed to by count, in the window.
func (b *billed) committed() int64 {
	milli := int64(0)
	for i := range b.portfolio.Portfolio.Commitments {
		milli += billing.UnitsOf(b.portfolio.Portfolio.Commitments[i].Product)
	}
	return (milli + 999) / 1000
}

// balance holds who pays against the invoice, to the millionth.
func (b *billed) balance() error {
	sum, cash := b.chargeback.Unallocated, b.chargeback.UnpaidCash
	for i := range b.chargeback.Payers {
		sum += b.chargeback.Payers[i].Total
		cash += b.chargeback.Payers[i].Cash
	}
	if t := &b.bill.Total; sum != t.Effective || cash != t.Billed {
		return fmt.Errorf("the invoice is %s amortised and %s in cash, its tenants sum to %s and %s", t.Effective.Decimal(), t.Billed.Decimal(), sum.Decimal(), cash.Decimal())
	}
	return nil
}
