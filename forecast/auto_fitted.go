package forecast

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"capcli"
	"capcli/forecast/decompose"
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

// Constants of plainErrors and hold, tuned on ends of training data only.
const (
	plainSeasons = 7    // number of seasons in a plain forecast
	plainValues  = 30   // number of values in it where there is no season
	plainLeast   = 100  // least number of its errors
	plainShare   = 12   // errors count that are at most the season over this from the time of the season
	heldAt       = 1.05 // largest spread, over the plain errors
	heldMost     = 1.6  // most that held 95 % ranges may miss by at the origins, over their half widths
)

// plainErrors returns, for each of h steps after y, the root mean square of the errors that a plain
// forecast made in the past as far ahead and about that time of the season: the mean of the last
// values at the same time of the season, or of the last values where period is below 2. It is +Inf
// where fewer than plainLeast errors are known.
func plainErrors(y []float64, period, h int) []float64 {
	m, last, n := max(1, period), plainSeasons, len(y)
	if m == 1 {
		last = plainValues
	}
	means := make([]float64, n)
	for t := (last - 1) * m; t < n; t++ {
		for j := range last {
			means[t] += y[t-j*m] / float64(last)
		}
	}
	out, squares, counts, before := make([]float64, h), make([]float64, m), make([]int, m), 0
	for i := range out {
		back := (i + m) / m * m // the whole seasons that hold i+1 steps
		if back != before && i%max(1, i/day) == 0 || before == 0 {
			clear(squares)
			clear(counts)
			for t := (last-1)*m + back; t < n; t++ {
				e := y[t] - means[t-back]
				squares[t%m] += e * e
				counts[t%m]++
			}
			before = back
		}
		sum, count, all := 0.0, 0, n-(last-1)*m-before
		for d := -m / plainShare; d <= m/plainShare; d++ {
			at := (n + i + d + m) % m
			sum, count = sum+squares[at], count+counts[at]
		}
		out[i] = math.Inf(1)
		if all >= plainLeast && count >= plainLeast/10 {
			out[i] = math.Sqrt(sum / float64(count))
		}
	}
	return out
}

// hold returns spread, at most heldAt times the errors of a plain forecast from the end of y. Models
// that take a level for a walk have ranges that grow with the steps ahead, also where demand returns to
// its level; then the whole past tells more of far steps than errors after a few origins do.
func hold(spread, y []float64, period int) []float64 {
	out := make([]float64, len(spread))
	for i, e := range plainErrors(y, period, len(spread)) {
		out[i] = spread[i]
		if e > 0 {
			out[i] = math.Min(spread[i], heldAt*e)
		}
	}
	return out
}

// bearsHolding reports whether errors over held spreads were about as large as held ranges have it:
// where they were much larger, the level moves.
func (c *calibration) bearsHolding() bool {
	return len(c.ratios) > 0 && model.ConformalQuantile(slices.Clone(c.ratios), 0.95) <= heldMost*model.ZScore(95)
}

// firstSeason returns the length of the shortest season that n values show, or 1.
func firstSeason(n int, seasons []int) int {
	if s := decompose.UsableSeasons(n, seasons); len(s) > 0 {
		return s[0]
	}
	return 1
}

// Constants of tails and of calibration.narrowing, tuned on ends of training data only.
const (
	tailsFreedom = 4    // degrees of freedom of the errors of a series without season
	tailsPrior   = 20.0 // number of one-step errors that weigh as much as that law
	tailsLeast   = 0.5  // least half width, over that of normal errors
	tailsCount   = 5    // least number of one-step errors

	mostlyStill = 0.5 // share of steps without a change from which moves are rare
)

// tails holds the one-step errors of a fit to a series without season, by which the half widths of
// its ranges are set before a backtest. Errors of such series have heavier tails than normal ones:
// for the same variance, 80 % of them lie closer to zero. Series with a season showed no such gain.
type tails struct {
	sizes []float64 // absolute errors over their root mean square, in increasing order
}

// tailsOf returns the tails of the one-step errors of the given fitted values.
func tailsOf(y, fitted []float64) tails {
	var sizes []float64
	sum := 0.0
	for _, e := range lastErrors(y, fitted, len(y)) {
		if model.IsFinite(e) {
			sizes = append(sizes, math.Abs(e))
			sum += e * e
		}
	}
	rms := math.Sqrt(sum / float64(len(sizes)))
	if len(sizes) < tailsCount || !(rms > 0) || !model.IsFinite(rms) {
		return tails{}
	}
	for i := range sizes {
		sizes[i] /= rms
	}
	slices.Sort(sizes)
	return tails{sizes}
}

// half returns the half width of the range of a level, in standard deviations. It is the geometric
// mean of two quantiles: that of Student's law with tailsFreedom degrees of freedom and variance 1,
// and that of the one-step errors, raised by their standard error, which has the more weight the
// more errors there are. Neither counts for more than the normal quantile: tails beyond it are left
// to the backtest.
func (t tails) half(level float64) float64 {
	normal := model.ZScore(level)
	law := math.Min(normal, model.TScore(level, tailsFreedom)*math.Sqrt((tailsFreedom-2.0)/tailsFreedom))
	n := float64(len(t.sizes))
	if n == 0 {
		return law
	}
	rank := int(math.Ceil(level / 100 * (n + 1)))
	own := t.sizes[max(1, min(len(t.sizes), rank))-1] * (1 + 1/math.Sqrt(n))
	own = math.Max(tailsLeast*normal, math.Min(normal, own))
	share := n / (n + tailsPrior)
	return math.Pow(law, 1-share) * math.Pow(own, share)
}

// Memory keeps the fits of Auto's members to the beginnings of one series. Auto backtests its
// members from starts in the past, and a backtest of Auto does so again from starts of its own:
// with a memory no member is fitted twice to the same values. It does not change any result. It
// is safe for concurrent use.
type Memory struct {
	mu   sync.Mutex
	fits map[fitKey]keptFit
}

// NewMemory returns an empty memory for one series.
func NewMemory() *Memory { return &Memory{fits: map[fitKey]keptFit{}} }

// fitKey identifies a fit: the model, with all its options, and the number of values that it was
// fitted to.
type fitKey struct {
	model string
	n     int
}

type keptFit struct {
	y   []float64 // the values that the model was fitted to
	fit model.Fitted
	err error
}

// remembered is a model that looks up its fits in a memory first.
type remembered struct {
	model.Model
	name   string
	memory *Memory
}

// member returns the model called name wrapped with the memory, or the model itself where m is
// nil.
func (m *Memory) member(name string, seasons []int, model model.Model) model.Model {
	if m == nil {
		return model
	}
	return remembered{Model: model, name: fmt.Sprint(name, seasons), memory: m}
}

// Fit returns the stored fit where there is one to the same values; else it fits the model and
// stores the fit.
func (r remembered) Fit(y capcli.Series) (model.Fitted, error) {
	key, m := fitKey{r.name, len(y.Values)}, r.memory
	m.mu.Lock()
	kept, ok := m.fits[key]
	m.mu.Unlock()
	if ok && slices.Equal(kept.y, y.Values) {
		return kept.fit, kept.err
	}
	fit, err := r.Model.Fit(y)
	m.mu.Lock()
	m.fits[key] = keptFit{y.Values, fit, err}
	m.mu.Unlock()
	return fit, err
}
