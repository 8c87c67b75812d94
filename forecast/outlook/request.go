package outlook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/hierarchy"
	"capcli/forecast/roadmap"
)

// Request describes what to forecast for every history of a call. The zero value of each field
// but Seed is the usual choice.
type Request struct {
	Model   string    // name in forecast.Models; "" is DefaultModel
	Models  []string  // models of a backtest; nil: DefaultModel, snaive and naive
	Levels  []float64 // levels of the ranges, in percent; nil: 80 and 95
	Seasons []int     // lengths of the seasons in steps, 0 is none; nil: those usual for the step

	// Horizon is how far ahead to forecast: steps ("48"), a length of time ("2w"), or a list of
	// periods ("4w,3mo"); "" is usual for the step. Until is the last stamp to forecast: a date,
	// a time or, where stamps are whole numbers, a number. It takes precedence over Horizon.
	Horizon, Until string

	// Origins is the number of past starts from which to try the model. 0 is 10 in a backtest, 2
	// for DefaultModel on a long series, and else 4.
	Origins   int
	Paths     int         // number of possible futures of each series to return
	Seed      capcli.Seed // seed of all random numbers
	Negative  bool        // allow negative figures where the history has none
	Changes   string      // one of ChangesChoices; "" is show where the search is quick
	Outliers  string      // one of OutlierChoices; "" is aside
	Reconcile string      // one of Reconciliations; "" is mint

	Peak   bool   // also give the highest step of each period
	PeakBy string // give each hour, day, week, month, quarter or year ahead as a period; "" is none

	Events *roadmap.Plan // nil is none
	Apart  bool          // keep the futures of one series without their events too: Result.FuturesApart
}

// DefaultModel is the model where the request names none.
const DefaultModel = "auto"

// The choices of Request.Changes, on moves of the level and odd values of the histories.
const (
	showChanges = "show"
	NoChanges   = "none"
	UseChanges  = "use" // show them, and fit the model to the values since the last move
)

// ChangesChoices are the valid values of Request.Changes.
var ChangesChoices = []string{showChanges, NoChanges, UseChanges}

// Limits of a request.
const (
	maxHorizon = 100_000 // steps
	maxPaths   = 100_000
	maxOrigins = 1000
	maxSeason  = 1_000_000
	maxCells   = 50_000_000 // figures in the paths of all series
)

// reconciliations are the methods to reconcile parts and sums, by name.
var reconciliations = []struct {
	name string
	way  hierarchy.Method
}{{"bottom-up", hierarchy.BottomUp}, {"mint", hierarchy.MinTShrink}, {"ols", hierarchy.OLS}, {"wls", hierarchy.WLSVariance}}

// Reconciliations returns the names that Request.Reconcile takes.
func Reconciliations() []string {
	out := []string{"none"}
	for _, r := range reconciliations {
		out = append(out, r.name)
	}
	return out
}

// reconciliation returns the requested method; ok is false where none is wanted.
func (r *Request) reconciliation() (way hierarchy.Method, ok bool) {
	for _, one := range reconciliations {
		if one.name == r.Reconcile {
			return one.way, true
		}
	}
	return hierarchy.MinTShrink, r.Reconcile != "none"
}

// ParseLevels parses percentages, "80" or "80%", and drops duplicates. It fails with a
// *capcli.RequestError.
func ParseLevels(texts []string) ([]float64, error) {
	var out []float64
	for _, text := range texts {
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
		if err != nil || !isLevel(v) {
			return nil, &capcli.RequestError{Field: "level", Text: fmt.Sprintf("wants percents between 0 and 100, found %q", text), Hint: "--level 80,95"}
		}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return nil, &capcli.RequestError{Field: "level", Text: "wants at least one percent between 0 and 100", Hint: "--level 80,95"}
	}
	return out, nil
}

func isLevel(v float64) bool { return v > 0 && v < 100 }

// Check returns an error where the request is invalid: a *capcli.RequestError or, for an unknown
// name, a *capcli.UnknownError.
func (r *Request) Check() error {
	bad := func(field, format string, args ...any) error {
		return &capcli.RequestError{Field: field, Text: fmt.Sprintf(format, args...)}
	}
	names := r.Models
	if r.Model != "" {
		names = append([]string{r.Model}, names...)
	}
	for _, name := range names {
		if _, err := forecast.Models.Get(name); err != nil {
			return err
		}
	}
	for _, v := range r.Levels {
		if !isLevel(v) {
			return bad("level", "wants percents between 0 and 100, found %g", v)
		}
	}
	for _, s := range r.Seasons {
		if s < 0 || s > maxSeason {
			return bad("season", "wants lengths from 1 to %d steps (0 is none), found %d", maxSeason, s)
		}
	}
	if _, err := r.periods(); err != nil {
		return err
	}
	switch {
	case r.Paths < 0 || r.Paths > maxPaths:
		return bad("paths", "wants 1 to %d, found %d", maxPaths, r.Paths)
	case r.Origins < 0 || r.Origins > maxOrigins:
		return bad("origins", "wants 1 to %d, found %d", maxOrigins, r.Origins)
	case r.PeakBy != "" && PeriodUnit(r.PeakBy) == (capcli.Step{}):
		return bad("peak", "wants hour, day, week, month, quarter or year, found %q", r.PeakBy)
	}
	if r.Changes != "" {
		if err := capcli.CheckChoice("--changes", r.Changes, ChangesChoices); err != nil {
			return err
		}
	}
	if r.Outliers != "" {
		if err := capcli.CheckChoice("--outliers", r.Outliers, OutlierChoices); err != nil {
			return err
		}
	}
	if r.Reconcile != "" {
		return capcli.CheckChoice("--reconcile", r.Reconcile, Reconciliations())
	}
	return nil
}

// withDefaults returns r with the defaults filled in.
func (r Request) withDefaults() Request {
	if r.Model == "" {
		r.Model = DefaultModel
	}
	if len(r.Models) == 0 {
		r.Models = []string{DefaultModel, "snaive", "naive"}
	}
	if len(r.Levels) == 0 {
		r.Levels = []float64{80, 95}
	}
	return r
}

// ByPeriods reports whether the request asks for figures of periods.
func (r *Request) ByPeriods() bool { return strings.Contains(r.Horizon, ",") || r.PeakBy != "" }

// AllowsPeriods reports whether the request asks for figures of periods, or does so for histories
// without peaks within their steps: there Peak with the horizon 4w is about each of four weeks.
func (r *Request) AllowsPeriods() bool { return r.ByPeriods() || r.Peak && r.isPeriod() }
