package forecast

import (
	"fmt"
	"math"
	"slices"

	"capcli"
)

// Conformal wraps any model and sets its intervals by how far it was off in a
// backtest on the series' own past (split conformal prediction: Vovk, Gammerman &
// Shafer 2005; over rolling origins: Stankeviciute, Alaa & van der Schaar 2021).
// Errors are divided by the model's own spread at their step ahead, so that the
// intervals keep its shape, and one factor for each level fits all steps. Where
// the past is too short to tell, the factor stays near 1.
type Conformal struct {
	Model   Model
	Horizon int // of the backtest; 0: 8
	Origins int // 0: as many as half the series allows, up to 10
}

var _ Model = Conformal{}

// Fit fits the model, and backtests it.
func (c Conformal) Fit(y capcli.Series) (Fitted, error) {
	inner, err := c.Model.Fit(y)
	if err != nil {
		return nil, err
	}
	h := c.Horizon
	if h < 1 {
		h = 8
	}
	n := len(y.Values)
	h = max(1, min(h, n/4))
	origins := c.Origins
	if origins < 1 {
		origins = max(1, min(10, n/2/h))
	}
	f := &conformed{inner: inner, info: inner.Info()}
	tests, err := Backtest(c.Model, y, 1, BacktestOptions{Horizon: h, Origins: origins, Least: n / 3, Levels: []float64{spreadLevel}})
	if err != nil {
		f.info.Notes = append(slices.Clone(f.info.Notes), "too short to calibrate the intervals")
		return f, nil //nolint:nilerr // the intervals stay the model's own, and the note says so
	}
	for _, r := range tests {
		if r.Err == nil {
			f.cal.add(r.Actual, r.Forecast.Mean, halfWidth(r.Forecast.Intervals[0]))
		}
	}
	f.info.Notes = append(slices.Clone(f.info.Notes), fmt.Sprintf("intervals calibrated on %d backtest errors", len(f.cal.ratios)))
	return f, nil
}

// spreadLevel is the level whose half width is one standard deviation of a normal.
const spreadLevel = 68.26894921370859

// halfWidth is half of the width of an interval at each step.
func halfWidth(iv Interval) []float64 {
	out := make([]float64, len(iv.Lo))
	for i := range out {
		out[i] = iv.Hi[i]/2 - iv.Lo[i]/2
	}
	return out
}

// calibration is what a backtest said of a model's spread.
type calibration struct {
	ratios  []float64 // |error| over spread; sorted on use
	origins int
}

// add takes the errors of one origin.
func (c *calibration) add(actual, mean, spread []float64) {
	before := len(c.ratios)
	for i, y := range actual {
		if r := math.Abs(y-mean[i]) / spread[i]; known(r) {
			c.ratios = append(c.ratios, r)
		} else if y == mean[i] {
			c.ratios = append(c.ratios, 0)
		}
	}
	if len(c.ratios) > before {
		c.origins++
	}
}

// factor is how many spreads the interval of a level goes to each side. The
// conformal quantile is pulled towards a normal one, widened by prior, as much as
// the backtest is short: the errors of one origin are nearly one observation.
func (c *calibration) factor(level, prior float64) float64 {
	normal := z(level) * prior
	if len(c.ratios) == 0 {
		return normal
	}
	r := slices.Clone(c.ratios)
	slices.Sort(r)
	at := level / 100 * float64(len(r)+1)
	q := r[min(len(r)-1, max(0, int(math.Ceil(at))-1))]
	if q <= 0 {
		return normal
	}
	// Beyond four times either way it is an accident of a short past.
	pull := math.Max(-math.Log(4), math.Min(math.Log(4), math.Log(q/normal)))
	trust := float64(c.origins) / (float64(c.origins) + 6)
	return normal * math.Exp(trust*pull)
}

// conformed is a fitted model with calibrated intervals.
type conformed struct {
	inner Fitted
	cal   calibration
	info  Info
}

// Forecast gives the model's means, and calibrated intervals.
func (c *conformed) Forecast(h int, levels ...float64) (Forecast, error) {
	if err := asked(h, levels); err != nil {
		return Forecast{}, err
	}
	f, err := c.inner.Forecast(h, spreadLevel)
	if err != nil {
		return f, err
	}
	own := f.Intervals[0]
	f.Intervals = make([]Interval, len(levels))
	for k, level := range levels {
		q := c.cal.factor(level, 1)
		iv := Interval{Level: level, Lo: make([]float64, h), Hi: make([]float64, h)}
		for i, m := range f.Mean {
			// Each side keeps its share of the width.
			iv.Lo[i] = m - q*math.Max(0, m-own.Lo[i])
			iv.Hi[i] = m + q*math.Max(0, own.Hi[i]-m)
		}
		f.Intervals[k] = iv
	}
	f.bound()
	return f, nil
}

// Path stretches a path of the model as the intervals are.
func (c *conformed) Path(h int, rng Noise) []float64 {
	out := c.inner.Path(h, rng)
	f, err := c.inner.Forecast(max(1, h))
	if err != nil {
		return out
	}
	q := c.cal.factor(80, 1) / z(80)
	for i := range out {
		out[i] = f.Mean[i] + q*(out[i]-f.Mean[i])
	}
	return out
}

// Info says what was fitted.
func (c *conformed) Info() Info { return c.info }
