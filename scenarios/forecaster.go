package scenarios

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/model"
	"capcli/simulate/serving/scale"
)

// Limits on what a Forecaster is fitted to and how often.
const (
	fitSeasons  = 4      // longest seasons of history
	fitLeast    = 64     // or values, where that is more
	fitMost     = 10_000 // values
	slowSeasons = 14     // shortest seasons between two fits of a slow model
	fitsKept    = 8      // fits that are remembered, for runs side by side
	recentMost  = 12     // values by whose errors an older fit is corrected
)

// quickModels can be fitted anew each time; slowModels take seconds for a fit. All others are fitted once
// in each shortest season.
var (
	quickModels = []string{"naive", "snaive", "drift", "mean", "naive2", "seasonal-ar", "croston", "sba", "tsb"}
	slowModels  = []string{"tbats", "dhr", "prophet"}
)

// NewForecaster returns a model of package forecast for scalers: any name of forecast.Models, with the
// lengths of its seasons in values, shortest first. It fails for an unknown model and for wrong seasons.
//
// A model is fitted to the last four longest seasons only. One that is not quick is fitted once in each
// shortest season, at a number of values that is a multiple of it (before the first at powers of two); in
// between its forecast goes on from
// the last fit, moved by the mean error that it has made on the latest values since (an intercept
// correction: Clements and Hendry, "Intercept Corrections and Structural Change", 1996). What is foreseen
// depends on the values alone, so runs side by side can share a Forecaster. No forecast is below 0.
func NewForecaster(name string, seasons []int, seed capcli.Seed) (scale.Forecaster, error) {
	maker, err := forecast.Models.Get(name)
	if err != nil {
		return nil, err
	}
	for i, s := range seasons {
		if s < 2 || i > 0 && s <= seasons[i-1] {
			return nil, &capcli.RequestError{Field: "seasons", Text: fmt.Sprintf("wants lengths of at least 2 values, shortest first; found %v", seasons)}
		}
	}
	f := &forecaster{
		model:   maker(forecast.Options{Seasons: slices.Clone(seasons), Seed: seed, Quick: true}),
		history: fitLeast, every: 1,
	}
	if len(seasons) > 0 {
		f.history = min(max(fitLeast, fitSeasons*seasons[len(seasons)-1]), fitMost)
	}
	shortest := fitLeast / fitSeasons
	if len(seasons) > 0 {
		shortest = seasons[0]
	}
	switch {
	case slices.Contains(slowModels, name):
		f.every = slowSeasons * shortest
	case !slices.Contains(quickModels, name):
		f.every = shortest
	}
	return f, nil
}

// forecaster implements scale.Forecaster.
type forecaster struct {
	model          model.Model // fitting does not change it
	history, every int         // in values

	mu   sync.Mutex
	kept []keptFit // latest first
}

// keptFit is a fit and the values it was made of.
type keptFit struct {
	y   []float64
	fit model.Fitted
	err error
}

// Foresee implements scale.Forecaster.
func (f *forecaster) Foresee(y []float64, h int) ([]float64, error) {
	if len(y) == 0 {
		return nil, model.ErrTooShort
	}
	end := len(y) - len(y)%f.every
	if end == 0 {
		end = 1 << (bits.Len(uint(len(y))) - 1) // the first fits do not wait for a whole season
	}
	fit, err := f.fitTo(y[max(0, end-f.history):end])
	if err != nil {
		return nil, err
	}
	since := len(y) - end
	all, err := fit.Forecast(since + h)
	if err != nil {
		return nil, err
	}
	off := 0.0
	if seen := min(since, recentMost); seen > 0 {
		for i := since - seen; i < since; i++ {
			off += (y[end+i] - all.Mean[i]) / float64(seen)
		}
	}
	out := make([]float64, h)
	for i := range out {
		v := all.Mean[since+i] + off
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("the model foresees %v", v)
		}
		out[i] = max(0, v)
	}
	return out, nil
}

// fitTo returns the model fitted to y. It remembers the last fits.
func (f *forecaster) fitTo(y []float64) (model.Fitted, error) {
	f.mu.Lock()
	for _, k := range f.kept {
		if slices.Equal(k.y, y) {
			f.mu.Unlock()
			return k.fit, k.err
		}
	}
	f.mu.Unlock()
	k := keptFit{y: slices.Clone(y)}
	k.fit, k.err = f.model.Fit(capcli.Series{Name: "load", Start: capcli.NoTime, Step: 1, Values: k.y})
	if f.every > 1 {
		f.mu.Lock()
		f.kept = append([]keptFit{k}, f.kept[:min(len(f.kept), fitsKept-1)]...)
		f.mu.Unlock()
	}
	return k.fit, k.err
}
