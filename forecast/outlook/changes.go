package outlook

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/change"
	"capcli/forecast/model"
)

// lookedValues is the number of values of a call up to which histories are searched for changes
// without a request to do so. The search takes a fiftieth of the time of models that search for
// parameters, but several times that of a plain model.
const lookedValues = 200_000

// givenChanges is the number of changes of each kind that the document lists for one series.
const givenChanges = 100

// Move is a lasting move of the level of a history.
type Move struct {
	DS   string  `json:"ds"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Gain float64 `json:"gain"`
}

// OddValue is a value of a history that is far from the expected one.
type OddValue struct {
	DS       string  `json:"ds"`
	Value    float64 `json:"value"`
	Expected float64 `json:"expected"`
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
	// SetAside says that the forecast does not count the value, and Outage that it shows nothing at
	// all, because nothing was recorded. Until is the last of several such values in a row.
	SetAside bool   `json:"set_aside,omitempty"`
	Outage   bool   `json:"outage,omitempty"`
	Until    string `json:"until,omitempty"`

	running bool // the outage has not ended
}

// looksForChanges reports whether this call searches the histories for changes. note says so
// where it does not search although the request does not exclude it.
func (q *question) looksForChanges() (looks bool, note string) {
	if q.Changes != "" {
		return q.Changes != NoChanges, ""
	}
	values := capcli.Sum(q.views, func(v *view) int { return len(v.Values) })
	if q.Model == DefaultModel || values <= lookedValues {
		return true, ""
	}
	return false, fmt.Sprintf("%s series were not searched for level shifts and outliers: --changes show", capcli.Grouped(int64(len(q.views))))
}

// changesOf returns the changes of y, the history of v or the demand behind it, except those on
// known holidays. It returns nil where there are too few values or a value is too large.
func (q *question) changesOf(v *view, y []float64, opts forecast.Options) ([]Move, []OddValue) {
	series := v.Series
	series.Values = q.withoutHolidays(v.History, y)
	moves, odd, err := change.Find(series, opts.Seasons)
	if err != nil {
		return nil, nil
	}
	levels, values := make([]Move, len(moves)), make([]OddValue, len(odd))
	for i, m := range moves {
		levels[i] = Move{v.StampText(m.Index), m.Before, m.After, m.Gain}
	}
	for i, a := range odd {
		values[i] = OddValue{DS: v.StampText(a.Index), Value: a.Value, Expected: a.Expected, Lo: a.Lo, Hi: a.Hi}
	}
	return levels, values
}

// learntSince returns a note on the first value that the fit used, where that is not the first
// of seen.
func learntSince(v *view, seen []float64, fit *forecast.BoundedFit) []string {
	at := change.FirstLearnt(fit.Fitted)
	if at <= 0 {
		return nil
	}
	n := len(seen)
	for _, x := range seen {
		if !math.IsNaN(x) {
			break
		}
		at++ // missing values at the start were cut off before
	}
	return []string{fmt.Sprintf("forecast from the values since the level shift of %s: %d of %d", v.StampText(at), n-at, n)}
}

func lastItems[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// PeriodTrial describes how one kind of period, such as a week, was tried on the past, and how
// that calibrates the ranges of such periods. The distance of a range from the mean is
// multiplied by MeanScale, 1 or more. The range of a peak is moved by PeakShift and then
// multiplied by PeakScale.
type PeriodTrial struct {
	Horizon   string  `json:"horizon"`
	Steps     int     `json:"steps"`
	Tried     int     `json:"tried"`
	Starts    int     `json:"starts"`
	MeanScale float64 `json:"mean_range_scaled"`
	PeakShift float64 `json:"peak_shifted"` // in half widths of the 80 % range
	PeakScale float64 `json:"peak_range_scaled"`
}

// triedPeriods holds the errors of one kind of period from past starts: see periodError.
type triedPeriods struct {
	window
	means, peaks []float64
	starts       int // number of starts that gave errors
}

const (
	startsTrusted = 4    // number of starts that weigh as much as the models' own ranges
	mostScale     = 4    // the largest factor by which a range becomes wider or narrower
	calmTrust     = 0.75 // weight of errors that are smaller than expected, which are weaker evidence
)

// periodError returns the actual value minus the median of the futures, over the half width of
// their 80 % range. It sorts futures. ok is false where the result is not finite, as where
// futures do not differ.
func periodError(came float64, futures []float64) (e float64, ok bool) {
	slices.Sort(futures)
	half := (model.Quantile(futures, 0.9) - model.Quantile(futures, 0.1)) / 2
	e = (came - model.Quantile(futures, 0.5)) / half
	return e, model.IsFinite(e)
}

// calibrate computes the calibration of the ranges from the past errors (split conformal
// prediction). Means do not change, since they are those of the steps, and their ranges only
// grow. The ranges of peaks also move and shrink, since the noise of the futures biases the
// highest of many steps upwards.
func (t *triedPeriods) calibrate() PeriodTrial {
	trust := float64(t.starts) / float64(t.starts+startsTrusted)
	out := PeriodTrial{Horizon: t.horizon, Steps: t.steps, Tried: len(t.means), Starts: t.starts, MeanScale: max(1, scaleOf(t.means, 0, trust))}
	if len(t.peaks) > 0 {
		out.PeakShift = trust * max(-mostScale, min(mostScale, model.Median(t.peaks)))
	}
	out.PeakScale = scaleOf(t.peaks, out.PeakShift, trust)
	return out
}

// scaleOf returns the factor that widens 80 % ranges to hold 80 % of the errors, pulled towards
// 1 by trust, from 0 to 1.
func scaleOf(errs []float64, shift, trust float64) float64 {
	if len(errs) == 0 {
		return 1
	}
	off := make([]float64, len(errs))
	for i, e := range errs {
		off[i] = math.Abs(e - shift)
	}
	pull := math.Log(max(1.0/mostScale, min(mostScale, model.ConformalQuantile(off, 0.8))))
	if pull < 0 {
		trust *= calmTrust
	}
	return math.Exp(trust * pull)
}
