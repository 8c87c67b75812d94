package main

import (
	"fmt"
	"strconv"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/play"
	"capcli/simulate/billing"
	"capcli/simulate/outcome"
)

// moneyTables are the tables of budgets and energy of some runs, none where there are
// neither.
func moneyTables(b *billing.Budget, lines [][]billing.BudgetLine, footprints []*billing.Footprints) []report.Table {
	var out []report.Table
	if len(lines[0]) > 0 {
		out = append(out, budgetTable(b, lines))
	}
	if footprints[0] == nil {
		return out
	}
	var tenants, months [][]energyLine
	for _, f := range footprints {
		var byTenant, byMonth []energyLine
		for i := range f.Tenants {
			byTenant = append(byTenant, energyLine{f.Tenants[i].Name, &f.Tenants[i].Footprint})
		}
		for i := range f.Months {
			byMonth = append(byMonth, energyLine{f.Months[i].Name, &f.Months[i].Footprint})
		}
		tenants, months = append(tenants, append(byTenant, energyLine{"all", &f.Footprint})), append(months, byMonth)
	}
	return append(out, energyTable("energy", "energy and carbon by tenant, idle power shared", "tenant", tenants),
		energyTable("energy_months", "energy and carbon by month", "month", months))
}

func budgetTable(b *billing.Budget, lines [][]billing.BudgetLine) report.Table {
	type line = billing.BudgetLine
	who := func(l *line) string {
		if l.Tenant == nil {
			return "all"
		}
		return tenantName(*l.Tenant)
	}
	type key struct {
		start capcli.Time
		who   string
	}
	rows := linesByKey(lines, func(l *line) key { return key{l.Start, who(l)} })
	return fillRuns(report.Table{Name: "budget", Title: "against the " + b.Every.String() + " budget"}, rows, []report.Field[*line]{
		{Name: "start", Head: "from", Cell: func(l *line) any { return l.Start.Date() }},
		{Name: "tenant", Cell: func(l *line) any { return who(l) }},
		{Name: "budget_usd", Head: "budget"},
		{Name: "spent_usd", Head: "spent"},
		{Name: "share_of_budget", Head: "of it", As: report.AsPercent},
		{Name: "reached_80_pct", Head: "80% on", Priority: 1, Cell: func(l *line) any { return reachedOn{l.At80} }},
		{Name: "reached_100_pct", Head: "100% on", Cell: func(l *line) any { return reachedOn{l.At100} }},
		{Name: "reached_120_pct", Head: "120% on", Priority: 1, Cell: func(l *line) any { return reachedOn{l.At120} }},
	})
}

// linesByKey returns the lines of all runs that have one key together.
func linesByKey[L any, K comparable](runs [][]L, key func(*L) K) [][]*L {
	keys, parts := outcome.ByKey(runs, key)
	out := make([][]*L, len(keys))
	for i, k := range keys {
		out[i] = parts[k]
	}
	return out
}

// energyLine is the footprint of a tenant or a month.
type energyLine struct {
	name string
	*billing.Footprint
}

func energyTable(name, title, first string, lines [][]energyLine) report.Table {
	rows := linesByKey(lines, func(l *energyLine) string { return l.name })
	return fillRuns(report.Table{Name: name, Title: title}, rows, []report.Field[*energyLine]{
		{Name: first, Cell: func(l *energyLine) any { return tenantName(l.name) }},
		{Name: "held_gpu_hours", Head: "held GPUh", Priority: 2},
		{Name: "idle_gpu_hours", Head: "idle GPUh", Priority: 2},
		{Name: "energy_kwh", Head: "kWh", Cell: func(l *energyLine) any { return l.Energy.KWh() }},
		{Name: "co2e_kg", Head: "kg CO2e", Cell: func(l *energyLine) any { return l.Carbon.Kg() }},
		{Name: "power_usd", Head: "power"},
		{Name: "carbon_usd", Head: "carbon"},
	})
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
	footprints := make([]*billing.Footprints, len(runs))
	for i, r := range runs {
		footprints[i] = r.Energy
	}
	lines := partsOf(runs, func(r *play.Run) []billing.BudgetLine { return r.Budget })
	return moneyTables(runs[0].Case.Scenario.Budget, lines, footprints)
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
