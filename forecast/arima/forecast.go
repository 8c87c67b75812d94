package arima

import (
	"fmt"
	"math"

	"capcli/forecast/model"
)

// Info implements model.Fitted.
func (fit *Fit) Info() model.Info { return fit.info }

// Order returns the order fitted, that of the season, and the season in steps.
func (fit *Fit) Order() (order, seasonal Order, period int) {
	f := fit.form
	return Order{f.p, f.d, f.q}, Order{f.bigP, f.bigD, f.bigQ}, f.m
}

// ahead returns a copy of the state after the last value.
func (fit *Fit) ahead() *space {
	s := *fit.model
	s.mean = [][]float64{append([]float64(nil), fit.model.mean[0]...)}
	s.cov = append([]float64(nil), fit.model.cov...)
	s.work, s.z = make([]float64, len(s.cov)), make([]float64, s.n)
	return &s
}

// reach returns an error where a given regressor is not known for h more steps.
func (fit *Fit) reach(h int) error {
	n := len(fit.src.y)
	if fit.src.further != nil {
		return nil
	}
	for j, name := range fit.names {
		if name == "intercept" || name == "drift" {
			continue
		}
		if known := len(fit.x[j]) - n; known < h {
			return fmt.Errorf("arima: %s is known for %d steps after the series; %d are asked for: %w", name, known, h, model.ErrUnfit)
		}
	}
	return nil
}

// Forecast implements model.Fitted. The variances are those of the state: they include the
// uncertainty from missing values and from a short series, but not that of the coefficients. It
// fails with ErrUnfit where a regressor is not known for h steps or a mean is not finite.
func (fit *Fit) Forecast(h int, levels ...float64) (model.Forecast, error) {
	if err := fit.reach(h); err != nil {
		return model.Forecast{}, err
	}
	n := len(fit.src.y)
	s := fit.ahead()
	mean, sd := make([]float64, h), make([]float64, h)
	for t := range h {
		sd[t] = math.Sqrt(math.Max(0, s.sight()) * fit.sigma2)
		mean[t] = s.look(s.mean[0]) + fit.shift + fit.regression(n+t)
		s.step()
	}
	f := model.Forecast{Mean: mean, Intervals: model.NormalIntervals(mean, sd, levels)}
	for _, iv := range f.Intervals {
		for t := range h {
			iv.Lo[t], iv.Hi[t] = fit.untransform(iv.Lo[t]), fit.untransform(iv.Hi[t])
			if fit.grain > 0 {
				// The model has no error: the width is that of rounding.
				width := fit.grain * max(math.Abs(iv.Lo[t]), fit.src.top)
				iv.Lo[t], iv.Hi[t] = iv.Lo[t]-width, iv.Hi[t]+width
			}
		}
	}
	for t, m := range mean {
		mean[t] = fit.untransform(m)
	}
	for _, v := range mean {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return model.Forecast{}, fmt.Errorf("arima: the forecast leaves the range of numbers: %w", model.ErrUnfit)
		}
	}
	return f, nil
}

// Path implements model.Fitted. It draws the state at the end, then the shocks. A regressor
// keeps its last value beyond the steps for which it is known.
func (fit *Fit) Path(h int, rng model.Noise) []float64 {
	m := fit.model
	fit.rootOnce.Do(func() { fit.root = semiroot(fit.model.cov, fit.model.n) })
	sd := math.Sqrt(fit.sigma2)
	state := append([]float64(nil), m.mean[0]...)
	for j := range m.n {
		if fit.root[j*m.n+j] == 0 {
			continue
		}
		e := sd
		if j == 0 { // the unknown part of the state is the error of the first step
			e *= model.Innovation(rng, 0)
		} else {
			e *= rng.NormFloat64()
		}
		for i := j; i < m.n; i++ {
			state[i] += fit.root[i*m.n+j] * e
		}
	}
	n := len(fit.src.y)
	out := make([]float64, h)
	for t := range out {
		out[t] = fit.untransform(m.look(state) + fit.shift + fit.regression(n+t))
		m.move(state)
		e := model.Innovation(rng, t+1) * sd
		for i, v := range m.shock {
			state[i] += v * e
		}
	}
	return out
}

// semiroot returns a lower triangular L with L L' = cov. cov may be singular.
func semiroot(cov []float64, n int) []float64 {
	l := make([]float64, n*n)
	for j := range n {
		pivot := cov[j*n+j]
		for k := range j {
			pivot -= l[j*n+k] * l[j*n+k]
		}
		if pivot <= 1e-9*math.Abs(cov[j*n+j]) {
			continue
		}
		l[j*n+j] = math.Sqrt(pivot)
		for i := j + 1; i < n; i++ {
			v := cov[i*n+j]
			for k := range j {
				v -= l[i*n+k] * l[j*n+k]
			}
			l[i*n+j] = v / l[j*n+j]
		}
	}
	return l
}
