package main

import (
	"fmt"
	"strings"

	"capcli/cmd/report"
	"capcli/simulate/billing"
)

// focusDoc says what is in a bill.
type focusDoc struct {
	file  string
	read  billing.FocusReport
	check *billing.FocusCheck
}

// shownGroups is how many services, accounts or tags a terminal shows.
const shownGroups = 10

type focusTotalsJSON struct {
	Rows      int64           `json:"rows"`
	Billed    billing.Amount  `json:"billed_cost"`
	Effective billing.Amount  `json:"effective_cost"`
	List      *billing.Amount `json:"list_cost"`
	Unlisted  int64           `json:"rows_without_list_cost"`
}

type focusGroupJSON struct {
	Key  string `json:"key,omitempty"`
	Name string `json:"name"`
	focusTotalsJSON
}

type focusCommitmentJSON struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Unit        string          `json:"unit"`
	Purchases   int64           `json:"purchase_rows"`
	Usage       int64           `json:"usage_rows"`
	Purchased   *billing.Amount `json:"purchased_cost,omitempty"`
	Used        billing.Amount  `json:"used_cost"`
	Unused      billing.Amount  `json:"unused_cost"`
	Utilisation *float64        `json:"utilisation"`
	Difference  *billing.Amount `json:"difference,omitempty"`
	Conserves   string          `json:"conserves,omitempty"`
	Why         string          `json:"why,omitempty"`
}

type focusOddJSON struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

type focusJSON struct {
	Schema       string                `json:"schema"`
	File         string                `json:"file"`
	Version      string                `json:"focus_version"`
	Currency     string                `json:"currency"`
	Total        focusTotalsJSON       `json:"total"`
	Unused       billing.Amount        `json:"unused_cost"`
	Coverage     *float64              `json:"commitment_coverage"`
	WhyCoverage  string                `json:"commitment_coverage_why,omitempty"`
	Savings      *float64              `json:"effective_savings_rate"`
	WhySavings   string                `json:"effective_savings_rate_why,omitempty"`
	Conserves    bool                  `json:"conserves"`
	Commitments  []focusCommitmentJSON `json:"commitments"`
	Reservations []focusCommitmentJSON `json:"capacity_reservations"`
	Services     []focusGroupJSON      `json:"services"`
	Statuses     []focusGroupJSON      `json:"statuses"`
	Months       []focusGroupJSON      `json:"months"`
	Accounts     []focusGroupJSON      `json:"accounts"`
	Tags         []focusGroupJSON      `json:"tags"`
	Conforms     bool                  `json:"conforms"`
	Missing      []string              `json:"missing_columns"`
	OddRows      int64                 `json:"odd_rows"`
	Odd          []focusOddJSON        `json:"odd"`
	Notes        []string              `json:"notes"`
}

func totalsJSON(t *billing.FocusTotals) focusTotalsJSON {
	out := focusTotalsJSON{Rows: t.Rows, Billed: t.Billed, Effective: t.Effective, Unlisted: t.Unlisted}
	if t.Unlisted == 0 {
		out.List = &t.List
	}
	return out
}

func groupsJSON(groups []*billing.FocusGroup) []focusGroupJSON {
	out := []focusGroupJSON{}
	for _, g := range groups {
		out = append(out, focusGroupJSON{g.Key, g.Name, totalsJSON(&g.FocusTotals)})
	}
	return out
}

func commitmentJSON(k *billing.FocusCommitment, bought bool) focusCommitmentJSON {
	out := focusCommitmentJSON{
		ID: k.ID, Name: k.Name, Type: k.Type, Unit: k.Unit, Purchases: k.Purchases, Usage: k.UsageRows, Used: k.Used, Unused: k.Unused,
	}
	if bought {
		out.Purchased, out.Conserves, out.Why = &k.Purchased, k.Verdict.String(), k.Why()
		if k.Verdict != billing.PurchaseOnly && k.Verdict != billing.UsageOnly {
			out.Difference = &k.Difference
		}
	}
	if u, ok := k.Utilisation(); ok {
		out.Utilisation = &u
	}
	return out
}

// doc is the bill as it is said.
func (d *focusDoc) doc() report.Doc {
	c := d.check
	data := &focusJSON{
		Schema: "capcli/bill_check/v1", File: d.file, Version: d.read.Version, Currency: d.read.Currency, Total: totalsJSON(&c.Total),
		Unused: c.Unused.Effective, Conserves: len(c.Broken()) == 0,
		Commitments: []focusCommitmentJSON{}, Reservations: []focusCommitmentJSON{},
		Services: groupsJSON(c.Services), Statuses: groupsJSON(c.Statuses), Months: groupsJSON(c.Months), Accounts: groupsJSON(c.Accounts),
		Tags: groupsJSON(c.Tags), Conforms: c.Conforms(), Missing: append([]string{}, c.Missing...), OddRows: c.Odd, Odd: []focusOddJSON{},
	}
	for _, k := range c.Commitments {
		data.Commitments = append(data.Commitments, commitmentJSON(k, true))
	}
	for _, k := range c.Reservations {
		data.Reservations = append(data.Reservations, commitmentJSON(k, false))
	}
	for _, o := range c.Oddities {
		data.Odd = append(data.Odd, focusOddJSON{o.Line, o.Text})
	}
	if v, ok, why := c.Coverage(); ok {
		data.Coverage = &v
	} else {
		data.WhyCoverage = why
	}
	if v, ok, why := c.SavingsRate(); ok {
		data.Savings = &v
	} else {
		data.WhySavings = why
	}
	data.Notes = d.notes()
	return report.Doc{
		Lead: d.lead(data), Data: data, Notes: data.Notes,
		Tables: []report.Table{
			d.figures(data), d.commitments("commitments", "commitments", c.Commitments), d.groups("statuses", "status", c.Statuses),
			d.groups("services", "service", c.Services), d.groups("months", "month", c.Months), d.groups("accounts", "account", c.Accounts),
			d.groups("tags", "value", c.Tags), d.commitments("reservations", "capacity reservations", c.Reservations), d.odd(),
		},
	}
}

func (d *focusDoc) notes() []string {
	out := focusNotes(&d.read)
	if n := d.check.Odd; n > 0 {
		first := d.check.Oddities[0]
		out = append(out, fmt.Sprintf("%s %s not what FOCUS 1.2 wants, first line %d: %s (--table odd)", grouped(n), plural(n, "row"), first.Line, first.Text))
	}
	if m := d.check.Missing; len(m) > 0 {
		out = append(out, "columns that FOCUS 1.2 makes mandatory and the bill lacks: "+strings.Join(m, ", "))
	}
	return append([]string{}, out...)
}

// lead is the bill in a sentence.
func (d *focusDoc) lead(data *focusJSON) string {
	text := fmt.Sprintf("%s in FOCUS %s: billed %s %s, charged %s", rowCount(data.Total.Rows), data.Version,
		data.Total.Billed.Decimal(2), data.Currency, data.Total.Effective.Decimal(2))
	switch broken := d.check.Broken(); {
	case len(data.Commitments) == 0:
		return text + "; no commitments."
	case len(broken) > 0:
		return fmt.Sprintf("%s; %d of %d commitments do not conserve, first %s: %s.", text, len(broken), len(data.Commitments), broken[0].ID, broken[0].Why())
	}
	return fmt.Sprintf("%s; %s unused; every commitment conserves that the bill has purchases and usage of.", text, data.Unused.Decimal(2))
}

func rowCount(n int64) string { return grouped(n) + " " + plural(n, "row") }

// cell is an amount of the bill.
func (d *focusDoc) cell(a billing.Amount) any { return amountCell(a, d.read.Currency) }

// list is the on-demand equivalent, where all of it is known.
func (d *focusDoc) list(t *billing.FocusTotals) any {
	if t.Unlisted > 0 {
		return nil
	}
	return d.cell(t.List)
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
func (d *focusDoc) figures(data *focusJSON) report.Table {
	t := newFigures("figures")
	t.add("billed_cost", "billed cost", d.cell(data.Total.Billed))
	t.add("effective_cost", "effective cost", d.cell(data.Total.Effective))
	t.add("list_cost", "on-demand equivalent", d.list(&d.check.Total))
	t.add("unused_cost", "unused commitments", d.cell(data.Unused))
	t.add("commitment_coverage", "coverage", shareCell(data.Coverage))
	t.add("effective_savings_rate", "effective savings rate", shareCell(data.Savings))
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
		t.Rows = append(t.Rows, append(row, g.Name, g.Rows, d.cell(g.Billed), d.cell(g.Effective), d.list(&g.FocusTotals)))
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
		j := commitmentJSON(k, bought)
		row := []any{k.ID, k.Type, k.Unit, d.cell(k.Used), d.cell(k.Unused), shareCell(j.Utilisation)}
		if bought {
			row = append(row, d.cell(k.Purchased), d.difference(k), report.Verdict{Text: k.Verdict.String(), Good: k.Verdict != billing.Broken})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// difference is what is charged for a commitment beyond what was bought; nothing
// where the bill has only one of the two.
func (d *focusDoc) difference(k *billing.FocusCommitment) any {
	if k.Verdict == billing.PurchaseOnly || k.Verdict == billing.UsageOnly {
		return nil
	}
	return d.cell(k.Difference)
}

func (d *focusDoc) odd() report.Table {
	t := report.Table{Name: "odd", Title: "rows that are not what FOCUS wants", Aside: true, Columns: []report.Column{{Name: "line"}, {Name: "text"}}}
	for _, o := range d.check.Oddities {
		t.Rows = append(t.Rows, []any{int64(o.Line), o.Text})
	}
	return t
}
