package tables

import (
	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
)

// moneyTables are the tables of budgets and energy of several runs; none where the runs have
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

// moneyTablesOf are the tables of budgets and energy of one run, or the means of several.
func moneyTablesOf(runs []*play.Run) []report.Table {
	footprints := make([]*billing.Footprints, len(runs))
	for i, r := range runs {
		footprints[i] = r.Energy
	}
	lines := partsOf(runs, func(r *play.Run) []billing.BudgetLine { return r.Budget })
	return moneyTables(runs[0].Case.Scenario.Budget, lines, footprints)
}
