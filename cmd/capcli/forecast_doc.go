package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
	"capcli/forecast"
	"capcli/forecast/outlook"
	"capcli/profile/demand"
)

// figure is a number that may not be known.
type figure = capcli.Figure

// shownCharts and shownNotes are how many series people see drawn, and how many
// notes about single series they read.
const (
	shownCharts = 3
	shownNotes  = 12
	shownSeries = 40
)

// forecastResult presents a forecast.
type forecastResult struct {
	*outlook.Result
	o  *forecastOptions
	hs *demand.Histories
}

// doc is the result; people see the summary first, programs the long table.
func (r *forecastResult) doc(form string) report.Doc {
	d := report.Doc{Lead: r.lead(), Data: r.Result}
	long, summary, lines := r.longTable(form), r.summaryTable(), r.linesTable()
	censored, any := r.censoredTable()
	if form == "table" || form == "md" {
		long.Aside = true
		d.Tables = []report.Table{summary, lines, long}
		if any {
			d.Tables = []report.Table{summary, censored, lines, long}
		}
		for i := range r.Series[:min(len(r.Series), shownCharts)] {
			d.Charts = append(d.Charts, fanChart(&r.Series[i]))
		}
	} else {
		d.Tables = []report.Table{long, summary, lines}
		if any {
			d.Tables = append(d.Tables, censored)
		}
	}
	if r.o.ask.ByPeriods() {
		d.Tables = slices.Insert(d.Tables, 1, r.periodTable())
	}
	if r.Events != nil {
		d.Tables = append(d.Tables, r.eventsTable())
	}
	if t, some := r.changesTable(); some {
		d.Tables = append(d.Tables, t)
	}
	d.Notes = r.notes()
	return d
}

// nearHorizon is the nearer of the two horizons that the summary shows.
func nearHorizon(steps int, s capcli.Step) int {
	usual := outlook.UsualHorizon(s) / 2
	if usual < steps {
		return usual
	}
	return steps / 2
}

// summaryTable has one row for each series.
func (r *forecastResult) summaryTable() report.Table {
	far := 0
	for i := range r.Series {
		far = max(far, len(r.Series[i].Mean))
	}
	t := report.Table{Name: "summary", Most: shownSeries, Columns: []report.Column{
		{Name: "unique_id", Head: "series"}, {Name: "now"},
	}}
	first := nearHorizon(far, r.hs.Step)
	if first > 0 {
		t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("in_%d", first), Head: "in " + stepCount(r.hs, first)})
	}
	t.Columns = append(t.Columns,
		report.Column{Name: fmt.Sprintf("in_%d", far), Head: "in " + stepCount(r.hs, far)},
		report.Column{Name: "method", Align: report.Left}, report.Column{Name: "error"},
		report.Column{Name: "range_held", Head: "range held"},
	)
	for i := range r.Series {
		s := &r.Series[i]
		row := []any{s.ID, figureCell(s.History.Now)}
		if first > 0 {
			row = append(row, rangeAt(s, first))
		}
		row = append(row, rangeAt(s, len(s.Mean)), report.Label{Name: s.Method, Head: shortMethod(s.Method)})
		if t := s.Backtest; t == nil {
			row = append(row, nil, nil)
		} else {
			row = append(row, knownRatio(float64(t.Error)), knownPercent(float64(t.Coverage[0].Held)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rangeAt is the forecast n steps ahead.
func rangeAt(s *outlook.Series, n int) any {
	if n > len(s.Mean) {
		return nil
	}
	return report.Range{Mid: s.Mean[n-1], Lo: s.Intervals[0].Lo[n-1], Hi: s.Intervals[0].Hi[n-1]}
}

// shortMethod is a method's name in a table: a combination names its first members.
func shortMethod(method string) string {
	const most = 32
	if len(method) <= most {
		return method
	}
	parts := strings.Split(method, ", ")
	out := parts[0]
	for _, p := range parts[1:] {
		if len(out)+len(p) > most {
			break
		}
		out += ", " + p
	}
	return out + ", …"
}

// longTable has one row for each series and step, in the names of the field.
func (r *forecastResult) longTable(form string) report.Table {
	t := report.Table{Name: "forecast", Columns: []report.Column{{Name: "unique_id"}, {Name: "ds"}, {Name: "model"}, {Name: "mean"}}}
	t.Columns = append(t.Columns, levelColumns("", r.Levels)...)
	t.Each = func(yield func([]any) bool) {
		for k := range r.Series {
			s := &r.Series[k]
			for i := range s.Mean {
				row := make([]any, 0, len(t.Columns))
				row = append(row, s.ID, s.DS[i], s.Model, s.Mean[i])
				for _, iv := range s.Intervals {
					row = append(row, iv.Lo[i], iv.Hi[i])
				}
				if !yield(row) {
					return
				}
			}
		}
	}
	if form != "csv" && form != "tsv" || len(r.o.output.columns) > 0 {
		t.Rows, t.Each = slices.Collect(t.Each), nil
	}
	return t
}

// levelColumns are the columns of the ranges, lo-80 and hi-80 behind a prefix.
func levelColumns(prefix string, levels []float64) []report.Column {
	var out []report.Column
	for _, level := range levels {
		text := outlook.LevelText(level)
		out = append(out, report.Column{Name: prefix + "lo-" + text}, report.Column{Name: prefix + "hi-" + text})
	}
	return out
}

// linesTable has, for each series, how much to have for the step of the horizon in
// which most is wanted.
func (r *forecastResult) linesTable() report.Table {
	t := report.Table{Name: "lines", Title: "enough in each step with a chance of", Most: shownSeries, Columns: []report.Column{{Name: "unique_id", Head: "series"}}}
	names, quantiles := outlook.LineQuantiles()
	for k, name := range names {
		t.Columns = append(t.Columns, report.Column{Name: name, Head: fmt.Sprintf("%s %.0f%%", name, 100*quantiles[k])})
	}
	for i := range r.Series {
		l := &r.Series[i].Lines
		t.Rows = append(t.Rows, []any{r.Series[i].ID, slices.Max(l.Conservative), slices.Max(l.Expected), slices.Max(l.Aggressive)})
	}
	return t
}

// shownPeriods is how many rows of periods people see.
const shownPeriods = 60

// periodTable has one row for each series and period.
func (r *forecastResult) periodTable() report.Table {
	t := report.Table{Name: "periods", Title: "by period, from joint futures", Most: shownPeriods, Columns: []report.Column{
		{Name: "unique_id", Head: "series"}, {Name: "horizon", Head: "of"}, {Name: "from"}, {Name: "to"}, {Name: r.periodFigure()},
	}}
	t.Columns = append(t.Columns, levelColumns("", r.Levels)...)
	if r.o.ask.Peak {
		t.Columns = append(append(t.Columns, report.Column{Name: "peak"}), levelColumns("peak-", r.Levels)...)
	}
	for i := range r.Series {
		for _, p := range r.Series[i].Periods {
			row := append([]any{r.Series[i].ID, p.Horizon, p.From, p.To}, spreadCells(&p.Spread)...)
			if p.Peak != nil {
				row = append(row, spreadCells(p.Peak)...)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// periodFigure is what is given of each period: its mean, or its sum.
func (r *forecastResult) periodFigure() string {
	if list := r.Series[0].Periods; len(list) > 0 && list[0].Sum {
		return "sum"
	}
	return "mean"
}

func spreadCells(s *outlook.Spread) []any {
	out := []any{s.Mean}
	for k := range s.Lo {
		out = append(out, s.Lo[k], s.Hi[k])
	}
	return out
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
		if c.AtCapacity != nil {
			at = knownPercent(float64(*c.AtCapacity) / float64(c.Steps))
		}
		t.Rows = append(t.Rows, []any{
			r.Series[i].ID, c.Flag, knownPercent(float64(c.Share)), at,
			figureCell(c.Usage), figureCell(c.Demand), knownPercent(float64(c.Excess)),
		})
	}
	return t, len(t.Rows) > 0
}

// changesTable has one row for each change; false where there is none.
func (r *forecastResult) changesTable() (report.Table, bool) {
	t := report.Table{Name: "changes", Aside: true, Columns: []report.Column{
		{Name: "unique_id", Head: "series"}, {Name: "change"}, {Name: "ds", Align: report.Left}, {Name: "expected"}, {Name: "found"},
	}}
	for i := range r.Series {
		s := &r.Series[i]
		for _, m := range s.Changepoints {
			t.Rows = append(t.Rows, []any{s.ID, "level", m.DS, m.From, m.To})
		}
		for _, a := range s.Anomalies {
			t.Rows = append(t.Rows, []any{s.ID, "value", a.DS, a.Expected, a.Value})
		}
	}
	return t, len(t.Rows) > 0
}

// eventsTable has one row for each event and series that it changes.
func (r *forecastResult) eventsTable() report.Table {
	t := report.Table{Name: "events", Title: "events", Most: shownSeries, Columns: []report.Column{
		{Name: "event"},
		{Name: "kind", Priority: 2},
		{Name: "unique_id", Head: "series"},
		{Name: "from", Align: report.Left},
		{Name: "to", Align: report.Left, Priority: 1},
		{Name: "gpus", Head: "GPUs"},
		{Name: "share", Priority: 1},
		{Name: "most", Head: "most added"},
		{Name: "gpu_hours", Head: "GPU-hours ahead"},
		{Name: "first_ds", Head: "changes from", Align: report.Left, Priority: 1},
		{Name: "last_ds", Head: "to", Align: report.Left, Priority: 1},
	}}
	planned := r.o.ask.Events
	for i, e := range r.Events {
		p := &planned.List[i]
		gpus, share := plannedSize(p)
		from, to := any(nil), any(nil)
		if p.Holiday == nil {
			from, to = outlook.FormatDay(p.Event.Start, planned.Zone, false), outlook.FormatDay(endOf(&p.Event), planned.Zone, true)
		}
		for _, c := range e.Changes {
			row := []any{e.Name, e.Kind, c.ID, from, to, gpus, share, nil, nil, nil, nil}
			if l := c.Learnt; l != nil && l.Days > 0 {
				row[5], row[6] = learntSize(l)
			}
			if c.Last != "" {
				row[7], row[8], row[9], row[10] = c.Most, c.GPUHours, c.First, c.Last
			}
			t.Rows = append(t.Rows, row)
		}
		if len(e.Changes) == 0 {
			t.Rows = append(t.Rows, []any{e.Name, e.Kind, nil, from, to, gpus, share, nil, nil, nil, nil})
		}
	}
	return t
}

func endOf(e *forecast.Event) capcli.Time {
	if e.End == 0 {
		return capcli.NoTime
	}
	return e.End
}

// plannedSize is how much an event adds, in GPUs with the range that holds 80 %,
// or as a share of the forecast.
func plannedSize(e *forecast.PlannedEvent) (gpus, share any) {
	switch {
	case e.Holiday != nil && !e.Holiday.Declared:
		return nil, nil
	case e.Event.Relative:
		return nil, report.Percent(e.Event.Size)
	case e.Event.SizeSD == 0:
		return e.Event.Size, nil
	}
	const eighty = 1.2815515655446004 // half of the range, in standard deviations
	return report.Range{Mid: e.Event.Size, Lo: e.Event.Size - eighty*e.Event.SizeSD, Hi: e.Event.Size + eighty*e.Event.SizeSD}, nil
}

// learntSize is what the history says of a holiday, mean over such a day.
func learntSize(l *outlook.HolidayEffect) (gpus, share any) {
	if l.Relative {
		return nil, report.Percent(l.Size)
	}
	return l.Size, nil
}

// fanChart draws the end of the history and the fan.
func fanChart(s *outlook.Series) report.Chart {
	n, h := len(s.Demand), len(s.Mean)
	back := min(n, max(4*h, 60))
	gap := func(k int) []float64 {
		out := make([]float64, k)
		for i := range out {
			out[i] = math.NaN()
		}
		return out
	}
	past, name := s.Demand[n-back:], "known"
	if s.Censoring != nil {
		name = "demand so far"
	}
	nearest := s.Intervals[0]
	return report.Chart{
		Title: s.ID, From: s.Source.StampText(n - back), To: s.Source.StampText(n + h - 1),
		Lines: []report.Line{
			{Name: name, Values: append(append([]float64(nil), past...), gap(h)...)},
			{Name: "forecast", Values: append(gap(back), s.Mean...)},
			{Name: outlook.LevelText(nearest.Level) + "% range, high", Values: append(gap(back), nearest.Hi...)},
			{Name: "low", Values: append(gap(back), nearest.Lo...)},
		},
	}
}

func orNil(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

func knownRatio(v float64) any {
	if !report.Finite(v) {
		return nil
	}
	return report.Ratio(v)
}

func knownPercent(v float64) any {
	if !report.Finite(v) {
		return nil
	}
	return report.Percent(v)
}

func figureCell(v figure) any {
	if !report.Finite(float64(v)) {
		return nil
	}
	return float64(v)
}
