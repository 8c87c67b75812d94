package tables

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/market"
)

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
