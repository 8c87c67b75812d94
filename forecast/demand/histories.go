package demand

import (
	"math"
	"slices"
	"time"

	"capcli"
	"capcli/profile/logs/series"
)

// Histories are all series of one request.
type Histories struct {
	Inputs  []string // names of files and folders, or the address of a server
	List    []*History
	Measure string         // measure of a job log or of samples; "" for a table
	Peak    bool           // values are peaks, not means
	Unit    string         // unit of the values; "" if unknown
	Summed  bool           // values in one step of a table were added up
	Step    capcli.Step    // zero if stamps are whole numbers
	Clock   bool           // stamps are times
	Zone    *time.Location // zone of times without a zone, and of days; nil is UTC
	Unknown int64          // jobs of a log that do not count, for it lacks their start or end
	Notes   []string       // remarks for the user
	Partial string         // says that the input is truncated; "" if it is complete
	Tree    *Hierarchy     // nil if no series is a sum
	ByName  bool           // show the series in order of name

	Past, Cap Level   // past capacity, and upper bound on forecasts
	Ahead     float64 // capacity ahead, which bounds nothing; 0 is not known

	// FormatStamp returns a stamp in the form of the input or of the steps.
	FormatStamp func(stamp int64) string

	caps     *series.Levels // table of Cap; nil if Cap is not a table
	labelled bool           // names are those of Prometheus series
}

// History is one series of a request.
type History struct {
	series.Regular
	Set       *Histories  // the histories to which this one belongs
	Warnings  []string    // remarks on this series for the user
	Censoring *Censoring  // limits on usage; nil if the values count as demand
	Further   [][]float64 // by column of Request.Further, the mean in each step; NaN where it is unknown

	group string // group of the grouper, for a job log and for samples; else ""
}

// StampText returns the stamp of value i as in the output. i may lie beyond the values.
func (h *History) StampText(i int) string { return h.Set.FormatStamp(h.Stamp(i)) }

// IndexOf returns the index of a stamp, which may lie before or after the values. It reports
// false where no step of h starts at the stamp.
func (h *History) IndexOf(stamp int64) (int, bool) {
	if h.Stride != 0 {
		return int((stamp - h.First) / h.Stride), (stamp-h.First)%h.Stride == 0
	}
	i := h.Grid.Index(capcli.Time(stamp))
	return i, h.Grid.At(i) == capcli.Time(stamp)
}

// CountKnown returns the number of known values.
func (h *History) CountKnown() int { return len(h.Values) - h.Missing() }

// LastKnown returns the last known value, or NaN if there is none.
func LastKnown(values []float64) float64 {
	for _, v := range slices.Backward(values) {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// NeverNegative reports whether no known value is under 0.
func (h *History) NeverNegative() bool {
	return !slices.ContainsFunc(h.Values, func(v float64) bool { return v < 0 && !math.IsNaN(v) })
}

// Forget drops the first k values.
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
