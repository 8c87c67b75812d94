package outlook

import (
	"fmt"
	"math"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/change"
	"capcli/forecast/model"
)

// lookedValues are the values of a call that are looked through for changes though
// nobody asked: it takes a fiftieth of the time of the models that search, but several
// times that of a plain one.
const lookedValues = 200_000

// givenChanges is how many changes of each kind the document has of one series.
const givenChanges = 100

// Move is a move of the level of a history for good.
type Move struct {
	DS   string  `json:"ds"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Gain float64 `json:"gain"`
}

// OddValue is a value of a history that is far from what was to be expected.
type OddValue struct {
	DS       string  `json:"ds"`
	Value    float64 `json:"value"`
	Expected float64 `json:"expected"`
	Lo       float64 `json:"lo"`
	Hi       float64 `json:"hi"`
}

// looksForChanges reports whether this call looks for changes in the histories; where
// it does not though nobody said so, a note says that.
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
	return false, fmt.Sprintf("%s series were not looked through for moves of their level and odd values: --changes show", capcli.Grouped(int64(len(q.views))))
}

// changesOf finds the changes of the history y of v, or of the demand behind it, except
// those of known holidays. It returns nil where there are too few values, or figures that
// are too large.
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
		values[i] = OddValue{v.StampText(a.Index), a.Value, a.Expected, a.Lo, a.Hi}
	}
	return levels, values
}

// learntSince notes from where the forecast was learnt, where that is not the start of
// what was seen.
func learntSince(v *view, seen []float64, fit model.Fitted) []string {
	b, ok := fit.(*forecast.BoundedFit)
	if !ok {
		return nil
	}
	at := change.FirstLearnt(b.Fitted)
	if at <= 0 {
		return nil
	}
	n := len(seen)
	for _, x := range seen {
		if !math.IsNaN(x) {
			break
		}
		at++ // the model began at the first value that is known
	}
	return []string{fmt.Sprintf("forecast from the values since the level moved, %s: %d of %d", v.StampText(at), n-at, n)}
}

func lastItems[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
