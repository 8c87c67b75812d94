package data

import (
	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
)

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
		ValidArgsFunction: completePrices,
	}
	addPriceFlags(cmd, &o)
	return cmd
}

func completePrices(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return shell.PriceKeys(""), cobra.ShellCompDirectiveNoFileComp
}

func runPricesShow(e *shell.Env, o *priceOptions, key string) error {
	all, ages, err := o.read(e)
	if err != nil {
		return err
	}
	return shell.Answer(e, o.output, tables.ComparisonDoc)(all.Compare(key, ages))
}
