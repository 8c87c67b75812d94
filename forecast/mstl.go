package forecast

import (
	"fmt"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// decomposed removes the seasons by MSTL, forecasts the rest with another model without season,
// and adds the last cycle of each season again (Hyndman & Athanasopoulos, "Forecasting:
// Principles and Practice", section 5.7). The intervals are those of the rest: the season is
// taken for known.
type decomposed struct {
	seasons []int
	rest    string // name in Models of the model of the rest
	seed    capcli.Seed
	quick   bool
}

// Fit decomposes y and fits the model of the rest. It fits that model to y itself where y has no
// more than two cycles of any season.
func (d decomposed) Fit(y capcli.Series) (model.Fitted, error) {
	made, err := Models.Get(d.rest)
	if err != nil {
		return nil, err
	}
	rest := made(Options{Seed: d.seed, Quick: d.quick})
	if len(decompose.UsableSeasons(len(y.Values), d.seasons)) == 0 {
		return rest.Fit(y)
	}
	parts, err := decompose.MSTL(y.Values, d.seasons)
	if err != nil {
		return nil, err
	}
	y.Values = parts.Adjusted()
	inner, err := rest.Fit(y)
	if err != nil {
		return nil, fmt.Errorf("mstl-%s: %w", d.rest, err)
	}
	info := inner.Info()
	info.Method = fmt.Sprintf("MSTL%v + %s", parts.Periods, info.Method)
	fitted := make([]float64, len(info.Fitted))
	for i, v := range info.Fitted {
		for _, s := range parts.Seasons {
			v += s[i]
		}
		fitted[i] = v
	}
	info.Fitted = fitted
	return &reseasoned{inner: inner, parts: parts, info: info}, nil
}

// reseasoned is a fit to the seasonally adjusted series, with the seasons added again.
type reseasoned struct {
	inner model.Fitted
	parts decompose.Parts
	info  model.Info
}

// Forecast adds the last cycle of each season to the means and intervals of the rest.
func (r *reseasoned) Forecast(h int, levels ...float64) (model.Forecast, error) {
	f, err := r.inner.Forecast(h, levels...)
	if err != nil {
		return f, err
	}
	for i := range h {
		s := r.parts.Season(i)
		f.Mean[i] += s
		for _, iv := range f.Intervals {
			iv.Lo[i] += s
			iv.Hi[i] += s
		}
	}
	f.Bound()
	return f, nil
}

// Path adds the last cycle of each season to a path of the rest.
func (r *reseasoned) Path(h int, rng model.Noise) []float64 {
	out := r.inner.Path(h, rng)
	for i := range out {
		out[i] += r.parts.Season(i)
	}
	return out
}

// Info returns the description of the fit with the seasons.
func (r *reseasoned) Info() model.Info { return r.info }
