package outlook

import (
	"math"
	"slices"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/model"
)

// Suffices is the capacity that the demand exceeds in no step of the whole horizon, with a
// probability of 50, 80 and 95 percent. It is that quantile of the highest step of joint futures,
// calibrated by the highest steps after past starts: the largest of the steps' own quantiles suffices
// in each step alone, and far more seldom in all.
// Figures are null where the series are too many to hold their futures in memory.
type Suffices struct {
	Median capcli.Figure `json:"median"`
	P80    capcli.Figure `json:"p80"`
	P95    capcli.Figure `json:"p95"`
}

// Full says when the demand of a series passes its capacity, from joint futures that the capacity
// does not cut.
type Full struct {
	Capacity float64   `json:"capacity"` // in the last step ahead
	Passes   []Passing `json:"passes"`
	Months   []Above   `json:"months"`
}

// Passing is when the mean of a unit of time first lies above the capacity: of a day, and of a
// step of the history.
type Passing struct {
	Of          string  `json:"of"`
	By10        *string `json:"by_p10"` // the first date by which it has with a probability of 10 %; null is none within the horizon
	By50        *string `json:"by_p50"`
	By90        *string `json:"by_p90"`
	Probability float64 `json:"probability"` // of doing so within the horizon
}

// Above is how much of a month the demand is above the capacity, and by how much.
type Above struct {
	From    string        `json:"from"` // the first and the last day, or stamp
	To      string        `json:"to"`
	Share   float64       `json:"share"` // expected share of its time
	Excess  capcli.Figure `json:"excess_mean"`
	Highest float64       `json:"excess_highest_median"` // the median of the highest excess of any step
	High90  float64       `json:"excess_highest_p90"`
}

// SeriesPassing is a Passing with the series and its capacity. A date beyond the horizon is "later".
type SeriesPassing struct {
	ID          string  `json:"unique_id"`
	Capacity    float64 `json:"capacity"`
	Of          string  `json:"of"`
	By10        string  `json:"by_p10"`
	By50        string  `json:"by_p50"`
	By90        string  `json:"by_p90"`
	Probability float64 `json:"probability"`
}

// SeriesAbove is an Above with its series.
type SeriesAbove struct {
	ID string `json:"unique_id"`
	Above
}

// ListFull returns when each series passes its capacity and how far it is above it by month, for
// tables. Months in which none ever is above are left out.
func (r *Result) ListFull() (passes []SeriesPassing, months []SeriesAbove) {
	date := func(d *string) string {
		if d == nil {
			return "later"
		}
		return *d
	}
	for i := range r.Series {
		s := &r.Series[i]
		if s.Full == nil {
			continue
		}
		for _, p := range s.Full.Passes {
			passes = append(passes, SeriesPassing{s.ID, s.Full.Capacity, p.Of, date(p.By10), date(p.By50), date(p.By90), p.Probability})
		}
		for _, m := range s.Full.Months {
			if m.Share > 0 {
				months = append(months, SeriesAbove{s.ID, m})
			}
		}
	}
	return passes, months
}

// law holds what the joint futures of a series say of its whole horizon.
type law struct {
	highest Spread // of the highest step
	full    *Full  // nil where no capacity is known
}

// sufficesOf returns the capacity that suffices, calibrated by a trial of the whole horizon, and no
// lower than what each step alone does not exceed with the same probability.
func (f *futures) sufficesOf(s *seriesForecast, trial PeriodTrial) Suffices {
	if !f.settled {
		return Suffices{unknown, unknown, unknown}
	}
	free := func(v float64) float64 { return v }
	moved := f.highest.scale(f.highest.middle, trial.PeakShift, trial.PeakScale, free, free)
	own := s.fc.Intervals[len(s.fc.Intervals)-len(lines):]
	at := func(k int) capcli.Figure { return capcli.Figure(max(moved.Lines[k], slices.Max(own[k].Hi))) }
	return Suffices{at(0), at(1), at(2)}
}

// lawOf returns the law of the futures of a series, which no cap cuts.
func (q *question) lawOf(s *seriesForecast, paths [][]float64) law {
	out := law{highest: spreadOf(paths, paths, nil, slices.Max[[]float64])}
	if s.room == nil {
		return out
	}
	room := s.room[len(s.room)-s.steps:]
	out.full = &Full{Capacity: room[s.steps-1], Passes: []Passing{}, Months: []Above{}}
	if math.IsInf(out.full.Capacity, 1) {
		out.full = nil
		return out
	}
	for _, unit := range []string{"day", ""} {
		if spans := q.unitsOf(unit, s.History, s.steps); len(spans) > 0 {
			out.full.Passes = append(out.full.Passes, passing(spans, paths, room))
		}
	}
	for _, month := range q.unitsOf("month", s.History, s.steps) {
		out.full.Months = append(out.full.Months, month.measureAbove(paths, room))
	}
	return out
}

// unitsOf returns the stretches of one unit of time ahead: steps where unit is "", and one stretch
// where stamps are no times. A day of which less than half lies ahead is left out, and there are no
// days where steps are as long.
func (q *question) unitsOf(unit string, h *demand.History, steps int) []span {
	n := len(h.Values)
	if unit == "" {
		out := make([]span, steps)
		for i := range out {
			out[i] = span{horizon: stepWord(q.hs, 1), from: h.StampText(n + i), first: i, weights: ones(1)}
		}
		return out
	}
	if !q.hs.Clock {
		if unit == "day" {
			return nil
		}
		return []span{{horizon: unit, from: h.StampText(n), to: h.StampText(n + steps - 1), weights: ones(steps)}}
	}
	length := PeriodUnit(unit).Length()
	if unit == "day" && q.hs.Step.Length() >= length {
		return nil
	}
	edges := q.edges(h, steps)
	return slices.DeleteFunc(q.unitsBetween(unit, edges), func(s span) bool {
		ahead := edges[s.first+len(s.weights)] - edges[s.first]
		return unit == "day" && 2*capcli.Seconds(ahead) < length
	})
}

// passing returns when the mean of a stretch first lies above the capacity.
func passing(spans []span, paths [][]float64, room []float64) Passing {
	first, passed := make([]int, len(spans)), 0
	for _, path := range paths {
		for i := range spans {
			if spans[i].level(path, false) > spans[i].level(room, false) {
				first[i]++
				break
			}
		}
	}
	out := Passing{Of: spans[0].horizon}
	for i, n := range first {
		passed += n
		out.Probability = float64(passed) / float64(len(paths))
		for _, by := range []struct {
			date **string
			p    float64
		}{{&out.By10, 0.1}, {&out.By50, 0.5}, {&out.By90, 0.9}} {
			if *by.date == nil && out.Probability >= by.p {
				*by.date = &spans[i].from
			}
		}
	}
	return out
}

// measureAbove returns how much of s the demand is above the capacity.
func (s *span) measureAbove(paths [][]float64, room []float64) Above {
	out := Above{From: s.from, To: s.to}
	time, above, excess := 0.0, 0.0, 0.0
	highest := figuresOf(paths, func(path []float64) float64 {
		top := 0.0
		for i, w := range s.weights {
			time += w
			if over := path[s.first+i] - room[s.first+i]; over > 0 {
				above, excess, top = above+w, excess+w*over, max(top, over)
			}
		}
		return top
	})
	out.Share, out.Excess = above/time, capcli.Figure(excess/above)
	out.Highest, out.High90 = model.Quantile(highest, 0.5), model.Quantile(highest, 0.9)
	return out
}
