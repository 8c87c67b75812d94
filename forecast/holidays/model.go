package holidays

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"capcli"
	"capcli/forecast/model"
)

// Model wraps a model for a series with unusual days. It learns from the history by how much
// these differ (see learn), subtracts the difference, forecasts the rest with the model, and
// adds the difference on such days ahead. In a backtest it learns only from the values before
// each origin.
type Model struct {
	Model model.Model
	Days  []SpecialDays
	Zone  *time.Location        // time zone of the days whose holiday has none; nil is UTC
	At    func(int) capcli.Time // returns the start of the i-th value of the series, also beyond its end
}

// SpecialDays is a holiday. Where its effect is declared, the effect learnt from the
// history is only subtracted there, and the declared one is added to the forecast.
type SpecialDays struct {
	Holiday
	Declared bool
	Size, SD float64 // in the unit of the series, or with Relative a share of its level
	Relative bool
}

// Effect is the effect of one holiday as learnt from a history.
type Effect struct {
	Name     string  `json:"-"`
	Days     int     `json:"days"`     // number of days in the history that could be compared with usual ones
	Size     float64 `json:"size"`     // mean difference over the day, as a share of the level where Relative
	SD       float64 `json:"sd"`       // standard deviation of Size
	Relative bool    `json:"relative"` // the series is never negative, so differences grow with its level
}

var _ model.Model = Model{}

// Fit learns the effects and fits the model to the series without them.
func (m Model) Fit(y capcli.Series) (model.Fitted, error) {
	if m.At == nil {
		return nil, fmt.Errorf("holidays: the series has no dates: %w", model.ErrUnfit)
	}
	for k := range m.Days {
		if err := (&Calendar{Holidays: []Holiday{m.Days[k].Holiday}}).Check(); err != nil {
			return nil, err
		}
	}
	l := learn(m, y.Values)
	y.Values = l.cleaned
	inner, err := m.Model.Fit(y)
	if err != nil {
		return nil, err
	}
	return &festive{Fitted: inner, l: l}, nil
}

// Skip returns the model for a series without its first n values.
func (m Model) Skip(n int) model.Model {
	at := m.At
	m.At = func(i int) capcli.Time { return at(i + n) }
	return m
}

type festive struct {
	model.Fitted
	l *learner

	mu    sync.Mutex
	h     int // steps that days and level are of
	days  []dayAhead
	level []float64
}

// daysAhead returns the steps ahead that holidays affect, and the level of the forecast by step; no steps where the
// forecast fails. It keeps both for the next future of the same length.
func (f *festive) daysAhead(h int) ([]dayAhead, []float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.h == h {
		return f.days, f.level
	}
	f.h, f.days, f.level = h, f.l.ahead(h), nil
	if len(f.days) == 0 {
		return nil, nil
	}
	fc, err := f.Fitted.Forecast(h)
	if err != nil {
		f.days = nil
		return nil, nil
	}
	f.level = f.l.levels(fc.Mean)
	return f.days, f.level
}

// Unwrap returns the fit of the model to the series without the effects.
func (f *festive) Unwrap() model.Fitted { return f.Fitted }

// Forecast adds the effects of the holidays ahead. Their variance widens the intervals as that
// of independent errors: in squares.
func (f *festive) Forecast(h int, levels ...float64) (model.Forecast, error) {
	fc, err := f.Fitted.Forecast(h, levels...)
	if err != nil {
		return fc, err
	}
	days := f.l.ahead(h)
	if len(days) == 0 {
		return fc, nil
	}
	level := f.l.levels(fc.Mean)
	out := model.Forecast{Mean: slices.Clone(fc.Mean), Intervals: make([]model.Interval, len(fc.Intervals))}
	shift, variance := make([]float64, h), make([]float64, h)
	for _, d := range days {
		mean, sd := d.effect(level[d.step])
		shift[d.step] += mean
		variance[d.step] += sd * sd
	}
	for i := range shift {
		out.Mean[i] += shift[i]
	}
	for k, iv := range fc.Intervals {
		lo, hi := slices.Clone(iv.Lo), slices.Clone(iv.Hi)
		for i := range lo {
			wide := model.ZScore(iv.Level) * math.Sqrt(variance[i])
			lo[i] += shift[i] - (math.Hypot(math.Max(0, fc.Mean[i]-lo[i]), wide) - math.Max(0, fc.Mean[i]-lo[i]))
			hi[i] += shift[i] + (math.Hypot(math.Max(0, hi[i]-fc.Mean[i]), wide) - math.Max(0, hi[i]-fc.Mean[i]))
		}
		out.Intervals[k] = model.Interval{Level: iv.Level, Lo: lo, Hi: hi}
	}
	return out, nil
}

// Path adds the holidays to a drawn future, with one draw of the error of each holiday.
func (f *festive) Path(h int, rng model.Noise) []float64 {
	path := f.Fitted.Path(h, rng)
	days, level := f.daysAhead(len(path))
	if len(days) == 0 {
		return path
	}
	draws := make([]float64, len(f.l.m.Days))
	for k := range draws {
		draws[k] = rng.NormFloat64()
	}
	for _, d := range days {
		mean, sd := d.effect(level[d.step])
		path[d.step] += mean + sd*draws[d.holiday]
	}
	return path
}

// Effects returns, for a fit of Model, the learnt effect of each holiday and what it adds to the
// mean of each of the h steps ahead. It returns nil for any other fit.
func Effects(fit model.Fitted, h int) (effects []Effect, added [][]float64, err error) {
	f, ok := fit.(*festive)
	if !ok {
		return nil, nil, nil
	}
	fc, err := f.Fitted.Forecast(h)
	if err != nil {
		return nil, nil, err
	}
	level := f.l.levels(fc.Mean)
	added = make([][]float64, len(f.l.m.Days))
	for k := range added {
		added[k] = make([]float64, h)
	}
	for _, d := range f.l.ahead(h) {
		mean, _ := d.effect(level[d.step])
		added[d.holiday][d.step] += mean
	}
	return f.l.effects(), added, nil
}

// dayAhead is one step ahead that a holiday affects.
type dayAhead struct {
	step, holiday int
	share         float64 // of the step
	size, sd      float64
	absolute      bool // size is in the unit of the series whatever its level
}

func (d *dayAhead) effect(level float64) (mean, sd float64) {
	if d.absolute {
		level = 1
	}
	return d.share * d.size * level, d.share * d.sd * math.Abs(level)
}

// ahead returns the steps after the history that holidays with a known effect affect.
func (l *learner) ahead(h int) []dayAhead {
	n := len(l.cleaned)
	bounds := l.bounds(n, n+h)
	var out []dayAhead
	for k := range l.m.Days {
		special := &l.m.Days[k]
		l.forEachStep(k, bounds, func(g group, from, to capcli.Time, i int, share float64) {
			d := dayAhead{step: i, holiday: k, share: share}
			if special.Declared {
				d.size, d.sd, d.absolute = special.Size, special.SD, !special.Relative
			} else {
				e, ok := l.groupEffect(g)
				if !ok {
					return
				}
				d.size, d.sd = e.sizeAt(l.slot(bounds[i]))
				d.absolute = !l.relative
			}
			out = append(out, d)
		})
	}
	return out
}

// levels returns the level of the day of each step ahead, as compare does for the history:
// the mean of the forecast over the day. Where the forecast has only a part of the day,
// the steps before complete it.
func (l *learner) levels(mean []float64) []float64 {
	n := len(l.cleaned)
	all := append(slices.Clone(l.cleaned), mean...)
	bounds := l.bounds(n, n+len(mean))
	day := max(1, int(math.Round(86400/float64(max(1, bounds[1]-bounds[0])))))
	out := make([]float64, len(mean))
	for i := range out {
		from := n + i
		if day > 1 {
			from -= int(math.Round(l.slot(bounds[i]) * float64(day)))
		}
		from = max(0, min(from, len(all)-day))
		sum, count := 0.0, 0.0
		for _, v := range all[from:min(len(all), from+day)] {
			if model.IsFinite(v) {
				sum, count = sum+v, count+1
			}
		}
		if count > 0 {
			out[i] = sum / count
		}
	}
	return out
}
