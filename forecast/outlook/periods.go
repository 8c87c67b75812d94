package outlook

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/demand"
	"capcli/forecast/model"
)

// Period is the forecast of one stretch of time, from joint futures: its mean level or, for
// values that are amounts, its sum.
type Period struct {
	Horizon  string // its entry in Request.Horizon, such as "4w", or the unit of Request.PeakBy
	From, To string // the first and the last day, or instants
	Sum      bool   // the figures are sums, not means
	Spread
	Peak *Spread // of the highest step of the period; nil where not requested

	first int // index of its first step ahead, from 0
}

// Spread describes the distribution of one figure by its mean and quantiles.
type Spread struct {
	Mean   float64
	Levels []float64  // levels of the ranges, in percent
	Lo, Hi []float64  // by level
	Lines  [3]float64 // the capacity lines: see LineQuantiles

	middle float64 // the median
	half   float64 // half width of the 80 % range
}

// LevelText returns a level in its shortest decimal form: "97.5".
func LevelText(level float64) string { return strconv.FormatFloat(level, 'f', -1, 64) }

// fields returns the figures by their name in JSON: mean, lo-80, hi-80, lines.
func (s *Spread) fields() map[string]any {
	out := map[string]any{"mean": capcli.Figure(s.Mean)}
	for k, level := range s.Levels {
		out["lo-"+LevelText(level)], out["hi-"+LevelText(level)] = capcli.Figure(s.Lo[k]), capcli.Figure(s.Hi[k])
	}
	named := map[string]capcli.Figure{}
	for k, line := range lines {
		named[line.name] = capcli.Figure(s.Lines[k])
	}
	out["lines"] = named
	return out
}

// MarshalJSON writes the figures and their ranges by name: mean, lo-80, hi-80.
func (p Period) MarshalJSON() ([]byte, error) {
	out := p.fields()
	out["horizon"], out["from"], out["to"], out["of"] = p.Horizon, p.From, p.To, "mean"
	if p.Sum {
		out["of"] = "sum"
	}
	if p.Peak != nil {
		out["peak"] = p.Peak.fields()
	}
	return json.Marshal(out)
}

// span is one stretch of time to give a figure for, with the share of each step that lies in it.
type span struct {
	horizon  string
	from, to string
	first    int       // index of its first step ahead, from 0
	weights  []float64 // share of each step from first on
}

// spansOf returns all stretches that the request asks for: those of the list of horizons, and
// each unit of PeakBy that the forecast touches. The first and the last unit may be cut.
func (q *question) spansOf(h *demand.History, steps int) ([]span, error) {
	var out []span
	for _, p := range q.periods {
		out = append(out, q.spansOfPeriod(p, h, steps)...)
	}
	if q.PeakBy == "" {
		return out, nil
	}
	switch {
	case !q.hs.Clock:
		return nil, &capcli.RequestError{Field: "peak", Text: q.PeakBy + " needs stamps that are times, found whole numbers", Hint: "--horizon 24,168 --peak gives the peak of so many steps"}
	case PeriodUnit(q.PeakBy).Length() < q.hs.Step.Length():
		return nil, &capcli.RequestError{Field: "peak", Text: fmt.Sprintf("%s is shorter than the steps, which are of %s", q.PeakBy, q.hs.Step), Hint: "take a finer --step"}
	}
	return append(out, q.unitsBetween(q.PeakBy, q.edges(h, steps))...), nil
}

// unitsBetween returns each calendar unit that the steps touch; edges are their bounds. The first
// and the last unit may be cut.
func (q *question) unitsBetween(unit string, edges []capcli.Time) []span {
	var out []span
	end := edges[len(edges)-1]
	g := PeriodUnit(unit).Grid(edges[0], q.hs.Zone)
	for i := 0; g.At(i) < end; i++ {
		out = append(out, q.spanBetween(unit, edges, max(g.At(i), edges[0]), min(g.At(i+1), end)))
	}
	return out
}

// spansOfPeriod returns the stretches of p in a forecast of the given number of steps.
func (q *question) spansOfPeriod(p period, h *demand.History, steps int) []span {
	if p.unit == (capcli.Step{}) {
		n, ahead := len(h.Values), min(p.n, steps)
		return []span{{horizon: p.text, from: h.StampText(n), to: h.StampText(n + ahead - 1), weights: ones(ahead)}}
	}
	edges, g := q.edges(h, steps), q.periodGrid(p, h)
	var out []span
	for i := range p.n {
		out = append(out, q.spanBetween(p.text, edges, g.At(i), g.At(i+1)))
	}
	return out
}

// spanBetween returns the stretch between two instants. edges are the bounds of the steps.
func (q *question) spanBetween(name string, edges []capcli.Time, from, to capcli.Time) span {
	s := span{horizon: name, from: formatDay(from, q.hs.Zone, false), to: formatDay(to, q.hs.Zone, true)}
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

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// addsUp reports whether figures of steps add up over time. Counts of jobs do; levels do not.
func (q *question) addsUp() bool {
	m := q.hs.Measure
	return m == "arrivals" || m == "arrival-hours" || m == "" && q.hs.Summed
}

// periodsFrom returns the figures of periods from joint futures. The range of a quarter is that
// of its mean over the futures. The mean of the steps' ranges would assume that all steps err in
// the same direction.
func (q *question) periodsFrom(spans []span, mean []float64, paths, open [][]float64) []Period {
	sum := q.addsUp()
	var out []Period
	for _, s := range spans {
		p := Period{Horizon: s.horizon, From: s.from, To: s.to, Sum: sum, first: s.first}
		level := func(path []float64) float64 { return s.level(path, sum) }
		p.Spread = spreadOf(paths, open, q.Levels, level)
		p.Mean = s.level(mean, sum)
		p.widenToMean()
		if q.Peak {
			peak := spreadOf(paths, open, q.Levels, s.highest)
			p.Peak = &peak
		}
		out = append(out, p)
	}
	return out
}

// level returns the mean of a path over s, or its sum where sum is set.
func (s *span) level(path []float64, sum bool) float64 {
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

func (s *span) highest(path []float64) float64 {
	out := math.Inf(-1)
	for i := range s.weights {
		out = math.Max(out, path[s.first+i])
	}
	return out
}

// spreadOf returns the mean and the quantiles of a figure of futures. The capacity lines are of
// open, the futures that no cap cuts.
func spreadOf(paths, open [][]float64, levels []float64, figure func(path []float64) float64) Spread {
	v := figuresOf(paths, figure)
	s := Spread{Mean: meanKnown(v), Levels: levels, middle: model.Quantile(v, 0.5), half: (model.Quantile(v, 0.9) - model.Quantile(v, 0.1)) / 2}
	for _, level := range levels {
		s.Lo = append(s.Lo, model.Quantile(v, 0.5-level/200))
		s.Hi = append(s.Hi, model.Quantile(v, 0.5+level/200))
	}
	if &paths[0] != &open[0] {
		v = figuresOf(open, figure)
	}
	for k, line := range lines {
		s.Lines[k] = model.Quantile(v, line.quantile)
	}
	return s
}

// figuresOf returns a figure of each path, sorted.
func figuresOf(paths [][]float64, figure func(path []float64) float64) []float64 {
	out := capcli.Map(paths, figure)
	slices.Sort(out)
	return out
}

// widenToMean widens the ranges to include the mean. It may lie outside since it comes from the
// models and the ranges from draws.
func (s *Spread) widenToMean() {
	for k := range s.Lo {
		s.Lo[k], s.Hi[k] = min(s.Lo[k], s.Mean), max(s.Hi[k], s.Mean)
	}
}

// window is a kind of period to try on the past, with its length in steps.
type window struct {
	horizon string
	steps   int
}

// windowsOf returns the kinds of periods in spans, each with the length of its shortest.
func windowsOf(spans []span) []window {
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

// Number of futures drawn at each past start, and the most periods of a kind tried from one
// start.
const (
	triedDraws   = 200
	triedPeriodN = 48
)

// tryPeriods returns tried with the errors of periods from one past start of the series called
// name added.
func (q *question) tryPeriods(tried []triedPeriods, name string, windows []window, r *forecast.Origin, fit *forecast.BoundedFit) []triedPeriods {
	paths := make([][]float64, triedDraws)
	for k := range paths {
		paths[k] = fit.DrawDemand(len(r.Actual), q.Seed.Child(k).Stream("tried/"+name))
	}
	sum := q.addsUp()
	for k, w := range windows {
		if len(tried) <= k {
			tried = append(tried, triedPeriods{window: w})
		}
		p := &tried[k]
		p.steps = min(w.steps, len(r.Actual))
		before := len(p.means) + len(p.peaks)
		for from := 0; from+p.steps <= len(r.Actual) && from < triedPeriodN*p.steps; from += p.steps {
			s := span{first: from, weights: ones(p.steps)}
			if w.horizon != wholeHorizon {
				p.means = appendError(p.means, s.level(r.Actual, sum), paths, func(path []float64) float64 { return s.level(path, sum) })
			}
			p.peaks = appendError(p.peaks, s.highest(r.Actual), paths, s.highest)
		}
		if len(p.means)+len(p.peaks) > before {
			p.starts++
		}
	}
	return tried
}

func appendError(list []float64, came float64, paths [][]float64, figure func([]float64) float64) []float64 {
	v := capcli.Map(paths, figure)
	if e, ok := periodError(came, v); ok {
		list = append(list, e)
	}
	return list
}

// wholeHorizon is the window of all steps ahead, by which Suffices is calibrated.
const wholeHorizon = ""

// poolTrials returns the calibration of each kind of period, and of the whole horizon, from the errors
// of all series of the call.
func poolTrials(list []*seriesForecast) (periods []PeriodTrial, whole PeriodTrial) {
	var tried []triedPeriods
	for _, s := range list {
		if s.test == nil {
			continue
		}
		for _, p := range s.test.tried {
			k := slices.IndexFunc(tried, func(t triedPeriods) bool { return t.horizon == p.horizon })
			if k < 0 {
				k = len(tried)
				tried = append(tried, triedPeriods{window: p.window})
			}
			all := &tried[k]
			all.starts += p.starts
			all.means, all.peaks = append(all.means, p.means...), append(all.peaks, p.peaks...)
		}
	}
	whole = PeriodTrial{PeakScale: 1}
	for _, t := range tried {
		if t.horizon == wholeHorizon {
			whole = t.calibrate()
			continue
		}
		periods = append(periods, t.calibrate())
	}
	return periods, whole
}

// calibratePeriods returns the periods of each series with their ranges calibrated by trials.
func calibratePeriods(list []*seriesForecast, drawn []futures, trials []PeriodTrial) [][]Period {
	out := make([][]Period, len(list))
	for i, s := range list {
		for _, p := range drawn[i].periods {
			if k := slices.IndexFunc(trials, func(t PeriodTrial) bool { return t.Horizon == p.Horizon }); k >= 0 {
				bound := func(by func(int, float64) float64) func(float64) float64 {
					return func(v float64) float64 {
						if by == nil || p.first >= s.steps {
							return v
						}
						return by(p.first, v)
					}
				}
				p = p.calibrate(trials[k], bound(s.within), bound(s.above))
			}
			out[i] = append(out[i], p)
		}
	}
	return out
}

// calibrate returns the period with its ranges calibrated by t, within bounds.
func (p Period) calibrate(t PeriodTrial, within, above func(float64) float64) Period {
	p.Spread = p.scale(p.Mean, 0, t.MeanScale, within, above)
	p.widenToMean()
	if p.Peak == nil {
		return p
	}
	peak := p.Peak.scale(p.Peak.middle, t.PeakShift, t.PeakScale, within, above)
	peak.Mean = max(peak.Mean, p.Mean)
	peak.widenToMean()
	p.Peak = &peak
	return p
}

// scale returns s with all figures shifted by shift half widths, and their distance from middle
// multiplied by by, within bounds. The capacity lines have the bound above alone.
func (s *Spread) scale(middle, shift, by float64, within, above func(float64) float64) Spread {
	to := middle + shift*s.half
	move := func(v float64) float64 { return within(to + by*(v-middle)) }
	out := *s
	out.Mean = move(s.Mean)
	out.Lo, out.Hi = make([]float64, len(s.Lo)), make([]float64, len(s.Hi))
	for k := range s.Lo {
		out.Lo[k], out.Hi[k] = move(s.Lo[k]), move(s.Hi[k])
	}
	for k, v := range s.Lines {
		out.Lines[k] = above(to + by*(v-middle))
	}
	return out
}
