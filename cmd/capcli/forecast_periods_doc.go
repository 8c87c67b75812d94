package main

import (
	"fmt"

	"capcli/cmd/report"
)

// shownPeriods is how many rows of periods people see.
const shownPeriods = 60

// periodTable has one row for each series and period; false where none is asked for.
func (r *forecastResult) periodTable() (report.Table, bool) {
	if !r.o.byPeriods() {
		return report.Table{}, false
	}
	what := "mean"
	if r.o.flows(r.hs) {
		what = "sum"
	}
	t := report.Table{Name: "periods", Title: "by period, from joint futures", Most: shownPeriods, Columns: []report.Column{
		{Name: "unique_id", Head: "series"}, {Name: "horizon", Head: "of"}, {Name: "from"}, {Name: "to"}, {Name: what},
	}}
	for _, level := range r.o.level {
		t.Columns = append(t.Columns, report.Column{Name: "lo-" + levelText(level)}, report.Column{Name: "hi-" + levelText(level)})
	}
	if r.o.history.peak {
		t.Columns = append(t.Columns, report.Column{Name: "peak"})
		for _, level := range r.o.level {
			t.Columns = append(t.Columns, report.Column{Name: "peak-lo-" + levelText(level)}, report.Column{Name: "peak-hi-" + levelText(level)})
		}
	}
	for _, f := range r.list {
		for i := range f.periods {
			p := &f.periods[i]
			row := append([]any{f.h.Name, p.horizon, p.from, p.to}, p.mean.cells()...)
			if p.peak != nil {
				row = append(row, p.peak.cells()...)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t, true
}

func (s *spread) cells() []any {
	out := []any{s.mean}
	for k := range s.lo {
		out = append(out, s.lo[k], s.hi[k])
	}
	return out
}

// json is the figure with its ranges under the names of the long table.
func (s *spread) json(levels []float64) map[string]any {
	out := map[string]any{"mean": figure(s.mean)}
	for k, level := range levels {
		out["lo-"+levelText(level)], out["hi-"+levelText(level)] = figure(s.lo[k]), figure(s.hi[k])
	}
	lines := map[string]figure{}
	for k, name := range lineNames {
		lines[name] = figure(s.lines[k])
	}
	out["lines"] = lines
	return out
}

// periodsJSON are the periods of one series; nil where none is asked for.
func (f *forecasted) periodsJSON(o *forecastOptions) []map[string]any {
	var out []map[string]any
	for i := range f.periods {
		p := &f.periods[i]
		one := p.mean.json(o.level)
		one["horizon"], one["from"], one["to"], one["of"] = p.horizon, p.from, p.to, "mean"
		if o.flows(f.h.hs) {
			one["of"] = "sum"
		}
		if p.peak != nil {
			one["peak"] = p.peak.json(o.level)
		}
		out = append(out, one)
	}
	return out
}

func triedOf(list []periodCalibration) int {
	n := 0
	for _, c := range list {
		n += c.tried
	}
	return n
}

// periodNote says what the periods are.
func (r *forecastResult) periodNote() string {
	if !r.o.byPeriods() || len(r.list) == 0 {
		return ""
	}
	draws := r.o.draws(r.hs, len(r.list[0].mean))
	text := fmt.Sprintf("periods: ranges of each period's mean from %s futures", grouped(int64(draws)))
	if r.o.flows(r.hs) {
		text = fmt.Sprintf("periods: ranges of each period's sum from %s futures", grouped(int64(draws)))
	}
	if n := triedOf(r.hs.tried); n > 0 {
		text += fmt.Sprintf(", set by how far %s past ones were off", grouped(int64(n)))
	} else {
		text += ", as the models say: the history is too short to try them on"
	}
	if len(r.o.periods) > 0 && r.hs.Clock {
		text += "; whole weeks (from Monday), months, quarters and years that begin after the history"
	}
	if r.o.history.peak {
		text += "; peak is the highest step of each"
	}
	return text
}
