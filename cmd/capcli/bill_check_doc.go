package main

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/billing"
)

// focusDoc is what is in a bill, on its way out.
type focusDoc struct{ *billing.FocusResult }

// shownGroups is how many services, accounts or tags a terminal shows.
const shownGroups = 10

func (d *focusDoc) doc() report.Doc {
	return report.Doc{
		Lead: d.lead(), Data: d.FocusResult, Notes: d.Notes,
		Tables: []report.Table{
			d.figures(), d.commitments("commitments", "commitments", d.Commitments), d.groups("statuses", "status", d.Statuses),
			d.groups("services", "service", d.Services), d.groups("months", "month", d.Months), d.groups("accounts", "account", d.Accounts),
			d.groups("tags", "value", d.Tags), d.commitments("reservations", "capacity reservations", d.Reservations), d.odd(),
		},
	}
}

// lead is the bill in a sentence.
func (d *focusDoc) lead() string {
	text := fmt.Sprintf("%s in FOCUS %s: billed %s %s, charged %s", rowCount(d.Total.Rows), d.Version,
		d.Total.Billed.Decimal(2), d.Currency, d.Total.Effective.Decimal(2))
	switch broken := d.Broken(); {
	case len(d.Commitments) == 0:
		return text + "; no commitments."
	case len(broken) > 0:
		return fmt.Sprintf("%s; %d of %d commitments do not conserve, first %s: %s.", text, len(broken), len(d.Commitments), broken[0].ID, broken[0].Why)
	}
	return fmt.Sprintf("%s; %s unused; every commitment conserves that the bill has purchases and usage of.", text, d.Unused.Decimal(2))
}

func rowCount(n int64) string { return capcli.Grouped(n) + " " + capcli.Plural(n, "row") }

// cell is an amount of the bill.
func (d *focusDoc) cell(a billing.Amount) any { return amountCell(a, d.Currency) }

// amountOrNil is an amount that may not be known.
func (d *focusDoc) amountOrNil(a *billing.Amount) any {
	if a == nil {
		return nil
	}
	return d.cell(*a)
}

// amountCell is an amount for every form; what is too much for USD keeps its
// digits for people too.
func amountCell(a billing.Amount, currency string) any {
	near, err := a.USD()
	if err != nil {
		return a.Decimal(2)
	}
	return report.Money{Exact: a.Decimal(2), Near: near, Currency: currency}
}

// figures are the single figures, one in a row.
func (d *focusDoc) figures() report.Table {
	t := newFigures("figures")
	t.add("billed_cost", "billed cost", d.cell(d.Total.Billed))
	t.add("effective_cost", "effective cost", d.cell(d.Total.Effective))
	t.add("list_cost", "on-demand equivalent", d.amountOrNil(d.Total.List))
	t.add("unused_cost", "unused commitments", d.cell(d.Unused))
	t.add("commitment_coverage", "coverage", shareCell(d.Coverage))
	t.add("effective_savings_rate", "effective savings rate", shareCell(d.Savings))
	return t.Table
}

func shareCell(v *float64) any {
	if v == nil {
		return nil
	}
	return report.Percent(*v)
}

func (d *focusDoc) groups(name, head string, groups []*billing.FocusGroup) report.Table {
	t := report.Table{Name: name, Most: shownGroups, Aside: len(groups) == 0}
	if name == "tags" {
		t.Columns = []report.Column{{Name: "key", Head: "tag"}}
	}
	t.Columns = append(t.Columns, report.Column{Name: head}, report.Column{Name: "rows", Priority: 1}, report.Column{Name: "billed_cost", Head: "billed"},
		report.Column{Name: "effective_cost", Head: "effective"}, report.Column{Name: "list_cost", Head: "on-demand equivalent", Priority: 2})
	for _, g := range groups {
		var row []any
		if name == "tags" {
			row = append(row, g.Key)
		}
		t.Rows = append(t.Rows, append(row, g.Name, g.Rows, d.cell(g.Billed), d.cell(g.Effective), d.amountOrNil(g.List)))
	}
	return t
}

func (d *focusDoc) commitments(name, title string, list []*billing.FocusCommitment) report.Table {
	bought := name == "commitments"
	t := report.Table{Name: name, Title: title, Most: shownGroups, Aside: len(list) == 0, Columns: []report.Column{
		{Name: "id"},
		{Name: "type", Priority: 2},
		{Name: "unit", Priority: 3},
		{Name: "used_cost", Head: "used"},
		{Name: "unused_cost", Head: "unused"},
		{Name: "utilisation", Head: "used %"},
	}}
	if bought {
		t.Columns = append(t.Columns, report.Column{Name: "purchased_cost", Head: "bought"}, report.Column{Name: "difference"}, report.Column{Name: "conserves"})
	}
	for _, k := range list {
		row := []any{k.ID, k.Type, k.Unit, d.cell(k.Used), d.cell(k.Unused), shareCell(k.Utilisation)}
		if bought {
			row = append(row, d.amountOrNil(k.Purchased), d.amountOrNil(k.Difference), report.Verdict{Text: k.Conserves, Good: k.Verdict != billing.Broken})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (d *focusDoc) odd() report.Table {
	t := report.Table{Name: "odd", Title: "rows that are not what FOCUS wants", Aside: true, Columns: []report.Column{{Name: "line"}, {Name: "text"}}}
	for _, o := range d.Odd {
		t.Rows = append(t.Rows, []any{int64(o.Line), o.Text})
	}
	return t
}
