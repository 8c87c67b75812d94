package main

import (
	"fmt"
	"slices"
	"strconv"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/play"
	"capcli/simulate/billing"
	"capcli/simulate/outcome"
)

// moneyTables are the tables of budgets and energy, none where there are neither.
func moneyTables(b *billing.Budget, lines []billing.BudgetLine, f *billing.Footprints) []report.Table {
	var out []report.Table
	if len(lines) > 0 {
		out = append(out, budgetTable(b, lines))
	}
	if f != nil {
		tenants := energyTable("energy", "energy and carbon by tenant, idle power shared", "tenant")
		for i := range f.Tenants {
			tenants.Rows = append(tenants.Rows, energyRow(f.Tenants[i].Name, &f.Tenants[i].Footprint))
		}
		tenants.Rows = append(tenants.Rows, energyRow("all", &f.Footprint))
		months := energyTable("energy_months", "energy and carbon by month", "month")
		for i := range f.Months {
			months.Rows = append(months.Rows, energyRow(f.Months[i].Name, &f.Months[i].Footprint))
		}
		out = append(out, tenants, months)
	}
	return out
}

func budgetTable(b *billing.Budget, lines []billing.BudgetLine) report.Table {
	t := report.Table{Name: "budget", Title: "against the " + b.Every.String() + " budget", Columns: []report.Column{
		{Name: "start", Head: "from"},
		{Name: "tenant"},
		{Name: "budget_usd", Head: "budget"},
		{Name: "spent_usd", Head: "spent"},
		{Name: "share_of_budget", Head: "of it"},
		{Name: "reached_80_pct", Head: "80% on", Priority: 1},
		{Name: "reached_100_pct", Head: "100% on"},
		{Name: "reached_120_pct", Head: "120% on", Priority: 1},
	}}
	date := func(t capcli.Time) any {
		if !t.IsKnown() {
			return "-"
		}
		return day(t)
	}
	for _, l := range lines {
		who := "all"
		if l.Tenant != nil {
			who = tenantName(*l.Tenant)
		}
		t.Rows = append(t.Rows, []any{day(l.Start), who, l.Budget, l.Spent, report.Percent(l.Share), date(l.At80), date(l.At100), date(l.At120)})
	}
	return t
}

func energyTable(name, title, first string) report.Table {
	return report.Table{Name: name, Title: title, Columns: []report.Column{
		{Name: first},
		{Name: "held_gpu_hours", Head: "held GPUh", Priority: 2},
		{Name: "idle_gpu_hours", Head: "idle GPUh", Priority: 2},
		{Name: "energy_kwh", Head: "kWh"},
		{Name: "co2e_kg", Head: "kg CO2e"},
		{Name: "power_usd", Head: "power"},
		{Name: "carbon_usd", Head: "carbon"},
	}}
}

func energyRow(name string, f *billing.Footprint) []any {
	return []any{tenantName(name), f.Held, f.Idle, f.Energy.KWh(), f.Carbon.Kg(), f.PowerCost, f.CarbonCost}
}

// moneyNotes say what was crossed, who signs, and what rests on an assumption.
func moneyNotes(b *billing.Budget, lines []billing.BudgetLine, a billing.Approvals, gpus int64, f *billing.Footprints, even bool) []string {
	var out []string
	if len(a) > 0 {
		out = append(out, "approval: "+a.Say(gpus))
	}
	over := 0
	for _, l := range lines {
		if l.At100.IsKnown() {
			over++
		}
	}
	if over > 0 {
		out = append(out, fmt.Sprintf("budget: %d of %d %s %s went over", over, len(lines), b.Every, plural(int64(len(lines)), "budget")))
	}
	if len(lines) > 0 && even {
		out = append(out, "* days on which a budget was reached: the cost of a month is taken as even over the month")
	}
	if f == nil {
		return out
	}
	if f.Budget != nil {
		text := fmt.Sprintf("carbon: %s of a budget of %s kg CO2e", briefly(f.Carbon.Kg()), briefly(f.Budget.Kg()))
		for i, at := range f.Alerts() {
			if at != nil {
				text += fmt.Sprintf("; %d%% on %s", billing.AlertPercents[i], day(*at))
			}
		}
		out = append(out, text)
	}
	if f.Moved > 0 {
		out = append(out, fmt.Sprintf("* the carbon of a kilowatt-hour is that of the same hour of another year for %s hours: the series does not have them", grouped(f.Moved)))
	}
	return out
}

// moneyTablesOf are those of a run, or of several their means.
func moneyTablesOf(runs []*play.Run) []report.Table {
	var all [][]report.Table
	for _, r := range runs {
		all = append(all, moneyTables(r.Case.Scenario.Budget, r.Budget, r.Energy))
	}
	if len(runs) == 1 {
		return all[0]
	}
	var out []report.Table
	for k := range all[0] {
		var same []report.Table
		for i := range all {
			if k < len(all[i]) && all[i][k].Name == all[0][k].Name {
				same = append(same, all[i][k])
			}
		}
		keys := 1
		if all[0][k].Name == "budget" {
			keys = 2
		}
		out = append(out, meanTable(same, keys))
	}
	return out
}

// meanTable joins tables of the runs whose rows are told apart by their first
// cells: figures become their mean with its range, and a date, which no mean has,
// says in how many of the runs it came.
func meanTable(tables []report.Table, keys int) report.Table {
	out := tables[0]
	out.Rows = nil
	rows := map[string][][]any{}
	var order []string
	for _, t := range tables {
		for _, row := range t.Rows {
			key := fmt.Sprint(row[:keys]...)
			if rows[key] == nil {
				order = append(order, key)
			}
			rows[key] = append(rows[key], row)
		}
	}
	for _, key := range order {
		row := slices.Clone(rows[key][0])
		for c := keys; c < len(row); c++ {
			var all []outcome.Figure
			var of func(float64) any
			came := 0
			for _, r := range rows[key] {
				if v, cell := numberOf(r[c]); cell != nil {
					all, of = append(all, v), cell
				} else if r[c] != "-" {
					came++
				}
			}
			if s, known := outcome.SpreadOver(all); known {
				row[c] = spreadCell(s, of)
			} else if came > 0 {
				row[c] = fmt.Sprintf("in %d of %d runs", came, len(tables))
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// moneyNotesOf are those of a run; of several, what does not hang on chance.
func moneyNotesOf(runs []*play.Run) []string {
	r := runs[0]
	s := r.Case.Scenario
	var out []string
	if s.Budget != nil && s.Budget.Cash && s.HasContracts() {
		out = append(out, "* the budget counts what time used up here: what is paid at the start of a contract is spread over its term")
	}
	if len(runs) > 1 {
		return append(out, moneyNotes(s.Budget, nil, s.Approvals, r.CommittedGPUs(), nil, true)...)
	}
	return append(out, moneyNotes(s.Budget, r.Budget, s.Approvals, r.CommittedGPUs(), r.Energy, true)...)
}

// briefly is a number for a sentence: three figures, or the whole number.
func briefly(v float64) string {
	if v >= 100 {
		return grouped(int64(v + 0.5))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
