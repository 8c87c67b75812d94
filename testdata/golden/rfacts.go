package golden

import (
	"encoding/json"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

// Values is a list of numbers of which R may lack some: null is NaN.
type Values []float64

// UnmarshalJSON reads null as NaN.
func (m *Values) UnmarshalJSON(b []byte) error {
	var all []*float64
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*m = make(Values, len(all))
	for i, v := range all {
		(*m)[i] = math.NaN()
		if v != nil {
			(*m)[i] = *v
		}
	}
	return nil
}

// RAhead is a forecast of R at four places: 1, 2, half of H and H.
type RAhead struct {
	H                            int
	Mean, Lo80, Hi80, Lo95, Hi95 []float64
}

// RSmooth is a fit by R, its forecast only where H is not 0.
type RSmooth struct {
	Method            string
	LogLik, AICc, AIC float64
	RAhead
}

// RSplit is a decomposition by R at seven places.
type RSplit struct {
	Window              int
	Robust              bool
	Season, Trend, Rest []float64
	Seasons             [][]float64
}

// RSeries is a series and what R says of it; what R does not say is nil or 0.
type RSeries struct {
	M                                 int
	Y                                 Values
	Seasons                           []int
	ETS, SES, Holt, Damped, TBATS     *RSmooth
	Forms                             map[string]RSmooth
	Theta, Naive, SNaive, Drift, Mean *RAhead
	StlfETS                           *RSmooth `json:"stlf_ets"`
	StlfARIMA                         *RSmooth `json:"stlf_arima"`
	STL                               []RSplit
	MSTL                              *RSplit
	MSTLLog                           *RSplit `json:"mstl_log"`
	HWAdd                             float64 `json:"hw_add"`
	HWMul                             float64 `json:"hw_mul"`
	Lambda                            *struct{ Guerrero, LogLik float64 }
	NDiffs                            struct{ Level, Trend int }
	NSDiffs                           *int
	KPSS                              []float64
	Strength                          *float64
	Outliers                          struct {
		Index        []int
		Replacements []float64
	}
}

// Periods are those of the series as R was told.
func (s RSeries) Periods() []int {
	switch {
	case s.Seasons != nil:
		return s.Seasons
	case s.M > 1:
		return []int{s.M}
	}
	return nil
}

// Series is the series without dates.
func (s RSeries) Series() capcli.Series {
	return capcli.Series{Values: s.Y, Start: capcli.NoTime, Step: 1}
}

// rFile is what R's forecast package says of textbook series and of counts.
type rFile struct {
	Series map[string]RSeries
	Counts map[string]struct{ Y, Alpha, Mean []float64 }
}

// ReadFacts reads testdata/r-facts.json.gz, which testdata/rpeer/facts.R made, and
// gives the names of its series in order.
func ReadFacts(t testing.TB) (names []string, facts rFile) {
	t.Helper()
	ReadJSON(t, filepath.Join("forecast", "testdata", "r-facts.json.gz"), &facts)
	names = slices.Sorted(maps.Keys(facts.Series))
	return names, facts
}

// Sampled are the seven places of x that R's facts have.
func Sampled(x []float64) []float64 {
	var out []float64
	last := -1
	for k := range 7 {
		at := int(math.RoundToEven(1+float64(k)*float64(len(x)-1)/6)) - 1
		if at != last {
			out = append(out, x[at])
		}
		last = at
	}
	return out
}

// Floor is the size below which figures of the series are compared as if they
// had it.
func (s RSeries) Floor() float64 { return model.Largest(model.Observed(s.Y)) / 20 }

// CheckNear fails unless got is want to within a share of it.
func (s RSeries) CheckNear(t testing.TB, what string, got, want []float64, share float64) {
	t.Helper()
	CheckWithin(t, what, got, want, share, s.Floor())
}

// CheckForecast holds a forecast against R's: means within a share of themselves, ends
// within another.
func (s RSeries) CheckForecast(t testing.TB, what string, fit model.Fitted, want RAhead, share, ends float64) {
	t.Helper()
	got, err := fit.Forecast(want.H, 80, 95)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	at := func(v []float64) []float64 {
		return []float64{v[0], v[1], v[want.H/2-1], v[want.H-1]}[:len(want.Mean)]
	}
	s.CheckNear(t, what+" mean", at(got.Mean), want.Mean, share)
	s.CheckNear(t, what+" lower 80", at(got.Intervals[0].Lo), want.Lo80, ends)
	s.CheckNear(t, what+" upper 80", at(got.Intervals[0].Hi), want.Hi80, ends)
	s.CheckNear(t, what+" lower 95", at(got.Intervals[1].Lo), want.Lo95, ends)
	s.CheckNear(t, what+" upper 95", at(got.Intervals[1].Hi), want.Hi95, ends)
}

// FitModel is the model's fit of the series.
func (s RSeries) FitModel(t testing.TB, what string, m model.Model) model.Fitted {
	t.Helper()
	fit, err := m.Fit(s.Series())
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return fit
}

// CheckWithin fails unless got is want within a share of it, or of floor where want
// is nearer to zero, and says where.
func CheckWithin(t testing.TB, what string, got, want []float64, share float64, floor ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		size := math.Abs(want[i])
		for _, f := range floor {
			size = max(size, f)
		}
		if !(math.Abs(got[i]-want[i]) <= share*size+1e-9) {
			t.Errorf("%s: value %d is %.8g, want %.8g within %g", what, i, got[i], want[i], share)
			return
		}
	}
}
