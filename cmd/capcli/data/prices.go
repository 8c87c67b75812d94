package data

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/scenarios/money/prices"
)

func newPrices(e *shell.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prices",
		Short: "Dated prices of GPUs: the catalogue, one machine's terms, price lists of your own",
		Long: "The catalogue has public list prices, each with its source and date. A scenario names one by its key,\n" +
			"price: gcp/us-central1/a3-highgpu-8g/1y, and a file of your own (--prices, or prices: in the scenario) goes before it.\n" +
			"What a term covers, guarantees or fences: docs/prices.md; what products do: capcli bill --help.",
		Example: "  capcli prices list --gpu h100 --term 1y\n" +
			"  capcli prices show gcp/us-central1/a3-highgpu-8g\n" +
			"  capcli prices import pricing.csv --format gcp --out prices.csv",
	}
	shell.SetGroup(cmd)
	cmd.AddCommand(newPricesList(e), newPricesShow(e), newPricesImport(e))
	return cmd
}

// priceOptions are the flags that choose the prices and the age at which they are old.
type priceOptions struct {
	output shell.OutputOptions
	file   string
	asOf   string
	maxAge int
}

func addPriceFlags(cmd *cobra.Command, o *priceOptions) {
	shell.AddOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	shell.AddPricesFlag(cmd, &o.file)
	f.StringVar(&o.asOf, "as-of", "", "date to which the age of prices counts: `DATE` (default: today)")
	f.IntVar(&o.maxAge, "max-age", 12, "warn of prices older than this number of `MONTHS`")
}

// ages returns the day at which ages of prices are measured, and the age in months that is warned
// of.
func (o *priceOptions) ages(e *shell.Env) (prices.Ages, error) {
	out := prices.Ages{Today: e.Now().UTC(), Months: o.maxAge}
	if o.maxAge < 1 {
		return out, &shell.UsageError{Text: fmt.Sprintf("--max-age wants at least 1 month, found %d", o.maxAge)}
	}
	if o.asOf == "" {
		return out, nil
	}
	at, err := time.Parse(time.DateOnly, o.asOf)
	if err != nil {
		return out, &shell.UsageError{Text: fmt.Sprintf("--as-of wants a day such as 2026-11-01, found %q", o.asOf)}
	}
	out.Today = at
	return out, nil
}

// read reads the prices, and the age in months that is warned of.
func (o *priceOptions) read(e *shell.Env) (*prices.List, prices.Ages, error) {
	ages, err := o.ages(e)
	if err != nil {
		return nil, ages, err
	}
	all, err := shell.ReadPrices(e, o.file)
	return all, ages, err
}

func newPricesList(e *shell.Env) *cobra.Command {
	var (
		o priceOptions
		f prices.Filter
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Prices by provider, region, GPU and term",
		Example: "  capcli prices list --provider gcp --region us-central1\n" +
			"  capcli prices list --gpu h100 --term on_demand -o csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shell.NoArgs(cmd, args); err != nil {
				return err
			}
			return runPricesList(e, &o, f)
		},
	}
	addPriceFlags(cmd, &o)
	cmd.Flags().StringVar(&f.Provider, "provider", "", "only this `PROVIDER`: aws, gcp, azure, nebius …")
	cmd.Flags().StringVar(&f.Region, "region", "", "only this `REGION`")
	cmd.Flags().StringVar(&f.GPU, "gpu", "", "only this `MODEL`: H100; A100 means A100-80GB too")
	cmd.Flags().StringVar(&f.Term, "term", "", "only this `TERM`: on_demand, spot, block, 1y, 3y, 1y-none …")
	shell.Complete(cmd, "term", func() []string { return shell.PriceParts(func(q *prices.Quote) string { return q.Terms() }) })
	shell.Complete(cmd, "gpu", func() []string { return prices.Catalogue().Models() })
	shell.Complete(cmd, "provider", func() []string { return shell.PriceParts(func(q *prices.Quote) string { return q.Provider }) })
	shell.Complete(cmd, "region", func() []string { return shell.PriceParts(func(q *prices.Quote) string { return q.Region }) })
	return cmd
}

func runPricesList(e *shell.Env, o *priceOptions, f prices.Filter) error {
	all, ages, err := o.read(e)
	if err != nil {
		return err
	}
	return shell.Answer(e, o.output, tables.PricesDoc)(all.Choose(f, ages))
}

func newPricesShow(e *shell.Env) *cobra.Command {
	var o priceOptions
	cmd := &cobra.Command{
		Use:   "show KEY",
		Short: "Show one machine on all terms: discount, break-even use, months to recover, history",
		Long: "KEY is provider/region/machine, with or without a term. A GPU model in place of the machine stands for\n" +
			"all machines with it.",
		Example: "  capcli prices show gcp/us-central1/a3-highgpu-8g\n" +
			"  capcli prices show aws/us-east-1/p5.48xlarge/on_demand -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shell.OneArg(cmd, args, "the key of a price"); err != nil {
				return err
			}
			return runPricesShow(e, &o, args[0])
		},
		ValidArgsFunction: shell.CompleteArgs(func() []string { return shell.PriceKeys("") }),
	}
	addPriceFlags(cmd, &o)
	return cmd
}

func runPricesShow(e *shell.Env, o *priceOptions, key string) error {
	all, ages, err := o.read(e)
	if err != nil {
		return err
	}
	return shell.Answer(e, o.output, tables.ComparisonDoc)(all.Compare(key, ages))
}
