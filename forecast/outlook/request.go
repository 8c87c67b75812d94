package outlook

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/change"
	"capcli/forecast/demand"
	"capcli/forecast/hierarchy"
	"capcli/forecast/holidays"
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

// question is a request together with its histories: the input of every stage of the
// answer. Stages do not change it.
type question struct {
	Request // with defaults filled in
	hs      *demand.Histories
	views   []*view
	periods []period   // the entries of Horizon where it is a list; else nil
	plan    *eventPlan // nil without events
	notes   []string
	errors  int  // number of one-step errors to keep of each series
	longest int  // number of values of the longest series
	season  int  // shortest season of the series with the most known values, in steps
	look    bool // search for changes
}

// view is one history with the settings of its forecast.
type view struct {
	*demand.History
	steps   int              // number of steps ahead
	cap     []float64        // upper bound in each step of the history and ahead; nil is none
	room    []float64        // capacity in each step of the history and ahead; nil is not known
	options forecast.Options // without Memory
	notes   []string         // on seasons that were left out of the options
	usage   *unconstrainer   // nil where the values are taken for demand
	spoilt  []change.Spoilt  // stretches of the values that are estimates: see setAside
	gone    bool             // the series has ended: it is not forecast
	aside   []OddValue       // the same, for the result; nil for a sum
}

// maxFit is the largest number of values that a model is fitted to. With more values the fit
// takes longer and the forecast is no better.
const maxFit = 20_000

// newQuestion checks r and prepares every history of hs.
func newQuestion(ctx context.Context, hs *demand.Histories, r Request) (*question, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if !hs.Peak && !r.ByPeriods() && r.AllowsPeriods() {
		r.Horizon += ","
	}
	if _, wanted := r.reconciliation(); wanted && r.Reconcile != "" && hs.Tree == nil && !hs.Peak {
		return nil, &capcli.RequestError{Field: "reconcile", Text: "makes parts and sums agree, and there are no sums", Hint: "for a job log give --by pool,total or several keys, for a table --total or --id-sep /"}
	}
	q := &question{Request: r.withDefaults(), hs: hs, notes: slices.Clone(hs.Notes)}
	var err error
	if q.periods, err = r.periods(); err != nil {
		return nil, err
	}
	known := 0
	for _, h := range hs.List {
		v := &view{History: lastValues(h)}
		v.options, v.notes = q.optionsFor(v.CountKnown())
		if v.Censoring != nil {
			v.usage = &unconstrainer{Censoring: v.Censoring}
		}
		q.longest, known = max(q.longest, len(v.Values)), max(known, v.CountKnown())
		q.views = append(q.views, v)
	}
	q.errors = max(fewErrors, min(q.longest, 1000, max(50, 3_000_000/max(1, len(q.views)))))
	all, _ := q.optionsFor(known)
	q.season = all.Period()
	for i, gone := range q.ended() {
		q.views[i].gone = gone
	}
	q.setAside()
	if hs.Tree != nil {
		q.addSummedDemand()
	}
	if err := q.planEvents(ctx); err != nil {
		return nil, err
	}
	for _, v := range q.views {
		if v.steps, err = q.stepsAhead(v.History); err != nil {
			return nil, err
		}
		v.cap = hs.CapOver(v.History, len(v.Values)+v.steps)
		if v.room = v.cap; hs.Ahead > 0 {
			v.room = slices.Repeat([]float64{hs.Ahead}, len(v.Values)+v.steps)
		}
	}
	return q, nil
}

// lastValues returns a copy of h with at most the last maxFit values.
func lastValues(h *demand.History) *demand.History {
	out := *h
	out.Warnings = slices.Clone(h.Warnings)
	k := len(h.Values) - maxFit
	if k <= 0 {
		return &out
	}
	out.Warnings = append(out.Warnings, fmt.Sprintf("%s values: the last %s are used", capcli.Grouped(int64(len(h.Values))), capcli.Grouped(maxFit)))
	if h.Censoring != nil {
		c := *h.Censoring
		out.Censoring = &c
	}
	out.Forget(k)
	return &out
}

// optionsFor returns the options of a model for a series with the given number of known values,
// and notes on requested seasons that were left out.
func (q *question) optionsFor(known int) (forecast.Options, []string) {
	out := forecast.Options{Seed: q.Seed}
	seasons, asked := q.Seasons, len(q.Seasons) > 0
	if !asked {
		seasons = usualSeasons(q.hs.Step)
	}
	var notes []string
	for _, s := range slices.Sorted(slices.Values(seasons)) {
		switch {
		case s <= 1 || slices.Contains(out.Seasons, s):
		case 2*s > known:
			if asked {
				notes = append(notes, fmt.Sprintf("season %d left out: it needs two whole seasons, %d values, and there are %d", s, 2*s, known))
			}
		default:
			out.Seasons = append(out.Seasons, s)
		}
	}
	return out, notes
}

// sums returns the number of views that are sums of others. They come first.
func (q *question) sums() int {
	if q.hs.Tree == nil {
		return 0
	}
	return len(q.hs.Tree.Sums)
}

func (q *question) partsOf(i int) []*view {
	return capcli.Map(q.hs.Tree.PartsOf[i], func(j int) *view { return q.views[q.sums()+j] })
}

// agrees reports whether parts and sums are reconciled.
func (q *question) agrees() bool {
	_, ok := q.reconciliation()
	return ok && q.hs.Tree != nil
}

// modelFor returns the model that forecasts a series: the one called name as it is shipped,
// within the cap of the series, on the demand behind its usage, and with the known holidays.
// With UseChanges it is fitted to the values since the last move of the level.
func (q *question) modelFor(v *view, name string, steps int, opts forecast.Options) forecast.Bounded {
	b := q.bounded(v, name, steps, opts)
	if q.Changes == UseChanges {
		b.Model = change.SinceChange{Model: b.Model, Seasons: opts.Seasons}
	}
	if days := q.specialDays(v.History, steps); len(days) > 0 {
		b.Model = holidays.Model{Model: b.Model, Days: days, Zone: q.holidayZone(v.Name), At: func(i int) capcli.Time { return capcli.Time(v.Stamp(i)) }}
	}
	return b
}

// bounded returns the model as it is shipped, without holidays and changes. The benchmarks of a
// trial on the past use it too.
func (q *question) bounded(v *view, name string, steps int, opts forecast.Options) forecast.Bounded {
	b, _ := forecast.Shipped(name, v.Series, steps, opts) // the name was checked before
	if q.Negative {
		b.Floor = math.Inf(-1)
	}
	b.Cap = v.cap
	if usage := v.usage; usage != nil {
		b.Behind = func(values []float64) (forecast.Behind, error) {
			t := usage.latent(values, opts)
			return forecast.Behind{Demand: t.demand, Draw: t.draw, Uncertainty: t.unsure}, t.err
		}
	}
	return b
}

// meanKnown returns the mean of the known values, NaN where there are none.
func meanKnown(v []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range v {
		if !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	return sum / float64(n)
}

// ModelList is the document capcli/forecast_models/v1: the models that Request.Model chooses from.
type ModelList struct {
	Schema string        `json:"schema"`
	Models []ListedModel `json:"models"`
}

// ListedModel is a model of the catalogue.
type ListedModel struct {
	Name string `json:"name"`
	Doc  string `json:"doc"` // what it does
}

// ListModels returns the models, by name.
func ListModels() *ModelList {
	out := &ModelList{Schema: "capcli/forecast_models/v1", Models: []ListedModel{}}
	for _, m := range forecast.Models.All() {
		out.Models = append(out.Models, ListedModel{m.Name, m.Doc})
	}
	return out
}

// EventList is the document capcli/forecast_events/v1: the planned events of a file.
type EventList struct {
	Schema string  `json:"schema"`
	Events []Event `json:"events"`
}
