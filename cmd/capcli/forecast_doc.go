package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
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

// lead says in a sentence what is forecast.
func (r *forecastResult) lead() string {
	n, ahead := 0, 0
	for i := range r.Series {
		n, ahead = max(n, r.Series[i].History.Values), max(ahead, len(r.Series[i].Mean))
	}
	return fmt.Sprintf("%s. %s of history, %s ahead. Ranges hold %s%%.", whatIsForecast(r.hs), stepCount(r.hs, n), grouped(int64(ahead)), outlook.LevelText(r.Levels[0]))
}

// whatIsForecast says what the figures are.
func whatIsForecast(hs *demand.Histories) string {
	told := slices.ContainsFunc(hs.List, func(h *demand.History) bool { return h.Censoring != nil })
	each := ", mean of each " + stepWord(hs, 1)
	if hs.Peak {
		each = ", highest in each " + stepWord(hs, 1)
	}
	switch hs.Measure {
	case "demand":
		return "GPUs wanted (had nobody waited)" + each
	case "usage":
		if told {
			return "GPUs wanted (those held and those waited for)" + each
		}
		return "GPUs held" + each
	case "queue":
		return "GPUs that wait" + each
	case "busy":
		return "GPUs busy, by the share of time in which a kernel ran" + each
	case "sm":
		return "GPUs by the share of their SMs that were active" + each
	case "power":
		return "Power in W" + each
	case "arrivals":
		return "Jobs submitted in each " + stepWord(hs, 1)
	case "arrival-hours":
		return "GPU-hours submitted in each " + stepWord(hs, 1)
	}
	text := fmt.Sprintf("%s series from %s", grouped(int64(len(hs.List))), strings.Join(hs.Inputs, ", "))
	if told {
		return "Demand behind the usage in " + text
	}
	return text
}

// stepWord is the name of n steps.
func stepWord(hs *demand.Histories, n int64) string {
	words := map[string]string{"1h": "hour", "1d": "day", "1w": "week", "1mo": "month", "1q": "quarter", "1y": "year", "1m": "minute"}
	if w := words[hs.Step.String()]; hs.Clock && w != "" {
		return plural(n, w)
	}
	if hs.Clock {
		return plural(n, "step") + " of " + hs.Step.String()
	}
	return plural(n, "step")
}

func stepCount(hs *demand.Histories, n int) string {
	return grouped(int64(n)) + " " + stepWord(hs, int64(n))
}

// near is the nearer of the two horizons that the summary shows.
func near(steps int, s capcli.Step) int {
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
	first := near(far, r.hs.Step)
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
		row = append(row, rangeAt(s, len(s.Mean)), report.Label{Name: s.Method, Head: short(s.Method)})
		if t := s.Backtest; t == nil {
			row = append(row, nil, nil)
		} else {
			row = append(row, knownRatio(float64(t.Error)), knownPercent(float64(t.Coverage[0].Held)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// short is a method's name in a table: a combination names its first members.
func short(method string) string {
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

func orNil(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

func knownRatio(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return report.Ratio(v)
}

func knownPercent(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return report.Percent(v)
}

func figureCell(v figure) any {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return nil
	}
	return float64(v)
}

// rangeAt is the forecast n steps ahead.
func rangeAt(s *outlook.Series, n int) any {
	if n > len(s.Mean) {
		return nil
	}
	return report.Range{Mid: s.Mean[n-1], Lo: s.Intervals[0].Lo[n-1], Hi: s.Intervals[0].Hi[n-1]}
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
		Title: s.ID, From: s.Of.StampText(n - back), To: s.Of.StampText(n + h - 1),
		Lines: []report.Line{
			{Name: name, Values: append(append([]float64(nil), past...), gap(h)...)},
			{Name: "forecast", Values: append(gap(back), s.Mean...)},
			{Name: outlook.LevelText(nearest.Level) + "% range, high", Values: append(gap(back), nearest.Hi...)},
			{Name: "low", Values: append(gap(back), nearest.Lo...)},
		},
	}
}

// notes are what the reader must know, the common ones first.
func (r *forecastResult) notes() []string {
	out := append([]string(nil), r.Warnings...)
	for _, note := range []string{r.backtestNote(), r.periodNote()} {
		if note != "" {
			out = append(out, note)
		}
	}
	out = append(out, r.censoredNotes()...)
	out = append(out, r.changeNotes()...)
	single := 0
	for i := range r.Series {
		for _, w := range r.Series[i].Warnings {
			if single++; single > shownNotes {
				continue
			}
			if len(r.Series) > 1 {
				w = r.Series[i].ID + ": " + w
			}
			out = append(out, w)
		}
	}
	if single > shownNotes {
		out = append(out, fmt.Sprintf("%d more notes about single series: -o json", single-shownNotes))
	}
	for _, l := range capcli.Abridge(r.Left, 5) {
		out = append(out, "not forecast: "+l)
	}
	return out
}

// backtestNote says in words what the trial on the past found.
func (r *forecastResult) backtestNote() string {
	tried, origins, steps, season := 0, 0, 0, 0
	held, worse := 0.0, 0
	for i := range r.Series {
		t := r.Series[i].Backtest
		if t == nil {
			continue
		}
		tried++
		origins, steps, season = max(origins, t.Origins), max(steps, t.Steps), max(season, r.Series[i].History.Season)
		if c := float64(t.Coverage[0].Held); !math.IsNaN(c) {
			held += c
		}
		if t.Error > 1 {
			worse++
		}
	}
	if tried == 0 {
		return ""
	}
	text := fmt.Sprintf("error: 1.00 is what repeating %s gives; from %d past %s, up to %s ahead. The %s%% ranges held %.0f%% of what came",
		lastSeason(r.hs, season), origins, plural(int64(origins), "start"), stepCount(r.hs, steps), outlook.LevelText(r.Levels[0]), 100*held/float64(tried))
	switch {
	case worse == 1 && tried == 1:
		text += "; repeating was better here"
	case worse > 0:
		text += fmt.Sprintf("; in %d of %d series repeating was better", worse, tried)
	}
	return text
}

// lastSeason names the last season.
func lastSeason(hs *demand.Histories, season int) string {
	if season <= 1 {
		return "the last value"
	}
	if hs.Clock {
		if hs.Step.Months > 0 && season*hs.Step.Months == 12 || hs.Step.Days == 7 && season == 52 {
			return "the last year"
		}
		switch capcli.Seconds(season) * hs.Step.Length() {
		case capcli.Day:
			return "the last day"
		case 7 * capcli.Day:
			return "the last week"
		default:
		}
	}
	return "the last " + stepCount(hs, season)
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

// periodNote says what the periods are.
func (r *forecastResult) periodNote() string {
	if !r.o.ask.ByPeriods() {
		return ""
	}
	text := fmt.Sprintf("periods: ranges of each period's %s from %s futures", r.periodFigure(), grouped(int64(r.Draws)))
	tried := 0
	for _, t := range r.Tried {
		tried += t.Tried
	}
	if tried > 0 {
		text += fmt.Sprintf(", set by how far %s past ones were off", grouped(int64(tried)))
	} else {
		text += ", as the models say: the history is too short to try them on"
	}
	if r.o.history.periods && r.hs.Clock {
		text += "; whole weeks (from Monday), months, quarters and years that begin after the history"
	}
	if r.o.ask.Peak {
		text += "; peak is the highest step of each"
	}
	return text
}
