package forecast

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

// maybe is a list of numbers of which R may lack some: null is NaN.
type maybe []float64

func (m *maybe) UnmarshalJSON(b []byte) error {
	var all []*float64
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*m = make(maybe, len(all))
	for i, v := range all {
		(*m)[i] = math.NaN()
		if v != nil {
			(*m)[i] = *v
		}
	}
	return nil
}

// rAhead is a forecast of R at four places: 1, 2, half of H and H.
type rAhead struct {
	H                            int
	Mean, Lo80, Hi80, Lo95, Hi95 []float64
}

// rSmooth is a fit by R, its forecast only where H is not 0.
type rSmooth struct {
	Method            string
	LogLik, AICc, AIC float64
	rAhead
}

// rSplit is a decomposition by R at seven places.
type rSplit struct {
	Window              int
	Robust              bool
	Season, Trend, Rest []float64
	Seasons             [][]float64
}

// rSeries is a series and what R says of it; what R does not say is nil or 0.
type rSeries struct {
	M                                 int
	Y                                 maybe
	Seasons                           []int
	ETS, SES, Holt, Damped, TBATS     *rSmooth
	Forms                             map[string]rSmooth
	Theta, Naive, SNaive, Drift, Mean *rAhead
	StlfETS                           *rSmooth `json:"stlf_ets"`
	StlfARIMA                         *rSmooth `json:"stlf_arima"`
	STL                               []rSplit
	MSTL                              *rSplit
	MSTLLog                           *rSplit `json:"mstl_log"`
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

// seasons are those of the series as R was told.
func (s rSeries) seasons() []int {
	switch {
	case s.Seasons != nil:
		return s.Seasons
	case s.M > 1:
		return []int{s.M}
	}
	return nil
}

func (s rSeries) series() capcli.Series {
	return capcli.Series{Values: s.Y, Start: capcli.NoTime, Step: 1}
}

// rFile is what R's forecast package says of textbook series and of counts.
type rFile struct {
	Series map[string]rSeries
	Counts map[string]struct{ Y, Alpha, Mean []float64 }
}

// rFacts reads testdata/r-facts.json.gz, which testdata/rpeer/facts.R made, and
// gives the names of its series in order.
func rFacts(t *testing.T) (names []string, facts rFile) {
	t.Helper()
	file, err := os.Open("testdata/r-facts.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&facts); err != nil {
		t.Fatal(err)
	}
	names = slices.Sorted(maps.Keys(facts.Series))
	return names, facts
}

// sampled are the seven places of x that R's facts have.
func sampled(x []float64) []float64 {
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

// floor is the size below which figures of the series are compared as if they
// had it.
func (s rSeries) floor() float64 { return model.Largest(model.Observed(s.Y)) / 20 }

// near fails unless got is want to within a share of it.
func (s rSeries) checkNear(t *testing.T, what string, got, want []float64, share float64) {
	t.Helper()
	etsNear(t, what, got, want, share, s.floor())
}

// ahead holds a forecast against R's: means within a share of themselves, ends
// within another.
func (s rSeries) ahead(t *testing.T, what string, fit model.Fitted, want rAhead, share, ends float64) {
	t.Helper()
	got, err := fit.Forecast(want.H, 80, 95)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	at := func(v []float64) []float64 {
		return []float64{v[0], v[1], v[want.H/2-1], v[want.H-1]}[:len(want.Mean)]
	}
	s.checkNear(t, what+" mean", at(got.Mean), want.Mean, share)
	s.checkNear(t, what+" lower 80", at(got.Intervals[0].Lo), want.Lo80, ends)
	s.checkNear(t, what+" upper 80", at(got.Intervals[0].Hi), want.Hi80, ends)
	s.checkNear(t, what+" lower 95", at(got.Intervals[1].Lo), want.Lo95, ends)
	s.checkNear(t, what+" upper 95", at(got.Intervals[1].Hi), want.Hi95, ends)
}

// fit is the model's fit of the series.
func (s rSeries) fit(t *testing.T, what string, m model.Model) model.Fitted {
	t.Helper()
	fit, err := m.Fit(s.series())
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return fit
}
