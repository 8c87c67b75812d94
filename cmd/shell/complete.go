package shell

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/outcome"
)

// Complete registers the values of a flag for shell completion. A value may carry a description
// after a tab.
func Complete(cmd *cobra.Command, flag string, values func() []string) {
	CompleteWith(cmd, flag, CompleteArgs(values))
}

// CompleteArgs returns the function that completes the arguments of a command.
func CompleteArgs(values func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteList registers the values of a flag that takes a comma-separated list. Values already
// typed are kept and not offered again.
func CompleteList(cmd *cobra.Command, flag string, values func() []string) {
	CompleteWith(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return AfterComma(typed, values()), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// CompleteSign registers the completion of a flag that takes METRIC, a sign and a value: it offers
// the metrics.
func CompleteSign(cmd *cobra.Command, flag, sign string) {
	CompleteWith(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return capcli.Map(outcome.Metrics, func(m *outcome.Metric) string { return m.Name + sign + "\t" + m.Doc }), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// CompleteWith registers the function that completes a flag of cmd.
func CompleteWith(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the flag does not exist: a bug
	}
}

// AfterComma returns the values not yet in typed, each prefixed with the list typed so far.
func AfterComma(typed string, values []string) []string {
	at := strings.LastIndexByte(typed, ',') + 1
	taken := strings.Split(typed[:at], ",")
	var out []string
	for _, v := range values {
		name, about, has := strings.Cut(v, "\t")
		if slices.Contains(taken, name) {
			continue
		}
		v = typed[:at] + name
		if has {
			v += "\t" + about
		}
		out = append(out, v)
	}
	return out
}

// Entries lists the names and descriptions of a catalogue for complete.
func Entries[T any](c *capcli.Catalog[T]) []string {
	return capcli.Map(c.All(), func(e capcli.Entry[T]) string { return e.Name + "\t" + e.Doc })
}

// Zones are common time zones for completion; flags take any other Area/City too.
var Zones = strings.Fields(`UTC
	Africa/Cairo Africa/Johannesburg Africa/Lagos Africa/Nairobi
	America/Bogota America/Chicago America/Denver America/Los_Angeles America/Mexico_City America/New_York
	America/Phoenix America/Santiago America/Sao_Paulo America/Toronto America/Vancouver
	Asia/Dubai Asia/Hong_Kong Asia/Jakarta Asia/Jerusalem Asia/Kolkata Asia/Manila Asia/Seoul Asia/Shanghai
	Asia/Singapore Asia/Taipei Asia/Tokyo
	Australia/Melbourne Australia/Perth Australia/Sydney
	Europe/Amsterdam Europe/Athens Europe/Berlin Europe/Brussels Europe/Dublin Europe/Helsinki Europe/Istanbul
	Europe/Lisbon Europe/London Europe/Madrid Europe/Oslo Europe/Paris Europe/Prague Europe/Rome Europe/Stockholm
	Europe/Vienna Europe/Warsaw Europe/Zurich
	Pacific/Auckland Pacific/Honolulu`)

// PriceKeys lists the keys of the price catalogue with the given terms; "" selects all.
func PriceKeys(terms string) []string {
	return capcli.Map(prices.Catalogue().Choices(terms), func(c prices.Choice) string { return c.Key + "\t" + c.About })
}

// TermKeys lists the purchase terms of the price catalogue as LENGTH=KEY.
func TermKeys() []string {
	var out []string
	for _, c := range prices.Catalogue().Choices("") {
		if length := c.Length(); length != "" {
			out = append(out, length+"="+c.Key+"\t"+c.About)
		}
	}
	return out
}

// PriceParts lists the distinct values of one part of the prices in the catalogue.
func PriceParts(of func(*prices.Quote) string) []string {
	out := capcli.Map(prices.Catalogue().Quotes(), func(q prices.Quote) string { return of(&q) })
	slices.Sort(out)
	return slices.Compact(out)
}
