package outlook

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/demand"
	"capcli/forecast/roadmap"
)

// BacktestResult holds the trials of each model of a request on the past of every history. Its
// JSON is the document capcli/forecast_backtest/v1.
type BacktestResult struct {
	Schema   string         `json:"schema"`
	Input    []string       `json:"input"`
	Step     string         `json:"step"`
	Levels   []float64      `json:"levels"`
	Models   []ModelScore   `json:"models"`
	Series   []SeriesTrials `json:"series"`
	NotTried []string       `json:"not_tried"`
	Warnings []string       `json:"warnings"`

	histories *demand.Histories
}

// ModelScore holds a model's measures, each the mean over the series.
type ModelScore struct {
	Model    string        `json:"model"`
	Series   int           `json:"series"` // number of series on which the model could be tried
	Error    capcli.Figure `json:"error_over_seasonal_naive"`
	OWA      capcli.Figure `json:"owa"`
	MASE     capcli.Figure `json:"mase"`
	SMAPE    capcli.Figure `json:"smape"`
	CRPS     capcli.Figure `json:"crps"`
	Coverage []Coverage    `json:"coverage"`
}

// SeriesTrials holds the trials of each model on one series.
type SeriesTrials struct {
	ID        string     `json:"unique_id"`
	Censoring *Censoring `json:"censoring"`
	Trials    []*Trial   `json:"trials"` // of the models that could be tried

	Sum     bool     `json:"-"` // the series is the sum of other series of the call
	ByModel []*Trial `json:"-"` // in the order of the models; nil for a model that could not be tried

	source  *demand.History
	tried   []*trial // in the order of the models; nil for a model that could not be tried
	failure error    // why there are no trials; nil where there are some
}

// Backtest tries the models of r on the past of every history of hs. It forecasts from past
// starts, each from the values before it alone, and measures the forecasts against the actual
// values. It calls progress, which may be nil, with the number of finished series. It fails as
// Forecast does.
func Backtest(ctx context.Context, hs *demand.Histories, r Request, progress func(done int)) (*BacktestResult, error) {
	if r.ByPeriods() {
		return nil, &capcli.RequestError{Text: "a backtest measures single steps, not periods", Hint: "give one --horizon, and --peak without a period"}
	}
	q, err := newQuestion(ctx, hs, r)
	if err != nil {
		return nil, err
	}
	if q.ByPeriods() {
		return nil, &capcli.RequestError{Text: "a backtest measures single steps, not the peaks of periods", Hint: "leave --peak out"}
	}
	if q.Origins == 0 {
		q.Origins = moreOrigins
	}
	notes := q.notes
	if p := q.plan; p != nil && slices.ContainsFunc(p.List, func(e roadmap.Entry) bool { return e.Holiday == nil }) {
		notes = append(notes, "of the events of "+p.File+" only holidays bear on the past: the others are left out here")
	}
	all, err := capcli.MapParallel(ctx, q.views, progress, q.tryModels)
	if err != nil {
		return nil, err
	}
	if hs.Tree != nil {
		if way, ok := q.reconciliation(); ok {
			notes = append(notes, fmt.Sprintf("reconciled at each start by %s: %d parts add up to %d sums", way, len(hs.Tree.Parts), len(hs.Tree.Sums)))
		}
		if err := q.reconcileModels(all); err != nil {
			return nil, err
		}
	}
	out := &BacktestResult{
		Schema: "capcli/forecast_backtest/v1", Input: hs.Inputs, Step: q.stepText(), Levels: q.Levels,
		Series: []SeriesTrials{}, NotTried: []string{}, Warnings: append([]string{}, notes...), histories: hs,
	}
	for i, t := range all {
		if t.failure != nil {
			out.NotTried = append(out.NotTried, fmt.Sprintf("%s: %v", t.ID, t.failure))
			continue
		}
		t.Sum = i < q.sums()
		t.list()
		out.Series = append(out.Series, *t)
	}
	if len(out.Series) == 0 {
		return nil, &capcli.InputError{File: strings.Join(hs.Inputs, ", "), Text: "no series can be tried: " + out.NotTried[0], Hint: "give a longer history, or a shorter --horizon"}
	}
	if hs.ByName {
		slices.SortStableFunc(out.Series, func(a, b SeriesTrials) int { return strings.Compare(a.ID, b.ID) })
	}
	for k, name := range q.Models {
		out.Models = append(out.Models, scoreOf(name, out.Series, k, q.Levels))
	}
	return out, nil
}

// tryModels tries each model on the past of v.
func (q *question) tryModels(ctx context.Context, v *view) (*SeriesTrials, error) {
	out := &SeriesTrials{ID: v.Name, Trials: []*Trial{}, source: v.History}
	if out.failure = tooLittle(v); out.failure != nil {
		return out, nil
	}
	opts := v.options
	opts.Memory = forecast.NewMemory()
	most := q.testableSteps(v)
	if q.Horizon != "" && v.steps > most {
		out.failure = fmt.Errorf("the series is too short: %d values, of which at most %d can be kept back, and the horizon is %d", len(v.Values), most, v.steps)
		return out, nil
	}
	if v.usage != nil {
		if t := v.usage.latent(v.Values, opts); t.err == nil {
			out.Censoring = q.censoring(v, t)
		}
	}
	any := false
	for _, name := range q.Models {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		t := q.try(v, opts, name, min(v.steps, most), q.Origins, nil)
		any = any || t != nil
		out.tried = append(out.tried, t)
	}
	if !any {
		out.failure = fmt.Errorf("the series is too short for every model: %d values", len(v.Values))
	}
	return out, nil
}

// reconcileModels reconciles the trials of each model.
func (q *question) reconcileModels(all []*SeriesTrials) error {
	for k := range q.Models {
		tests := make([]*trial, len(all))
		for i, t := range all {
			if k < len(t.tried) {
				tests[i] = t.tried[k]
			}
		}
		if err := q.reconcileTrials(tests); err != nil {
			return err
		}
	}
	return nil
}

func (t *SeriesTrials) list() {
	for _, one := range t.tried {
		t.ByModel = append(t.ByModel, one.document())
		if one != nil {
			t.Trials = append(t.Trials, &one.Trial)
		}
	}
}

// scoreOf returns the measures of model k, each the mean over the series in list.
func scoreOf(name string, list []SeriesTrials, k int, levels []float64) ModelScore {
	out := ModelScore{Model: name}
	over := func(f func(t *Trial) capcli.Figure) capcli.Figure {
		sum, n := 0.0, 0
		for _, s := range list {
			if s.ByModel[k] == nil {
				continue
			}
			if v := float64(f(s.ByModel[k])); !math.IsNaN(v) && !math.IsInf(v, 0) {
				sum, n = sum+v, n+1
			}
		}
		return capcli.Figure(sum / float64(n))
	}
	for _, s := range list {
		if s.ByModel[k] != nil {
			out.Series++
		}
	}
	out.Error = over(func(t *Trial) capcli.Figure { return t.Error })
	out.OWA = over(func(t *Trial) capcli.Figure { return t.OWA })
	out.MASE = over(func(t *Trial) capcli.Figure { return t.MASE })
	out.SMAPE = over(func(t *Trial) capcli.Figure { return t.SMAPE })
	out.CRPS = over(func(t *Trial) capcli.Figure { return t.CRPS })
	for i, level := range levels {
		out.Coverage = append(out.Coverage, Coverage{
			level, over(func(t *Trial) capcli.Figure { return t.Coverage[i].Held }), over(func(t *Trial) capcli.Figure { return t.Coverage[i].MSIS }),
		})
	}
	return out
}
