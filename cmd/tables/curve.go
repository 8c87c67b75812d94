package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/billing"
)

// CurveDoc is the report of the plan of a demand curve.
func CurveDoc(r *curve.Result, form string) report.Doc {
	d := report.Doc{Lead: curveLead(r), Notes: r.Notes, Data: r, Tables: []report.Table{
		purchaseTable(r.Optimum.Purchases), curveTotals(&r.Optimum), baselineTable(r), termTable(r.Market.Terms), periodTable(r.Periods),
	}}
	if len(r.Changes) > 0 {
		d.Tables = slices.Insert(d.Tables, 3, sensitivityTable(r))
	}
	if form == "table" || form == "md" {
		d.Charts = append(d.Charts, curveChart(r))
	}
	return d
}

// curveLead answers in one sentence: what to buy first, and what it costs over the curve and a
// year.
func curveLead(r *curve.Result) string {
	b, length := &r.Optimum, r.Curve.Len()
	if len(b.Purchases) == 0 {
		return fmt.Sprintf("Buy nothing: the demand costs %s on demand %s; no purchase at these prices lowers the cost (proven)%s.", b.Cost, overTime(b.Cost, length), leftOut(r))
	}
	text := "Buy " + firstPurchases(b.Purchases, r.Demand.Start)
	if n := len(b.Purchases); n > 1 {
		text += fmt.Sprintf(" first, %d purchases in all", n)
	}
	text += fmt.Sprintf(": the demand costs %s %s", b.Cost, overTime(b.Cost, length))
	if b.Savings != nil {
		text += fmt.Sprintf(", %.1f%% less than %s all on demand", 100**b.Savings, b.AllOnDemand)
	}
	return text + "; no purchases at these prices cost less (proven)" + leftOut(r) + "."
}

// leftOut names the terms that cannot be bought, for the proof does not hold for them.
func leftOut(r *curve.Result) string {
	text := ""
	for _, x := range r.LeftOut {
		text += fmt.Sprintf("; %s is left out: %s", x.Term, x.Why)
	}
	return text
}

// firstPurchases names the purchases of the first date in list, with that date where it is later
// than the decision.
func firstPurchases(list []market.Purchase, decided market.Instant) string {
	if len(list) == 0 {
		return "nothing"
	}
	var parts []string
	for _, p := range list {
		if p.Start == list[0].Start {
			parts = append(parts, figureText(p.GPUs)+" × "+p.Term)
		}
	}
	text := strings.Join(parts, ", ")
	switch from := list[0].Start; {
	case list[0].Ordered != nil:
		text += fmt.Sprintf(" (order on %s for %s)", dayText(*list[0].Ordered), dayText(from))
	case from.After(decided):
		text += " (" + dayText(from) + ")"
	}
	return text
}

// overTime states the length of time that an amount covers, and what the amount is per year.
func overTime(u capcli.USD, length capcli.Seconds) string {
	year, _ := billing.PerYear(u, length)
	return fmt.Sprintf("for %s (~%s a year)", lengthText(length), year)
}

// dayCell is the table cell of an instant of a plan. People see a date without a time where it is
// the start of a day.
func dayCell(i market.Instant) any {
	if i.Dated() && i.Time%capcli.Time(capcli.Day) == 0 {
		return report.Label{Name: i.Time.String(), Head: i.Time.Date()}
	}
	return i.Cell()
}

// dayText is an instant of a plan for people: its day, or the number of its period.
func dayText(i market.Instant) string {
	if i.Dated() {
		return i.Time.Date()
	}
	return figureText(i.Period)
}

func purchaseTable(list []market.Purchase) report.Table {
	fields := []report.Field[market.Purchase]{
		{Name: "start", Cell: func(p market.Purchase) any { return dayCell(p.Start) }},
		{Name: "end", Priority: 2, Cell: func(p market.Purchase) any { return dayCell(p.End) }},
		{Name: "term", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour", Priority: 1},
		{Name: "upfront_usd", Head: "upfront", Priority: 3},
		{Name: "monthly_usd", Head: "a month", Priority: 3},
		{Name: "cost_usd", Head: "cost"},
	}
	if slices.ContainsFunc(list, func(p market.Purchase) bool { return p.Ordered != nil }) {
		fields = slices.Insert(fields, 0, report.Field[market.Purchase]{Name: "order", Cell: func(p market.Purchase) any { return dayCell(*cmp.Or(p.Ordered, &p.Start)) }})
	}
	if slices.ContainsFunc(list, func(p market.Purchase) bool { return p.Total != p.Cost }) {
		fields = append(fields, report.Field[market.Purchase]{Name: "total_usd", Head: "to its end", Priority: 2})
	}
	return report.Fill(report.Table{Name: "purchases", Title: "What to buy", Most: 40}, list, fields)
}

func curveTotals(o *curve.Optimum) report.Table {
	figures := []report.Field[*curve.Optimum]{
		{Name: "cost_usd", Head: "cost"},
		{Name: "committed_cost_usd", Head: "commitments"},
		{Name: "on_demand_cost_usd", Head: "on demand"},
		{Name: "all_on_demand_cost_usd", Head: "all on demand"},
		{Name: "gpu_hours", Head: "GPU-hours of demand", Cell: func(o *curve.Optimum) any { return o.Wanted }},
		{Name: "committed_gpu_hours", Head: "GPU-hours committed"},
		{Name: "unused_gpu_hours", Head: "GPU-hours unused"},
		{Name: "coverage", Head: "coverage", As: report.AsPercent},
		{Name: "utilisation", Head: "utilisation", As: report.AsPercent},
		{Name: "effective_savings_rate", Head: "effective savings rate", As: report.AsPercent},
	}
	if o.BreakEven != nil {
		figures = append(figures, report.Field[*curve.Optimum]{Name: "break_even_on_demand_usd", Head: "break-even on-demand price"})
	}
	return report.Figures("totals", o, figures)
}

// baselineTable compares the optimum with the baselines.
func baselineTable(r *curve.Result) report.Table {
	rows := append([]curve.Baseline{{Name: "optimum", Cost: r.Optimum.Cost, Over: new(float64)}}, r.Baselines...)
	return report.Fill(report.Table{Name: "baselines", Title: "Against other plans"}, rows, []report.Field[curve.Baseline]{
		{Name: "plan", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "over_optimum", Head: "over the optimum", As: report.AsPercent},
	})
}

// termTable shows the cost and the break-even utilisation of each term.
func termTable(terms []market.Term) report.Table {
	terms = slices.DeleteFunc(slices.Clone(terms), func(t market.Term) bool { return t.Payment == nil }) // no purchase fits an amount
	return report.Fill(report.Table{Name: "terms", Title: "Terms, for a GPU bought at the start"}, terms, []report.Field[market.Term]{
		{Name: "term", Align: report.Left},
		{Name: "length", Priority: 2},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour", Cell: func(t market.Term) any { return t.Rate }},
		{Name: "break_even_utilisation", Head: "break-even use", As: report.AsPercent},
		{Name: "months_to_recover", Head: "months to recover", Priority: 1, As: report.AsRatio},
		{Name: "upfront_usd", Head: "upfront", Priority: 3, Cell: func(t market.Term) any { return t.Payment.Upfront }},
		{Name: "total_usd", Head: "total", Priority: 1},
		{Name: "present_value_usd", Head: "present value", Priority: 3},
	})
}

// periodTable shows, for each period, the commitment and the marginal value of one more GPU.
func periodTable(periods []curve.Period) report.Table {
	return report.Fill(report.Table{Name: "periods", Title: "Marginal value of one more committed GPU", Aside: true}, periods, []report.Field[curve.Period]{
		{Name: "start", Cell: func(p curve.Period) any { return dayCell(p.Start) }},
		{Name: "committed_gpus", Head: "committed"},
		{Name: "worth_of_one_more_usd", Head: "one more saves"},
		{Name: "shadow_price_usd", Head: "shadow price"},
	})
}

func sensitivityTable(r *curve.Result) report.Table {
	return report.Fill(report.Table{Name: "sensitivity", Title: "Sensitivity: the same purchases under other demand and prices"}, r.Changes, []report.Field[plan.Change]{
		{Name: "what", Align: report.Left},
		{Name: "share", Head: "by", Cell: func(c plan.Change) any { return report.Change{Of: report.Percent(c.Share)} }},
		{Name: "cost_usd", Head: "cost"},
		{Name: "difference_usd", Head: "difference", Cell: func(c plan.Change) any { return report.Change{Of: c.Kept - r.Optimum.Cost} }},
		{Name: "optimum_cost_usd", Head: "optimum then"},
		{Name: "regret_usd", Head: "regret"},
	})
}

// curveChart draws the demand and the commitment.
func curveChart(r *curve.Result) report.Chart {
	wanted, committed := r.Levels()
	return report.Chart{
		Title: "Demand and commitments, GPUs", Lines: []report.Line{{Name: "demand", Values: wanted}, {Name: "committed", Values: committed}},
		From: dayText(r.Demand.Start), To: dayText(r.Demand.End),
	}
}

// figureText formats a number in the fewest digits that identify it.
func figureText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
