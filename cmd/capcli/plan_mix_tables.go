package main

import (
	"fmt"
	"math"

	"capcli"
	"capcli/cmd/report"
	"capcli/simulate/plan/mix"
)

// frontierTable has the mixes of which no other costs less and waits no longer.
func (r *mixResult) frontierTable() report.Table {
	t := report.Table{Name: "frontier", Aside: true, Columns: []report.Column{{Name: "mix", Align: report.Right}}}
	for a, axis := range r.problem.Space.Axes {
		t.Columns = append(t.Columns, report.Column{Name: axis.Path, Head: r.axisName(a), Align: report.Right})
	}
	t.Columns = append(t.Columns, report.Column{Name: "cost_usd", Head: "cost"}, report.Column{Name: "unserved_share", Head: "not done"},
		report.Column{Name: "wait_p95_s", Head: "wait p95"}, report.Column{Name: "held_share", Head: "limits held"})
	for _, e := range r.found.Frontier() {
		row := []any{int64(e.Index)}
		for _, v := range e.Values {
			row = append(row, v)
		}
		t.Rows = append(t.Rows, append(row, e.Cost(), undoneCell(e), report.MeanTime(e.Wait()), report.Percent(e.Held())))
	}
	return t
}

// undoneCell is the mean share of the work that a mix leaves undone.
func undoneCell(e *mix.Entry) any {
	share, ok := e.Mean("unserved_share")
	if !ok {
		return nil
	}
	return report.Percent(share)
}

// chartSteps is how many costs the chart of the frontier is drawn at.
const chartSteps = 72

// chart draws the least p95 wait that money buys, from the cheapest mix to the
// one that waits least.
func (r *mixResult) chart() (report.Chart, bool) {
	f := r.found.Frontier()
	if len(f) < 2 {
		return report.Chart{}, false
	}
	lo, hi := f[0].Cost(), f[len(f)-1].Cost()
	values := make([]float64, chartSteps)
	at := 0
	for i := range values {
		cost := lo + capcli.USD(float64(hi-lo)*float64(i)/(chartSteps-1))
		for at+1 < len(f) && f[at+1].Cost() <= cost {
			at++
		}
		values[i] = f[at].Wait() / 60
	}
	return report.Chart{
		Title: "Least p95 wait, in minutes, by cost", Height: 8,
		Lines: []report.Line{{Name: "wait p95", Values: values}}, From: lo.String(), To: hi.String(),
	}, true
}

// marginalTable says what the last GPUs of each committed pool are worth; the
// cut is where one more does not pay for itself.
func (r *mixResult) marginalTable() report.Table {
	t := report.Table{Name: "marginal", Title: "What the last GPUs are worth, over the same runs" + r.forLength(), Columns: []report.Column{
		{Name: "pool"},
		{Name: "gpus", Head: "GPUs"},
		{Name: "needed_share_of_time", Head: "needed"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "saved_usd", Head: "saved"},
		{Name: "unserved_share", Head: "not done"},
		{Name: "wait_p95_s", Head: "wait p95"},
		{Name: "cut", Head: " "},
	}}
	for i, m := range r.marginal {
		saved, cut := any(nil), ""
		if !m.first {
			saved = m.saved
		}
		if m.entry.Key == r.best.Key {
			cut = "<- this plan"
		} else if !m.entry.Serves() {
			cut = "leaves too much undone"
		} else if i > 0 && !m.first && m.saved <= 0 && r.marginal[i-1].entry.Key == r.best.Key {
			cut = "does not pay"
		}
		t.Rows = append(t.Rows, []any{m.pool, int64(m.gpus), report.Percent(m.needed), m.entry.Cost(), saved, undoneCell(m.entry), report.MeanTime(m.entry.Wait()), cut})
	}
	return t
}

// tieTable has one break-even for each price, the others as they are.
func (r *mixResult) tieTable() report.Table {
	title := "Break-even prices"
	if r.rival != nil {
		title = fmt.Sprintf("Price at which mix %d (%s) costs the same, each with the others as they are", r.rival.Index, r.rival.Cost())
	}
	t := report.Table{Name: "break_even", Title: title, Columns: []report.Column{
		{Name: "pool"}, {Name: "usd_per_gpu_hour", Head: "$/GPU-hour"}, {Name: "break_even_usd_per_gpu_hour", Head: "break-even"}, {Name: "best_is_cheaper", Head: "this plan is cheaper"},
	}}
	for _, x := range r.ties {
		at, side := any(nil), "at any price"
		if x.Tied {
			at, side = x.At, map[bool]string{true: "below it", false: "above it"}[x.Lower]
		}
		t.Rows = append(t.Rows, []any{x.Pool, x.Now, at, side})
	}
	return t
}

// tornadoTable has what changes do to the best mix.
func (r *mixResult) tornadoTable() report.Table {
	t := report.Table{Name: "sensitivity", Title: "The same mix when something is otherwise" + r.forLength(), Columns: []report.Column{
		{Name: "change"},
		{Name: "cost_usd", Head: "cost"},
		{Name: "difference_usd", Head: "difference"},
		{Name: "bar", Head: " ", Picture: true},
		{Name: "unserved_share", Head: "not done"},
		{Name: "wait_p95_s", Head: "wait p95"},
		{Name: "held_share", Head: "limits held"},
	}}
	most := 0.0
	for _, w := range r.tornado {
		most = max(most, math.Abs((w.cost - r.best.Cost()).Float()))
	}
	for _, w := range r.tornado {
		held := any(nil)
		if !math.IsNaN(w.held) {
			held = report.Percent(w.held)
		}
		d := w.cost - r.best.Cost()
		t.Rows = append(t.Rows, []any{w.what, w.cost, report.Change{Of: d}, report.Bar(math.Abs(d.Float()), most, 20), report.Percent(w.undone), report.MeanTime(w.wait), held})
	}
	return t
}
