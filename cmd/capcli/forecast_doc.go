package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/cmd/report"
)

// shownCharts and shownNotes are how many series people see drawn, and how many
// notes about single series they read.
const (
	shownCharts = 3
	shownNotes  = 12
	shownSeries = 40
)

// forecastResult is what a call of forecast found.
type forecastResult struct {
	o    *forecastOptions
	hs   *histories
	list []*forecasted

	agreed *agreement // nil where nothing was reconciled
}

// keep divides the forecasts from the series that have none. That no series has
// one is an error; that some have none makes the result partial.
func (hs *histories) keep(e *env, all []*forecasted) ([]*forecasted, error) {
	var kept []*forecasted
	for _, f := range all {
		if f.left == nil {
			kept = append(kept, f)
			continue
		}
		hs.left = append(hs.left, fmt.Sprintf("%s: %v", f.h.Name, f.left))
	}
	if len(kept) == 0 {
		text := "no series can be forecast: " + hs.left[0]
		if len(hs.left) == 1 {
			text = "cannot forecast " + hs.left[0]
		}
		return nil, &capcli.InputError{File: strings.Join(hs.Inputs, ", "), Text: text, Hint: "give a longer history, or another --model (capcli forecast models)"}
	}
	_ = e
	return kept, nil
}

// missing says, after the result was written, what is not in it.
func (hs *histories) missing() error {
	switch {
	case len(hs.left) > 0:
		return &partialError{text: fmt.Sprintf("%d series not forecast: %s", len(hs.left), strings.Join(capcli.Abridge(hs.left, 3), "; "))}
	case hs.Partial != "":
		return &partialError{text: hs.Partial}
	}
	return nil
}

// doc is the result; people see the summary first, programs the long table.
func (r *forecastResult) doc(form string) report.Doc {
	d := report.Doc{Lead: r.lead()}
	if form == "json" { // of ten thousand series it is as large as all tables
		d.Data = r.json()
	}
	long, summary, lines := r.longTable(form), r.summaryTable(), r.linesTable()
	censored, any := r.censoredTable()
	if form == "table" || form == "md" {
		long.Aside = true
		d.Tables = []report.Table{summary, lines, long}
		if any {
			d.Tables = []report.Table{summary, censored, lines, long}
		}
		for i, f := range r.list {
			if i == shownCharts {
				break
			}
			d.Charts = append(d.Charts, f.chart())
		}
	} else {
		d.Tables = []report.Table{long, summary, lines}
		if any {
			d.Tables = append(d.Tables, censored)
		}
	}
	if periods, asked := r.periodTable(); asked {
		d.Tables = slices.Insert(d.Tables, 1, periods)
	}
	d.Tables = append(d.Tables, r.moreTables()...)
	d.Notes = r.notes()
	return d
}

// lead says in a sentence what is forecast.
func (r *forecastResult) lead() string {
	hs := r.hs
	n, ahead := 0, 0
	for _, f := range r.list {
		n, ahead = max(n, len(f.h.Values)), max(ahead, len(f.mean))
	}
	return fmt.Sprintf("%s. %s of history, %s ahead. Ranges hold %s%%.", hs.what(), hs.count(n), grouped(int64(ahead)), levelText(r.o.level[0]))
}

// what says what the figures are.
func (hs *histories) what() string {
	each := ", mean of each " + hs.word(1)
	if hs.Peak {
		each = ", highest in each " + hs.word(1)
	}
	switch hs.Measure {
	case "demand":
		return "GPUs wanted (had nobody waited)" + each
	case "usage":
		if hs.told() {
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
		return "Jobs submitted in each " + hs.word(1)
	case "arrival-hours":
		return "GPU-hours submitted in each " + hs.word(1)
	}
	text := fmt.Sprintf("%s series from %s", grouped(int64(len(hs.list))), strings.Join(hs.Inputs, ", "))
	if hs.told() {
		return "Demand behind the usage in " + text
	}
	return text
}

// word is the name of n steps.
func (hs *histories) word(n int64) string {
	words := map[string]string{"1h": "hour", "1d": "day", "1w": "week", "1mo": "month", "1q": "quarter", "1y": "year", "1m": "minute"}
	if w := words[hs.Step.String()]; hs.Clock && w != "" {
		return plural(n, w)
	}
	if hs.Clock {
		return plural(n, "step") + " of " + hs.Step.String()
	}
	return plural(n, "step")
}

func (hs *histories) count(n int) string { return grouped(int64(n)) + " " + hs.word(int64(n)) }

// near is the nearer of the two horizons that the summary shows.
func near(steps int, s capcli.Step) int {
	usual := usualHorizon(s) / 2
	if usual < steps {
		return usual
	}
	return steps / 2
}

// summaryTable has one row for each series.
func (r *forecastResult) summaryTable() report.Table {
	far := 0
	for _, f := range r.list {
		far = max(far, len(f.mean))
	}
	t := report.Table{Name: "summary", Most: shownSeries, Columns: []report.Column{
		{Name: "unique_id", Head: "series"}, {Name: "now"},
	}}
	first := near(far, r.hs.Step)
	if first > 0 {
		t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("in_%d", first), Head: "in " + r.hs.count(first)})
	}
	t.Columns = append(t.Columns,
		report.Column{Name: fmt.Sprintf("in_%d", far), Head: "in " + r.hs.count(far)},
		report.Column{Name: "method", Align: report.Left}, report.Column{Name: "error"},
		report.Column{Name: "range_held", Head: "range held"},
	)
	for _, f := range r.list {
		row := []any{f.h.Name, orNil(f.now())}
		if first > 0 {
			row = append(row, f.rangeAt(first))
		}
		row = append(row, f.rangeAt(len(f.mean)), report.Label{Name: f.info.Method, Head: short(f.info.Method)})
		if f.test == nil {
			row = append(row, nil, nil)
		} else {
			row = append(row, knownRatio(f.test.error), knownPercent(f.test.coverage[0]))
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

// now is the last value that is known.
func (f *forecasted) now() float64 { return lastKnown(f.seen) }

// rangeAt is the forecast n steps ahead.
func (f *forecasted) rangeAt(n int) any {
	if n > len(f.mean) {
		return nil
	}
	return report.Range{Mid: f.mean[n-1], Lo: f.ranges[0].Lo[n-1], Hi: f.ranges[0].Hi[n-1]}
}

// longTable has one row for each series and step, in the names of the field.
func (r *forecastResult) longTable(form string) report.Table {
	t := report.Table{Name: "forecast", Columns: []report.Column{{Name: "unique_id"}, {Name: "ds"}, {Name: "model"}, {Name: "mean"}}}
	for _, level := range r.o.level {
		t.Columns = append(t.Columns, report.Column{Name: "lo-" + levelText(level)}, report.Column{Name: "hi-" + levelText(level)})
	}
	t.Each = func(yield func([]any) bool) {
		for _, f := range r.list {
			n := len(f.h.Values)
			for i := range f.mean {
				row := make([]any, 0, len(t.Columns))
				row = append(row, f.h.Name, f.h.StampText(n+i), f.model, f.mean[i])
				for _, iv := range f.ranges {
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

// linesTable has, for each series, how much to have for the step of the horizon
// in which most is wanted.
func (r *forecastResult) linesTable() report.Table {
	t := report.Table{Name: "lines", Title: "enough in each step with a chance of", Most: shownSeries, Columns: []report.Column{{Name: "unique_id", Head: "series"}}}
	for k, name := range lineNames {
		t.Columns = append(t.Columns, report.Column{Name: name, Head: fmt.Sprintf("%s %.0f%%", name, 100*lineQuantiles[k])})
	}
	for _, f := range r.list {
		row := []any{f.h.Name}
		for _, line := range f.lines {
			most := line[0]
			for _, v := range line {
				most = max(most, v)
			}
			row = append(row, most)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// chart draws the end of the history and the fan.
func (f *forecasted) chart() report.Chart {
	n, h := len(f.h.Values), len(f.mean)
	back := min(n, max(4*h, 60))
	gap := func(k int) []float64 {
		out := make([]float64, k)
		for i := range out {
			out[i] = math.NaN()
		}
		return out
	}
	past := f.seen[n-back:]
	level := levelText(f.ranges[0].Level)
	return report.Chart{
		Title: f.h.Name, From: f.h.StampText(n - back), To: f.h.StampText(n + h - 1),
		Lines: []report.Line{
			{Name: f.pastName(), Values: append(append([]float64(nil), past...), gap(h)...)},
			{Name: "forecast", Values: append(gap(back), f.mean...)},
			{Name: level + "% range, high", Values: append(gap(back), f.ranges[0].Hi...)},
			{Name: "low", Values: append(gap(back), f.ranges[0].Lo...)},
		},
	}
}

// notes are what the reader must know, the common ones first.
func (r *forecastResult) notes() []string {
	out := append([]string(nil), r.hs.Notes...)
	for _, note := range []string{r.backtestNote(), r.periodNote()} {
		if note != "" {
			out = append(out, note)
		}
	}
	out = append(out, r.censoredNotes()...)
	out = append(out, r.changeNotes()...)
	single := 0
	for _, f := range r.list {
		for _, w := range f.warnings {
			if single++; single > shownNotes {
				continue
			}
			if len(r.list) > 1 {
				w = f.h.Name + ": " + w
			}
			out = append(out, w)
		}
	}
	if single > shownNotes {
		out = append(out, fmt.Sprintf("%d more notes about single series: -o json", single-shownNotes))
	}
	for _, l := range capcli.Abridge(r.hs.left, 5) {
		out = append(out, "not forecast: "+l)
	}
	return out
}

// backtestNote says in words what the trial on the past found.
func (r *forecastResult) backtestNote() string {
	tried, origins, steps, season := 0, 0, 0, 0
	held, worse := 0.0, 0
	for _, f := range r.list {
		if f.test == nil {
			continue
		}
		tried++
		origins, steps, season = max(origins, f.test.origins), max(steps, f.test.steps), max(season, f.season)
		if c := f.test.coverage[0]; !math.IsNaN(c) {
			held += c
		}
		if f.test.error > 1 {
			worse++
		}
	}
	if tried == 0 {
		return ""
	}
	text := fmt.Sprintf("error: 1.00 is what repeating %s gives; from %d past %s, up to %s ahead. The %s%% ranges held %.0f%% of what came",
		r.hs.seasonText(season), origins, plural(int64(origins), "start"), r.hs.count(steps), levelText(r.o.level[0]), 100*held/float64(tried))
	switch {
	case worse == 1 && tried == 1:
		text += "; repeating was better here"
	case worse > 0:
		text += fmt.Sprintf("; in %d of %d series repeating was better", worse, tried)
	}
	return text
}

// seasonText names the last season.
func (hs *histories) seasonText(season int) string {
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
	return "the last " + hs.count(season)
}
