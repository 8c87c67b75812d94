package outlook

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/holidays"
	"capcli/forecast/model"
	"capcli/forecast/roadmap"
	"capcli/profile/logs/parquet"
)

// Result is a forecast of every history of a call. Its JSON is the document
// capcli/forecast/v1; figures that are not known are null there.
type Result struct {
	Schema       string             `json:"schema"`
	Input        []string           `json:"input"`
	Measure      string             `json:"measure,omitempty"`
	Unit         string             `json:"unit,omitempty"`
	Peak         bool               `json:"peak"` // each value is the highest level within its step
	Step         string             `json:"step"`
	Seed         uint64             `json:"seed"`
	Levels       []float64          `json:"levels"`
	Cap          demand.Level       `json:"cap"`
	Capacity     float64            `json:"capacity,omitempty"` // the capacity ahead, which cuts no figure
	PastCapacity demand.Level       `json:"past_capacity"`
	Series       []Series           `json:"series"`
	Events       []Event            `json:"events,omitempty"`
	NotForecast  []string           `json:"not_forecast"`
	Ended        []Ended            `json:"ended,omitempty"` // series that have ended, and are left out
	Warnings     []string           `json:"warnings"`
	PeriodTrials []PeriodTrial      `json:"periods_tried,omitempty"`
	Reconciled   *Reconciliation    `json:"reconciled"` // null where nothing was reconciled
	Lines        map[string]float64 `json:"line_quantiles"`

	histories *demand.Histories
	asked     Request
	outcomes  []outcome
	draws     int // number of futures of each series from which the periods were computed
}

// Series is the forecast of one series.
type Series struct {
	ID         string           `json:"unique_id"`
	Model      string           `json:"model"`
	Method     string           `json:"method"`
	Parameters []Parameter      `json:"parameters"`
	LogLik     capcli.Figure    `json:"loglik"`
	AIC        capcli.Figure    `json:"aic"`
	AICc       capcli.Figure    `json:"aicc"`
	BIC        capcli.Figure    `json:"bic"`
	Sigma2     capcli.Figure    `json:"sigma2"`
	History    History          `json:"history"`
	Censoring  *Censoring       `json:"censoring"` // null where the values are taken for demand
	Backtest   *Trial           `json:"backtest"`  // null where the history is too short
	Backwhy    string           `json:"backtest_why,omitempty"`
	Periods    []Period         `json:"periods,omitempty"`
	DS         []string         `json:"ds"` // stamps of the steps ahead
	Mean       []float64        `json:"mean"`
	Intervals  []model.Interval `json:"intervals"` // by level
	Lines      Lines            `json:"lines"`
	Suffices   Suffices         `json:"suffices"`
	Full       *Full            `json:"full,omitempty"` // left out where no capacity ahead is known
	FlatTop    *FlatTop         `json:"flat_top,omitempty"`
	Warnings   []string         `json:"warnings"`

	Changepoints []Move     `json:"changepoints" schema:"nullable"` // the last ones; null where the history was not searched
	Anomalies    []OddValue `json:"anomalies" schema:"nullable"`
	MoreChanges  int        `json:"more_changes,omitempty"` // number of earlier changes that are not listed

	Source  *demand.History `json:"-"` // the history; only its last values where there are very many
	Demand  []float64       `json:"-"` // the values of the history, or the demand behind them where it was estimated
	Sum     bool            `json:"-"` // the series is the sum of other series of the call
	Futures [][]float64     `json:"-"` // as many as requested
	Moves   []Move          `json:"-"` // all moves
	Odd     []OddValue      `json:"-"` // all odd values

	apart *Apart
}

// Parameter is a named parameter of a fitted model.
type Parameter struct {
	Name  string        `json:"name"`
	Value capcli.Figure `json:"value"`
}

// History describes the history from which a forecast was made.
type History struct {
	Values  int           `json:"values"`
	Missing int           `json:"missing"`
	Filled  int           `json:"filled"`
	Start   string        `json:"start"`
	End     string        `json:"end"`
	Now     capcli.Figure `json:"now"`    // the last known value, as demand
	Season  int           `json:"season"` // in steps
	// Last are the last values, as demand, and LastDS their stamps: so many as a chart of the
	// forecast shows. They are left out of forecasts of many series.
	Last   []capcli.Figure `json:"last_values,omitempty"`
	LastDS []string        `json:"last_ds,omitempty"`
}

// Lines are the capacity lines: the demand that each step alone does not exceed with a
// probability of 50, 80 and 95 percent. What suffices in all steps is Suffices.
type Lines struct {
	Median []float64 `json:"median"`
	P80    []float64 `json:"p80"`
	P95    []float64 `json:"p95"`
}

// Event is a planned event with its changes.
type Event struct {
	Name        string         `json:"name"`
	Kind        string         `json:"kind"`
	Place       string         `json:"place,omitempty"`   // file and line
	Follows     string         `json:"follows,omitempty"` // the event that it follows: it happens only where that does
	From        string         `json:"from,omitempty"`
	To          string         `json:"to,omitempty"` // the first instant after it
	GPUs        *float64       `json:"gpus,omitempty"`
	Share       *float64       `json:"share,omitempty"`
	SD          float64        `json:"sd"`
	Probability float64        `json:"probability"`
	Late        capcli.Seconds `json:"late_s"`
	Campaign    *roadmap.Cost  `json:"campaign,omitempty"`
	Changes     []EventChange  `json:"changes"`
	Why         string         `json:"why_not,omitempty"` // why it changes nothing

	// What a team says of the event as a request for capacity.
	Team    string      `json:"team,omitempty"`
	AskedBy string      `json:"asked_by,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	Without string      `json:"without,omitempty"`   // what happens without it
	Value   *capcli.USD `json:"value_usd,omitempty"` // what it is worth if it happens; nil is not said

	FirstDay string   `json:"-"` // for output to people; "" for a holiday
	LastDay  string   `json:"-"`
	Days     string   `json:"-"` // the first days of a holiday
	Lo, Hi   float64  `json:"-"` // 80 % range of the size; equal where it is certain
	GPUHours *float64 `json:"-"` // of a pulse in GPUs
}

// Requests returns the events of which something is said as a request for capacity.
func Requests(list []Event) []Event {
	var out []Event
	for i := range list {
		if e := &list[i]; e.Team != "" || e.AskedBy != "" || e.Reason != "" || e.Without != "" || e.Value != nil {
			out = append(out, *e)
		}
	}
	return out
}

// EventChange is what an event adds to one series.
type EventChange struct {
	ID       string  `json:"unique_id"`
	First    string  `json:"first_ds,omitempty"`
	Last     string  `json:"last_ds,omitempty"`
	Steps    int     `json:"steps"`
	Most     float64 `json:"most"` // the largest change of a step's mean
	GPUHours float64 `json:"gpu_hours"`
	Why      string  `json:"why_not,omitempty"`
	// Learnt is the effect of a holiday as learnt from the history; nil where its size is declared.
	Learnt *holidays.Effect `json:"learnt,omitempty"`

	event       string
	first, last int // steps ahead that it changes, from 0; first > last: none
}

// unknown is a figure that is not known, null in JSON.
var unknown = capcli.Figure(math.NaN())

// halfOf80 is the half width of the 80 % range of a normal distribution, in standard deviations.
const halfOf80 = 1.2815515655446004

// DescribeEvents returns the events of a plan without their changes.
func DescribeEvents(plan *roadmap.Plan) []Event {
	var out []Event
	for i := range plan.List {
		out = append(out, describeEvent(&plan.List[i]))
	}
	return out
}

// describeEvent returns an event without its changes.
func describeEvent(e *roadmap.Entry) Event {
	out := Event{
		Name: e.Name, Kind: e.Kind, Place: e.Place(), Follows: e.Event.Parent, From: e.Event.Start.String(), SD: e.Event.SizeSD, Probability: 1, Late: e.Event.Delay, Changes: []EventChange{},
		Team: e.Ask.Team, AskedBy: e.Ask.AskedBy, Reason: e.Ask.Reason, Without: e.Ask.Without,
		Lo: e.Event.Size - halfOf80*e.Event.SizeSD, Hi: e.Event.Size + halfOf80*e.Event.SizeSD,
	}
	if v := e.Ask.Value; v != 0 {
		out.Value = &v
	}
	if e.Holiday != nil {
		out.Days = daysText(e.Holiday)
	} else {
		out.FirstDay = formatDay(e.Event.Start, e.Zone, false)
	}
	if e.Event.End != 0 {
		out.To = e.Event.End.String()
		if e.Holiday == nil {
			out.LastDay = formatDay(e.Event.End, e.Zone, true)
		}
	}
	if e.Kind == "pulse" && !e.Event.Relative {
		hours := e.Event.Size * float64(e.Event.End-e.Event.Start) / 3600
		out.GPUHours = &hours
	}
	if c := e.Event.Chance; c > 0 {
		out.Probability = c
	}
	size := e.Event.Size
	switch {
	case e.Holiday != nil && !e.Holiday.Declared:
	case e.Event.Relative:
		out.Share = &size
	default:
		out.GPUs = &size
	}
	if e.Campaign != nil {
		out.Campaign = &e.Cost
	}
	return out
}

// daysText returns the first days of a holiday as text.
func daysText(h *holidays.Rule) string {
	var out []string
	for _, d := range h.Days {
		switch {
		case d.Easter && d.Offset == 0:
			out = append(out, "easter")
		case d.Easter:
			out = append(out, fmt.Sprintf("easter%+d", d.Offset))
		case d.Year == 0:
			out = append(out, fmt.Sprintf("%02d-%02d", int(d.Month), d.Day))
		default:
			out = append(out, fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day))
		}
	}
	return strings.Join(capcli.Abridge(out, 3), ", ")
}

// Fan is the end of a history and its forecast as lines over the same steps. A line is NaN at
// steps where it has no value.
type Fan struct {
	From, To           string // stamps of the first and the last step
	Past, Mean, Lo, Hi []float64
	Level              float64 // level of the range Lo to Hi, in percent
}

// Fan returns the lines for a chart of the series.
func (s *Series) Fan() Fan {
	n, h := len(s.Demand), len(s.Mean)
	back := min(n, max(4*h, 60))
	before, ahead := slices.Repeat([]float64{math.NaN()}, back), slices.Repeat([]float64{math.NaN()}, h)
	nearest := s.Intervals[0]
	return Fan{
		From: s.Source.StampText(n - back), To: s.Source.StampText(n + h - 1), Level: nearest.Level,
		Past: slices.Concat(s.Demand[n-back:], ahead), Mean: slices.Concat(before, s.Mean),
		Lo: slices.Concat(before, nearest.Lo), Hi: slices.Concat(before, nearest.Hi),
	}
}

// formatDay writes an instant for people: as a day where it is midnight in the zone (nil is
// UTC), else as a time. With last the instant is an end, and midnight is written as the day
// before. It returns "" where t is not known.
func formatDay(t capcli.Time, zone *time.Location, last bool) string {
	if !t.IsKnown() {
		return ""
	}
	if zone == nil {
		zone = time.UTC
	}
	local := t.Std().In(zone)
	if local.Hour() == 0 && local.Minute() == 0 && local.Second() == 0 {
		if last { // the last day, not the instant after it
			local = local.AddDate(0, 0, -1)
		}
		return local.Format(time.DateOnly)
	}
	return local.Format(time.RFC3339)
}

// CheckFutures returns an error where a value of a future is not finite.
func (r *Result) CheckFutures() error {
	for k := range r.Series {
		for _, path := range r.Series[k].Futures {
			for i, v := range path {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("%s: step %d of a future is not finite", r.Series[k].ID, i+1)
				}
			}
		}
	}
	return nil
}

// eachFuture calls put with each value of each future: v of series s, path k, step i.
func (r *Result) eachFuture(put func(s *Series, k, i int, v float64) error) error {
	for j := range r.Series {
		s := &r.Series[j]
		for k, path := range s.Futures {
			for i, v := range path {
				if err := put(s, k, i, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// eventColumn begins the column of an event in a file of futures: 1 where it happens in the future, else 0.
const eventColumn = "event:"

// WriteFuturesCSV writes the futures in long form: unique_id, path, ds, y, and a column for each event that
// may not happen. guard escapes an id for spreadsheets.
func (r *Result) WriteFuturesCSV(out io.Writer, guard func(string) string) error {
	w := csv.NewWriter(out)
	head := []string{"unique_id", "path", "ds", "y"}
	for _, o := range r.outcomes {
		head = append(head, eventColumn+o.name)
	}
	if err := w.Write(head); err != nil {
		return err
	}
	row := make([]string, len(head))
	err := r.eachFuture(func(s *Series, k, i int, v float64) error {
		row[0], row[1], row[2], row[3] = guard(s.ID), strconv.Itoa(k), s.DS[i], strconv.FormatFloat(v, 'f', -1, 64)
		for n, o := range r.outcomes {
			row[4+n] = strconv.FormatInt(o.number(k), 10)
		}
		return w.Write(row)
	})
	if err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// WriteFuturesParquet writes the futures as Parquet, with the columns of WriteFuturesCSV.
func (r *Result) WriteFuturesParquet(out io.Writer) error {
	columns := []parquet.Column{
		{Name: "unique_id", Kind: parquet.Text, Repeats: true}, {Name: "path", Kind: parquet.Int32}, r.stampColumn(), {Name: "y", Kind: parquet.Float64},
	}
	for _, o := range r.outcomes {
		columns = append(columns, parquet.Column{Name: eventColumn + o.name, Kind: parquet.Int32})
	}
	t, err := parquet.NewTable(out, columns, map[string]string{"schema": "forecast_paths/v1"})
	if err != nil {
		return err
	}
	err = r.eachFuture(func(s *Series, k, i int, v float64) error {
		t.Text(0, s.ID)
		t.Int(1, int64(k))
		r.putStamp(t, 2, s, i)
		t.Float(3, v)
		for n, o := range r.outcomes {
			t.Int(4+n, o.number(k))
		}
		return t.Next()
	})
	if err != nil {
		return err
	}
	return t.Close()
}

// number returns 1 where the event happens in a future, else 0.
func (o *outcome) number(future int) int64 {
	if o.happens[future] {
		return 1
	}
	return 0
}

// WriteParquet writes the forecast in long form: a row for each series and step.
func (r *Result) WriteParquet(out io.Writer) error {
	columns := []parquet.Column{{Name: "unique_id", Kind: parquet.Text, Repeats: true}, r.stampColumn(), {Name: "model", Kind: parquet.Text, Repeats: true}, {Name: "mean", Kind: parquet.Float64}}
	for _, level := range r.Levels {
		columns = append(columns, parquet.Column{Name: "lo-" + LevelText(level), Kind: parquet.Float64}, parquet.Column{Name: "hi-" + LevelText(level), Kind: parquet.Float64})
	}
	t, err := parquet.NewTable(out, columns, map[string]string{"schema": "forecast/v1"})
	if err != nil {
		return err
	}
	for j := range r.Series {
		s := &r.Series[j]
		for i, mean := range s.Mean {
			t.Text(0, s.ID)
			r.putStamp(t, 1, s, i)
			t.Text(2, s.Model)
			t.Float(3, mean)
			for k, iv := range s.Intervals {
				t.Float(4+2*k, iv.Lo[i])
				t.Float(5+2*k, iv.Hi[i])
			}
			if err := t.Next(); err != nil {
				return err
			}
		}
	}
	return t.Close()
}

// stampColumn returns the column of stamps: instants, or whole numbers.
func (r *Result) stampColumn() parquet.Column {
	if r.histories.Clock {
		return parquet.Column{Name: "ds", Kind: parquet.Instant}
	}
	return parquet.Column{Name: "ds", Kind: parquet.Int64}
}

// putStamp writes the stamp of step i ahead of s.
func (r *Result) putStamp(t *parquet.Table, col int, s *Series, i int) {
	stamp := s.Source.Stamp(s.History.Values + i)
	if r.histories.Clock {
		t.Time(col, capcli.Time(stamp))
		return
	}
	t.Int(col, stamp)
}
