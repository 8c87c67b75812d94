package outlook

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/change"
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
	values := 0
	for _, v := range q.views {
		values += len(v.Values)
	}
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
