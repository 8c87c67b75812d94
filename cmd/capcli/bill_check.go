package main

import (
	"context"
	"fmt"
	"strings"

	"capcli"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/simulate/billing/focus"
)

// billCheckOptions are the flags of capcli bill check.
type billCheckOptions struct {
	output      outputOptions
	spreadsheet bool
	enforce     bool
}

func newBillCheck(e *env) *cobra.Command {
	var o billCheckOptions
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Read a FOCUS bill: totals, utilisation, what went unused, and whether it adds up",
		Long: "Reads a cloud bill in FOCUS 1.0, 1.1 or 1.2 (CSV, packed or not, or Parquet) and says what it comes to by service,\n" +
			"commitment, status, tag and month; how much of each commitment was used; the coverage and the effective savings\n" +
			"rate. Of each commitment, what its usage is charged (EffectiveCost, used and unused) must be what was bought\n" +
			"(BilledCost): where it is not, bill check says by how much. Each row is held against the rules of FOCUS 1.2 for the\n" +
			"columns that the bill has: what must be there, and that price x quantity is cost (--table odd lists the breaches).",
		Example: "  capcli bill check focus.csv.gz\n" +
			"  capcli bill check focus.csv --table commitments -o csv\n" +
			"  capcli bill check focus.csv --enforce -q || echo 'does not add up'",
		Args: wantArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return runBillCheck(cmd.Context(), e, o, args[0]) },
	}
	addOutputFlags(cmd, &o.output)
	f := cmd.Flags()
	f.BoolVar(&o.spreadsheet, "spreadsheet", false, "also accept dates such as 4/1/25 (month first) and amounts such as $1,000.00")
	f.BoolVar(&o.enforce, "enforce", false, "exit 5 when a commitment does not balance or a row breaks a rule of FOCUS 1.2")
	return cmd
}

func runBillCheck(ctx context.Context, e *env, o billCheckOptions, name string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	check := focus.NewCheck()
	read, err := readFocus(ctx, e, name, focus.Options{Spreadsheet: o.spreadsheet}, check.Columns, check.Add)
	if err != nil {
		return overflown(name, err)
	}
	d := &focusDoc{}
	if d.Result, err = check.Conclude(name, read); err != nil {
		return overflown(name, err)
	}
	if err := emit(e, o.output, d.doc()); err != nil {
		return err
	}
	switch broken := d.Broken(); {
	case !o.enforce:
	case len(broken) > 0:
		return &capcli.ResultError{Kind: capcli.ConditionTrue, Text: fmt.Sprintf("%s does not balance: commitment %s: %s", name, broken[0].ID, broken[0].Why)}
	case !d.Conforms:
		return &capcli.ResultError{Kind: capcli.ConditionTrue, Text: fmt.Sprintf("%s breaks a rule of FOCUS 1.2: %s", name, d.breach())}
	}
	return nil
}

// breach describes the first breach of FOCUS 1.2: a bad row, else the missing columns.
func (d *focusDoc) breach() string {
	if len(d.Odd) > 0 {
		return fmt.Sprintf("line %d: %s", d.Odd[0].Line, d.Odd[0].Text)
	}
	return "it lacks the mandatory columns " + strings.Join(d.Missing, ", ")
}

// focusDoc presents the check of a FOCUS bill.
type focusDoc struct{ *focus.Result }

// shownGroups is how many services, accounts or tags a terminal shows.
const shownGroups = 10

func (d *focusDoc) doc() report.Doc {
	tables := []report.Table{
		d.figures(), d.commitments("commitments", "commitments", d.Commitments), groupTable("statuses", "status", d.Statuses),
		groupTable("services", "service", d.Services), groupTable("months", "month", d.Months), groupTable("accounts", "account", d.Accounts),
		groupTable("tags", "value", d.Tags), d.commitments("reservations", "capacity reservations", d.Reservations), d.odd(),
	}
	for i := range tables {
		setCurrency(&tables[i], d.Currency)
	}
	return report.Doc{Lead: d.lead(), Data: d.Result, Notes: d.Notes, Tables: tables}
}

// lead sums up the bill in one sentence.
func (d *focusDoc) lead() string {
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
func (d *focusDoc) figures() report.Table {
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
	return report.Fill(report.Table{Name: name, Most: shownGroups, Aside: len(groups) == 0}, groups, columns)
}

func (d *focusDoc) commitments(name, title string, list []*focus.Commitment) report.Table {
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
	return report.Fill(report.Table{Name: name, Title: title, Most: shownGroups, Aside: len(list) == 0}, list, columns)
}

func (d *focusDoc) odd() report.Table {
	return report.Fill(report.Table{Name: "odd", Title: "rows that break a rule of FOCUS", Aside: true}, d.Odd, []report.Field[focus.Oddity]{
		{Name: "line", Cell: func(o focus.Oddity) any { return int64(o.Line) }},
		{Name: "text"},
	})
}
