package tables

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/forecast/demand"
	"capcli/forecast/outlook"
	"capcli/scenarios/decide/trial"
)

// Figure is a number that may be unknown.
type Figure = capcli.Figure

// ModelsDoc is the report of the models that can forecast.
func ModelsDoc() report.Doc {
	data := outlook.ListModels()
	t := report.Table{Name: "models", Columns: []report.Column{{Name: "model"}, {Name: "doc", Head: "what it does"}}}
	for _, m := range data.Models {
		t.Rows = append(t.Rows, []any{m.Name, m.Doc})
	}
	return report.Doc{Tables: []report.Table{t}, Data: data}
}

// shownCharts is how many series are drawn, and shownSeries how many rows a table of series shows.
const (
	shownCharts = 3
	shownSeries = 40
)

// Forecast is the result of a forecast with what its report needs of the question. Whole says that the
// long table is held, not handed over row by row.
type Forecast struct {
	*outlook.Result
	Ask       *outlook.Request
	Histories *demand.Histories
	Whole     bool
}

// Doc is the report of the result. The forms table and md show the summary first; the others show
// the long table first.
func (r *Forecast) Doc(form string) report.Doc {
	d := report.Doc{Lead: r.Lead(), Notes: r.Notes(), Data: r.Result}
	long := r.longTable(form)
	tables := []report.Table{long, r.summaryTable(), r.linesTable(), r.censoredTable()}
	if form == "table" || form == "md" {
		long.Aside = true
		tables = []report.Table{tables[1], tables[3], tables[2], long}
		for i := range r.Series[:min(len(r.Series), shownCharts)] {
			d.Charts = append(d.Charts, fanChart(&r.Series[i]))
		}
	}
	if r.Ask.ByPeriods() {
		tables = slices.Insert(tables, 1, r.periodTable())
	}
	tables = append(append(tables, r.fullTables()...), r.eventsTable(), r.changesTable())
	d.Tables = slices.DeleteFunc(tables, func(t report.Table) bool { return t.Name == "" })
	return d
}

func (r *Forecast) summaryTable() report.Table {
	far := 0
	for i := range r.Series {
		far = max(far, len(r.Series[i].Mean))
	}
	ahead := func(n int) report.Field[outlook.Series] {
		return report.Field[outlook.Series]{Name: fmt.Sprintf("in_%d", n), Head: "in " + outlook.StepsText(r.Histories, n), Cell: func(s outlook.Series) any {
			return rangeAt(&s, n)
		}}
	}
	fields := []report.Field[outlook.Series]{
		{Name: "unique_id", Head: "series"},
		{Name: "now", Cell: func(s outlook.Series) any { return s.History.Now }},
	}
	if near := outlook.NearHorizon(far, r.Histories.Step); near > 0 {
		fields = append(fields, ahead(near))
	}
	last := ahead(far)
	last.Cell = func(s outlook.Series) any { return rangeAt(&s, len(s.Mean)) }
	tried := func(get func(*outlook.Trial) Figure) func(outlook.Series) any {
		return func(s outlook.Series) any {
			if s.Backtest == nil {
				return nil
			}
			return get(s.Backtest)
		}
	}
	fields = append(
		fields, last,
		report.Field[outlook.Series]{Name: "method", Align: report.Left, Cell: func(s outlook.Series) any { return report.Label{Name: s.Method, Head: outlook.ShortenMethod(s.Method)} }},
		report.Field[outlook.Series]{Name: "error", As: report.AsRatio, Cell: tried(func(t *outlook.Trial) Figure { return t.Error })},
		report.Field[outlook.Series]{Name: "range_held", Head: "range held", As: report.AsPercent, Cell: tried(func(t *outlook.Trial) Figure { return t.Coverage[0].Held })},
	)
	return report.Fill(report.Table{Name: "summary", Most: shownSeries}, r.Series, fields)
}

// rangeAt is the cell of the forecast n steps ahead; nil beyond the horizon.
func rangeAt(s *outlook.Series, n int) any {
	if n > len(s.Mean) {
		return nil
	}
	return report.Range{Mid: s.Mean[n-1], Lo: s.Intervals[0].Lo[n-1], Hi: s.Intervals[0].Hi[n-1]}
}

// longTable has one row for each series and step, in columns of the usual names.
func (r *Forecast) longTable(form string) report.Table {
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
	if form != "csv" && form != "tsv" || r.Whole {
		t.Rows, t.Each = slices.Collect(t.Each), nil
	}
	return t
}

// levelColumns are the columns of the ranges: lo-80, hi-80 and so on, each with the prefix.
func levelColumns(prefix string, levels []float64) []report.Column {
	var out []report.Column
	for _, level := range levels {
		text := outlook.LevelText(level)
		out = append(out, report.Column{Name: prefix + "lo-" + text}, report.Column{Name: prefix + "hi-" + text})
	}
	return out
}

// linesTable shows the capacity that suffices over the whole horizon.
func (r *Forecast) linesTable() report.Table {
	return report.Fill(report.Table{Name: "suffices", Title: r.LinesTitle(), Most: shownSeries}, r.Series, []report.Field[outlook.Series]{
		{Name: "unique_id", Head: "series"},
		{Name: "median", Cell: func(s outlook.Series) any { return s.Suffices.Median }},
		{Name: "p80", Cell: func(s outlook.Series) any { return s.Suffices.P80 }},
		{Name: "p95", Cell: func(s outlook.Series) any { return s.Suffices.P95 }},
	})
}

// fullTables show when the demand passes the capacity, and how far it is above it by month. They
// are empty where no capacity ahead was given.
func (r *Forecast) fullTables() []report.Table {
	passes, months := r.ListFull()
	if len(passes) == 0 {
		return nil
	}
	full := report.Fill(report.Table{Name: "full", Title: r.FullTitle(), Most: shownSeries}, passes, []report.Field[outlook.SeriesPassing]{
		{Name: "unique_id", Head: "series"},
		{Name: "capacity"},
		{Name: "of", Head: "mean of a", Align: report.Left},
		{Name: "by_p10", Head: "p10", Align: report.Left},
		{Name: "by_p50", Head: "median", Align: report.Left},
		{Name: "by_p90", Head: "p90", Align: report.Left},
		{Name: "probability", Head: "at all", As: report.AsPercent},
	})
	return []report.Table{full, report.Fill(report.Table{Name: "above", Title: "Demand above the capacity, by month", Most: shownPeriods}, months, []report.Field[outlook.SeriesAbove]{
		{Name: "unique_id", Head: "series"},
		{Name: "from", Align: report.Left},
		{Name: "to", Align: report.Left},
		{Name: "share", Head: "share of time", As: report.AsPercent},
		{Name: "excess_mean", Head: "GPUs above, mean"},
		{Name: "excess_highest_median", Head: "peak, median"},
		{Name: "excess_highest_p90", Head: "p90"},
	})}
}

// shownPeriods is the most rows of periods shown.
const shownPeriods = 60

// periodTable has one row for each series and period.
func (r *Forecast) periodTable() report.Table {
	t := report.Table{Name: "periods", Title: "by period, from joint futures", Most: shownPeriods, Columns: []report.Column{
		{Name: "unique_id", Head: "series"}, {Name: "horizon", Head: "of"}, {Name: "from"}, {Name: "to"}, {Name: r.PeriodFigure()},
	}}
	t.Columns = append(t.Columns, levelColumns("", r.Levels)...)
	if r.Ask.Peak {
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

func spreadCells(s *outlook.Spread) []any {
	out := []any{s.Mean}
	for k := range s.Lo {
		out = append(out, s.Lo[k], s.Hi[k])
	}
	return out
}

// censoredSeries is the estimate of the demand behind the usage of a series.
type censoredSeries struct {
	ID string `json:"unique_id"`
	*outlook.Censoring
}

// censoredTable has one row for each series whose demand was estimated from usage. The table is
// empty without such a series.
func (r *Forecast) censoredTable() report.Table {
	var rows []censoredSeries
	for i := range r.Series {
		if c := r.Series[i].Censoring; c != nil {
			rows = append(rows, censoredSeries{r.Series[i].ID, c})
		}
	}
	if len(rows) == 0 {
		return report.Table{}
	}
	return report.Fill(report.Table{Name: "censoring", Title: "demand estimated from usage", Most: shownSeries}, rows, []report.Field[censoredSeries]{
		{Name: "unique_id", Head: "series"},
		{Name: "flag", Head: "estimated from", Align: report.Left},
		{Name: "held_down", Head: "censored", As: report.AsPercent, Cell: func(c censoredSeries) any { return c.Share }},
		{Name: "at_capacity", Head: "at capacity", Priority: 1, As: report.AsPercent, Cell: func(c censoredSeries) any {
			if c.AtCapacity == nil {
				return nil
			}
			return Figure(*c.AtCapacity) / Figure(c.Steps)
		}},
		{Name: "usage_mean", Head: "usage, mean"},
		{Name: "demand_mean", Head: "demand, mean"},
		{Name: "demand_over_usage", Head: "demand over usage", As: report.AsPercent},
	})
}

// changesTable has one row for each change of level and each anomaly. The table is empty when there
// is none.
func (r *Forecast) changesTable() report.Table {
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
	if len(t.Rows) == 0 {
		return report.Table{}
	}
	return t
}

// eventsTable has one row for each event and series it changes. The table is empty when no events
// were given.
func (r *Forecast) eventsTable() report.Table {
	if r.Events == nil {
		return report.Table{}
	}
	t := report.Table{Name: "events", Title: "events and what they change", Most: shownSeries, Columns: []report.Column{
		{Name: "event"},
		{Name: "kind", Priority: 2},
		{Name: "unique_id", Head: "series"},
		{Name: "from", Align: report.Left},
		{Name: "to", Align: report.Left, Priority: 1},
		{Name: "gpus", Head: "GPUs"},
		{Name: "share", Priority: 1},
		{Name: "most", Head: "largest change"},
		{Name: "gpu_hours", Head: "GPU-hours"},
		{Name: "first_ds", Head: "changes from", Align: report.Left, Priority: 1},
		{Name: "last_ds", Head: "to", Align: report.Left, Priority: 1},
	}}
	for i := range r.Events {
		e := &r.Events[i]
		gpus, share := eventSize(e)
		from, to := any(e.FirstDay), any(e.LastDay)
		if e.Days != "" {
			from, to = nil, nil
		}
		for _, c := range e.Changes {
			row := []any{e.Name, e.Kind, c.ID, from, to, gpus, share, nil, nil, nil, nil}
			if l := c.Learnt; l != nil && l.Days > 0 {
				row[5], row[6] = sizeCells(l.Size, l.Relative)
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

// fanChart draws the end of the history and the forecast with its widest range.
func fanChart(s *outlook.Series) report.Chart {
	fan, name := s.Fan(), "known"
	if s.Censoring != nil {
		name = "demand so far"
	}
	return report.Chart{
		Title: s.ID, From: fan.From, To: fan.To,
		Lines: []report.Line{
			{Name: name, Values: fan.Past},
			{Name: "forecast", Values: fan.Mean},
			{Name: outlook.LevelText(fan.Level) + "% range, high", Values: fan.Hi},
			{Name: "low", Values: fan.Lo},
		},
	}
}

// modelTrial is the trial of a model on one series; Trial is nil where the model could not be
// tried.
type modelTrial struct {
	series, model string
	*outlook.Trial
}

// BacktestDoc is the report of a backtest: each model, then each series.
func BacktestDoc(r *outlook.BacktestResult) report.Doc {
	models := scoreFields(r.Levels, func(m outlook.ModelScore) *outlook.Trial {
		return &outlook.Trial{Error: m.Error, OWA: m.OWA, MASE: m.MASE, SMAPE: m.SMAPE, CRPS: m.CRPS, Coverage: m.Coverage}
	}, report.Field[outlook.ModelScore]{Name: "model"})
	models = append(models, report.Field[outlook.ModelScore]{Name: "series", Priority: 1})
	each := scoreFields(
		r.Levels, func(t modelTrial) *outlook.Trial { return t.Trial },
		report.Field[modelTrial]{Name: "unique_id", Head: "series", Cell: func(t modelTrial) any { return t.series }},
		report.Field[modelTrial]{Name: "model", Cell: func(t modelTrial) any { return t.model }},
	)
	var trials []modelTrial
	for _, s := range r.Series {
		for k, t := range s.ByModel {
			trials = append(trials, modelTrial{s.ID, r.Models[k].Model, t})
		}
	}
	return report.Doc{Lead: r.Lead(), Notes: r.Notes(), Data: r, Tables: []report.Table{
		report.Fill(report.Table{Name: "models"}, r.Models, models),
		report.Fill(report.Table{Name: "series", Aside: true}, trials, each),
	}}
}

// scoreFields are the columns of a trial's measures, after the columns first. trial returns the
// trial of a row, or nil where there is none.
func scoreFields[R any](levels []float64, trial func(R) *outlook.Trial, first ...report.Field[R]) []report.Field[R] {
	field := func(name, head string, priority int, as func(float64) any, get func(*outlook.Trial) Figure) report.Field[R] {
		return report.Field[R]{Name: name, Head: head, Priority: priority, As: as, Cell: func(row R) any {
			if t := trial(row); t != nil {
				return get(t)
			}
			return nil
		}}
	}
	out := append(
		first,
		field("error", "", 0, report.AsRatio, func(t *outlook.Trial) Figure { return t.Error }),
		field("owa", "OWA", 0, report.AsRatio, func(t *outlook.Trial) Figure { return t.OWA }),
		field("mase", "MASE", 0, report.AsRatio, func(t *outlook.Trial) Figure { return t.MASE }),
		field("smape", "sMAPE %", 0, nil, func(t *outlook.Trial) Figure { return t.SMAPE }),
		field("crps", "CRPS", 1, nil, func(t *outlook.Trial) Figure { return t.CRPS }),
	)
	for k, level := range levels {
		text := outlook.LevelText(level)
		out = append(
			out,
			field("held-"+text, text+"% range held", 0, report.AsPercent, func(t *outlook.Trial) Figure { return t.Coverage[k].Held }),
			field("msis-"+text, "MSIS "+text, 2, nil, func(t *outlook.Trial) Figure { return t.Coverage[k].MSIS }),
		)
	}
	return out
}

// PastDoc is the report of rules tried on the past.
func PastDoc(r *trial.Result) report.Doc {
	rules := []report.Field[trial.Rule]{{Name: "term", Align: report.Left}, {Name: "rule", Align: report.Left}, {Name: "cost_usd", Head: "cost", Priority: 1}, {Name: "regret_usd", Head: "regret"}}
	for _, c := range [][2]string{{"regret_share", "of hindsight"}, {"regret_share_mean", "mean"}, {"regret_share_p90", "p90"}, {"regret_share_worst", "worst"}} {
		rules = append(rules, report.Field[trial.Rule]{Name: c[0], Head: c[1], As: report.AsPercent})
	}
	rules = append(rules, report.Field[trial.Rule]{Name: "ranges_held", Head: "ranges held", Priority: 3}, report.Field[trial.Rule]{Name: "ranges_promised", Head: "of", Priority: 3})
	lines := []report.Field[trial.Line]{{Name: "term", Align: report.Left}, {Name: "origin", Cell: func(l trial.Line) any { return dayCell(l.Origin) }}}
	for _, c := range [][2]string{{"hindsight_gpus", "hindsight"}, {"gpus", "forecast"}, {"cost_usd", "cost"}, {"regret_usd", "regret"}, {"rule_30_gpus", "30-day rule"}} {
		lines = append(lines, report.Field[trial.Line]{Name: c[0], Head: c[1]})
	}
	lines = append(lines, report.Field[trial.Line]{Name: "regret_share", Head: "regret", As: report.AsPercent}, report.Field[trial.Line]{Name: "rule_30_regret_share", Head: "its regret", As: report.AsPercent})
	rulesTable, linesTable := report.Table{Name: "rules", Title: "Regret by rule"}, report.Table{Name: "origins", Title: "By date of decision", Most: 40}
	return report.Doc{Lead: r.Answer, Notes: r.Notes, Data: r, Tables: []report.Table{report.Fill(rulesTable, r.Rules(), rules), report.Fill(linesTable, r.Lines(), lines)}}
}
