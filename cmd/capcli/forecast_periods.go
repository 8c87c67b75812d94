package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli"
)

// period is one horizon of a list: so many whole weeks, months or the like, or
// where step is zero one stretch of so many steps.
type period struct {
	text string
	n    int
	step capcli.Step
}

// units are those of periods, by the letters that --horizon takes.
var units = map[string]capcli.Step{
	"h": {Seconds: capcli.Hour}, "d": {Days: 1}, "w": {Days: 7}, "mo": {Months: 1}, "q": {Months: 3}, "y": {Months: 12},
}

// peakUnits are the periods of --peak.
var peakUnits = map[string]capcli.Step{
	"hour": units["h"], "day": units["d"], "week": units["w"], "month": units["mo"], "quarter": units["q"], "year": units["y"],
}

// readHorizons reads a list of horizons; one alone is no list.
func (o *forecastOptions) readHorizons() error {
	o.periods = nil
	if !strings.Contains(o.horizon, ",") {
		return nil
	}
	for text := range strings.SplitSeq(o.horizon, ",") {
		text = strings.TrimSpace(text)
		digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
		n, err := strconv.Atoi(digits)
		unit, known := units[text[len(digits):]]
		if err != nil || n < 1 || n > maxHorizon || !known && digits != text {
			return &usageError{text: fmt.Sprintf("--horizon wants a list such as 4w,3mo,2q of hours (h), days, weeks, months (mo), quarters, years or steps, found %q", text)}
		}
		o.periods = append(o.periods, period{text, n, unit})
	}
	return nil
}

// byPeriods tells whether periods are asked for.
func (o *forecastOptions) byPeriods() bool { return len(o.periods) > 0 || o.history.peakBy != "" }

// peakFlag is --peak, which may name a period.
type peakFlag struct{ o *historyOptions }

// Set takes the period; "step" is the flag alone.
func (f peakFlag) Set(text string) error {
	switch _, known := peakUnits[text]; {
	case text == "false":
		f.o.peak, f.o.peakBy = false, ""
	case text == "step" || text == "true":
		f.o.peak, f.o.peakBy = true, ""
	case known:
		f.o.peak, f.o.peakBy = true, text
	default:
		return fmt.Errorf("wants hour, day, week, month, quarter or year, or nothing, found %q", text)
	}
	return nil
}

func (f peakFlag) String() string {
	if f.o == nil || !f.o.peak {
		return ""
	}
	if f.o.peakBy == "" {
		return "step"
	}
	return f.o.peakBy
}

// Type is what the help calls the value.
func (f peakFlag) Type() string { return "PERIOD" }

// takePeak takes the period out of "--peak day", which flags that may stand alone
// leave among the arguments. A file of that name is given as ./day.
func (o *historyOptions) takePeak(args []string) []string {
	if !o.peak || o.peakBy != "" {
		return args
	}
	for i, a := range args {
		if _, known := peakUnits[a]; known {
			o.peakBy = a
			return slices.Delete(slices.Clone(args), i, i+1)
		}
	}
	return args
}

// stretch is one stretch of time for which a figure is given, and how much each step
// of the forecast counts in it.
type stretch struct {
	horizon  string
	from, to string // the first and the last day, or instants
	first    int    // the first step
	weights  []float64
}

// edges are the instants between the steps ahead. A step that is stamped with the
// last day of its month ends with that day.
func (h *history) edges(steps int) []capcli.Time {
	n := len(h.Values)
	if !h.Grid.MonthEnd {
		return h.bounds(n, steps)
	}
	out := h.bounds(n-1, steps)
	for i, at := range out {
		out[i] = capcli.TimeOf(at.Std().In(h.zoneOr()).AddDate(0, 0, 1))
	}
	return out
}

func (h *history) zoneOr() *time.Location {
	if h.hs.Zone == nil {
		return time.UTC
	}
	return h.hs.Zone
}

// reach is how many steps cover a period that begins after the history.
func (p period) reach(h *history) (int, error) {
	if p.step == (capcli.Step{}) {
		return p.n, nil
	}
	if !h.hs.Clock {
		return 0, &usageError{text: fmt.Sprintf("--horizon %s is a length of time, but the stamps are whole numbers", p.text), hint: "give numbers of steps: 4,12"}
	}
	if p.step.Length() < h.hs.Step.Length() {
		return 0, &usageError{text: fmt.Sprintf("--horizon %s is in parts of the steps, which are of %s", p.text, h.hs.Step), hint: "give longer periods, or a finer --step"}
	}
	end := p.grid(h).At(p.n)
	for n := 1; n <= maxHorizon; n++ {
		if h.edges(n)[n] >= end {
			return n, nil
		}
		if left := int(int64(end-h.edges(n)[n])/int64(h.hs.Step.Length())) - 40; left > 0 { // near it steps are counted one by one, for they are not all equally long
			n += left * 9 / 10
		}
	}
	return 0, &usageError{text: fmt.Sprintf("--horizon %s is more than %d steps ahead", p.text, maxHorizon), hint: "take a longer --step"}
}

// grid begins with the first whole period after the history.
func (p period) grid(h *history) capcli.Grid {
	begin := h.edges(1)[0]
	g := p.step.Grid(begin, h.hs.Zone)
	if g.At(0) < begin {
		g.Origin = g.At(1)
	}
	return g
}

// spans are the stretches of p in a forecast of so many steps.
func (p period) spans(h *history, steps int) []stretch {
	if p.step == (capcli.Step{}) {
		n, ahead := len(h.Values), min(p.n, steps)
		s := stretch{horizon: p.text, from: h.StampText(n), to: h.StampText(n + ahead - 1), weights: make([]float64, ahead)}
		for i := range s.weights {
			s.weights[i] = 1
		}
		return []stretch{s}
	}
	edges, g := h.edges(steps), p.grid(h)
	var out []stretch
	for i := range p.n {
		out = append(out, spanOf(h, p.text, edges, g.At(i), g.At(i+1)))
	}
	return out
}

// spanOf cuts a stretch out of the steps between edges.
func spanOf(h *history, name string, edges []capcli.Time, from, to capcli.Time) stretch {
	s := stretch{horizon: name, from: h.hs.dayOrTime(from, false), to: h.hs.dayOrTime(to, true)}
	for i := range len(edges) - 1 {
		over := min(to, edges[i+1]) - max(from, edges[i])
		if over <= 0 {
			continue
		}
		if s.weights == nil {
			s.first = i
		}
		s.weights = append(s.weights, float64(over)/float64(edges[i+1]-edges[i]))
	}
	return s
}

// spansOf are all stretches asked for: those of the list, and each day, week or
// month of --peak that the forecast touches, the first and the last in part.
func (o *forecastOptions) spansOf(h *history, steps int) ([]stretch, error) {
	var out []stretch
	for _, p := range o.periods {
		out = append(out, p.spans(h, steps)...)
	}
	by := o.history.peakBy
	if by == "" {
		return out, nil
	}
	unit := peakUnits[by]
	switch {
	case !h.hs.Clock:
		return nil, &usageError{text: fmt.Sprintf("--peak %s needs stamps that are times, found whole numbers", by), hint: "--horizon 24,168 --peak gives the peak of so many steps"}
	case unit.Length() < h.hs.Step.Length():
		return nil, &usageError{text: fmt.Sprintf("--peak %s is shorter than the steps, which are of %s", by, h.hs.Step), hint: "take a finer --step"}
	}
	edges := h.edges(steps)
	g := unit.Grid(edges[0], h.hs.Zone)
	for i := 0; g.At(i) < edges[steps]; i++ {
		out = append(out, spanOf(h, by, edges, max(g.At(i), edges[0]), min(g.At(i+1), edges[steps])))
	}
	return out, nil
}

// spread is what is known of one figure: its mean, and quantiles of it.
type spread struct {
	mean   float64
	lo, hi []float64 // by level
	middle float64   // the median
	half   float64   // half of the width of the 80 % range
	lines  [3]float64
}

// periodForecast is what is forecast of one stretch: its mean level, or for
// counts its sum, and where that is asked for its peak.
type periodForecast struct {
	stretch
	mean spread
	peak *spread
}

// flows tells whether figures of steps add up over time, as counts of jobs do and
// levels do not.
func (o *forecastOptions) flows(hs *histories) bool {
	return hs.Measure == "arrivals" || hs.Measure == "arrival-hours" || hs.Measure == "" && o.history.agg == "sum"
}

// inPeriods takes the figures of periods from joint futures: the range of a
// quarter is that of its mean in each future, not the mean of the steps' ranges,
// which would be as if all steps erred to one side at once, or to none.
func (f *forecasted) inPeriods(o *forecastOptions, spans []stretch, futures [][]float64) {
	flows := o.flows(f.h.hs)
	for _, s := range spans {
		p := periodForecast{stretch: s}
		means, peaks := make([]float64, len(futures)), make([]float64, len(futures))
		for k, path := range futures {
			means[k], peaks[k] = s.of(path, flows), s.highest(path)
		}
		p.mean = spreadOf(means, o.level)
		p.mean.mean = s.of(f.mean, flows)
		p.mean.hold()
		if o.history.peak {
			peak := spreadOf(peaks, o.level)
			p.peak = &peak
		}
		f.periods = append(f.periods, p)
	}
}

// of is the mean level of a path in s, or its sum.
func (s *stretch) of(path []float64, sum bool) float64 {
	total, weight := 0.0, 0.0
	for i, w := range s.weights {
		total += w * path[s.first+i]
		weight += w
	}
	if sum {
		return total
	}
	return total / weight
}

func (s *stretch) highest(path []float64) float64 {
	out := math.Inf(-1)
	for i := range s.weights {
		out = math.Max(out, path[s.first+i])
	}
	return out
}

func spreadOf(v, levels []float64) spread {
	slices.Sort(v)
	s := spread{mean: meanKnown(v), middle: quantileOf(v, 0.5), half: (quantileOf(v, 0.9) - quantileOf(v, 0.1)) / 2}
	for _, level := range levels {
		s.lo = append(s.lo, quantileOf(v, 0.5-level/200))
		s.hi = append(s.hi, quantileOf(v, 0.5+level/200))
	}
	for k, q := range lineQuantiles {
		s.lines[k] = quantileOf(v, q)
	}
	return s
}

// hold keeps the mean within its ranges: it comes from the models, they from draws.
func (s *spread) hold() {
	for k := range s.lo {
		s.lo[k], s.hi[k] = min(s.lo[k], s.mean), max(s.hi[k], s.mean)
	}
}

// quantileOf is a quantile of sorted values, on a straight line between two
// (Hyndman & Fan 1996, definition 7).
func quantileOf(v []float64, q float64) float64 {
	at := q * float64(len(v)-1)
	i := min(max(0, int(at)), len(v)-1)
	if i == len(v)-1 {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}
