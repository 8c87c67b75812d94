package forecast

import (
	"capcli"
	"capcli/forecast/arima"
	"capcli/forecast/croston"
	"capcli/forecast/mixture"
	"capcli/forecast/model"
	"capcli/forecast/prophet"
	"capcli/forecast/simple"
	"capcli/forecast/smoothing"
	"capcli/forecast/tbats"
	"capcli/forecast/theta"
)

// Options are the arguments with which a model is made.
type Options struct {
	Seasons []int       // lengths of the seasons in steps, shortest first; nil is no season
	Seed    capcli.Seed // for models whose intervals are simulated
	Memory  *Memory     // stored fits of Auto's members to one series; nil stores none
	Quick   bool        // fewer starting points in searches for parameters, as for Auto's seasonal members
}

// Period returns the length of the shortest season in steps, or 1 without season.
func (o Options) Period() int {
	if len(o.Seasons) == 0 {
		return 1
	}
	return o.Seasons[0]
}

// Models is the catalogue of forecasting models by name.
var Models = capcli.Catalog[func(o Options) model.Model]{Kind: "model"}

func init() {
	for _, m := range []capcli.Entry[func(o Options) model.Model]{
		{Name: "naive", Doc: "the last value: a random walk", Value: func(Options) model.Model { return simple.Walk{Name: "naive", Lag: 1} }},
		{Name: "snaive", Doc: "the value of a season ago", Value: func(o Options) model.Model { return simple.SeasonalWalk{Period: o.Period()} }},
		{Name: "drift", Doc: "the last value and the mean change: a random walk with drift", Value: func(Options) model.Model { return simple.Walk{Name: "drift", Lag: 1, Drift: true} }},
		{Name: "mean", Doc: "the mean of all values: independent and alike", Value: func(Options) model.Model { return simple.Mean{} }},
		{Name: "naive2", Doc: "M4's benchmark: naive on the seasonally adjusted series", Value: func(o Options) model.Model { return simple.Naive2{Period: o.Period()} }},
		{Name: "seasonal-ar", Doc: "autoregression on the last values and on those of a season ago, by ridge", Value: func(o Options) model.Model { return simple.SeasonalAR{Seasons: o.Seasons} }},
		{Name: "ses", Doc: "simple exponential smoothing", Value: func(o Options) model.Model { return smoothing.ETS{Form: "ANN", Seed: o.Seed} }},
		{Name: "holt", Doc: "exponential smoothing with linear trend", Value: func(o Options) model.Model { return smoothing.ETS{Form: "AAN", Seed: o.Seed, Quick: o.Quick} }},
		{Name: "damped", Doc: "exponential smoothing with damped trend", Value: func(o Options) model.Model { return smoothing.ETS{Form: "AAdN", Seed: o.Seed, Quick: o.Quick} }},
		{Name: "hw", Doc: "Holt-Winters by least squares", Value: func(o Options) model.Model { return smoothing.HoltWinters{Period: o.Period()} }},
		{Name: "ets", Doc: "exponential smoothing, form by AICc", Value: func(o Options) model.Model { return smoothing.ETS{Period: o.Period(), Seed: o.Seed, Quick: o.Quick} }},
		{Name: "ets-damped", Doc: "exponential smoothing, form by AICc, no undamped trend", Value: func(o Options) model.Model {
			return smoothing.ETS{Period: o.Period(), Seed: o.Seed, DampedOnly: true, Quick: o.Quick}
		}},
		{Name: "ces", Doc: "complex exponential smoothing, season by AICc", Value: func(o Options) model.Model { return smoothing.CES{Period: o.Period()} }},
		{Name: "tbats", Doc: "Box-Cox, ARMA errors, trend and trigonometric seasons", Value: func(o Options) model.Model { return tbats.TBATS{Seasons: o.Seasons} }},
		{Name: "theta", Doc: "half the trend and exponential smoothing: the winner of M3", Value: func(o Options) model.Model { return theta.Theta{Period: o.Period()} }},
		{Name: "dot", Doc: "dynamic optimised Theta: the second line's weight and the trend are learnt on the way", Value: func(o Options) model.Model { return theta.Dynamic{Period: o.Period()} }},
		{Name: "arima", Doc: "seasonal ARIMA, its order chosen by AICc (Hyndman-Khandakar)", Value: func(o Options) model.Model { return arima.AutoARIMA{Period: o.Period()} }},
		{Name: "dhr", Doc: "dynamic harmonic regression: Fourier terms for every season, ARIMA errors", Value: func(o Options) model.Model {
			m := arima.DHR{}
			for _, p := range o.Seasons {
				m.Seasons = append(m.Seasons, float64(p))
			}
			return m
		}},
		{Name: "croston", Doc: "intermittent demand: size and interval smoothed apart (Croston 1972)", Value: func(Options) model.Model { return croston.Model{Name: "Croston", Alpha: 0.1, Beta: 0.1} }},
		{Name: "sba", Doc: "Croston with the bias taken out (Syntetos & Boylan 2005)", Value: func(Options) model.Model {
			return croston.Model{Name: "SBA", Alpha: 0.1, Beta: 0.1, Unbiased: true}
		}},
		{Name: "tsb", Doc: "intermittent demand whose chance fades (Teunter, Syntetos & Babai 2011)", Value: func(Options) model.Model {
			return croston.Model{Name: "TSB", Alpha: 0.1, Beta: 0.1, Fading: true}
		}},
		{Name: "mixture", Doc: "several memories of the level, weighed by what deciding by them would have cost: for commitments", Value: func(o Options) model.Model {
			return mixture.Model{Seasons: o.Seasons, Seed: o.Seed}
		}},
		{Name: "prophet", Doc: "a trend of straight pieces, Fourier seasons and events, as Prophet", Value: func(o Options) model.Model { return prophet.Piecewise{Seasons: o.Seasons} }},
		{Name: "stlf", Doc: "the first season by STL, the rest by ets", Value: func(o Options) model.Model {
			return decomposed{seasons: o.Seasons[:min(1, len(o.Seasons))], rest: "ets", seed: o.Seed, quick: o.Quick}
		}},
		{Name: "thief", Doc: "steps, days and weeks (or months, quarters and years) each forecast, and reconciled over time", Value: func(o Options) model.Model { return thief{o} }},
		{Name: "auto", Doc: "the best of the others by their errors on the series' own past, combined", Value: func(o Options) model.Model { return Auto{Options: o} }},
	} {
		Models.Add(m.Name, m.Doc, m.Value)
	}
	for _, rest := range []string{"ets", "ets-damped", "arima", "dot", "naive"} {
		Models.Add("mstl-"+rest, "every season by MSTL, the rest by "+rest, func(o Options) model.Model {
			return decomposed{seasons: o.Seasons, rest: rest, seed: o.Seed, quick: o.Quick}
		})
	}
}
