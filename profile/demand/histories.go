package demand

import (
	"math"
	"slices"
	"time"

	"capcli"
	"capcli/profile/series"
)

// Histories are all series that were read for one request.
type Histories struct {
	Inputs  []string // files, folders or the address of a server
	List    []*History
	Measure string // what of a job log or of samples; "" where the input is a table
	Peak    bool   // values are highest levels, not means
	Unit    string
	Summed  bool        // values of a table in one step were added up
	Step    capcli.Step // zero where stamps are numbers
	Clock   bool        // stamps are times
	Zone    *time.Location
	Notes   []string
	Partial string     // what is missing of the input; "" is nothing
	Tree    *Hierarchy // nil where nothing adds up
	ByName  bool       // series are shown in order of name

	Past, Cap Level // what there was, and what no forecast may be over

	// FormatStamp writes a stamp as the input or the steps have it.
	FormatStamp func(stamp int64) string

	caps     *series.Levels // of Cap, where it is a table
	labelled bool           // names are those of Prometheus
}

// History is one series, and what is known of how it came about.
type History struct {
	series.Regular
	Set       *Histories // that the history is one of
	Warnings  []string
	Censoring *Censoring // nil where the values are taken for demand

	group string // of a job log or of samples, the key of its group
}

// StampText returns the stamp of value i as the output has it; i may lie beyond the
// values.
func (h *History) StampText(i int) string { return h.Set.FormatStamp(h.Stamp(i)) }

// IndexOf returns the index of a stamp, which may lie before or after the values. It
// reports false where no step of h is at the stamp.
func (h *History) IndexOf(stamp int64) (int, bool) {
	if h.Stride != 0 {
		return int((stamp - h.First) / h.Stride), (stamp-h.First)%h.Stride == 0
	}
	i := h.Grid.Index(capcli.Time(stamp))
	return i, h.Grid.At(i) == capcli.Time(stamp)
}

// CountKnown returns the number of known values.
func (h *History) CountKnown() int { return len(h.Values) - h.Missing() }

// LastKnown returns the last value that is known; NaN where none is.
func LastKnown(values []float64) float64 {
	for _, v := range slices.Backward(values) {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// NeverNegative reports whether no value is under 0.
func (h *History) NeverNegative() bool {
	return !slices.ContainsFunc(h.Values, func(v float64) bool { return v < 0 && !math.IsNaN(v) })
}

// Forget leaves out the first k values.
func (h *History) Forget(k int) {
	if h.Censoring != nil {
		h.Censoring.forget(k)
	}
	h.Values = h.Values[k:]
	h.First += int64(k) * h.Stride
	if h.Set.Clock {
		h.Grid.Origin = h.Grid.At(k)
		h.Start = h.Grid.Origin
	}
}
