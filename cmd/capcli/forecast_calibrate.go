package main

import (
	"math"
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
	mean, peak []float64
	starts     int
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
		before := len(p.mean)
		for from := 0; from+p.steps <= len(r.Actual) && from < triedPeriodN*p.steps; from += p.steps {
			s := stretch{first: from, weights: ones(p.steps)}
			p.mean = appendError(p.mean, s.of(r.Actual, flows), paths, func(path []float64) float64 { return s.of(path, flows) })
			p.peak = appendError(p.peak, s.highest(r.Actual), paths, s.highest)
		}
		if len(p.mean) > before {
			p.starts++
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
	slices.Sort(v)
	half := (quantileOf(v, 0.9) - quantileOf(v, 0.1)) / 2
	e := (came - quantileOf(v, 0.5)) / half
	if math.IsNaN(e) || math.IsInf(e, 0) {
		return list
	}
	return append(list, e)
}

// calibration says by how much periods of one kind were off, of all series
// together: their middle lay so many half widths beside, and they were so much
// wider.
type periodCalibration struct {
	window
	tried, starts        int
	meanScale            float64
	peakShift, peakScale float64
}

// Starts count for so much against what the models say of themselves, and no
// range becomes more than so many times wider or narrower (as forecast.Conformal
// has it).
const (
	startsTrusted = 4
	mostScale     = 4
	calmTrust     = 0.75
)

// calibrate sets the ranges of periods by how far those of the past were off, of
// all series of the call together (split conformal prediction, as the ranges of
// steps). The means stay, for they are those of the steps, and their ranges only
// grow; those of peaks move and shrink as well, for the highest of many steps
// takes all of the futures' noise to one side, real or not.
func calibrate(list []*forecasted) []periodCalibration {
	var out []periodCalibration
	means, peaks := map[string][]float64{}, map[string][]float64{}
	for _, f := range list {
		if f.test == nil {
			continue
		}
		for _, p := range f.test.tried {
			k := slices.IndexFunc(out, func(c periodCalibration) bool { return c.horizon == p.horizon })
			if k < 0 {
				k = len(out)
				out = append(out, periodCalibration{window: p.window})
			}
			out[k].starts += p.starts
			means[p.horizon], peaks[p.horizon] = append(means[p.horizon], p.mean...), append(peaks[p.horizon], p.peak...)
		}
	}
	for i := range out {
		out[i].settle(means[out[i].horizon], peaks[out[i].horizon])
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

// settle takes the figures from the errors of all series.
func (c *periodCalibration) settle(means, peaks []float64) {
	trust := float64(c.starts) / float64(c.starts+startsTrusted)
	c.tried = len(means)
	c.meanScale = max(1, scaleOf(means, 0, trust))
	if len(peaks) > 0 {
		slices.Sort(peaks)
		c.peakShift = trust * max(-mostScale, min(mostScale, quantileOf(peaks, 0.5)))
	}
	c.peakScale = scaleOf(peaks, c.peakShift, trust)
}

// scaleOf is how much wider ranges must be, for 80 % of the errors to lie in 80 %
// ranges.
func scaleOf(errs []float64, shift, trust float64) float64 {
	if len(errs) == 0 {
		return 1
	}
	off := make([]float64, len(errs))
	for i, e := range errs {
		off[i] = math.Abs(e - shift)
	}
	slices.Sort(off)
	at := int(math.Ceil(0.8*float64(len(off)+1))) - 1
	q := off[max(0, min(len(off)-1, at))]
	pull := math.Log(max(1.0/mostScale, min(mostScale, q)))
	if pull < 0 { // a calm stretch is poorer evidence than a surprise
		trust *= calmTrust
	}
	return math.Exp(trust * pull)
}

// adjust sets the ranges of one period.
func (f *forecasted) adjust(p *periodForecast, c periodCalibration) {
	within := func(v float64) float64 {
		if f.within == nil || p.first >= len(f.mean) {
			return v
		}
		return f.within(p.first, v)
	}
	p.mean.scale(p.mean.mean, 0, c.meanScale, within)
	p.mean.hold()
	if p.peak == nil {
		return
	}
	p.peak.scale(p.peak.middle, c.peakShift, c.peakScale, within)
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
		out = append(out, calibrationJSON{c.horizon, c.steps, c.tried, c.starts, c.meanScale, c.peakShift, c.peakScale})
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
