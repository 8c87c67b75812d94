package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli/cmd/invoice"
	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
)

// BillDoc presents a statement of costs.
type BillDoc struct {
	*billing.Statement
	Limits   *billing.Budget
	Discount string // the value of --discount as given; "" is none
}

// Doc is the report of a bill.
func (b *BillDoc) Doc() report.Doc {
	tables := []report.Table{b.figures(), b.commitmentTable(), b.tenantTable(), b.monthTable(), b.unitTable()}
	for i := range tables {
		invoice.SetCurrency(&tables[i], b.Currency)
	}
	tables = append(tables, moneyTables(b.Limits, [][]billing.BudgetLine{b.Budget}, []*billing.Footprints{b.Energy})...)
	return report.Doc{Lead: b.lead(), Data: b.Statement, Notes: b.Notes, Tables: append(tables, b.rowTable())}
}

// lead sums up the bill in one sentence.
func (b *BillDoc) lead() string {
	text := fmt.Sprintf("%s to %s costs %s, invoiced %s", b.From.Date(), (b.To - 1).Date(), b.Bill.Money(b.Total.Effective), b.Bill.Money(b.Total.Billed))
	if len(b.Commitments) == 0 {
		return text + ", all at on-demand and spot prices."
	}
	text += fmt.Sprintf("; on demand it would be %s", b.Bill.Money(b.Total.Equivalent))
	switch s := b.Savings; {
	case s != nil && *s < 0:
		text += fmt.Sprintf(" (%.1f%% less)", -100**s)
	case s != nil:
		text += fmt.Sprintf(" (%.1f%% saved)", 100**s)
	}
	return fmt.Sprintf("%s; %s of what was committed went unused.", text, b.Bill.Money(b.Unused))
}

// figures is the table of single figures: cash and amortised cost, utilisation, coverage and
// savings.
func (b *BillDoc) figures() report.Table {
	t := report.Figures("figures", b.Statement, []report.Field[*billing.Statement]{
		{Name: "effective_usd", Head: "cost, amortised", Cell: func(s *billing.Statement) any { return s.Total.Effective }},
		{Name: "billed_usd", Head: "cost, cash (invoiced)", Cell: func(s *billing.Statement) any { return s.Total.Billed }},
		{Name: "on_demand_equivalent_usd", Head: "on-demand equivalent", Cell: func(s *billing.Statement) any { return s.Total.Equivalent }},
		{Name: "unused_usd", Head: "unused commitments"},
		{Name: "commitment_utilisation", Head: "utilisation", As: report.AsPercent},
		{Name: "commitment_coverage", Head: "coverage", As: report.AsPercent},
		{Name: "effective_savings_rate", Head: "effective savings rate", As: report.AsPercent},
	})
	add := func(name, head string, value any) {
		t.Rows = append(t.Rows, []any{report.Label{Name: name, Head: head}, value})
	}
	if b.Worth != nil {
		add("present_value_usd", "present value of invoices at "+b.Discount+" a year", *b.Worth)
	}
	if b.Paid != nil {
		add("bill_as_it_was", "original bill, for the same use", *b.Paid)
	}
	if last := len(b.Months) - 1; last >= 0 {
		add("lock_in_usd", "lock-in at the end", b.Months[last].Unexpired)
	}
	return t
}

func (b *BillDoc) commitmentTable() report.Table {
	columns := []report.Field[billing.CommitmentBill]{
		{Name: "id"},
		{Name: "product", Priority: 1},
		{Name: "start", Priority: 4, Cell: func(c billing.CommitmentBill) any { return c.Start.Date() }},
		{Name: "end", Priority: 3, Cell: func(c billing.CommitmentBill) any { return (c.End - 1).Date() }},
		{Name: "billed_usd", Head: "cash"},
		{Name: "used_usd", Head: "used"},
		{Name: "unused_usd", Head: "unused"},
		{Name: "utilisation", Head: "used %", As: report.AsPercent},
		{Name: "term_cost_usd", Head: "whole term", Priority: 2},
		{Name: "lock_in_usd", Head: "lock-in", Priority: 2},
	}
	if b.Discount != "" {
		columns = append(columns, report.Field[billing.CommitmentBill]{Name: "term_present_value_usd", Head: "term, present value", Priority: 5})
	}
	return report.Fill(report.Table{Name: "commitments", Title: "cost by commitment", Aside: len(b.Commitments) == 0}, b.Commitments, columns)
}

// tenantName is the name to show for a tenant: "(none)" for use that names no tenant.
func tenantName(name string) string { return cmp.Or(name, "(none)") }

func (b *BillDoc) tenantTable() report.Table {
	payers := slices.Clone(b.Tenants)
	for i := range payers {
		payers[i].Name = tenantName(payers[i].Name)
	}
	if b.Unallocated != 0 || b.UnpaidCash != 0 {
		payers = append(payers, billing.Payer{Name: "(no usage)", Share: b.Unallocated, Total: b.Unallocated, Cash: b.UnpaidCash})
	}
	return report.Fill(report.Table{Name: "tenants", Title: "cost by tenant", Most: invoice.ShownGroups}, payers, []report.Field[billing.Payer]{
		{Name: "tenant"},
		{Name: "used_unit_hours", Head: "unit-hours", Priority: 2},
		{Name: "on_demand_equivalent_usd", Head: "on-demand equivalent", Priority: 3},
		{Name: "direct_usd", Head: "showback"},
		{Name: "stranded_share_usd", Head: "share of unused"},
		{Name: "effective_usd", Head: "chargeback"},
		{Name: "billed_usd", Head: "cash", Priority: 1},
	})
}

func (b *BillDoc) monthTable() report.Table {
	return report.Fill(report.Table{Name: "months", Title: "by month"}, b.Months, []report.Field[billing.BillMonth]{
		{Name: "month"},
		{Name: "billed_usd", Head: "cash"},
		{Name: "effective_usd", Head: "amortised"},
		{Name: "on_demand_equivalent_usd", Head: "on-demand equivalent", Priority: 2},
		{Name: "unused_usd", Head: "unused"},
		{Name: "used_unit_hours", Head: "unit-hours", Priority: 3},
		{Name: "lock_in_usd", Head: "lock-in after"},
		{Name: "lock_in_unpaid_usd", Head: "unpaid", Priority: 1},
	})
}

func (b *BillDoc) unitTable() report.Table {
	return report.Fill(report.Table{Name: "unit_costs", Title: "unit costs, amortised"}, b.Units, []report.Field[billing.UnitCost]{
		{Name: "unit"},
		{Name: "month", Priority: 2, Cell: func(u billing.UnitCost) any {
			if u.Month == nil {
				return nil
			}
			return u.Month.Std().Format("2006-01")
		}},
		{Name: "count", Priority: 1},
		{Name: "cost_usd", Head: "cost"},
		{Name: "per_unit_usd", Head: "per unit"},
	})
}

func (b *BillDoc) rowTable() report.Table {
	t := report.Table{Name: "rows", Title: "rows of the invoice", Aside: true}
	for _, name := range []string{
		"start", "end", "category", "pricing", "commitment", "status", "reservation", "reservation_status", "instance_type", "gpu_model", "region",
		"zone", "account", "tenant", "unit_hours", "on_demand_equivalent_usd", "billed_usd", "effective_usd",
	} {
		t.Columns = append(t.Columns, report.Column{Name: name})
	}
	for i := range b.Bill.Rows {
		r := &b.Bill.Rows[i]
		name := r.SKU.Family
		if r.SKU.Size != "" {
			name += "." + r.SKU.Size
		}
		t.Rows = append(t.Rows, []any{
			r.Start, r.End, r.Category.String(), r.Pricing.String(), r.Commitment, r.Status.String(), r.Reservation, r.ReservationStatus.String(),
			name, r.SKU.GPUModel, r.SKU.Region, r.SKU.Zone, r.Account, r.Tenant, r.Quantity, r.ListCost, r.BilledCost, r.EffectiveCost,
		})
	}
	invoice.SetCurrency(&t, b.Currency)
	return t
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
