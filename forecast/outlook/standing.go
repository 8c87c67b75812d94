package outlook

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/demand"
	"capcli/forecast/history"
	"capcli/forecast/model"
)

// Ended is a series that has ended beside others that go on. It is not forecast.
type Ended struct {
	ID   string `json:"unique_id"`
	Last string `json:"last_ds"` // stamp of its last known value
}

// FlatTop says that usage stands at its highest value so often, as at a capacity that was not told.
type FlatTop struct {
	Value    float64       `json:"value"`
	Steps    int           `json:"steps"`    // in which usage is at the value
	Mean     capcli.Figure `json:"mean"`     // of the steps ahead
	Uncapped capcli.Figure `json:"uncapped"` // the same if the value is a capacity; not known in calls of many series
}

// The rules for series that ended and for flat tops.
const (
	endedSteps  = 3    // least time since the last value, in steps; see history.IsGone too
	endedLive   = 0.5  // least share of the series that go on to the end
	flatShare   = 0.05 // least share of the steps that a flat top takes
	flatSteps   = 10   // and least number of them
	flatMost    = 0.9  // most of them; with more the series stands still
	flatTimes   = 3    // times the number of steps at the next lower value
	flatOffered = 20   // most series of a call whose demand above a flat top is estimated
)

// ended returns, for each view, whether its series has ended: its last known value is old beside its
// own pauses, while most series go on. Without sums and times nothing has ended.
func (q *question) ended() []bool {
	out := make([]bool, len(q.views))
	if q.hs.Tree != nil || !q.hs.Clock || q.Outliers == KeepOutliers || len(q.views) < 2 {
		return out
	}
	last, latest := make([]capcli.Time, len(q.views)), capcli.Time(math.MinInt64)
	pauses := make([]capcli.Time, len(q.views))
	for i, v := range q.views {
		before := -1
		for k, x := range v.Values {
			if math.IsNaN(x) {
				continue
			}
			if at := capcli.Time(v.Stamp(k)); before >= 0 {
				pauses[i] = max(pauses[i], at-last[i])
			}
			last[i], before = capcli.Time(v.Stamp(k)), k
		}
		latest = max(latest, last[i])
	}
	step, live := capcli.Time(q.hs.Step.Length()), 0
	for i := range out {
		out[i] = latest-last[i] >= endedSteps*step && history.IsGone(last[i], latest, pauses[i])
		if latest-last[i] < endedSteps*step {
			live++
		}
	}
	if float64(live) < endedLive*float64(len(out)) {
		clear(out) // the series end at times of their own
	}
	return out
}

func (v *view) lastKnownText() string {
	for i, x := range slices.Backward(v.Values) {
		if !math.IsNaN(x) {
			return v.StampText(i)
		}
	}
	return v.StampText(0)
}

// endedNote names the series that have ended; "" where there are none.
func (r *Result) endedNote() string {
	texts := capcli.Map(r.Ended, func(e Ended) string { return e.ID + " (" + e.Last + ")" })
	if texts == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d series ended, and %s left out: %s; --fit outliers=keep forecasts all", len(texts), len(texts)+len(r.Series)+len(r.NotForecast), wereText(len(texts)), strings.Join(capcli.Abridge(texts, namedFailures), ", "))
}

func wereText(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// flatTopOf returns the flat top of a table's series of usage, with the forecast as if it were a
// capacity; nil where it has none, or where its capacity or queue is known.
func (q *question) flatTopOf(s *seriesForecast, opts forecast.Options) *FlatTop {
	v := s.view
	if v.usage != nil || v.cap != nil || q.hs.Measure != "" || q.hs.Peak || q.hs.Summed || q.hs.Tree != nil || q.Outliers == KeepOutliers {
		return nil
	}
	top, n, next, known := math.Inf(-1), 0, 0, 0
	sorted := slices.Sorted(slices.Values(v.Values))
	second := math.NaN()
	for _, x := range slices.Backward(sorted) { // missing values come first
		switch {
		case math.IsNaN(x):
			continue
		case math.IsInf(top, -1) || x == top:
			top = x
			n++
		case math.IsNaN(second) || x == second:
			second = x
			next++
		}
		known++
	}
	share := float64(n) / float64(max(1, known))
	if top <= 0 || n < flatSteps || share < flatShare || share > flatMost || n < flatTimes*next {
		return nil
	}
	out := &FlatTop{Value: top, Steps: n, Mean: capcli.Figure(meanKnown(s.fc.Mean)), Uncapped: capcli.Figure(math.NaN())}
	if len(q.views) > flatOffered {
		return out
	}
	own := *v
	limit := make([]float64, len(v.Values))
	for i := range limit {
		limit[i] = top
	}
	own.usage = &unconstrainer{Censoring: &demand.Censoring{Fine: v.Regular, Limit: limit}}
	opts.Memory = forecast.NewMemory()
	fit, err := q.modelFor(&own, s.model, v.steps, opts).Fit(own.Series)
	if err != nil {
		return out
	}
	if fc, err := fit.Forecast(v.steps); err == nil {
		out.Uncapped = capcli.Figure(meanKnown(fc.Mean))
	}
	return out
}

// text says what the flat top is, of a history with the given number of values.
func (f *FlatTop) text(known int) string {
	out := fmt.Sprintf("usage is exactly %s, its highest, in %s of %s steps, as at a capacity that was not told: what was wanted above is not seen", amountText(f.Value), capcli.Grouped(int64(f.Steps)), capcli.Grouped(int64(known)))
	flag := "--past-capacity " + LevelText(f.Value)
	if math.IsNaN(float64(f.Uncapped)) {
		return out + "; " + flag + " estimates it"
	}
	return out + fmt.Sprintf("; %s estimates it: a mean of %s ahead, not %s", flag, amountText(float64(f.Uncapped)), amountText(float64(f.Mean)))
}

// withSeen adds to the error of a model for which y is too short what y was.
func withSeen(err error, y []float64) error {
	if errors.Is(err, model.ErrTooShort) {
		return fmt.Errorf("%w; %s", err, seenText(y))
	}
	return err
}

// seenText says what the known values lie between.
func seenText(y []float64) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range y {
		if !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo == hi {
		return "what was seen is " + amountText(lo)
	}
	return fmt.Sprintf("what was seen lies between %s and %s", amountText(lo), amountText(hi))
}
