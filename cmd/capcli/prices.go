package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/prices"
)

func newPrices(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prices",
		Short: "Dated prices of GPUs: the catalogue, one machine's terms, price lists of your own",
		Long: "The catalogue has public list prices, each with its source and date. A scenario names one by its key,\n" +
			"price: gcp/us-central1/a3-highgpu-8g/1y, and a file of your own (--prices, or prices: in the scenario) goes before it.",
		Example: "  capcli prices list --gpu h100 --term 1y\n" +
			"  capcli prices show gcp/us-central1/a3-highgpu-8g\n" +
			"  capcli prices import pricing.csv --format gcp --out prices.csv",
	}
	group(cmd)
	cmd.AddCommand(newPricesList(e), newPricesShow(e), newPricesImport(e))
	return cmd
}

// priceOptions say which prices there are and how old they may be.
type priceOptions struct {
	output outputOptions
	file   string
	asOf   string
	maxAge int
}

func addPriceFlags(cmd *cobra.Command, o *priceOptions) {
	addOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	addPricesFlag(cmd, &o.file)
	f.StringVar(&o.asOf, "as-of", "", "how old a price is counts to this `DATE`; today where left out")
	f.IntVar(&o.maxAge, "max-age", 12, "warn of prices older than so many `MONTHS`")
}

// addPricesFlag is the flag that names a price file, the same in all commands.
func addPricesFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "prices", "", "your own prices, `FILE` (csv, yaml), that go before the catalogue")
}

// today is the day that ages are counted to.
func (o *priceOptions) today(e *env) (time.Time, error) {
	if o.maxAge < 1 {
		return time.Time{}, &usageError{text: fmt.Sprintf("--max-age wants at least 1 month, found %d", o.maxAge)}
	}
	if o.asOf == "" {
		return e.now().UTC(), nil
	}
	at, err := time.Parse(time.DateOnly, o.asOf)
	if err != nil {
		return at, &usageError{text: fmt.Sprintf("--as-of wants a day such as 2026-11-01, found %q", o.asOf)}
	}
	return at, nil
}

// readPrices gives the catalogue, behind the prices of a file where one is named.
func readPrices(e *env, file string) (*prices.List, error) {
	own, err := ownPrices(e, file)
	if err != nil {
		return nil, err
	}
	return own.Override(prices.Catalogue()), nil
}

// ownPrices reads a price file, nil where none is named.
func ownPrices(e *env, file string) (*prices.List, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // no price file is no error
	}
	b, err := readFile(e, file, prices.MaxBytes+1)
	if err != nil {
		return nil, err
	}
	return prices.Parse(file, b)
}

// priceFilter is what list is asked for.
type priceFilter struct{ provider, region, gpu, term string }

func newPricesList(e *env) *cobra.Command {
	var (
		o priceOptions
		f priceFilter
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Prices by provider, region, GPU and term",
		Example: "  capcli prices list --provider gcp --region us-central1\n" +
			"  capcli prices list --gpu h100 --term on_demand -o csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := noArgs(cmd, args); err != nil {
				return err
			}
			return runPricesList(e, &o, f)
		},
	}
	addPriceFlags(cmd, &o)
	cmd.Flags().StringVar(&f.provider, "provider", "", "only this `PROVIDER`: aws, gcp, azure, nebius …")
	cmd.Flags().StringVar(&f.region, "region", "", "only this `REGION`")
	cmd.Flags().StringVar(&f.gpu, "gpu", "", "only this `MODEL`: H100; A100 means A100-80GB too")
	cmd.Flags().StringVar(&f.term, "term", "", "only this `TERM`: on_demand, spot, block, 1y, 3y, 1y-none …")
	complete(cmd, "term", priceTerms)
	complete(cmd, "gpu", func() []string { return prices.Catalogue().Models() })
	complete(cmd, "provider", func() []string { return priceParts(func(q *prices.Quote) string { return q.Provider }) })
	complete(cmd, "region", func() []string { return priceParts(func(q *prices.Quote) string { return q.Region }) })
	return cmd
}

// listedPrice is a price as every JSON writes it.
type listedPrice struct {
	Key       string      `json:"key"`
	Provider  string      `json:"provider"`
	Region    string      `json:"region"`
	Machine   string      `json:"machine"`
	GPU       string      `json:"gpu_model"`
	GPUs      int         `json:"gpus"`
	Term      string      `json:"term"`
	Payment   string      `json:"payment"`
	Hourly    capcli.USD  `json:"machine_hour_usd"`
	PerGPU    capcli.Rate `json:"gpu_hour_usd"`
	Date      string      `json:"date"`
	Dates     int         `json:"dates"`
	AgeMonths int         `json:"age_months"`
	Source    string      `json:"source"`
	File      string      `json:"file,omitempty"`
	Line      int         `json:"line,omitempty"`
}

func describePrice(q *prices.Quote, today time.Time) listedPrice {
	out := listedPrice{
		Key: q.Key(), Provider: q.Provider, Region: q.Region, Machine: q.Machine, GPU: q.GPU, GPUs: q.GPUs, Term: q.Term, Payment: q.Payment,
		Hourly: q.Hourly, PerGPU: q.PerGPU(), Date: dayOf(q.Date), Dates: len(q.History), AgeMonths: monthsOld(q.Date, today), Source: q.Source, File: q.File,
	}
	if q.File != "" {
		out.Line = q.Line
	}
	return out
}

func dayOf(t capcli.Time) string { return t.Std().Format(time.DateOnly) }

// monthsOld is how many whole months lie between a date and today, 0 at least.
func monthsOld(date capcli.Time, today time.Time) int {
	d := date.Std()
	n := 12*(today.Year()-d.Year()) + int(today.Month()) - int(d.Month())
	if today.Day() < d.Day() {
		n--
	}
	return max(0, n)
}

func runPricesList(e *env, o *priceOptions, f priceFilter) error {
	today, err := o.today(e)
	if err != nil {
		return err
	}
	all, err := readPrices(e, o.file)
	if err != nil {
		return err
	}
	found, err := f.choose(all.Quotes())
	if err != nil {
		return err
	}
	data := struct {
		Schema   string        `json:"schema"`
		Currency string        `json:"currency"`
		Prices   []listedPrice `json:"prices"`
		Notes    []string      `json:"notes,omitempty"`
	}{Schema: "capcli/prices/v1", Currency: "USD", Prices: []listedPrice{}}
	t := report.Table{Name: "prices", Columns: []report.Column{
		{Name: "key"},
		{Name: "gpu_model", Head: "GPU", Priority: 2},
		{Name: "gpus", Head: "GPUs", Priority: 3},
		{Name: "gpu_hour_usd", Head: "GPU-hour"},
		{Name: "machine_hour_usd", Head: "machine-hour", Priority: 1},
		{Name: "date", Priority: 1},
		{Name: "source", Priority: 4},
	}}
	old := 0
	for i := range found {
		p := describePrice(&found[i], today)
		if p.AgeMonths >= o.maxAge {
			old++
		}
		data.Prices = append(data.Prices, p)
		t.Rows = append(t.Rows, []any{p.Key, p.GPU, p.GPUs, p.PerGPU, p.Hourly, p.Date, p.Source})
	}
	d := report.Doc{Title: "Prices, US dollars", Tables: []report.Table{t}}
	if old > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d of these %d prices are %d months old or more: ask the provider before you decide on them", old, len(found), o.maxAge))
	}
	data.Notes = d.Notes
	d.Data = data
	return emit(e, o.output, d)
}

// choose keeps the prices that are asked for. None at all is an error that says
// which word found nothing.
func (f priceFilter) choose(all []prices.Quote) ([]prices.Quote, error) {
	for _, x := range []struct {
		flag, word string
		of         func(*prices.Quote) []string
	}{
		{"provider", f.provider, func(q *prices.Quote) []string { return []string{q.Provider} }},
		{"region", f.region, func(q *prices.Quote) []string { return []string{q.Region} }},
		{"gpu", f.gpu, func(q *prices.Quote) []string {
			model, _, _ := strings.Cut(q.GPU, "-")
			return []string{q.GPU, model}
		}},
		{"term", f.term, func(q *prices.Quote) []string { return []string{q.Terms(), q.Term} }},
	} {
		if x.word == "" {
			continue
		}
		word := x.word
		if x.flag == "term" {
			if normal, ok := prices.NormalTerm(word); ok {
				word = normal
			}
		}
		var kept []prices.Quote
		var have []string
		for i := range all {
			names := x.of(&all[i])
			have = append(have, names...)
			if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, word) }) {
				kept = append(kept, all[i])
			}
		}
		if len(kept) == 0 {
			return nil, noneOf(x.flag, x.word, have)
		}
		all = kept
	}
	return all, nil
}

// noneOf says that a flag's word is none of those that there are.
func noneOf(flag, word string, have []string) error {
	slices.Sort(have)
	have = slices.Compact(have)
	hint := ""
	if near := capcli.Nearest(word, have); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return &usageError{text: fmt.Sprintf("no price for --%s %q%s", flag, word, hint), hint: "with what is asked for beside it there is " + strings.Join(have, ", ")}
}
