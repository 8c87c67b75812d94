package arima

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/model"
)

// DHR is the dynamic harmonic regression of Hyndman and Athanasopoulos ("Forecasting: Principles
// and Practice", 3rd edition, section 10.5):
//
//	y(t) = a + sum over seasons m, k = 1..K(m) of (b sin(2 pi k t / m) + c cos(2 pi k t / m)) + n(t)
//
// where n is an ARIMA process without season, of an order chosen as by AutoARIMA. The season
// keeps its shape, and the ARIMA errors take the remainder. DHR suits long seasons, and several
// at once. A frequency common to two seasons counts once, with the shorter season.
//
// AICc chooses the number of harmonics of each season, in one orthogonal decomposition of all
// harmonics (harmonicSearch). The coefficients then maximise the exact likelihood, of regression
// and errors in turn (Cochrane and Orcutt 1949, with the likelihood of both). Standard errors
// treat the two as independent, as they are in large samples (Pierce 1971).
type DHR struct {
	Seasons []float64 // lengths in steps, not necessarily whole
}

var _ model.Model = DHR{}

// Limits of the harmonics and of the search.
const (
	dhrMost  = 25   // most harmonics of a season
	dhrShare = 3    // all harmonics together have at most values/dhrShare columns
	dhrExact = 3000 // longest series, in values, with a search of the errors by exact likelihood too
	dhrLook  = 5000 // the order of the errors is chosen on this many last values
	dhrTries = 8    // most combinations of harmonics that are fitted
)

// harmonic is one wave of a season.
type harmonic struct {
	season int     // index of the season
	number int     // cycles in the season; 1 is the season itself
	turns  float64 // cycles in a step
	single bool    // a cycle of two steps, which has no sine
}

// columns returns the number of regressors: sine and cosine, or the cosine alone.
func (h harmonic) columns() int {
	if h.single {
		return 1
	}
	return 2
}

// valueAt returns a column of the wave at step t. Column 0 is the sine, unless the wave has only
// a cosine.
func (h harmonic) valueAt(column int, t float64) float64 {
	sin, cos := math.Sincos(2 * math.Pi * math.Mod(h.turns*t, 1))
	if h.single || column == 1 {
		return cos
	}
	return sin
}

// Fit implements model.Model. A season without more than two cycles in the series is left out;
// without any season the model is AutoARIMA without season. It fails with ErrTooShort below
// three values.
func (m DHR) Fit(y capcli.Series) (model.Fitted, error) {
	if err := checkValues(y.Values); err != nil {
		return nil, err
	}
	if n := len(model.Observed(y.Values)); n < 3 {
		return nil, fmt.Errorf("dhr: %d values, want 3 or more: %w", n, model.ErrTooShort)
	}
	s, err := newArimaSeries(y.Values)
	if err != nil {
		return nil, err
	}
	seasons := slices.Sorted(slices.Values(m.Seasons))
	waves := s.waves(seasons)
	if len(waves) == 0 {
		fit, err := newAutoSearch(AutoARIMA{}, s).run()
		if err != nil {
			return nil, err
		}
		fit.info.Notes = append(fit.info.Notes, "no season of which there are two cycles: no harmonics")
		return fit, nil
	}
	return s.regress(waves, seasons)
}

// waves returns the harmonics to choose from. Seasons are in ascending order of length.
func (s *arimaSeries) waves(seasons []float64) (waves []harmonic) {
	n, columns := len(model.Observed(s.y)), 0
	for i, length := range seasons {
		most := min(int(length/2), dhrMost)
		if !(length >= 2) || 2*length >= float64(n) {
			continue
		}
		for j := 1; j <= most; j++ {
			h := harmonic{season: i, number: j, turns: float64(j) / length, single: 2*float64(j) == length}
			same := func(o harmonic) bool { return math.Abs(o.turns-h.turns) < 1e-12 }
			if slices.ContainsFunc(waves, same) || columns+h.columns() > n/dhrShare {
				continue
			}
			waves = append(waves, h)
			columns += h.columns()
		}
	}
	return waves
}

// regress chooses the harmonics and fits the model. It compares the choice with
// its neighbours and with the shorter seasons alone: what a long season seems to add may belong
// to the errors.
func (s *arimaSeries) regress(waves []harmonic, seasons []float64) (*Fit, error) {
	search := newHarmonicSearch(waves, s)
	trial := dhrTrial{s: s, search: search, tried: map[string]bool{}}
	trial.searchAround(search.choose())
	if trial.best == nil {
		return nil, trial.failure
	}
	trial.best.describeWaves(search.take(trial.k), seasons)
	return trial.best, nil
}

// dhrTrial fits combinations of harmonics and keeps the best by AICc.
type dhrTrial struct {
	s       *arimaSeries
	search  *harmonicSearch
	tried   map[string]bool // combinations fitted already
	best    *Fit
	k       []int // number of harmonics of each season in best
	failure error // of the last fit that failed
}

// try fits the first k harmonics of each season and reports whether they are the best so far.
func (t *dhrTrial) try(k []int) bool {
	key := fmt.Sprint(k)
	if t.tried[key] {
		return false
	}
	t.tried[key] = true
	fit, err := t.s.addWaves(t.search.take(k)).withErrors(t.search.d)
	if err != nil {
		t.failure = err
		return false
	}
	if t.best != nil && !(fit.info.AICc < t.best.info.AICc) {
		return false
	}
	t.best, t.k = fit, slices.Clone(k)
	return true
}

// searchAround tries k, then k without its longer seasons. For series of at most dhrExact values
// it then moves to better neighbours of the best.
func (t *dhrTrial) searchAround(k []int) {
	t.try(k)
	for i := len(k) - 1; i > 0; i-- {
		k = slices.Clone(k)
		k[i] = 0
		t.try(k)
	}
	if t.best == nil || len(t.s.y) > dhrExact {
		return
	}
	most := t.search.waveCounts()
	for i := range k {
		for _, move := range []int{1, -1} {
			for len(t.tried) < dhrTries {
				next := slices.Clone(t.k)
				if next[i] += move; next[i] < 0 || next[i] > most[i] || !t.try(next) {
					break
				}
			}
		}
	}
}

// describeWaves names the number of harmonics of each season in the method of the fit.
func (fit *Fit) describeWaves(waves []harmonic, seasons []float64) {
	var parts []string
	for i, length := range seasons {
		k := 0
		for _, h := range waves {
			if h.season == i {
				k = max(k, h.number)
			}
		}
		if k > 0 {
			parts = append(parts, fmt.Sprintf("%d of %g", k, length))
		}
	}
	if len(parts) > 0 {
		fit.info.Method = fmt.Sprintf("Harmonic regression (%s) with %s errors", strings.Join(parts, ", "), fit.form.title())
	}
}
