package simple

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// SeasonalAR is a regression of each value on the last three, and on those one and two seasons
// ago and the neighbours of the former (a subset autoregression, Box & Jenkins 1970). With a
// long season and a longer one (a day and a week of hours) the neighbours of two days ago count
// too, and the values of a week and a day ago: lags that a product of autoregressions by step,
// day and week has. It is fitted by ridge regression (Hoerl & Kennard 1970) to
// deviations from the mean in units of their standard deviation:
//
//	y_t = c + sum_j a_j y_(t-j) + e_t,  min sum e^2 + lambda (c^2 + sum (a - a0)^2)
//
// where a0 is 1 at the longest season (at lag 1 without season) and 0 at all other lags: without
// evidence the model is the seasonal naive. The variance of a step ahead follows from the
// weights psi of past errors.
type SeasonalAR struct{ Seasons []int }

// longSeason is the season, in steps, from which the shortest season counts as long: hours of a
// day. Series with such a season have hundreds of values, and bear more lags and less shrinkage.
const longSeason = 24

// lags returns the lags for a series of n values, in order. long says that its shortest season
// is long.
func (m SeasonalAR) lags(n int) (out []int, long bool) {
	out = []int{1, 2, 3}
	seasons := decompose.UsableSeasons(n*2/3, m.Seasons)
	long = len(seasons) > 0 && seasons[0] >= longSeason
	for _, p := range seasons {
		out = append(out, p-1, p, p+1, 2*p)
		if first := seasons[0]; long && p > first {
			out = append(out, 2*first-1, 2*first+1, first+p-1, first+p, first+p+1)
		}
	}
	slices.Sort(out)
	return slices.Compact(slices.DeleteFunc(out, func(l int) bool { return l < 1 || 2*l+10 > n })), long
}

// Fit estimates the weights. Lambda is 1, or 0.03 where the shortest season is long (tuned on
// ends of training data), and is raised tenfold until the forecasts are stable. Fit needs
// three values for each lag and 10 more.
func (m SeasonalAR) Fit(y capcli.Series) (model.Fitted, error) {
	v := y.Values
	if err := model.CheckPresent(v); err != nil {
		return nil, fmt.Errorf("seasonal-ar: %w", err)
	}
	n := len(v)
	lags, long := m.lags(n)
	if len(lags) == 0 || n < 3*len(lags)+10 {
		return nil, fmt.Errorf("seasonal-ar: %d values for %d lags: %w", n, len(lags), model.ErrTooShort)
	}
	mu := model.Mean(v)
	x := make([]float64, n)
	for i := range v {
		x[i] = v[i] - mu
	}
	unit := model.RMS(x)
	if unit == 0 {
		return Walk{Name: "seasonal-ar", Lag: 1}.Fit(y)
	}
	for i := range x {
		x[i] /= unit
	}
	home := 0 // index of the lag of the naive forecast
	if s := decompose.UsableSeasons(n*2/3, m.Seasons); len(s) > 0 {
		home = max(0, slices.Index(lags, s[len(s)-1]))
	}
	lambda := 1.0
	if long {
		lambda = 0.03
	}
	for ; lambda < 1e9; lambda *= 10 {
		a, sigma, ok := ridge(x, lags, home, lambda)
		if ok && isStable(x, lags, a) {
			return m.fitted(x, lags, a, sigma, mu, unit), nil
		}
	}
	return nil, fmt.Errorf("seasonal-ar: no stable weights: %w", model.ErrUnfit)
}

// ridge returns the constant followed by the weights of the lags, and the standard deviation of
// the errors. The weight at lags[home] is shrunk towards 1, all others towards 0. ok is false
// where the equations have no solution.
func ridge(x []float64, lags []int, home int, lambda float64) (a []float64, sigma float64, ok bool) {
	p, from := len(lags)+1, lags[len(lags)-1]
	gram, right := mat.NewSymDense(p, nil), mat.NewVecDense(p, nil)
	row := make([]float64, p)
	row[0] = 1
	g, r := make([]float64, p*p), make([]float64, p)
	for t := from; t < len(x); t++ {
		for j, l := range lags {
			row[j+1] = x[t-l]
		}
		for i := range p {
			r[i] += row[i] * x[t]
			for j := i; j < p; j++ {
				g[i*p+j] += row[i] * row[j]
			}
		}
	}
	for i := range p {
		right.SetVec(i, r[i])
		for j := i; j < p; j++ {
			gram.SetSym(i, j, g[i*p+j])
		}
		gram.SetSym(i, i, g[i*p+i]+lambda)
	}
	right.SetVec(home+1, right.AtVec(home+1)+lambda)
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return nil, 0, false
	}
	var w mat.VecDense
	if err := chol.SolveVecTo(&w, right); err != nil {
		return nil, 0, false
	}
	a = slices.Clone(w.RawVector().Data)
	sum := 0.0
	for t := from; t < len(x); t++ {
		e := x[t] - oneAhead(x[:t], lags, a)
		sum += e * e
	}
	sigma = math.Sqrt(sum / math.Max(1, float64(len(x)-from-p)))
	return a, sigma, model.IsFinite(sigma)
}

// oneAhead returns the forecast of the value after x.
func oneAhead(x []float64, lags []int, a []float64) float64 {
	v := a[0]
	for j, l := range lags {
		v += a[j+1] * x[len(x)-l]
	}
	return v
}

// isStable reports whether the forecasts stay within a range of the observed values over
// two of the longest lags.
func isStable(x []float64, lags []int, a []float64) bool {
	lo, hi := slices.Min(x), slices.Max(x)
	span := hi - lo
	for _, v := range follow(x, lags, a, 2*lags[len(lags)-1]+50, nil)[len(x):] {
		if !(v > lo-span && v < hi+span) {
			return false
		}
	}
	return true
}

// follow returns x followed by the next h values, with the errors e added where e is not nil.
func follow(x []float64, lags []int, a []float64, h int, e func(i int) float64) []float64 {
	out := slices.Grow(slices.Clone(x), h)
	for i := range h {
		v := oneAhead(out, lags, a)
		if e != nil {
			v += e(i)
		}
		out = append(out, v)
	}
	return out
}

func (SeasonalAR) fitted(x []float64, lags []int, a []float64, sigma, mu, unit float64) model.Fitted {
	n := len(x)
	info := model.Info{
		Method: fmt.Sprintf("Seasonal AR%v", lags), LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(),
		Sigma2: sigma * sigma * unit * unit, Fitted: model.NaNs(n), Params: []model.Param{{Name: "constant", Value: a[0]*unit + mu}},
	}
	for j, l := range lags {
		info.Params = append(info.Params, model.Param{Name: fmt.Sprintf("ar%d", l), Value: a[j+1]})
	}
	for t := lags[len(lags)-1]; t < n; t++ {
		info.Fitted[t] = oneAhead(x[:t], lags, a)*unit + mu
	}
	back := func(v []float64) []float64 {
		out := make([]float64, len(v)-n)
		for i := range out {
			out[i] = v[n+i]*unit + mu
		}
		return out
	}
	// The response to a single error of 1: without the constant and from zeros.
	pulse := slices.Clone(a)
	pulse[0] = 0
	still := make([]float64, n)
	return &model.Gaussian{
		Fit: info,
		Moments: func(h int) ([]float64, []float64) {
			psi := follow(still, lags, pulse, h, func(i int) float64 {
				if i == 0 {
					return 1
				}
				return 0
			})[n:]
			sd, sum := make([]float64, h), 0.0
			for i, w := range psi {
				sum += w * w
				sd[i] = sigma * unit * math.Sqrt(sum)
			}
			return back(follow(x, lags, a, h, nil)), sd
		},
		Draw: func(h int, rng model.Noise) []float64 {
			return back(follow(x, lags, a, h, func(i int) float64 { return sigma * model.Innovation(rng, i) }))
		},
	}
}
