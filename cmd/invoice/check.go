package invoice

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/money/focus"
)

// Breach describes the first breach of FOCUS 1.2: a bad row, else the missing columns.
func (d *Check) Breach() string {
	if len(d.Odd) > 0 {
		return fmt.Sprintf("line %d: %s", d.Odd[0].Line, d.Odd[0].Text)
	}
	return "it lacks the mandatory columns " + strings.Join(d.Missing, ", ")
}

// Check presents the check of a FOCUS bill.
type Check struct{ *focus.Result }

// Doc returns the tables of the check, with a sentence before them.
func (d *Check) Doc() report.Doc {
	tables := []report.Table{
		d.figures(), d.commitments("commitments", "commitments", d.Commitments), groupTable("statuses", "status", d.Statuses),
		groupTable("services", "service", d.Services), groupTable("months", "month", d.Months), groupTable("accounts", "account", d.Accounts),
		groupTable("tags", "value", d.Tags), d.commitments("reservations", "capacity reservations", d.Reservations), d.odd(),
	}
	for i := range tables {
		SetCurrency(&tables[i], d.Currency)
	}
	return report.Doc{Lead: d.lead(), Data: d.Result, Notes: d.Notes, Tables: tables}
}

// lead sums up the bill in one sentence.
func (d *Check) lead() string {
	text := fmt.Sprintf("%s in FOCUS %s: billed %s %s, charged %s", rowCount(d.Total.Rows), d.Version,
		d.Total.Billed.Decimal(2), d.Currency, d.Total.Effective.Decimal(2))
	switch broken := d.Broken(); {
	case len(d.Commitments) == 0:
		return text + "; no commitments."
	case len(broken) > 0:
		return fmt.Sprintf("%s; %d of %d commitments do not balance, the first is %s: %s.", text, len(broken), len(d.Commitments), broken[0].ID, broken[0].Why)
	}
	return fmt.Sprintf("%s; %s unused; every commitment with purchases and usage in the bill balances.", text, d.Unused.Decimal(2))
}

func rowCount(n int64) string { return capcli.Grouped(n) + " " + capcli.Plural(n, "row") }

// figures is the table of single figures, one a row.
func (d *Check) figures() report.Table {
	return report.Figures("figures", d.Result, []report.Field[*focus.Result]{
		{Name: "billed_cost", Head: "billed cost", Cell: func(r *focus.Result) any { return r.Total.Billed }},
		{Name: "effective_cost", Head: "effective cost", Cell: func(r *focus.Result) any { return r.Total.Effective }},
		{Name: "list_cost", Head: "on-demand equivalent", Cell: func(r *focus.Result) any { return r.Total.List }},
		{Name: "unused_cost", Head: "unused commitments"},
		{Name: "commitment_coverage", Head: "coverage", As: report.AsPercent},
		{Name: "effective_savings_rate", Head: "effective savings rate", As: report.AsPercent},
	})
}

// groupTable is the table of the totals of each service, status, account, month or tag.
func groupTable(name, column string, groups []*focus.Group) report.Table {
	columns := []report.Field[*focus.Group]{
		{Name: "key", Head: "tag"},
		{Name: column, Cell: func(g *focus.Group) any { return g.Name }},
		{Name: "rows", Priority: 1},
		{Name: "billed_cost", Head: "billed"},
		{Name: "effective_cost", Head: "effective"},
		{Name: "list_cost", Head: "on-demand equivalent", Priority: 2},
	}
	if name != "tags" {
		columns = columns[1:]
	}
	return report.Fill(report.Table{Name: name, Most: ShownGroups, Aside: len(groups) == 0}, groups, columns)
}

func (d *Check) commitments(name, title string, list []*focus.Commitment) report.Table {
	columns := []report.Field[*focus.Commitment]{
		{Name: "id"},
		{Name: "type", Priority: 2},
		{Name: "unit", Priority: 3},
		{Name: "used_cost", Head: "used"},
		{Name: "unused_cost", Head: "unused"},
		{Name: "utilisation", Head: "used %", As: report.AsPercent},
		{Name: "purchased_cost", Head: "bought"},
		{Name: "difference"},
		{Name: "conserves", Head: "balances", Cell: func(k *focus.Commitment) any {
			return report.Verdict{Text: string(k.Verdict), Good: k.Verdict != focus.Broken}
		}},
	}
	if name == "reservations" {
		columns = columns[:6]
	}
	return report.Fill(report.Table{Name: name, Title: title, Most: ShownGroups, Aside: len(list) == 0}, list, columns)
}

func (d *Check) odd() report.Table {
	return report.Fill(report.Table{Name: "odd", Title: "rows that break a rule of FOCUS", Aside: true}, d.Odd, []report.Field[focus.Oddity]{
		{Name: "line", Cell: func(o focus.Oddity) any { return int64(o.Line) }},
		{Name: "text"},
	})
}
