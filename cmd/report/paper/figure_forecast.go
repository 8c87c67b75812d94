package paper

import (
	"fmt"
	"time"

	"capcli"
	"capcli/forecast/outlook"
	"capcli/scenarios/figure"
)

// The forecast with its ranges, behind the end of the history.
func init() {
	register(Drawing{ID: "forecast", Rank: 60, Needs: "a result of capcli forecast -o json", Draw: drawForecast})
}

func drawForecast(m *material) ([]figure.Figure, string) {
	var out []figure.Figure
	left := 0
	for _, x := range m.forecasts {
		for i := range x.Doc.Series {
			f, ok := fan(x.Doc, &x.Doc.Series[i])
			switch {
			case !ok:
			case len(out) == mostPlans:
				left++
			default:
				out = append(out, f)
			}
		}
	}
	why := ""
	if left > 0 {
		why = fmt.Sprintf("%d more series of the forecast have no picture of their own", left)
	}
	return number1(out), why
}

// stampNumbers returns stamps as moments, or as the numbers of their steps where they are no times.
func stampNumbers(stamps []string) ([]figure.Number, bool) {
	out := make([]figure.Number, len(stamps))
	for i, s := range stamps {
		t, err := capcli.ParseTime(s, time.UTC, false)
		if err != nil {
			for k := range out {
				out[k] = figure.Number(k)
			}
			return out, false
		}
		out[i] = figure.Number(t)
	}
	return out, true
}

// historySeries is the past of a forecast.
const historySeries = "History"

func fan(r *outlook.Result, s *outlook.Series) (figure.Figure, bool) {
	f := figure.Figure{ID: "forecast", Title: "Forecast", Kind: figure.Lines, X: figure.Axis{Label: "Time", Unit: figure.Time}, Y: figure.Axis{Label: "Demand", Unit: figure.Count}}
	if len(s.Mean) == 0 || len(s.History.Last) != len(s.History.LastDS) {
		return f, false
	}
	if s.ID != "" && len(r.Series) > 1 {
		f.Title += " of " + s.ID
	}
	if r.Unit != "" {
		f.Y.Label += ", " + r.Unit
	}
	back := len(s.History.Last)
	x, dated := stampNumbers(append(append([]string{}, s.History.LastDS...), s.DS...))
	if !dated {
		f.X = figure.Axis{Label: "Step", Unit: figure.Count}
	}
	past := figure.Series{Name: historySeries, X: x[:back]}
	for _, v := range s.History.Last {
		past.Y = append(past.Y, figure.Number(v))
	}
	if back > 0 {
		f.Series = append(f.Series, past)
	}
	mean := figure.Series{Name: "Forecast, mean", X: x[back:], Y: figure.Numbers(s.Mean)}
	level := 0.0
	if n := len(s.Intervals); n > 0 && len(s.Intervals[0].Lo) == len(s.Mean) && len(s.Intervals[0].Hi) == len(s.Mean) {
		mean.Lo, mean.Hi, level = figure.Numbers(s.Intervals[0].Lo), figure.Numbers(s.Intervals[0].Hi), s.Intervals[0].Level
		mean.Name = fmt.Sprintf("Forecast, mean and %g%% range", level)
	}
	f.Series = append(f.Series, mean)
	last := len(mean.Y) - 1
	parts := []string{fmt.Sprintf("%s steps ahead the forecast is %s", count(figure.Number(last+1)), count(mean.Y[last]))}
	if level > 0 {
		parts[0] += fmt.Sprintf(", and with %g%% probability %s to %s", level, count(mean.Lo[last]), count(mean.Hi[last]))
	}
	if back > 0 && past.Y[back-1].IsKnown() {
		parts = append(parts, fmt.Sprintf("the last value of the history is %s", count(past.Y[back-1])))
	}
	f.Sentence = sentence(parts...)
	f.Notes = append([]string{"by the model " + s.Method}, s.Warnings...)
	return f, true
}
