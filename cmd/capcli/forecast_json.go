package main

import (
	"strconv"

	"capcli"
)

// forecastJSON is the JSON of forecast. Figures that are not known are null.
type forecastJSON struct {
	Schema     string            `json:"schema"`
	Input      []string          `json:"input"`
	Measure    string            `json:"measure,omitempty"`
	Unit       string            `json:"unit,omitempty"`
	Peak       bool              `json:"peak"`
	Step       string            `json:"step"`
	Seed       uint64            `json:"seed"`
	Levels     []float64         `json:"levels"`
	Cap        any               `json:"cap"`
	Past       any               `json:"past_capacity"`
	Series     []seriesJSON      `json:"series"`
	Events     []eventJSON       `json:"events,omitempty"`
	Left       []string          `json:"not_forecast"`
	Warnings   []string          `json:"warnings"`
	Tried      []calibrationJSON `json:"periods_tried,omitempty"`
	Reconciled *reconciledJSON   `json:"reconciled"`
	Lines      map[string]figure `json:"line_quantiles"`
}

// figure is a number that may not be known.
type figure = capcli.Figure

type seriesJSON struct {
	ID         string           `json:"unique_id"`
	Model      string           `json:"model"`
	Method     string           `json:"method"`
	Parameters []paramJSON      `json:"parameters"`
	LogLik     figure           `json:"loglik"`
	AIC        figure           `json:"aic"`
	AICc       figure           `json:"aicc"`
	BIC        figure           `json:"bic"`
	Sigma2     figure           `json:"sigma2"`
	History    historyJSON      `json:"history"`
	Censoring  *censoringJSON   `json:"censoring"`
	Backtest   *trialJSON       `json:"backtest"`
	Backwhy    string           `json:"backtest_why,omitempty"`
	Periods    []map[string]any `json:"periods,omitempty"`
	DS         []string         `json:"ds"`
	Mean       []float64        `json:"mean"`
	Intervals  []intervalJSON   `json:"intervals"`
	Lines      lineFigures      `json:"lines"`
	Warnings   []string         `json:"warnings"`

	Changepoints []moveJSON `json:"changepoints"` // null where nobody looked
	Anomalies    []oddJSON  `json:"anomalies"`
	MoreChanges  int        `json:"more_changes,omitempty"` // earlier ones that are not listed
}

type paramJSON struct {
	Name  string `json:"name"`
	Value figure `json:"value"`
}

type historyJSON struct {
	Values  int    `json:"values"`
	Missing int    `json:"missing"`
	Filled  int    `json:"filled"`
	Start   string `json:"start"`
	End     string `json:"end"`
	Now     figure `json:"now"`
	Season  int    `json:"season"`
}

type intervalJSON struct {
	Level float64   `json:"level"`
	Lo    []float64 `json:"lo"`
	Hi    []float64 `json:"hi"`
}

type lineFigures struct {
	Conservative []float64 `json:"conservative"`
	Expected     []float64 `json:"expected"`
	Aggressive   []float64 `json:"aggressive"`
}

type trialJSON struct {
	Model    string         `json:"model"`
	Origins  int            `json:"origins"`
	Failed   int            `json:"failed"`
	Steps    int            `json:"steps"`
	Scored   int            `json:"scored_steps"`
	Hidden   int            `json:"steps_not_known"`
	Error    figure         `json:"error_over_seasonal_naive"`
	OWA      figure         `json:"owa"`
	MASE     figure         `json:"mase"`
	SMAPE    figure         `json:"smape"`
	MAE      figure         `json:"mae"`
	RMSE     figure         `json:"rmse"`
	Bias     figure         `json:"bias"`
	CRPS     figure         `json:"crps"`
	Coverage []coverageJSON `json:"coverage"`
}

type coverageJSON struct {
	Level float64 `json:"level"`
	Held  figure  `json:"held"`
	MSIS  figure  `json:"msis"`
}

func (t *trial) json(levels []float64) *trialJSON {
	if t == nil {
		return nil
	}
	out := &trialJSON{
		Model: t.model, Origins: t.origins, Failed: t.failed, Steps: t.steps, Scored: t.scored, Hidden: t.hidden, Error: figure(t.error), OWA: figure(t.owa),
		MASE: figure(t.MASE), SMAPE: figure(t.SMAPE), MAE: figure(t.MAE), RMSE: figure(t.RMSE), Bias: figure(t.Bias), CRPS: figure(t.CRPS),
	}
	for k, level := range levels {
		out.Coverage = append(out.Coverage, coverageJSON{level, figure(t.coverage[k]), figure(t.MSIS[k])})
	}
	return out
}

func (r *forecastResult) json() *forecastJSON {
	out := &forecastJSON{
		Schema: "capcli/forecast/v1", Input: r.hs.Inputs, Measure: r.hs.Measure, Unit: r.hs.Unit, Peak: r.hs.Peak, Step: r.hs.stepJSON(),
		Seed: r.o.seed, Levels: r.o.level, Series: []seriesJSON{}, Left: list(r.hs.left), Warnings: list(r.hs.Notes),
		Lines: map[string]figure{}, Events: r.eventsJSON(),
	}
	for k, name := range lineNames {
		out.Lines[name] = figure(lineQuantiles[k])
	}
	out.Cap, out.Past = r.o.history.censor.bound.json(), r.o.history.censor.limit.json()
	out.Reconciled, out.Tried = r.agreed.json(), calibrationsJSON(r.hs.tried)
	for _, f := range r.list {
		out.Series = append(out.Series, f.json(r.o.level))
		out.Series[len(out.Series)-1].Periods = f.periodsJSON(r.o)
	}
	return out
}

func (hs *histories) stepJSON() string {
	if !hs.Clock {
		return "1"
	}
	return hs.Step.String()
}

func (f *forecasted) json(levels []float64) seriesJSON {
	n := len(f.h.Values)
	out := seriesJSON{
		ID: f.h.Name, Model: f.model, Method: f.info.Method, Parameters: []paramJSON{},
		LogLik: figure(f.info.LogLik), AIC: figure(f.info.AIC), AICc: figure(f.info.AICc), BIC: figure(f.info.BIC), Sigma2: figure(f.info.Sigma2),
		History:   historyJSON{n, f.h.Missing(), f.h.Filled, f.h.StampText(0), f.h.StampText(n - 1), figure(f.now()), f.season},
		Censoring: f.censoring(), Backtest: f.test.json(levels), Mean: f.mean, Warnings: list(f.warnings),
		Lines: lineFigures{f.lines[0], f.lines[1], f.lines[2]},
	}
	if f.test == nil {
		out.Backwhy = "the history is too short to be tried on its past"
	}
	out.Changepoints, out.Anomalies, out.MoreChanges = f.changesJSON()
	for _, p := range f.info.Params {
		out.Parameters = append(out.Parameters, paramJSON{p.Name, figure(p.Value)})
	}
	for i := range f.mean {
		out.DS = append(out.DS, f.h.StampText(n+i))
	}
	for _, iv := range f.ranges {
		out.Intervals = append(out.Intervals, intervalJSON{iv.Level, iv.Lo, iv.Hi})
	}
	return out
}

// levelText gives a level as people write it.
func levelText(level float64) string { return strconv.FormatFloat(level, 'f', -1, 64) }
