package forecast

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"capcli/forecast/model"
)

// autoFitted is the weighted combination, with calibrated intervals, within bounds.
type autoFitted struct {
	pool    combined // the fitted members, with weights averaged over the steps ahead
	weights stepWeights
	cal     calibration
	prior   float64   // factor that widens intervals before evidence: see widening
	tails   tails     // of a series without season
	y       []float64 // the values that the model was fitted to
	period  int       // length of the shortest season, or 1
	reach   Reach
	low     float64 // least value of a forecast; -Inf is none
	info    model.Info

	mu   sync.Mutex
	last *blended // the last result of blend
}

// blended is the combined forecast of some steps ahead. It is read only but for stretch.
type blended struct {
	own          []model.Forecast // of each member, with its interval of spreadLevel
	mean, spread []float64        // of the combination, by step
	stretch      [][]float64      // of the paths of each member, by step; nil until a path is drawn
}

// describe sets the Info of the fit.
func (f *autoFitted) describe(y []float64, members []string, gaps int) {
	f.info = model.Info{
		Method: "Auto: " + strings.Join(members, ", "), LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(), Sigma2: math.NaN(),
	}
	f.pool.mean = true
	one := combined{mean: true}
	for k, w := range f.weights[0] { // fitted values are one-step forecasts
		if w > 0 {
			one.members, one.weights = append(one.members, f.pool.members[k]), append(one.weights, w)
		}
	}
	f.info.Fitted = one.fitted(len(y))
	if gaps > 0 {
		f.info.Notes = append(f.info.Notes, fmt.Sprintf("%d missing values filled by straight lines", gaps))
	}
}

// blend returns the combined mean and standard deviation of each of h steps ahead. It keeps the
// result of the last call, since each drawn path needs it.
func (f *autoFitted) blend(h int) (*blended, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != nil && len(f.last.mean) == h {
		return f.last, nil
	}
	out := &blended{own: make([]model.Forecast, len(f.pool.members))}
	var err error
	for i, m := range f.pool.members {
		if out.own[i], err = m.Forecast(h, spreadLevel); err != nil {
			return nil, err
		}
	}
	out.mean, out.spread = f.weights.blend(out.own)
	fan(out.spread, len(f.y))
	if f.cal.held {
		out.spread = hold(out.spread, f.y, f.period)
	}
	f.last = out
	return out, nil
}

// Forecast returns the combined means with calibrated intervals.
func (f *autoFitted) Forecast(h int, levels ...float64) (model.Forecast, error) {
	if err := model.CheckRequest(h, levels); err != nil {
		return model.Forecast{}, err
	}
	all, err := f.blend(h)
	if err != nil {
		return model.Forecast{}, err
	}
	mean, spread := all.mean, all.spread
	out := model.Forecast{Mean: make([]float64, h), Intervals: make([]model.Interval, len(levels))}
	for i, m := range mean {
		out.Mean[i] = math.Max(f.low, f.reach.Clamp(i+1, m))
	}
	for k, level := range levels {
		q := f.cal.factor(level, f.half(level)*f.prior)
		iv := model.Interval{Level: level, Lo: make([]float64, h), Hi: make([]float64, h)}
		for i, m := range out.Mean {
			iv.Lo[i] = math.Max(f.low, f.reach.Clamp(i+1, m-q*spread[i]))
			iv.Hi[i] = f.reach.Clamp(i+1, m+q*spread[i])
		}
		out.Intervals[k] = iv
	}
	out.Bound()
	return out, nil
}

// half returns the half width of the range of a level before any backtest, in spreads. Tails count
// where there was a backtest.
func (f *autoFitted) half(level float64) float64 {
	if f.period > 1 || len(f.cal.ratios) == 0 {
		return model.ZScore(level)
	}
	return f.tails.half(level)
}

// stretched returns the result of blend with the factors by which paths are stretched to the width of
// the calibrated intervals. They have the variance of the errors, whatever their tails.
func (f *autoFitted) stretched(h int) (*blended, error) {
	all, err := f.blend(h)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if all.stretch != nil {
		return all, nil
	}
	stretch := f.cal.factor(80, model.ZScore(80)*f.prior) / model.ZScore(80)
	all.stretch = make([][]float64, len(all.own))
	for k, own := range all.own {
		all.stretch[k] = slices.Repeat([]float64{stretch}, h)
		for i, half := range halfWidth(own.Intervals[0]) {
			if half > 0 {
				all.stretch[k][i] *= all.spread[i] / half
			}
		}
	}
	return all, nil
}

// Path draws a member by its weight and returns a path of it, shifted to the combined means and
// stretched to the width of the calibrated intervals.
func (f *autoFitted) Path(h int, rng model.Noise) []float64 {
	if h < 1 {
		return nil
	}
	at := f.pool.draw(rng)
	all, err := f.stretched(h)
	if err != nil {
		return nil
	}
	own, mean, by := all.own[at].Mean, all.mean, all.stretch[at]
	out := f.pool.members[at].Path(h, rng)
	for i := range out {
		out[i] = mean[i] + by[i]*(out[i]-own[i])
	}
	f.reach.Path(out)
	for i, v := range out {
		out[i] = math.Max(f.low, v)
	}
	return out
}

// Info returns the members with their weights, and notes on gaps and origins.
func (f *autoFitted) Info() model.Info { return f.info }
