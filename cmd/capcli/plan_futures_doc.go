package main

import (
	"fmt"
	"math"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/plan/futures"
)

// futuresDoc says a plan for futures.
func futuresDoc(r *futures.Result) report.Doc {
	return report.Doc{
		Lead: futuresLead(r) + againText(r.Waiting), Notes: r.Notes, Data: r,
		Tables: []report.Table{futurePlanTable(r), calendarTable(r.Calendar), cliffTable(r.Cliffs), stageTable(r), waitTable(r), regretTable(r)},
	}
}

func futuresLead(r *futures.Result) string {
	o := &r.Optimum
	how := "proven: no purchases at these prices have less"
	if !o.Exact {
		how = fmt.Sprintf("at most %s above the least that there is, %s", gapText(o.Gap), o.Bound)
	}
	text := fmt.Sprintf("Buy %s first: over %d futures the %s of the cost is %s %s", firstPurchases(o.Purchases, r.Futures.Start), r.Futures.Count, r.RiskWords, o.Cost, overTime(o.Cost, r.Length))
	for _, l := range r.Plans[0].Held {
		text += fmt.Sprintf(", %s holds in %.1f%% of them", l.Limit, 100*l.Share)
	}
	return text + ", " + how + "."
}

// gapText is a gap for people; below a millionth of a percent it is no news.
func gapText(gap *float64) string {
	switch {
	case gap == nil:
		return "an unknown share"
	case *gap < 1e-8:
		return "0.000001%"
	case *gap < 1e-4:
		return figureText(math.Ceil(*gap*1e8)/1e6) + "%"
	}
	return fmt.Sprintf("%.2f%%", math.Ceil(*gap*1e4)/100)
}

func futurePlanTable(r *futures.Result) report.Table {
	t := report.Table{Name: "plans", Title: "Plans over the futures", Columns: []report.Column{
		{Name: "plan", Align: report.Left},
		{Name: "buys_at_start", Head: "buys first", Align: report.Left},
		{Name: "mean_cost_usd", Head: "mean cost"},
		{Name: "cost_p80_usd", Head: "in 80% under", Priority: 2},
		{Name: "cvar95_cost_usd", Head: "worst 5%", Priority: 1},
		{Name: "regret_mean_usd", Head: "mean regret", Priority: 2},
		{Name: "regret_max_usd", Head: "max regret"},
		{Name: "unused_mean_usd", Head: "unused", Priority: 4},
		{Name: "above_bound", Head: "above the best", Priority: 1},
	}}
	for _, l := range r.Plans[0].Held {
		name, _, _ := strings.Cut(l.Limit, " ")
		t.Columns = append(t.Columns, report.Column{Name: "held_" + name, Head: l.Limit})
	}
	for i := range r.Plans {
		p := &r.Plans[i]
		first := "as it goes"
		if p.First != nil {
			first = firstPurchases(p.First, r.Futures.Start)
		}
		row := []any{p.Name, first, valueCell(p.Mean), valueCell(p.P80), valueCell(p.CVaR95), p.MeanRegret, p.MaxRegret, p.Unused, shareCell(p.Above)}
		for _, l := range p.Held {
			row = append(row, report.Percent(l.Share))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func calendarTable(months []futures.Month) report.Table {
	t := report.Table{Name: "calendar", Title: "What to buy when", Columns: []report.Column{
		{Name: "start"},
		{Name: "term", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "end", Priority: 1},
		{Name: "usd_per_gpu_hour", Head: "$/GPU-hour", Priority: 2},
		{Name: "cost_usd", Head: "cost"},
		{Name: "so_far_usd", Head: "so far", Priority: 2},
		{Name: "committed_gpus", Head: "committed then", Priority: 1},
	}}
	for _, m := range months {
		soFar := m.SoFar - m.Cost
		for _, p := range m.Purchases {
			soFar += p.Cost
			t.Rows = append(t.Rows, []any{instantCell(p.Start), p.Term, p.GPUs, instantCell(p.End), p.Rate, p.Cost, soFar, m.GPUs})
		}
	}
	return t
}

func cliffTable(cliffs []futures.Cliff) report.Table {
	t := report.Table{Name: "cliffs", Title: "When commitments end", Columns: []report.Column{
		{Name: "date"},
		{Name: "ends_gpus", Head: "fall away"},
		{Name: "before_gpus", Head: "before", Priority: 1},
		{Name: "after_gpus", Head: "after"},
		{Name: "wanted_mean_gpus", Head: "wanted then"},
		{Name: "wanted_p80_gpus", Head: "in 80% under", Priority: 1},
	}}
	for _, c := range cliffs {
		t.Rows = append(t.Rows, []any{instantCell(c.Date), c.Ends, c.Before, c.After, ratioOf(c.Wanted), ratioOf(c.High)})
	}
	return t
}

func regretTable(r *futures.Result) report.Table {
	t := report.Table{Name: "regret", Title: "Regret: cost over that of the best plan of each future", Aside: true, Columns: []report.Column{
		{Name: "future"}, {Name: "best_cost_usd", Head: "best"},
	}}
	for i := range r.Plans {
		t.Columns = append(t.Columns, report.Column{Name: r.Plans[i].Name + "_usd", Head: r.Plans[i].Name})
	}
	for future, best := range r.Best {
		row := []any{future, best}
		for i := range r.Plans {
			row = append(row, r.Plans[i].Regrets[future])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// againText says what to buy now where the plan is decided again, and what that
// saves; "" where it saves nothing.
func againText(w *futures.Waiting) string {
	if w == nil || w.Again >= w.Now {
		return ""
	}
	first := &w.Decisions[0]
	return fmt.Sprintf(" If the plan is decided again every %s, buy %s now; the mean is then %s, %s (%.1f%%) less than with all settled now.",
		w.For, firstPurchases(first.Purchases, first.Date), w.Again, w.Deciding, 100*float64(w.Deciding)/float64(w.Now))
}

// stageTable says what to buy at the first decisions; every later one is in the
// JSON.
func stageTable(r *futures.Result) report.Table {
	t := report.Table{Name: "again", Title: "What to buy if the plan is decided again every " + r.Wait, Columns: []report.Column{
		{Name: "decide"},
		{Name: "share_of_futures", Head: "futures"},
		{Name: "wanted_before_gpus", Head: "wanted before", Priority: 1},
		{Name: "least_gpus", Head: "least", Priority: 2},
		{Name: "most_gpus", Head: "most", Priority: 2},
		{Name: "buy", Align: report.Left},
	}}
	if r.Waiting == nil {
		return t
	}
	for _, d := range r.Waiting.Decisions {
		if d.After != nil && *d.After > 0 {
			continue
		}
		t.Rows = append(t.Rows, []any{
			instantCell(d.Date), report.Percent(float64(len(d.Futures)) / float64(r.Futures.Count)),
			ratioOf(d.Wanted), ratioOf(d.Least), ratioOf(d.Most), firstPurchases(d.Purchases, d.Date),
		})
	}
	return t
}

func waitTable(r *futures.Result) report.Table {
	t := report.Table{Name: "waiting", Title: "What it is worth to wait " + r.Wait + "*", Columns: []report.Column{
		{Name: "decide", Align: report.Left},
		{Name: "mean_cost_usd", Head: "mean cost"},
		{Name: "saves_usd", Head: "saves"},
	}}
	w := r.Waiting
	if w == nil {
		return t
	}
	for _, x := range []struct {
		name, head string
		cost       capcli.USD
	}{
		{"all_now", "all of it now", w.Now},
		{"again", "some now, again every " + w.For, w.Again},
		{"first_now_rest_later", "what the plan buys first now, then again", w.Rest},
		{"all_later", "nothing for " + w.For + ", then again", w.Later},
		{"known", "if the future were known", w.Known},
	} {
		t.Rows = append(t.Rows, []any{report.Label{Name: x.name, Head: x.head}, x.cost, report.Change{Of: w.Now - x.cost}})
	}
	return t
}
