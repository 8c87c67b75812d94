package main

import (
	"slices"

	"capcli/forecast"
)

// window is a kind of period to be tried on the past: so many steps.
type window struct {
	horizon string
	steps   int
}

// windowsOf are the kinds of periods asked for, each as short as its shortest.
func windowsOf(spans []stretch) []window {
	var out []window
	for _, s := range spans {
		n := len(s.weights)
		k := slices.IndexFunc(out, func(w window) bool { return w.horizon == s.horizon })
		switch {
		case n == 0:
		case k < 0:
			out = append(out, window{s.horizon, n})
		default:
			out[k].steps = min(out[k].steps, n)
		}
	}
	return out
}

// triedPeriods are the errors of one kind of period from past starts: what came
// less the middle of its futures, over half of the width of their 80 % range.
type triedPeriods struct {
	window
	forecast.PeriodErrors
}

// Futures drawn at each past start, and the most periods of a kind tried from one.
const (
	triedDraws   = 200
	triedPeriodN = 48
)

// watch tries periods from one past start.
func (t *trial) watch(o *forecastOptions, h *history, r *forecast.Origin, fit forecast.Fitted) {
	paths := make([][]float64, triedDraws)
	for k := range paths {
		paths[k] = fit.Path(len(r.Actual), o.chance().Child(k).Stream("tried/"+h.Name))
	}
	flows := o.flows(h.hs)
	for k, w := range h.windows {
		if len(t.tried) <= k {
			t.tried = append(t.tried, triedPeriods{window: w})
		}
		p := &t.tried[k]
		p.steps = min(w.steps, len(r.Actual))
		before := len(p.Means)
		for from := 0; from+p.steps <= len(r.Actual) && from < triedPeriodN*p.steps; from += p.steps {
			s := stretch{first: from, weights: ones(p.steps)}
			p.Means = appendError(p.Means, s.of(r.Actual, flows), paths, func(path []float64) float64 { return s.of(path, flows) })
			p.Peaks = appendError(p.Peaks, s.highest(r.Actual), paths, s.highest)
		}
		if len(p.Means) > before {
			p.Starts++
		}
	}
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

func appendError(list []float64, came float64, paths [][]float64, of func([]float64) float64) []float64 {
	v := make([]float64, len(paths))
	for k, path := range paths {
		v[k] = of(path)
	}
	if e, ok := forecast.PeriodError(came, v); ok {
		list = append(list, e)
	}
	return list
}

// periodCalibration is how the ranges of one kind of period are set, and what tells
// it.
type periodCalibration struct {
	window
	tried, starts int
	forecast.PeriodCalibration
}

// calibrate sets the ranges of periods by how far those of the past were off, of
// all series of the call together.
func calibrate(list []*forecasted) []periodCalibration {
	var tried []triedPeriods
	for _, f := range list {
		if f.test == nil {
			continue
		}
		for _, p := range f.test.tried {
			k := slices.IndexFunc(tried, func(t triedPeriods) bool { return t.horizon == p.horizon })
			if k < 0 {
				k = len(tried)
				tried = append(tried, triedPeriods{window: p.window})
			}
			all := &tried[k]
			all.Starts += p.Starts
			all.Means, all.Peaks = append(all.Means, p.Means...), append(all.Peaks, p.Peaks...)
		}
	}
	var out []periodCalibration
	for _, t := range tried {
		out = append(out, periodCalibration{t.window, len(t.Means), t.Starts, t.Calibrate()})
	}
	for _, f := range list {
		for i := range f.periods {
			p := &f.periods[i]
			if k := slices.IndexFunc(out, func(c periodCalibration) bool { return c.horizon == p.horizon }); k >= 0 {
				f.adjust(p, out[k])
			}
		}
	}
	return out
}

// adjust sets the ranges of one period.
func (f *forecasted) adjust(p *periodForecast, c periodCalibration) {
	within := func(v float64) float64 {
		if f.within == nil || p.first >= len(f.mean) {
			return v
		}
		return f.within(p.first, v)
	}
	p.mean.scale(p.mean.mean, 0, c.MeanScale, within)
	p.mean.hold()
	if p.peak == nil {
		return
	}
	p.peak.scale(p.peak.middle, c.PeakShift, c.PeakScale, within)
	p.peak.mean = max(p.peak.mean, p.mean.mean)
	p.peak.hold()
}

// scale moves all figures by so many half widths and puts them so much further
// from the middle.
func (s *spread) scale(middle, shift, by float64, within func(float64) float64) {
	to := middle + shift*s.half
	move := func(v float64) float64 { return within(to + by*(v-middle)) }
	s.mean = move(s.mean)
	for k := range s.lo {
		s.lo[k], s.hi[k] = move(s.lo[k]), move(s.hi[k])
	}
	for k := range s.lines {
		s.lines[k] = move(s.lines[k])
	}
}

// calibrationJSON says how periods were tried.
type calibrationJSON struct {
	Horizon   string  `json:"horizon"`
	Steps     int     `json:"steps"`
	Tried     int     `json:"tried"`
	Starts    int     `json:"starts"`
	MeanScale float64 `json:"mean_range_scaled"`
	PeakShift float64 `json:"peak_shifted"`
	PeakScale float64 `json:"peak_range_scaled"`
}

func calibrationsJSON(list []periodCalibration) []calibrationJSON {
	var out []calibrationJSON
	for _, c := range list {
		out = append(out, calibrationJSON{c.horizon, c.steps, c.tried, c.starts, c.MeanScale, c.PeakShift, c.PeakScale})
	}
	return out
}

// watching has the backtest of the model itself try periods.
func (o *forecastOptions) watching(t *trial, h *history) func(r *forecast.Origin, fit forecast.Fitted) {
	if len(h.windows) == 0 {
		return nil
	}
	return func(r *forecast.Origin, fit forecast.Fitted) { t.watch(o, h, r, fit) }
}
