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
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/joint"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/review"
	"capcli/scenarios/decide/plan/savings"
	"capcli/scenarios/decide/plan/widths"
	"capcli/scenarios/decide/spot"
	"capcli/scenarios/money/billing"
	"capcli/simulate/width"
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

// FuturesDoc is the report of a plan for futures.
func FuturesDoc(r *futures.Result) report.Doc {
	return report.Doc{
		Lead: futuresLead(r) + againText(r.Waiting), Notes: r.Notes, Data: r,
		Tables: []report.Table{futurePlanTable(r), calendarTable(r.Calendar), cliffTable(r.Cliffs), stageTable(r), waitTable(r), regretTable(r)},
	}
}

func futuresLead(r *futures.Result) string {
	o := &r.Optimum
	how := "the minimum at these prices (proven)"
	if !o.Exact {
		how = fmt.Sprintf("at most %s above the lower bound of %s", o.GapText(), o.Bound)
	}
	if r.Unheld != "" {
		return "No plan: " + r.Unheld + "."
	}
	text := fmt.Sprintf("Buy %s first: over %d futures the %s of the cost is %s %s", firstPurchases(o.Purchases, r.Futures.Start), r.Futures.Count, r.RiskWords, o.Cost, overTime(o.Cost, r.Length))
	for _, l := range r.Plans[0].Held {
		text += fmt.Sprintf(", %s holds in %.1f%% of them", l.Limit, 100*l.Share)
	}
	return text + ", " + how + "."
}

func futurePlanTable(r *futures.Result) report.Table {
	fields := []report.Field[futures.Plan]{
		{Name: "plan", Align: report.Left},
		{Name: "buys_at_start", Head: "buys first", Align: report.Left, Cell: func(p futures.Plan) any {
			if p.First == nil {
				return "step by step"
			}
			return firstPurchases(p.First, r.Futures.Start)
		}},
		{Name: "mean_cost_usd", Head: "mean cost"},
		{Name: "cost_p80_usd", Head: "80th percentile", Priority: 2},
		{Name: "cvar95_cost_usd", Head: "worst 5%", Priority: 1},
		{Name: "regret_mean_usd", Head: "mean regret", Priority: 2},
		{Name: "regret_max_usd", Head: "max regret"},
		{Name: "unused_mean_usd", Head: "unused", Priority: 4},
		{Name: "above_bound", Head: "above the bound", Priority: 1, As: report.AsPercent},
	}
	for i, l := range r.Plans[0].Held {
		name, _, _ := strings.Cut(l.Limit, " ")
		fields = append(fields, report.Field[futures.Plan]{Name: "held_" + name, Head: l.Limit, As: report.AsPercent, Cell: func(p futures.Plan) any { return p.Held[i].Share }})
	}
	return report.Fill(report.Table{Name: "plans", Title: "Plans, over all futures"}, r.Plans, fields)
}

// datedPurchase is a purchase of the calendar, with the payments up to and including it and the
// commitment in its month.
type datedPurchase struct {
	market.Purchase
	SoFar     capcli.USD `json:"so_far_usd"`
	Committed float64    `json:"committed_gpus"`
}

func calendarTable(months []futures.Month) report.Table {
	var rows []datedPurchase
	for _, m := range months {
		soFar := m.SoFar - m.Cost
		for _, p := range m.Purchases {
			soFar += p.Cost
			rows = append(rows, datedPurchase{p, soFar, m.GPUs})
		}
	}
	return report.Fill(report.Table{Name: "calendar", Title: "Purchase calendar"}, rows, []report.Field[datedPurchase]{
		{Name: "start", Cell: func(p datedPurchase) any { return dayCell(p.Start) }},
		{Name: "term", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "end", Priority: 1, Cell: func(p datedPurchase) any { return dayCell(p.End) }},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
		{Name: "so_far_usd", Head: "so far", Priority: 2},
		{Name: "committed_gpus", Head: "GPUs committed", Priority: 1},
	})
}

func cliffTable(cliffs []futures.Cliff) report.Table {
	return report.Fill(report.Table{Name: "cliffs", Title: "Expiry cliffs: when commitments end"}, cliffs, []report.Field[futures.Cliff]{
		{Name: "date", Cell: func(c futures.Cliff) any { return dayCell(c.Date) }},
		{Name: "ends_gpus", Head: "GPUs expiring"},
		{Name: "before_gpus", Head: "before", Priority: 1},
		{Name: "after_gpus", Head: "after"},
		{Name: "wanted_mean_gpus", Head: "mean demand", As: report.AsRatio},
		{Name: "wanted_p80_gpus", Head: "80th percentile", Priority: 1, As: report.AsRatio},
	})
}

func regretTable(r *futures.Result) report.Table {
	fields := []report.Field[int]{
		{Name: "future", Cell: func(future int) any { return future }},
		{Name: "best_cost_usd", Head: "best", Cell: func(future int) any { return r.Best[future] }},
	}
	for i := range r.Plans {
		p := &r.Plans[i]
		fields = append(fields, report.Field[int]{Name: p.Name + "_usd", Head: p.Name, Cell: func(future int) any { return p.Regrets[future] }})
	}
	all := make([]int, len(r.Best))
	for future := range all {
		all[future] = future
	}
	return report.Fill(report.Table{Name: "regret", Title: "Regret: cost above that of the best plan for each future", Aside: true}, all, fields)
}

// againText says what to buy now if the plan is revised at regular intervals, and what revising
// saves; "" where it saves nothing.
func againText(w *futures.Waiting) string {
	if w == nil || w.Again >= w.Now {
		return ""
	}
	first := &w.Decisions[0]
	return fmt.Sprintf(" If the plan is revised every %s, buy %s now: the mean cost is then %s, %s (%.1f%%) less than with all decided now.",
		w.For, firstPurchases(first.Purchases, first.Date), w.Again, w.Deciding, 100*float64(w.Deciding)/float64(w.Now))
}

// stageTable shows the purchases of the first decisions. Later decisions are in the JSON alone.
func stageTable(r *futures.Result) report.Table {
	fields := []report.Field[futures.Decision]{
		{Name: "decide", Cell: func(d futures.Decision) any { return dayCell(d.Date) }},
		{Name: "share_of_futures", Head: "futures", As: report.AsPercent, Cell: func(d futures.Decision) any { return float64(len(d.Futures)) / float64(r.Futures.Count) }},
		{Name: "wanted_before_gpus", Head: "demand so far", Priority: 1, As: report.AsRatio},
		{Name: "least_gpus", Head: "least", Priority: 2, As: report.AsRatio, Cell: func(d futures.Decision) any { return d.Least }},
		{Name: "most_gpus", Head: "most", Priority: 2, As: report.AsRatio, Cell: func(d futures.Decision) any { return d.Most }},
		{Name: "buy", Align: report.Left, Cell: func(d futures.Decision) any { return firstPurchases(d.Purchases, d.Date) }},
	}
	if len(r.Waiting.FirstDecisions()) > 0 && len(r.Waiting.Signals) > 0 {
		fields = slices.Insert(fields, 1, report.Field[futures.Decision]{Name: "events", Align: report.Left, Cell: func(d futures.Decision) any { return d.KnownEvents() }})
	}
	return report.Fill(report.Table{Name: "again", Title: "What to buy if the plan is revised every " + r.Wait}, r.Waiting.FirstDecisions(), fields)
}

func waitTable(r *futures.Result) report.Table {
	t := report.Table{Name: "waiting", Title: "Value of waiting " + r.Wait + "*", Columns: []report.Column{
		{Name: "decide", Align: report.Left},
		{Name: "mean_cost_usd", Head: "mean cost"},
		{Name: "saves_usd", Head: "saves"},
	}}
	for _, p := range r.Waiting.Plans() {
		t.Rows = append(t.Rows, []any{report.Label{Name: p.Name, Head: p.Doc}, p.Cost, report.Change{Of: r.Waiting.Now - p.Cost}})
	}
	return t
}

// SavingsDoc is the report of a plan of savings plans.
func SavingsDoc(r *savings.Result) report.Doc {
	figures := []report.Field[*savings.Result]{
		{Name: "commitment_usd_per_hour", Head: "commit, an hour"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "all_on_demand_cost_usd", Head: "all on demand"},
		{Name: "unused_usd", Head: "of the commitment unused"},
	}
	if r.Utilisation != nil {
		figures = append(figures, report.Field[*savings.Result]{Name: "utilisation", Head: "utilisation", As: report.AsPercent})
	}
	return report.Doc{
		Lead:   fmt.Sprintf("Commit %s an hour: %s over %s hours, %s all on demand; no other commitment costs less.", r.Commit, r.Cost, capcli.Grouped(int64(r.Hours)), r.AllOnDemand),
		Tables: []report.Table{report.Figures("savings", r, figures)}, Data: r, Notes: r.Notes,
	}
}

// JointDoc is the report of a joint plan.
func JointDoc(r *joint.Result) report.Doc {
	return report.Doc{Lead: r.Lead(), Data: r, Notes: r.Notes, Tables: append(jointUse(r),
		report.Figures("totals", r, []report.Field[*joint.Result]{
			{Name: "cost_usd", Head: "cost"},
			{Name: "cost_usd_per_year", Head: "a year"},
			{Name: "commitments_usd", Head: "commitments"},
			{Name: "on_demand_usd", Head: "on demand"},
			{Name: "all_on_demand_cost_usd", Head: "all on demand"},
			{Name: "bound_usd", Head: "lower bound"},
			{Name: "gap", Head: "optimality gap, at most", As: report.AsPercent},
		}),
	)}
}

func jointPurchases(list []joint.Purchase) report.Table {
	return report.Fill(report.Table{Name: "purchases", Title: "What to buy"}, list, []report.Field[joint.Purchase]{
		{Name: "start"},
		{Name: "end"},
		{Name: "offer"},
		{Name: "product", Priority: 2},
		{Name: "gpu_model", Head: "model"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "commitment_usd_per_hour", Head: "$/hour"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "ended_early", Head: "ended early", Priority: 3},
		{Name: "extended", Priority: 3},
	})
}

// jointUse returns the tables of what is bought, what moves, and what serves each model.
func jointUse(r *joint.Result) []report.Table {
	fields, tables := []report.Field[joint.Model]{
		{Name: "gpu_model", Head: "model"},
		{Name: "wanted_gpu_hours", Head: "demand"},
		{Name: "reserved_gpu_hours", Head: "reservations"},
		{Name: "plan_gpu_hours", Head: "savings plans"},
		{Name: "on_demand_gpu_hours", Head: "on demand"},
	}, []report.Table{jointPurchases(r.Purchases)}
	if len(r.Moves) > 0 {
		fields = append(fields, []report.Field[joint.Model]{{Name: "moved_out_gpu_hours", Head: "moved out"}, {Name: "moved_in_gpu_hours", Head: "moved in"}}...)
		tables = append(tables, report.Fill(report.Table{Name: "moves", Title: "GPU-hours that move, between changes of what is bought"}, r.Moves, []report.Field[joint.Moved]{
			{Name: "start"},
			{Name: "end"},
			{Name: "from_gpu_model", Head: "from"},
			{Name: "to_gpu_model", Head: "to"},
			{Name: "may_move_gpu_hours", Head: "may move"},
			{Name: "moved_gpu_hours", Head: "moved"},
			{Name: "arrived_gpu_hours", Head: "as hours of to"},
			{Name: "moving_hours", Head: "in hours"},
		}))
	}
	return append(tables, report.Fill(report.Table{Name: "gpu_models", Title: "GPU-hours of each model, by what serves them"}, r.Models, fields))
}

// SpotDoc is the report of policies for spot capacity under a deadline.
func SpotDoc(r *spot.Result) report.Doc {
	t := report.Fill(report.Table{Name: "policies", Title: "By policy"}, r.Rows, []report.Field[spot.Row]{
		{Name: "policy"},
		{Name: "cost_mean_usd", Head: "cost"},
		{Name: "cost_max_usd", Head: "at most"},
		{Name: "saving", As: report.AsPercent},
		{Name: "spot_share_of_work", Head: "on spot", As: report.AsPercent},
		{Name: "changeovers_mean", Head: "changes", Priority: 2},
		{Name: "met_deadline", Head: "met"},
		{Name: "late"},
		{Name: "unfinished", Priority: 3},
		{Name: "late_max_s", Head: "late by", Priority: 1},
	})
	return report.Doc{Lead: r.Answer, Tables: []report.Table{t}, Notes: r.Notes, Data: r}
}

// PlanWidthDoc is the report of the options of a job.
func PlanWidthDoc(r *widths.Result) report.Doc {
	numbers := make([]int, len(r.Options))
	for i := range numbers {
		numbers[i] = i
	}
	option := func(i int) *width.Option { return &r.Options[i] }
	fields := []report.Field[int]{
		{Name: "model", Head: "GPU model", Cell: func(i int) any { return option(i).Model }},
		{Name: "gpus", Head: "GPUs", Cell: func(i int) any { return int64(option(i).GPUs) }},
		{Name: "run_s", Head: "run time", Cell: func(i int) any { return option(i).Run }},
		{Name: "cost_usd", Head: "cost", Cell: func(i int) any { return option(i).Cost }},
	}
	if r.Deadline != nil {
		fields = append(fields, report.Field[int]{Name: "in_time", Head: "in time", Cell: func(i int) any { return yesNo(option(i).InTime) }})
	}
	fields = append(fields,
		report.Field[int]{Name: "best", Cell: func(i int) any { return r.Marks(i) }},
		report.Field[int]{Name: "dominated_by", Head: "dominated by", Cell: func(i int) any { return r.InsteadOf(i) }, Priority: 1},
	)
	d := report.Doc{Lead: r.Says, Notes: r.Notes, Data: r, Tables: []report.Table{
		report.Fill(report.Table{Name: "options", Title: "Options", Most: 60}, numbers, fields),
	}}
	if len(r.Earlier) == 0 {
		return d
	}
	d.Tables = append(d.Tables, report.Fill(report.Table{Name: "earlier", Title: "What being done earlier costs", Most: 30}, r.Earlier, []report.Field[width.Step]{
		{Name: "from", Cell: func(s width.Step) any { return widths.NameOption(option(s.From)) }},
		{Name: "to", Cell: func(s width.Step) any { return widths.NameOption(option(s.To)) }},
		{Name: "saved_s", Head: "earlier"},
		{Name: "more_usd", Head: "costs more"},
		{Name: "usd_per_hour_saved", Head: "an hour"},
	}))
	costs, from, to := r.CostByTime(chartSteps)
	d.Charts = []report.Chart{{
		Title: "Least cost, in dollars, by the time allowed", Lines: []report.Line{{Name: "cost", Values: costs}}, From: from.String(), To: to.String(),
	}}
	return d
}

// ReviewDoc is the report of commitments against use.
func ReviewDoc(r *review.Result) report.Doc {
	return report.Doc{
		Lead: reviewLead(r), Notes: r.Notes, Data: r,
		Tables: []report.Table{commitmentTable(r.Commitments), adviceTable(r.Advice), reviewTotals(r)},
	}
}

func reviewLead(r *review.Result) string {
	text := fmt.Sprintf("%s GPU-hours were used in %s", capcli.Grouped(int64(r.Used.Hours()+0.5)), review.Span(r.Length))
	if r.Committed > 0 {
		text += fmt.Sprintf(", %.1f%% of them on commitments; %.1f%% of the commitments were used, %s unused", 100*float64(r.Covered)/float64(max(1, r.Used)), 100*float64(r.Covered)/float64(r.Committed), r.Unused)
	}
	if r.Costs > 0 {
		return fmt.Sprintf("%s. Doing nothing costs %s more than the best* over %s.", text, r.Costs, review.Span(r.Ahead))
	}
	return text + ". No purchase would save anything."
}

func commitmentTable(list []review.Commitment) report.Table {
	return report.Fill(report.Table{Name: "commitments", Title: "Current commitments"}, list, []report.Field[review.Commitment]{
		{Name: "commitment", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "from", Priority: 3},
		{Name: "until", Priority: 1},
		{Name: "days_left", Head: "days left", As: report.AsRatio},
		{Name: "utilisation", Head: "used", As: report.AsPercent},
		{Name: "unused_gpu_hours", Head: "unused GPUh", Priority: 2},
		{Name: "unused_usd", Head: "unused"},
		{Name: "idle_gpus", Head: "GPUs not worth their price"},
	})
}

func adviceTable(list []review.Advice) report.Table {
	return report.Fill(report.Table{Name: "advice", Title: "What to change*"}, list, []report.Field[review.Advice]{
		{Name: "date"},
		{Name: "do", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "term", Align: report.Left},
		{Name: "cost_usd", Head: "cost"},
	})
}

func reviewTotals(r *review.Result) report.Table {
	return report.Figures("totals", r, []report.Field[*review.Result]{
		{Name: "used_gpu_hours", Head: "GPU-hours used"},
		{Name: "committed_gpu_hours", Head: "GPU-hours committed"},
		{Name: "coverage", Head: "coverage", As: report.AsPercent},
		{Name: "utilisation", Head: "utilisation", As: report.AsPercent},
		{Name: "unused_usd", Head: "unused"},
		{Name: "on_demand_usd", Head: "on demand"},
		{Name: "do_nothing_usd", Head: "cost of doing nothing*"},
		{Name: "best_usd", Head: "cost of the best*"},
		{Name: "doing_nothing_costs_usd", Head: "difference*"},
	})
}
