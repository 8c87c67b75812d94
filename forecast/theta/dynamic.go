package theta

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast/minimise"
	"capcli/forecast/model"
)

// Dynamic is the dynamic optimised Theta model (Fiorucci, Pellegrini, Louzada,
// Petropoulos & Koehler 2016, "Models for optimising the theta method and their
// relationship to state space models", equations 19 to 23):
//
//	mu_t = l_(t-1) + (1 - 1/theta) [(1-alpha)^(t-1) A_(t-1) + (1-(1-alpha)^t)/alpha B_(t-1)]
//	l_t  = alpha y_t + (1-alpha) l_(t-1)
//	A_t  = ybar_t - (t+1)/2 B_t
//	B_t  = ((t-2) B_(t-1) + 6/t (y_t - ybar_(t-1))) / (t+1)
//
// with theta >= 1, alpha and l_0 at the least squares of the errors from t = 3 on.
// The errors are linear in l_0, so theta and alpha are searched for. The future's
// variance follows from how an error moves the means after it. Seasons are taken
// out as in the Theta method.
type Dynamic struct{ Period int }

// Fit searches for the parameters. It needs four values.
func (m Dynamic) Fit(y capcli.Series) (model.Fitted, error) {
	v := y.Values
	n := len(v)
	if err := model.CheckPresent(v); err != nil {
		return nil, fmt.Errorf("dot: %w", err)
	}
	if n < 4 {
		return nil, fmt.Errorf("dot: %d values, want 4 or more: %w", n, model.ErrTooShort)
	}
	index := thetaSeason(v, m.Period)
	unit := math.Max(model.Largest(v), math.SmallestNonzeroFloat64/1e-16)
	x := adjustSeason(v, index, unit)
	search := newDotSearch(x)
	alpha, th := search.run()
	sse, first := search.loss(alpha, th)
	s := dotState{alpha: alpha, weight: 1 - 1/th, level: first, power: 1}
	fitted := make([]float64, n)
	for i, w := range x {
		fitted[i] = s.mean() * unit
		s.step(w)
	}
	season := func(i int) float64 { return 1 }
	info := model.Info{
		Method: "Dynamic optimised Theta", Params: []model.Param{{Name: "alpha", Value: alpha}, {Name: "theta", Value: th}, {Name: "l0", Value: first * unit}},
		LogLik: math.NaN(), AIC: math.NaN(), AICc: math.NaN(), BIC: math.NaN(), Fitted: fitted,
	}
	if index != nil {
		season = func(i int) float64 { return index[i%m.Period] }
		info.Notes = append(info.Notes, "seasonally adjusted")
		for i := range fitted {
			fitted[i] *= season(i)
		}
	}
	sigma := math.Sqrt(sse / math.Max(1, float64(n-5)))
	info.Sigma2 = sigma * sigma * unit * unit
	return &model.Gaussian{
		Fit: info,
		Moments: func(h int) ([]float64, []float64) {
			mean, sd := s.spread(h, sigma)
			for i := range mean {
				sd[i] *= unit * math.Abs(season(n+i))
				mean[i] *= unit * season(n+i)
			}
			return mean, sd
		},
		Draw: func(h int, rng model.Noise) []float64 {
			out := s.forecastValues(h, func(i int) float64 { return sigma * model.Innovation(rng, i) })
			for i := range out {
				out[i] *= unit * season(n+i)
			}
			return out
		},
	}, nil
}

// dotState is the state of the model after t values.
type dotState struct {
	alpha, weight float64
	level, a, b   float64
	bar           float64 // mean of the values so far
	power         float64 // (1-alpha)^t
	t             float64
}

func (s *dotState) mean() float64 {
	return s.level + s.weight*(s.power*s.a+(1-s.power*(1-s.alpha))/s.alpha*s.b)
}

// step updates the state with the next value.
func (s *dotState) step(y float64) {
	s.t++
	s.level += s.alpha * (y - s.level)
	s.b = ((s.t-2)*s.b + 6/s.t*(y-s.bar)) / (s.t + 1)
	s.bar += (y - s.bar) / s.t
	if s.t == 1 {
		s.b = 0
	}
	s.a = s.bar - (s.t+1)/2*s.b
	s.power *= 1 - s.alpha
}

// forecastValues returns the next h values with the errors e added, or their means where e is
// nil.
func (s dotState) forecastValues(h int, e func(i int) float64) []float64 {
	out := make([]float64, h)
	for i := range out {
		out[i] = s.mean()
		if e != nil {
			out[i] += e(i)
		}
		s.step(out[i])
	}
	return out
}

// spread returns the means and standard deviations of the next h values. psi is how far an error
// of 1 at the first step moves a later mean.
func (s dotState) spread(h int, sigma float64) (mean, sd []float64) {
	mean, sd = s.forecastValues(h, nil), make([]float64, h)
	hit := s.forecastValues(h, func(i int) float64 {
		if i == 0 {
			return 1
		}
		return 0
	})
	sum := 1.0
	for i := range mean {
		sd[i] = sigma * math.Sqrt(sum)
		if i+1 < h {
			psi := hit[i+1] - mean[i+1]
			sum += psi * psi
		}
	}
	return mean, sd
}

// dotSearch searches for the parameters of one series. The line through the values so far does
// not depend on the parameters, so it is computed once.
type dotSearch struct {
	y, a, b []float64 // values; intercept and slope of the line before each value
}

func newDotSearch(y []float64) *dotSearch {
	n := len(y)
	d := &dotSearch{y: y, a: make([]float64, n), b: make([]float64, n)}
	s := dotState{}
	for i, v := range y {
		d.a[i], d.b[i] = s.a, s.b
		s.step(v)
	}
	return d
}

// loss returns the sum of squared errors from the third value on at the best first level, and
// that level. It computes errors relative to a first level of y_1 / theta. This keeps the
// squares small where the level is far from zero; they would otherwise drown the noise.
func (d *dotSearch) loss(alpha, th float64) (sse, first float64) {
	from := d.y[0] / th
	weight, level, power, keep := 1-1/th, from, 1.0, 1-alpha
	var ed, dd, ee float64
	for i, v := range d.y {
		if i >= 2 {
			e := v - (level + weight*(power*d.a[i]+(1-power*keep)/alpha*d.b[i]))
			ee += e * e
			ed += e * power
			dd += power * power
		}
		level += alpha * (v - level)
		power *= keep
	}
	move := -from
	if dd > 1e-12 {
		move = ed / dd
		// A first level far from the data is noise: with a fast decay it has hardly any effect.
		if math.Abs(from+move) > 10 {
			move = d.y[0] - from
		}
	}
	return math.Max(0, ee-2*move*ed+move*move*dd), from + move
}

// run returns alpha in [0.1, 0.99] and theta in [1, 50] with the least loss: by a grid, then by
// golden section over each in turn. It searches for 1 - 1/theta instead of theta, since the
// errors are nearly linear in it.
func (d *dotSearch) run() (alpha, th float64) {
	loss := func(a, w float64) float64 {
		sse, _ := d.loss(a, 1/(1-w))
		return sse
	}
	best, w := math.Inf(1), 0.0
	for i := range 7 {
		for j := range 5 {
			a, u := 0.1+0.89*float64(i)/6, 0.98*float64(j)/4
			if v := loss(a, u); v < best {
				best, alpha, w = v, a, u
			}
		}
	}
	da, dw := 0.15, 0.25
	for range 4 {
		a := minimise.GoldenSection(func(a float64) float64 { return loss(a, w) }, math.Max(0.1, alpha-da), math.Min(0.99, alpha+da), 1e-4)
		if v := loss(a, w); v < best {
			best, alpha = v, a
		}
		u := minimise.GoldenSection(func(u float64) float64 { return loss(alpha, u) }, math.Max(0, w-dw), math.Min(0.98, w+dw), 1e-4)
		if v := loss(alpha, u); v < best {
			best, w = v, u
		}
		da, dw = da/2, dw/2
	}
	return alpha, 1 / (1 - w)
}
