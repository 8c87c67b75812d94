package tables

import (
	"fmt"
	"strings"

	"capcli/cmd/report"
	"capcli/scenarios/prices"
)

// TermsLead describes the machine, and the utilisation from which each term pays off.
func TermsLead(terms []prices.TermPrice) string {
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

// TermsTables are the prices of one machine by term, and elsewhere.
func TermsTables(d *prices.Comparison) []report.Table {
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
