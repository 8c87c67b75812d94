package tables

import (
	"fmt"
	"strings"

	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/scenarios/money/prices"
)

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

// termsTables are the prices of one machine by term, and elsewhere.
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

// PricesDoc is the report of a list of prices.
func PricesDoc(data *prices.Listing) report.Doc {
	t := report.Fill(report.Table{Name: "prices"}, data.Prices, []report.Field[prices.Described]{
		{Name: "key"},
		{Name: "gpu_model", Head: "GPU", Priority: 2},
		{Name: "gpus", Head: "GPUs", Priority: 3},
		{Name: "gpu_hour_usd", Head: "GPU-hour"},
		{Name: "machine_hour_usd", Head: "machine-hour", Priority: 1},
		{Name: "date", Priority: 1},
		{Name: "source", Priority: 4},
	})
	return report.Doc{Title: "Prices, US dollars", Tables: []report.Table{t}, Notes: data.Notes, Data: data}
}

// ComparisonDoc is the report of the prices of one machine.
func ComparisonDoc(d *prices.Comparison) report.Doc {
	return report.Doc{Lead: termsLead(d.Terms), Tables: termsTables(d), Notes: d.Notes, Data: d}
}

// ScenariosDoc is the report of the library of scenarios.
func ScenariosDoc(data *scenarios.Listing) report.Doc {
	t := report.Table{Name: "scenarios", Columns: []report.Column{{Name: "name"}, {Name: "description", Head: "what it shows"}}}
	for _, s := range data.Scenarios {
		t.Rows = append(t.Rows, []any{s.Name, s.Description})
	}
	return report.Doc{Title: "Scenarios", Tables: []report.Table{t}, Data: data}
}
