package main

import (
	"fmt"
	"math"

	"capcli/cmd/report"
	"capcli/forecast/outlook"
)

// bothFlags is what tells the demand of two series.
func bothFlags(a, b string) string {
	switch {
	case a == b || b == outlook.FlagNone:
		return a
	case a == outlook.FlagNone:
		return b
	}
	return outlook.FlagBoth
}

// flagWords name what told demand from usage.
var flagWords = map[string]string{
	outlook.FlagQueue: "the queue", outlook.FlagCapacity: "the capacity", outlook.FlagBoth: "the queue, and the capacity where no queue is known", outlook.FlagNone: "nothing",
}

// censoredTable has one row for each series whose demand was told from usage.
func (r *forecastResult) censoredTable() (report.Table, bool) {
	t := report.Table{Name: "censoring", Title: "demand told from usage", Most: shownSeries, Columns: []report.Column{
		{Name: "unique_id", Head: "series"},
		{Name: "flag", Head: "told by", Align: report.Left},
		{Name: "held_down", Head: "held down"},
		{Name: "at_capacity", Head: "at capacity", Priority: 1},
		{Name: "usage_mean", Head: "usage, mean"},
		{Name: "demand_mean", Head: "demand, mean"},
		{Name: "demand_over_usage", Head: "more"},
	}}
	for i := range r.Series {
		c := r.Series[i].Censoring
		if c == nil {
			continue
		}
		at := any(nil)
		if c.At != nil {
			at = knownPercent(float64(*c.At) / float64(c.Steps))
		}
		t.Rows = append(t.Rows, []any{
			r.Series[i].ID, c.Flag, knownPercent(float64(c.Share)), at,
			figureCell(c.Usage), figureCell(c.Demand), knownPercent(float64(c.More)),
		})
	}
	return t, len(t.Rows) > 0
}

// censoredNotes are those of a forecast.
func (r *forecastResult) censoredNotes() []string {
	var each []*outlook.Censoring
	var trials []*outlook.Trial
	for i := range r.Series {
		if s := &r.Series[i]; !s.Sum { // its parts say it
			each, trials = append(each, s.Censoring), append(trials, s.Backtest)
		}
	}
	return censoredNotes(each, trials)
}

// censoredNotes say in words how much was held down, and in which steps a trial on the
// past could be scored.
func censoredNotes(each []*outlook.Censoring, trials []*outlook.Trial) []string {
	flag, steps, cut, usage, demand, n := outlook.FlagNone, 0, 0, 0.0, 0.0, 0
	for _, c := range each {
		if c == nil {
			continue
		}
		n++
		flag = bothFlags(flag, c.Flag)
		steps, cut = steps+c.Steps, cut+c.Cut
		if v := float64(c.Usage); !math.IsNaN(v) {
			usage, demand = usage+v, demand+float64(c.Demand)
		}
	}
	if n == 0 {
		return nil
	}
	if flag == outlook.FlagNone {
		return []string{"usage is taken for demand: neither a queue nor a capacity is known in any step"}
	}
	total := ""
	if n > 1 {
		total = ", all series together"
	}
	out := []string{fmt.Sprintf("this is demand, not usage: usage was held down in %s of the steps, told by %s; usage is %.5g on average%s, demand %.5g (%+.1f%%)",
		percentText(cut, steps), flagWords[flag], usage, total, demand, 100*(demand/usage-1))}
	scored, hidden, queue := 0, 0, false
	for _, t := range trials {
		if t != nil {
			scored, hidden = scored+t.Scored, hidden+t.Hidden
		}
	}
	for _, c := range each {
		queue = queue || c != nil && c.Queue > 0
	}
	switch {
	case hidden > 0:
		out = append(out, fmt.Sprintf("tried on the past in the %s of the steps in which demand is known; in the others usage stood at the capacity, and nobody knows what more was wanted", percentText(scored, scored+hidden)))
	case queue && scored > 0:
		out = append(out, "tried on the past against usage and queue together; each trial told demand from what came before it alone")
	}
	return out
}

func percentText(n, of int) string {
	if of == 0 {
		return "0%"
	}
	share := 100 * float64(n) / float64(of)
	if share > 0 && share < 1 || share > 99 && share < 100 {
		return fmt.Sprintf("%.1f%%", share)
	}
	return fmt.Sprintf("%.0f%%", share)
}
