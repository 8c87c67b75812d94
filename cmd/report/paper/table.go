package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/figure"
	"capcli/scenarios/outcome"
)

// column returns a column that is not summed.
func column(name string, unit figure.Unit) Column { return Column{Name: name, Unit: unit} }

// withTotal adds the last row: the sums of the columns with Sum, and a name.
func (t *Table) withTotal() {
	row := make([]any, len(t.Columns))
	for c := range t.Columns {
		if !t.Columns[c].Sum {
			continue
		}
		var sum capcli.USD // amounts are sums of whole cents, other numbers of millionths
		for _, r := range t.Rows {
			if v, ok := r[c].(figure.Number); ok && v.IsKnown() {
				sum += capcli.USDOf(float64(v))
			}
		}
		row[c] = dollars(sum)
	}
	row[0] = "Total"
	t.Rows, t.Total = append(t.Rows, row), true
}

func (m *material) plansTable() (Table, bool) {
	t := Table{ID: "plans", Title: "The simulated plans", Columns: []Column{
		column("Plan", figure.Name), column("Runs", figure.Count), column("Cost a year", figure.USD), column("Cost a year, low", figure.USD), column("Cost a year, high", figure.USD),
		column("Work not served", figure.Share), column("Wait p50", figure.Seconds), column("Wait p95", figure.Seconds), column("Wait p95 is over", figure.Seconds),
		column("Committed GPUs", figure.Count), column("Stranded a year", figure.USD), column("Used of offered", figure.Share), column("Limits held", figure.Share), column("Days", figure.Count),
	}}
	for i := range m.trials {
		x := &m.trials[i]
		cost, lo, hi, _ := x.spread("cost_per_year")
		if len(x.Runs) == 1 {
			lo, hi = unknown, unknown
		}
		undone, _, _, _ := x.spread("unserved_share")
		p50, _, _, least50 := x.spread("wait_p50")
		p95, _, _, least := x.spread("wait_p95")
		over := unknown
		if least {
			p95, over = unknown, p95
		}
		if least50 {
			p50 = unknown
		}
		used, _, _, _ := x.spread("allocation_rate")
		stranded := unknown
		if v, ok := x.meanUSD(func(o *outcome.Outcome) *capcli.USD { return o.Cost.Stranded }); ok {
			stranded = dollars(yearly(v, x.Runs[0].Ended))
		}
		days := figure.Number(x.Runs[0].Ended) / figure.Number(capcli.Day)
		t.Rows = append(t.Rows, []any{m.name(x), figure.Number(len(x.Runs)), cost, lo, hi, undone, p50, p95, over, x.committed(), stranded, used, x.heldShare(), days})
	}
	if len(t.Rows) > 1 {
		t.Sentence = "Low and high are the lowest and the highest of fewer than 40 runs, and hold 90% of more; amounts are of a year at the rate of the runs."
	}
	return t, len(t.Rows) > 0
}

// mixesTable lists the mixes of a plan that a reader compares.
func (m *material) mixesTable() (Table, bool) {
	if len(m.mixes) == 0 {
		return Table{}, false
	}
	r := m.mixes[0].Doc
	t := Table{ID: "mixes", Title: "The mixes of the plan"}
	for _, a := range r.Axes {
		t.Columns = append(t.Columns, column(mix.AxisName(a.Path), figure.Name))
	}
	t.Columns = append(t.Columns, column("Cost a year", figure.USD), column("Cost a year, low", figure.USD), column("Cost a year, high", figure.USD), column("Work not served", figure.Share),
		column("Wait p95", figure.Seconds), column("Wait p95, low", figure.Seconds), column("Wait p95, high", figure.Seconds), column("Mean wait", figure.Seconds), column("Job-hours waited", figure.Count),
		column("Stranded a year", figure.USD), column("Limits held", figure.Share), column("What it is", figure.Name))
	list := slices.Clone(r.Plans)
	for _, x := range []*mix.Mix{r.Own, r.Next, r.Closest} {
		if x != nil && !slices.ContainsFunc(list, func(o *mix.Mix) bool { return o.Mix == x.Mix }) {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b *mix.Mix) int { return cmp.Compare(amountOf(a), amountOf(b)) })
	for _, x := range list {
		if len(x.Choices) != len(r.Axes) {
			continue
		}
		row := capcli.Map(x.Choices, func(c mix.Choice) any { return c.Value })
		lo, hi, stranded, waitLo, waitHi := unknown, unknown, unknown, unknown, unknown
		if len(x.WaitRange) == 2 {
			waitLo, waitHi = figure.Number(x.WaitRange[0]), figure.Number(x.WaitRange[1])
		}
		if len(x.CostRange) == 2 && x.Runs > 1 {
			lo, hi = dollars(yearly(x.CostRange[0], x.Length)), dollars(yearly(x.CostRange[1], x.Length))
		}
		if x.Stranded != nil {
			stranded = dollars(yearly(*x.Stranded, x.Length))
		}
		t.Rows = append(t.Rows, append(row, dollarsOr(x.PerYear), lo, hi, number(x.Unserved), number(x.WaitP95), waitLo, waitHi, number(x.WaitMean), number(x.WaitHours), stranded, number(x.Held), strings.Join(x.Is, ", ")))
	}
	c := r.Counts
	t.Sentence = fmt.Sprintf("%s of %s mixes were tried: %s run in full, %s dropped by proof, %s dropped by a test.", capcli.Grouped(int64(c.Tried)), capcli.Grouped(int64(c.Mixes)),
		capcli.Grouped(int64(c.Full)), capcli.Grouped(int64(c.ByBound)), capcli.Grouped(int64(c.ByRace)))
	return t, len(t.Rows) > 0
}

func amountOf(x *mix.Mix) capcli.USD {
	if x.PerYear == nil {
		return 1<<63 - 1
	}
	return *x.PerYear
}

// limitsTable says how far the best mix, or the nearest, is from each limit.
func (m *material) limitsTable() (Table, bool) {
	t := Table{ID: "limits", Title: "The limits", Columns: []Column{
		column("Plan", figure.Name), column("Limit", figure.Name), column("Found, mean", figure.Name), column("Held in", figure.Share),
	}}
	for _, x := range m.mixes {
		b := cmp.Or(x.Doc.Best, x.Doc.Closest)
		if b == nil {
			continue
		}
		name := "the plan"
		if x.Doc.Best == nil {
			name = "the nearest mix"
		}
		for i, d := range b.Distances {
			found := "not known"
			if i < len(x.Doc.Limits) && d.Mean != nil {
				if k, err := outcome.FindMetric(x.Doc.Limits[i].Metric); err == nil {
					found = k.Text(*d.Mean)
				}
			}
			t.Rows = append(t.Rows, []any{name, d.Limit, found, figure.Number(d.Held)})
		}
	}
	for i := range m.trials {
		x := &m.trials[i]
		for k, l := range x.Runs[0].Limits {
			t.Rows = append(t.Rows, []any{m.name(x), l.Limit, "", x.limitHeld(k)})
		}
	}
	return t, len(t.Rows) > 0
}

// futuresTable compares the plans over futures.
func (m *material) futuresTable() (Table, bool) {
	if len(m.futures) == 0 {
		return Table{}, false
	}
	t := Table{ID: "futures-plans", Title: "Plans over futures", Columns: []Column{
		column("Plan", figure.Name), column("Mean cost", figure.USD), column("50% of futures at most", figure.USD), column("80% of futures at most", figure.USD), column("95% of futures at most", figure.USD),
		column("Mean of the worst 5%", figure.USD), column("Committed, mean", figure.USD), column("On demand, mean", figure.USD), column("Unused, mean", figure.USD), column("Mean regret", figure.USD), column("Largest regret", figure.USD),
	}}
	for i := range m.futures[0].Doc.Plans {
		p := &m.futures[0].Doc.Plans[i]
		t.Rows = append(t.Rows, []any{
			p.Name, dollarsOr(p.Mean), dollarsOr(p.P50), dollarsOr(p.P80), dollarsOr(p.P95), dollarsOr(p.CVaR95),
			dollars(p.Committed), dollars(p.OnDemand), dollars(p.Unused), dollars(p.MeanRegret), dollars(p.MaxRegret),
		})
	}
	return t, true
}

// purchasesTable lists what a plan of purchases buys, with the sum of their cost.
func (m *material) purchasesTable() (Table, bool) {
	var list []market.Purchase
	switch {
	case len(m.futures) > 0:
		list = m.futures[0].Doc.Optimum.Purchases
	case len(m.curves) > 0:
		list = m.curves[0].Doc.Optimum.Purchases
	}
	if len(list) == 0 {
		return m.jointPurchases()
	}
	t := Table{ID: "purchases", Title: "What to buy, and when", Columns: []Column{
		column("Term", figure.Name), column("From", figure.Name), column("Until", figure.Name), column("GPUs", figure.Count), column("A GPU-hour", figure.USD), {"Cost", figure.USD, true},
	}}
	parts := capcli.Map(list, func(x market.Purchase) capcli.USD { return x.Cost })
	_, cents := wholeCents(parts)
	for i := range list {
		p := &list[i]
		t.Rows = append(t.Rows, []any{p.Term, instantText(p.Start), instantText(p.End), figure.Number(p.GPUs), dollars(p.Rate), dollars(cents[i])})
	}
	t.withTotal()
	return t, true
}

// jointPurchases lists what a plan of several GPU models buys, with the sum of its cost.
func (m *material) jointPurchases() (Table, bool) {
	if len(m.joints) == 0 || len(m.joints[0].Doc.Purchases) == 0 {
		return Table{}, false
	}
	list := m.joints[0].Doc.Purchases
	t := Table{ID: "purchases", Title: "What to buy, and when", Columns: []Column{
		column("Offer", figure.Name), column("Model", figure.Name), column("From", figure.Name), column("Until", figure.Name),
		column("GPUs", figure.Count), column("Dollars an hour", figure.USD),
		{"Cost", figure.USD, true},
	}}
	parts := make([]capcli.USD, len(list))
	for i := range list {
		parts[i] = list[i].Cost
	}
	_, cents := wholeCents(parts)
	for i := range list {
		p := &list[i]
		model, gpus, perHour := "all", unknown, unknown
		if p.Model != nil {
			model = *p.Model
		}
		if p.GPUs != nil {
			gpus = figure.Number(*p.GPUs)
		}
		if p.PerHour != nil {
			perHour = figure.Number(*p.PerHour)
		}
		t.Rows = append(t.Rows, []any{p.Offer, model, fmt.Sprint(p.Start), fmt.Sprint(p.End), gpus, perHour, dollars(cents[i])})
	}
	t.withTotal()
	return t, true
}

func instantText(i market.Instant) string {
	if i.Dated() {
		return i.Time.Date()
	}
	return fmt.Sprintf("period %g", i.Period)
}

// contractsTable lists what commitments cost in the runs and after them.
func (m *material) contractsTable() (Table, bool) {
	t := Table{ID: "commitments", Title: "Commitments: what is used up, and what is still owed", Columns: []Column{
		column("Commitment", figure.Name), column("Until", figure.Name), {"Used up in the runs", figure.USD, true}, {"For the time after", figure.USD, true}, {"Still to be paid", figure.USD, true},
	}}
	var used, after, unpaid []capcli.USD
	put := func(name string, end capcli.Time, a, b, c capcli.USD) {
		t.Rows = append(t.Rows, []any{name, end.Date()})
		used, after, unpaid = append(used, a), append(after, b), append(unpaid, c)
	}
	if len(m.mixes) > 0 {
		for _, o := range m.mixes[0].Doc.Owed {
			put(o.Name, o.End, o.UsedUp, o.LockIn, o.Unpaid)
		}
	} else if len(m.trials) > 0 {
		for _, c := range m.trials[0].Runs[0].Contracts {
			put(c.Name, c.End, c.UsedUp, c.Unexpired, c.Unpaid)
		}
	}
	if len(t.Rows) == 0 {
		return t, false
	}
	_, used = wholeCents(used)
	_, after = wholeCents(after)
	_, unpaid = wholeCents(unpaid)
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], dollars(used[i]), dollars(after[i]), dollars(unpaid[i]))
	}
	t.withTotal()
	return t, true
}

// tenantsTable lists the bills of all tenants of the first plan with prices.
func (m *material) tenantsTable() (Table, bool) {
	for i := range m.trials {
		bills, ok := tenantBills(&m.trials[i], len(m.trials[i].Runs[0].Tenants)+1)
		if !ok {
			continue
		}
		t := Table{ID: "bills", Title: "Bills by tenant: " + m.name(&m.trials[i]), Columns: []Column{
			column("Tenant", figure.Name), {"Time held", figure.USD, true}, {"Share of what nobody held", figure.USD, true}, {"Cost", figure.USD, true},
		}}
		parts := make([]capcli.USD, 0, 2*len(bills))
		for _, b := range bills {
			parts = append(parts, b.direct, b.rest)
		}
		_, cents := wholeCents(parts)
		for k, b := range bills {
			t.Rows = append(t.Rows, []any{b.name, dollars(cents[2*k]), dollars(cents[2*k+1]), dollars(cents[2*k] + cents[2*k+1])})
		}
		t.withTotal()
		return t, true
	}
	return Table{}, false
}

// breakEvenTable lists the prices at which the runner-up costs the same.
func (m *material) breakEvenTable() (Table, bool) {
	if len(m.mixes) == 0 || len(m.mixes[0].Doc.BreakEven) == 0 {
		return Table{}, false
	}
	t := Table{ID: "break-even", Title: "Break-even prices against the runner-up", Columns: []Column{
		column("Pool", figure.Name), column("A GPU-hour now", figure.USD), column("Break-even", figure.USD), column("The plan is cheaper", figure.Name),
	}}
	for _, x := range m.mixes[0].Doc.BreakEven {
		best := x.Best
		if x.At != nil {
			best += " it"
		}
		t.Rows = append(t.Rows, []any{x.Pool, dollars(x.Now), dollarsOr(x.At), best})
	}
	return t, true
}

// unservedTable says what work each simulated plan leaves undone.
func (m *material) unservedTable() (Table, bool) {
	t := Table{ID: "served", Title: "Work served and not served", Columns: []Column{
		column("Plan", figure.Name), column("Possible by the end", figure.GPUHours), column("Served", figure.GPUHours), column("Not served", figure.GPUHours), column("Share not served", figure.Share),
		column("Jobs not served", figure.Count), column("Not served, at the on-demand price", figure.USD),
	}}
	for i := range m.trials {
		x := &m.trials[i]
		var possible, served capcli.GPUTime
		for k := range x.Runs {
			possible, served = possible+x.Runs[k].Possible, served+x.Runs[k].Served.Served
		}
		n := figure.Number(len(x.Runs))
		jobs, _, _, _ := x.spread("unserved_jobs")
		undone, _, _, _ := x.spread("unserved_share")
		amount, _, _, _ := x.spread("unserved_usd")
		t.Rows = append(t.Rows, []any{
			m.name(x), figure.Number(possible.Hours()) / n, figure.Number(served.Hours()) / n, figure.Number((possible - served).Hours()) / n, undone, jobs, amount,
		})
	}
	return t, len(t.Rows) > 0
}
