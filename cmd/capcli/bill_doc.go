package main

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/billing"
)

// billDoc is a statement on its way out.
type billDoc struct {
	*billing.Statement
	limits   *billing.Budget
	discount string // as the flag says it
}

func (b *billDoc) doc() report.Doc {
	tables := []report.Table{b.figures(), b.commitmentTable(), b.tenantTable(), b.monthTable(), b.unitTable()}
	tables = append(tables, moneyTables(b.limits, [][]billing.BudgetLine{b.Budget}, []*billing.Footprints{b.Energy})...)
	return report.Doc{Lead: b.lead(), Data: b.Statement, Notes: b.Notes, Tables: append(tables, b.rowTable())}
}

// lead is the answer in a sentence.
func (b *billDoc) lead() string {
	text := fmt.Sprintf("%s to %s costs %s, invoiced %s", b.From.Date(), (b.To - 1).Date(), b.Bill.Money(b.Total.Effective), b.Bill.Money(b.Total.Billed))
	if len(b.Commitments) == 0 {
		return text + ", all at on-demand and spot prices."
	}
	text += fmt.Sprintf("; on demand it would be %s", b.Bill.Money(b.Total.Equivalent))
	if b.Savings != nil {
		text += fmt.Sprintf(" (%.1f%% saved)", 100**b.Savings)
	}
	return fmt.Sprintf("%s; %s of what was committed went unused.", text, b.Bill.Money(b.Unused))
}

// cell is an amount in a table.
func (b *billDoc) cell(u capcli.USD) any {
	if b.Currency == "USD" {
		return u
	}
	return report.Money{Exact: u.Decimal(), Near: u, Currency: b.Currency}
}

// figures are the single figures, cash and amortised side by side.
func (b *billDoc) figures() report.Table {
	t := newFigures("figures")
	t.add("effective_usd", "cost, amortised", b.cell(b.Total.Effective))
	t.add("billed_usd", "cost, cash (invoiced)", b.cell(b.Total.Billed))
	t.add("on_demand_equivalent_usd", "on-demand equivalent", b.cell(b.Total.Equivalent))
	t.add("unused_usd", "paid for, used by nobody", b.cell(b.Unused))
	t.add("commitment_utilisation", "utilisation", shareCell(b.Utilisation))
	t.add("commitment_coverage", "coverage", shareCell(b.Coverage))
	t.add("effective_savings_rate", "effective savings rate", shareCell(b.Savings))
	if b.Worth != nil {
		t.add("present_value_usd", "present value of invoices at "+b.discount+" a year", b.cell(*b.Worth))
	}
	if b.Paid != nil {
		t.add("bill_as_it_was", "the bill as it was, for this use", amountCell(*b.Paid, b.Currency))
	}
	if last := len(b.Months) - 1; last >= 0 {
		t.add("lock_in_usd", "lock-in at the end", b.cell(b.Months[last].Unexpired))
	}
	return t.Table
}

func (b *billDoc) commitmentTable() report.Table {
	t := report.Table{Name: "commitments", Title: "invoice by commitment", Aside: len(b.Commitments) == 0, Columns: []report.Column{
		{Name: "id"},
		{Name: "product", Priority: 1},
		{Name: "start", Priority: 4},
		{Name: "end", Priority: 3},
		{Name: "billed_usd", Head: "cash"},
		{Name: "used_usd", Head: "used"},
		{Name: "unused_usd", Head: "unused"},
		{Name: "utilisation", Head: "used %"},
		{Name: "term_cost_usd", Head: "whole term", Priority: 2},
		{Name: "lock_in_usd", Head: "lock-in", Priority: 2},
	}}
	if b.discount != "" {
		t.Columns = append(t.Columns, report.Column{Name: "term_present_value_usd", Head: "term, present value", Priority: 5})
	}
	for i := range b.Commitments {
		c := &b.Commitments[i]
		row := []any{c.ID, c.Product, c.Start.Date(), (c.End - 1).Date(), b.cell(c.Billed), b.cell(c.Used), b.cell(c.Unused), shareCell(c.Share), b.cell(c.Total), b.cell(c.Unexpired)}
		if b.discount != "" {
			if c.Worth == nil {
				row = append(row, nil)
			} else {
				row = append(row, b.cell(*c.Worth))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// tenantName names use that names no tenant.
func tenantName(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

func (b *billDoc) tenantTable() report.Table {
	t := report.Table{Name: "tenants", Title: "who pays", Most: shownGroups, Columns: []report.Column{
		{Name: "tenant"},
		{Name: "used_unit_hours", Head: "unit-hours", Priority: 2},
		{Name: "on_demand_equivalent_usd", Head: "on-demand equivalent", Priority: 3},
		{Name: "direct_usd", Head: "showback"},
		{Name: "stranded_share_usd", Head: "share of unused"},
		{Name: "effective_usd", Head: "chargeback"},
		{Name: "billed_usd", Head: "cash", Priority: 1},
	}}
	for i := range b.Tenants {
		p := &b.Tenants[i]
		t.Rows = append(t.Rows, []any{tenantName(p.Name), p.Used, b.cell(p.Equivalent), b.cell(p.Direct), b.cell(p.Share), b.cell(p.Total), b.cell(p.Cash)})
	}
	if b.Unallocated != 0 || b.UnpaidCash != 0 {
		t.Rows = append(t.Rows, []any{"(nobody used anything)", capcli.GPUTime(0), b.cell(0), b.cell(0), b.cell(b.Unallocated), b.cell(b.Unallocated), b.cell(b.UnpaidCash)})
	}
	return t
}

func (b *billDoc) monthTable() report.Table {
	t := report.Table{Name: "months", Title: "by month", Columns: []report.Column{
		{Name: "month"},
		{Name: "billed_usd", Head: "cash"},
		{Name: "effective_usd", Head: "amortised"},
		{Name: "on_demand_equivalent_usd", Head: "on-demand equivalent", Priority: 2},
		{Name: "unused_usd", Head: "unused"},
		{Name: "used_unit_hours", Head: "unit-hours", Priority: 3},
		{Name: "lock_in_usd", Head: "lock-in after"},
		{Name: "lock_in_unpaid_usd", Head: "of it unpaid", Priority: 1},
	}}
	for _, m := range b.Months {
		t.Rows = append(t.Rows, []any{m.Month, b.cell(m.Billed), b.cell(m.Effective), b.cell(m.Equivalent), b.cell(m.Unused), m.Used, b.cell(m.Unexpired), b.cell(m.Unpaid)})
	}
	return t
}

func (b *billDoc) unitTable() report.Table {
	t := report.Table{Name: "unit_costs", Title: "what one costs, amortised", Columns: []report.Column{{Name: "unit"}, {Name: "month", Priority: 2}, {Name: "count", Priority: 1}, {Name: "cost_usd", Head: "cost"}, {Name: "per_unit_usd", Head: "of one"}}}
	for _, u := range b.Units {
		month, per := any(nil), any(nil)
		if u.Month != nil {
			month = u.Month.Std().Format("2006-01")
		}
		if u.Per != nil {
			per = b.cell(*u.Per)
		}
		t.Rows = append(t.Rows, []any{u.Name, month, u.Count, b.cell(u.Cost), per})
	}
	return t
}

// rowTable has each row of the invoice.
func (b *billDoc) rowTable() report.Table {
	t := report.Table{Name: "rows", Title: "rows of the invoice", Aside: true, Columns: []report.Column{
		{Name: "start"},
		{Name: "end"},
		{Name: "category"},
		{Name: "pricing"},
		{Name: "commitment"},
		{Name: "status"},
		{Name: "reservation"},
		{Name: "reservation_status"},
		{Name: "instance_type"},
		{Name: "gpu_model"},
		{Name: "region"},
		{Name: "zone"},
		{Name: "account"},
		{Name: "tenant"},
		{Name: "unit_hours"},
		{Name: "on_demand_equivalent_usd"},
		{Name: "billed_usd"},
		{Name: "effective_usd"},
	}}
	for i := range b.Bill.Rows {
		r := &b.Bill.Rows[i]
		name := r.SKU.Family
		if r.SKU.Size != "" {
			name += "." + r.SKU.Size
		}
		t.Rows = append(t.Rows, []any{
			r.Start, r.End, r.Category.String(), r.Pricing.String(), r.Commitment, r.Status.String(), r.Reservation, r.ReservationStatus.String(),
			name, r.SKU.GPUModel, r.SKU.Region, r.SKU.Zone, r.Account, r.Tenant, r.Quantity, b.cell(r.ListCost), b.cell(r.BilledCost), b.cell(r.EffectiveCost),
		})
	}
	return t
}
