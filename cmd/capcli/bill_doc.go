package main

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/billing"
)

type costsJSON struct {
	Billed     capcli.USD `json:"billed_usd"`
	Effective  capcli.USD `json:"effective_usd"`
	List       capcli.USD `json:"on_demand_equivalent_usd"`
	Contracted capcli.USD `json:"contracted_usd"`
}

type billCommitmentJSON struct {
	ID        string      `json:"id"`
	Product   string      `json:"product"`
	Start     capcli.Time `json:"start"`
	End       capcli.Time `json:"end"`
	Billed    capcli.USD  `json:"billed_usd"`
	Used      capcli.USD  `json:"used_usd"`
	Unused    capcli.USD  `json:"unused_usd"`
	Share     *float64    `json:"utilisation"`
	Total     capcli.USD  `json:"term_cost_usd"`
	Worth     *capcli.USD `json:"term_present_value_usd,omitempty"`
	Unexpired capcli.USD  `json:"lock_in_usd"`
	Unpaid    capcli.USD  `json:"lock_in_unpaid_usd"`
}

type payerJSON struct {
	Name       string         `json:"tenant"`
	Used       capcli.GPUTime `json:"used_unit_hours"`
	Equivalent capcli.USD     `json:"on_demand_equivalent_usd"`
	Direct     capcli.USD     `json:"direct_usd"`
	Share      capcli.USD     `json:"stranded_share_usd"`
	Total      capcli.USD     `json:"effective_usd"`
	Cash       capcli.USD     `json:"billed_usd"`
}

type billMonthJSON struct {
	Month     string         `json:"month"`
	Billed    capcli.USD     `json:"billed_usd"`
	Effective capcli.USD     `json:"effective_usd"`
	List      capcli.USD     `json:"on_demand_equivalent_usd"`
	Unused    capcli.USD     `json:"unused_usd"`
	Used      capcli.GPUTime `json:"used_unit_hours"`
	Unexpired capcli.USD     `json:"lock_in_usd"`
	Unpaid    capcli.USD     `json:"lock_in_unpaid_usd"`
}

type billJSON struct {
	Schema      string               `json:"schema"`
	Use         string               `json:"use"`
	Portfolio   string               `json:"portfolio"`
	Currency    string               `json:"currency"`
	From        capcli.Time          `json:"from"`
	To          capcli.Time          `json:"to"`
	Total       costsJSON            `json:"total"`
	Unused      capcli.USD           `json:"unused_usd"`
	Utilisation *float64             `json:"commitment_utilisation"`
	Coverage    *float64             `json:"commitment_coverage"`
	Savings     *float64             `json:"effective_savings_rate"`
	Discount    *float64             `json:"discount_per_year"`
	Worth       *capcli.USD          `json:"present_value_usd"`
	Paid        *billing.Amount      `json:"bill_as_it_was,omitempty"`
	Commitments []billCommitmentJSON `json:"commitments"`
	Tenants     []payerJSON          `json:"tenants"`
	Unallocated capcli.USD           `json:"unallocated_usd"`
	UnpaidCash  capcli.USD           `json:"unallocated_billed_usd"`
	Months      []billMonthJSON      `json:"months"`
	Units       []unitCost           `json:"unit_costs"`
	Notes       []string             `json:"notes"`

	Budget   []billing.BudgetLine `json:"budget,omitempty"`
	Approval *billing.Signature   `json:"approval,omitempty"`
	Energy   *billing.Footprints  `json:"energy,omitempty"`
}

// doc is the bill as it is said.
func (b *billed) doc() report.Doc {
	data, p := b.json(), b.portfolio
	d := report.Doc{
		Lead: b.lead(data), Data: data, Notes: data.Notes,
		Tables: []report.Table{b.figures(data), b.commitmentTable(data), b.tenantTable(data), b.monthTable(data), b.unitTable()},
	}
	d.Tables = append(d.Tables, moneyTables(p.Budget, b.overview.budget, b.overview.energy)...)
	d.Tables = append(d.Tables, b.rowTable())
	return d
}

// figureOr gives a figure that is known, else nil.
func figureOr(v float64, known bool) *float64 {
	if !known {
		return nil
	}
	return &v
}

func (b *billed) json() *billJSON {
	t := &b.bill.Total
	out := &billJSON{
		Schema: "capcli/bill/v1", Use: b.file, Portfolio: b.o.portfolio, Currency: b.bill.Currency, From: b.bill.From, To: b.bill.To,
		Total:  costsJSON{t.Billed, t.Effective, b.bill.Equivalent, t.Contracted},
		Unused: b.bill.UnusedCost(), Unallocated: b.chargeback.Unallocated, UnpaidCash: b.chargeback.UnpaidCash,
		Utilisation: figureOr(b.bill.Utilisation()), Coverage: figureOr(b.bill.Coverage()), Savings: figureOr(b.bill.SavingsRate()),
		Commitments: []billCommitmentJSON{}, Tenants: []payerJSON{}, Months: []billMonthJSON{}, Units: list(b.units), Notes: list(b.notes),
	}
	p := b.portfolio
	out.Notes = append(out.Notes, moneyNotes(p.Budget, b.overview.budget, p.Approvals, b.committed(), b.overview.energy, false)...)
	if p.Budget != nil {
		out.Budget = b.overview.budget
	}
	out.Approval, out.Energy = p.Approvals.Signature(b.committed()), b.overview.energy
	if b.o.discount != "" {
		worth := usdOf(b.present)
		out.Discount, out.Worth = &b.discount, &worth
	}
	if b.use.Format == "FOCUS" {
		out.Paid = &b.use.Paid
	}
	for i := range b.bill.Commitments {
		out.Commitments = append(out.Commitments, b.commitmentJSON(&b.bill.Commitments[i]))
	}
	for i := range b.chargeback.Payers {
		p := &b.chargeback.Payers[i]
		out.Tenants = append(out.Tenants, payerJSON{p.Name, p.Used, p.Equivalent, p.Direct, p.Share, p.Total, p.Cash})
	}
	for i := range b.months {
		m := &b.months[i]
		out.Months = append(out.Months, billMonthJSON{
			m.Start.Std().Format("2006-01"), m.Costs.Billed, m.Costs.Effective, m.Equivalent, m.Unused, m.Used, m.Unexpired, m.Unpaid,
		})
	}
	return out
}

// usdOf rounds dollars to the millionth.
func usdOf(v float64) capcli.USD {
	if v < 0 {
		return -usdOf(-v)
	}
	return capcli.USD(v*1e6 + 0.5)
}

// commitmentJSON is one commitment, with what its whole term costs.
func (b *billed) commitmentJSON(k *billing.CommitmentBill) billCommitmentJSON {
	out := billCommitmentJSON{ID: k.ID, Product: k.Product, Billed: k.Billed, Used: k.Used, Unused: k.Unused, Share: figureOr(k.Share, k.Share >= 0)}
	for i := range b.portfolio.Portfolio.Commitments {
		c := &b.portfolio.Portfolio.Commitments[i]
		if c.ID != k.ID || c.Start != k.Start {
			continue
		}
		out.Start, out.End = c.Start, c.End
		out.Total, _ = c.Total() // was checked
		out.Unexpired, out.Unpaid, _ = c.Unexpired(b.bill.To)
		if b.o.discount != "" {
			if v, err := c.PresentValue(b.discount); err == nil {
				worth := usdOf(v)
				out.Worth = &worth
			}
		}
		return out
	}
	return out
}

// lead is the answer in a sentence.
func (b *billed) lead(data *billJSON) string {
	text := fmt.Sprintf("%s to %s costs %s, invoiced %s", day(data.From), day(data.To-1), b.said(data.Total.Effective), b.said(data.Total.Billed))
	if len(data.Commitments) == 0 {
		return text + ", all at on-demand and spot prices."
	}
	text += fmt.Sprintf("; on demand it would be %s", b.said(data.Total.List))
	if data.Savings != nil {
		text += fmt.Sprintf(" (%.1f%% saved)", 100**data.Savings)
	}
	return fmt.Sprintf("%s; %s of what was committed went unused.", text, b.said(data.Unused))
}

func day(t capcli.Time) string { return t.Std().Format("2006-01-02") }

// said is an amount in a sentence.
func (b *billed) said(u capcli.USD) string {
	if b.bill.Currency == "USD" {
		return u.String()
	}
	return u.Decimal() + " " + b.bill.Currency
}

// cell is an amount in a table.
func (b *billed) cell(u capcli.USD) any {
	if b.bill.Currency == "USD" {
		return u
	}
	return report.Money{Exact: u.Decimal(), Near: u, Currency: b.bill.Currency}
}

// figures are the single figures, cash and amortised side by side.
func (b *billed) figures(data *billJSON) report.Table {
	t := newFigures("figures")
	t.add("effective_usd", "cost, amortised", b.cell(data.Total.Effective))
	t.add("billed_usd", "cost, cash (invoiced)", b.cell(data.Total.Billed))
	t.add("on_demand_equivalent_usd", "on-demand equivalent", b.cell(data.Total.List))
	t.add("unused_usd", "paid for, used by nobody", b.cell(data.Unused))
	t.add("commitment_utilisation", "utilisation", shareCell(data.Utilisation))
	t.add("commitment_coverage", "coverage", shareCell(data.Coverage))
	t.add("effective_savings_rate", "effective savings rate", shareCell(data.Savings))
	if data.Worth != nil {
		t.add("present_value_usd", "present value of invoices at "+b.o.discount+" a year", b.cell(*data.Worth))
	}
	if data.Paid != nil {
		t.add("bill_as_it_was", "the bill as it was, for this use", amountCell(*data.Paid, b.bill.Currency))
	}
	if last := len(data.Months) - 1; last >= 0 {
		t.add("lock_in_usd", "lock-in at the end", b.cell(data.Months[last].Unexpired))
	}
	return t.Table
}

func (b *billed) commitmentTable(data *billJSON) report.Table {
	t := report.Table{Name: "commitments", Title: "invoice by commitment", Aside: len(data.Commitments) == 0, Columns: []report.Column{
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
	if b.o.discount != "" {
		t.Columns = append(t.Columns, report.Column{Name: "term_present_value_usd", Head: "term, present value", Priority: 5})
	}
	for i := range data.Commitments {
		c := &data.Commitments[i]
		row := []any{c.ID, c.Product, day(c.Start), day(c.End - 1), b.cell(c.Billed), b.cell(c.Used), b.cell(c.Unused), shareCell(c.Share), b.cell(c.Total), b.cell(c.Unexpired)}
		if b.o.discount != "" {
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

func (b *billed) tenantTable(data *billJSON) report.Table {
	t := report.Table{Name: "tenants", Title: "who pays", Most: shownGroups, Columns: []report.Column{
		{Name: "tenant"},
		{Name: "used_unit_hours", Head: "unit-hours", Priority: 2},
		{Name: "on_demand_equivalent_usd", Head: "on-demand equivalent", Priority: 3},
		{Name: "direct_usd", Head: "showback"},
		{Name: "stranded_share_usd", Head: "share of unused"},
		{Name: "effective_usd", Head: "chargeback"},
		{Name: "billed_usd", Head: "cash", Priority: 1},
	}}
	for i := range data.Tenants {
		p := &data.Tenants[i]
		t.Rows = append(t.Rows, []any{tenantName(p.Name), p.Used, b.cell(p.Equivalent), b.cell(p.Direct), b.cell(p.Share), b.cell(p.Total), b.cell(p.Cash)})
	}
	if data.Unallocated != 0 || data.UnpaidCash != 0 {
		t.Rows = append(t.Rows, []any{"(nobody used anything)", capcli.GPUTime(0), b.cell(0), b.cell(0), b.cell(data.Unallocated), b.cell(data.Unallocated), b.cell(data.UnpaidCash)})
	}
	return t
}

func (b *billed) monthTable(data *billJSON) report.Table {
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
	for _, m := range data.Months {
		t.Rows = append(t.Rows, []any{m.Month, b.cell(m.Billed), b.cell(m.Effective), b.cell(m.List), b.cell(m.Unused), m.Used, b.cell(m.Unexpired), b.cell(m.Unpaid)})
	}
	return t
}

func (b *billed) unitTable() report.Table {
	t := report.Table{Name: "unit_costs", Title: "what one costs, amortised", Columns: []report.Column{{Name: "unit"}, {Name: "month", Priority: 2}, {Name: "count", Priority: 1}, {Name: "cost_usd", Head: "cost"}, {Name: "per_unit_usd", Head: "of one"}}}
	for _, u := range b.units {
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
func (b *billed) rowTable() report.Table {
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
	for i := range b.bill.Rows {
		r := &b.bill.Rows[i]
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
