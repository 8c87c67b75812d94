package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/scenarios/prices"
)

func newPricesShow(e *env) *cobra.Command {
	var o priceOptions
	cmd := &cobra.Command{
		Use:   "show KEY",
		Short: "Show one machine on all terms: discount, break-even use, months to recover, history",
		Long: "KEY is provider/region/machine, with or without a term. A GPU model in place of the machine stands for\n" +
			"all machines with it.",
		Example: "  capcli prices show gcp/us-central1/a3-highgpu-8g\n" +
			"  capcli prices show aws/us-east-1/p5.48xlarge/on_demand -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneArg(cmd, args, "the key of a price"); err != nil {
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
	return priceKeys(""), cobra.ShellCompDirectiveNoFileComp
}

func runPricesShow(e *env, o *priceOptions, key string) error {
	all, ages, err := o.read(e)
	if err != nil {
		return err
	}
	data, err := all.Compare(key, ages)
	if err != nil {
		return err
	}
	return emit(e, o.output, report.Doc{Lead: termsLead(data.Terms), Tables: termsTables(data), Notes: data.Notes, Data: data})
}

// termsLead describes the machine, and the utilisation from which each term pays off.
func termsLead(terms []prices.TermPrice) string {
	first := terms[0]
	text := fmt.Sprintf("%s in %s (%s) has %d × %s", first.Machine, first.Region, first.Provider, first.GPUs, first.GPU)
	for _, t := range terms[1:] {
		if t.Machine != first.Machine {
			return fmt.Sprintf("%s in %s (%s) is in several machines.", first.GPU, first.Region, first.Provider)
		}
	}
	var pays []string
	for _, t := range terms {
		if t.BreakEven != nil && t.Term != "on_demand" && t.Term != "spot" {
			pays = append(pays, fmt.Sprintf("%s from %.1f%%", t.Terms(), 100**t.BreakEven))
		}
	}
	if len(pays) > 0 {
		text += "; a commitment is cheaper above these shares of hours in use: " + strings.Join(pays, ", ")
	}
	return text + "."
}

func termsTables(d *prices.Comparison) []report.Table {
	tables := []report.Table{report.Fill(report.Table{Name: "terms"}, d.Terms, []report.Field[prices.TermPrice]{
		{Name: "key", Priority: 5},
		{Name: "machine", Priority: 6},
		{Name: "term", Cell: func(t prices.TermPrice) any { return t.Terms() }},
		{Name: "gpu_hour_usd", Head: "GPU-hour"},
		{Name: "machine_hour_usd", Head: "machine-hour", Priority: 1},
		{Name: "discount", As: report.AsPercent},
		{Name: "break_even_utilisation", Head: "break-even use", As: report.AsPercent},
		{Name: "recover_months", Head: "months to recover", Priority: 2, As: report.AsRatio},
		{Name: "date", Priority: 1},
		{Name: "source", Priority: 4},
	})}
	if len(d.History) == 0 {
		return tables
	}
	history := report.Table{Name: "history", Title: "Dated prices: each holds from its date to the next", Most: 12}
	return append(tables, report.Fill(history, d.History, []report.Field[prices.DatedChange]{
		{Name: "key"},
		{Name: "date"},
		{Name: "gpu_hour_usd", Head: "GPU-hour"},
		{Name: "machine_hour_usd", Head: "machine-hour", Priority: 1},
		{Name: "change", As: report.AsPercent},
		{Name: "source", Priority: 3},
	}))
}
