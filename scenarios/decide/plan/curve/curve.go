// Package curve plans a demand curve: the cheapest purchases, the baselines to compare them with,
// the marginal value of a GPU, and the sensitivity of the cost.
//
// A Request says what can be bought and what is held already. Parse checks its text, so that its
// mistakes are reported before a demand is read. Plan finds the optimum for a Demand. The Result is
// the document of the plan.
package curve

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/flow"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
)

// Request is a question about a demand curve.
type Request struct {
	Market      market.Request
	Sensitivity string // share by which demand and prices vary in a sensitivity analysis of the purchases; "" is none
	Rules       bool   // also price the purchases of rules of thumb
}

// Question is a parsed request.
type Question struct {
	Sketch *market.Sketch

	share float64 // of the sensitivity
	rules bool
}

// Parse parses the request. The error is a *capcli.RequestError.
func (r *Request) Parse() (*Question, error) {
	q := &Question{rules: r.Rules}
	var err error
	if q.Sketch, err = r.Market.Parse(); err != nil {
		return nil, err
	}
	if r.Sensitivity == "" {
		return q, nil
	}
	if q.share, err = market.ParseShare("sensitivity", r.Sensitivity); err == nil && (q.share <= 0 || q.share >= 1) {
		err = &capcli.RequestError{Field: "sensitivity", Text: "wants a share between 0% and 100%, found " + r.Sensitivity}
	}
	return q, err
}

// Demand is the curve to plan, and its source.
type Demand struct {
	Input   string
	Curve   *plan.Curve
	Unknown int64 // jobs of a log that do not count, for it lacks their start or end
	Notes   []string
	Partial string // what is missing of the input; "" is nothing
}

// Result is the plan of a demand curve. Unknown figures are null, with the reason beside them.
type Result struct {
	Schema    string          `json:"schema"`
	Currency  string          `json:"currency"`
	Demand    Wanted          `json:"demand"`
	Market    market.Document `json:"market"`
	Optimum   Optimum         `json:"optimum"`
	Baselines []Baseline      `json:"baselines"`
	Periods   []Period        `json:"periods"`
	Changes   []plan.Change   `json:"sensitivity"`
	Notes     []string        `json:"notes"`
	LeftOut   []LeftOut       `json:"left_out,omitempty"` // the terms that cannot be bought: the optimum is that of the others

	Assumptions []prices.Assumption `json:"assumptions"`

	Curve   *plan.Curve `json:"-"` // the demand less what held GPUs serve
	Partial string      `json:"-"` // what is missing of the input; "" is nothing
}

// Wanted is the demand, with the part of it that held GPUs serve.
type Wanted struct {
	Input    string         `json:"input"`
	Start    market.Instant `json:"start"`
	End      market.Instant `json:"end"`
	Step     string         `json:"step"`
	Steps    int            `json:"steps"`
	GPUHours capcli.GPUTime `json:"gpu_hours"`
	Mean     float64        `json:"mean_gpus"`
	Peak     float64        `json:"peak_gpus"`
	Held     []market.Held  `json:"held"`
	Served   capcli.GPUTime `json:"held_gpu_hours"` // part of GPUHours
}

// Optimum is the cheapest way to serve the demand.
type Optimum struct {
	Cost        capcli.USD        `json:"cost_usd"`
	Bound       capcli.USD        `json:"lower_bound_usd"`
	Gap         float64           `json:"optimality_gap"`
	Commitments capcli.USD        `json:"committed_cost_usd"`
	OnDemand    capcli.USD        `json:"on_demand_cost_usd"`
	AllOnDemand capcli.USD        `json:"all_on_demand_cost_usd"`
	Purchases   []market.Purchase `json:"purchases"`
	Coverage    *float64          `json:"coverage"`
	CoverageWhy string            `json:"coverage_why,omitempty"`
	Utilisation *float64          `json:"utilisation"`
	UtilWhy     string            `json:"utilisation_why,omitempty"`
	Savings     *float64          `json:"effective_savings_rate"`
	SavingsWhy  string            `json:"effective_savings_rate_why,omitempty"`
	Committed   capcli.GPUTime    `json:"committed_gpu_hours"`
	Used        capcli.GPUTime    `json:"used_gpu_hours"`
	Unused      capcli.GPUTime    `json:"unused_gpu_hours"`
	// BreakEven is the on-demand price below which the purchases cost more than they save, all else
	// unchanged. It is null where nothing is bought or used, where the on-demand price changes over
	// time, and where amounts are discounted.
	BreakEven *capcli.USD `json:"break_even_on_demand_usd"`

	Wanted capcli.GPUTime `json:"-"` // the demand less what held GPUs serve
}

// Baseline is a plan without a search, to compare the optimum with.
type Baseline struct {
	Name string     `json:"plan"`
	Kind string     `json:"kind"` // on_demand, one_term, one_level, rule
	Term *string    `json:"term"`
	GPUs *float64   `json:"gpus"` // the level, of one_level
	Cost capcli.USD `json:"cost_usd"`
	Over *float64   `json:"over_optimum"`
}

// Period is the time between two instants at which a purchase can start or end.
type Period struct {
	Start market.Instant `json:"start"`
	GPUs  float64        `json:"committed_gpus"`
	Worth capcli.USD     `json:"worth_of_one_more_usd"`
	Price capcli.USD     `json:"shadow_price_usd"`

	To capcli.Seconds `json:"-"` // its end, in seconds from the start of the demand
}

// LeftOut is a term that cannot be bought, and why.
type LeftOut struct {
	Term string `json:"term"`
	Why  string `json:"why"`
}

// Levels returns the GPUs that are wanted and the GPUs that are committed in each step of the
// demand.
func (r *Result) Levels() (wanted, committed []float64) {
	c, k := r.Curve, 0
	for i := range c.Work {
		for k < len(r.Periods)-1 && r.Periods[k].To <= c.StepStart(i) {
			k++
		}
		wanted, committed = append(wanted, c.GPUs(i)), append(committed, r.Periods[k].GPUs)
	}
	return wanted, committed
}

// Plan finds the cheapest purchases for a demand. It fails with a *capcli.AccountingError where the
// proof does not hold, with a *capcli.InputError where an amount does not fit, and with a
// *capcli.RequestError where a date of the request does not fit the demand.
func (q *Question) Plan(ctx context.Context, d *Demand) (*Result, error) {
	f, err := q.Sketch.Frame(d.Curve)
	if err != nil {
		return nil, err
	}
	s := &solver{q: q, demand: d, Frame: f}
	if s.whole, err = f.Market.Extend(d.Curve); err != nil {
		return nil, Failed(d.Input, err)
	}
	s.Curve = s.whole
	if len(s.Held) > 0 {
		if s.Curve, s.served, err = s.whole.Serve(s.Held); err != nil {
			return nil, err
		}
	}
	if err := s.solve(ctx); err != nil {
		return nil, Failed(d.Input, err)
	}
	return s.result(), nil
}

// Failed returns an error of planning as an error of the input that caused it.
func Failed(input string, err error) error {
	switch {
	case errors.Is(err, flow.ErrNotProven):
		return &capcli.AccountingError{Err: err}
	case errors.Is(err, capcli.ErrOverflow), errors.Is(err, capcli.ErrTooMuchTime):
		return &capcli.InputError{File: input, Text: err.Error(), Hint: "check the units of the demand and of the prices", Err: err}
	}
	return fmt.Errorf("planning %s: %w", input, err)
}

// solver is a plan in progress, in the frame of the demand less what held GPUs serve.
type solver struct {
	q      *Question
	demand *Demand
	market.Frame
	whole     *plan.Curve    // the demand, with what is expected after its end
	served    capcli.GPUTime // by held GPUs
	best      *plan.Optimum
	baselines []plan.Baseline
	rules     []*plan.Assessed // each has one future
	changes   []plan.Change
}

// solve finds the optimum and its baselines.
func (s *solver) solve(ctx context.Context) error {
	var err error
	if s.best, err = s.Market.Solve(ctx, s.Curve); err != nil {
		return err
	}
	if s.baselines, err = s.Market.Baselines(ctx, s.Curve, s.best); err != nil {
		return err
	}
	if s.q.rules {
		if s.rules, err = s.Market.Rules(ctx, s.Curve); err != nil {
			return err
		}
	}
	if s.q.share > 0 {
		s.changes, err = s.Market.Sensitivity(ctx, s.Curve, s.best.Purchases, s.q.share)
	}
	return err
}

func (s *solver) result() *Result {
	b, whole := s.best, s.demand.Curve
	out := &Result{
		Schema: "capcli/plan/v1", Currency: "USD", Notes: s.notes(), Baselines: []Baseline{}, Periods: []Period{}, Changes: append([]plan.Change{}, s.changes...),
		Demand: Wanted{
			Input: s.demand.Input, Start: s.Instant(0), End: s.Instant(whole.Len()), Step: whole.Step.String(), Steps: len(whole.Work),
			GPUHours: whole.Sum(), Mean: whole.Sum().Hours() / whole.Len().Hours(), Held: s.HeldDocument(), Served: s.served,
		},
		Market: s.Document(), Optimum: s.optimum(),
		Assumptions: append([]prices.Assumption{}, s.q.Sketch.Assumed...), Curve: s.Curve, Partial: s.demand.Partial,
	}
	for i := range whole.Work {
		out.Demand.Peak = max(out.Demand.Peak, whole.GPUs(i))
	}
	for _, x := range s.Market.LeftOut(s.Curve) {
		out.LeftOut = append(out.LeftOut, LeftOut{s.Market.Terms[x.Term].Name, x.Why})
	}
	for _, x := range s.baselines {
		out.Baselines = append(out.Baselines, s.baseline(x))
	}
	for _, a := range s.rules {
		out.Baselines = append(out.Baselines, Baseline{Name: a.Name, Kind: "rule", Cost: a.Outcomes[0].Cost, Over: s.excess(a.Outcomes[0].Cost)})
	}
	for _, p := range b.Periods {
		out.Periods = append(out.Periods, Period{s.Instant(p.From), market.GPUs(p.Milli), p.Worth, p.Price, p.To})
	}
	return out
}

func (s *solver) optimum() Optimum {
	b := s.best
	out := Optimum{
		Cost: b.Cost, Bound: b.Cost, Commitments: b.Commitments, OnDemand: b.OnDemand, AllOnDemand: b.AllOnDemand,
		Purchases: s.Purchases(b.Purchases), Committed: b.Committed, Used: b.Used, Unused: b.Committed - b.Used, Wanted: b.Wanted,
	}
	if out.Coverage = market.Share(b.Used, b.Wanted); out.Coverage == nil {
		out.CoverageWhy = "nothing is wanted"
	}
	if out.Utilisation = market.Share(b.Used, b.Committed); out.Utilisation == nil {
		out.UtilWhy = "nothing is bought"
	}
	if rate, ok := b.SavingsRate(); ok {
		out.Savings = &rate
	} else {
		out.SavingsWhy = "the demand costs nothing on demand"
	}
	if b.Used > 0 && len(s.Market.OnDemand) == 1 && s.Market.Discount == 0 {
		v := capcli.USDOf(b.Commitments.Float() / b.Used.Hours())
		out.BreakEven = &v
	}
	return out
}

func (s *solver) baseline(b plan.Baseline) Baseline {
	out := Baseline{Name: "all on demand", Kind: "on_demand", Cost: b.Cost, Over: s.excess(b.Cost)}
	if b.Term < 0 {
		return out
	}
	out.Kind, out.Term = "one_term", &s.Market.Terms[b.Term].Name
	out.Name = *out.Term + " only"
	if b.Flat {
		level := market.GPUs(b.Milli)
		out.Name, out.Kind, out.GPUs = *out.Term+", one level", "one_level", &level
	}
	return out
}

// excess returns how far an amount is above the optimum, as a share of it; nil where the optimum is
// 0.
func (s *solver) excess(cost capcli.USD) *float64 {
	if s.best.Cost == 0 {
		return nil
	}
	v := cost.Float()/s.best.Cost.Float() - 1
	return &v
}

func (s *solver) notes() []string {
	notes := append([]string{}, s.demand.Notes...)
	notes = append(notes, billing.YearNote)
	c := s.Curve
	if !c.Dated() {
		notes = append(notes, fmt.Sprintf("the curve has no dates: each value lasts %s (--step), a month has 730 hours, and starts count periods of %s from 0", c.Step, s.Market.Every))
	}
	notes = append(notes, s.q.Sketch.Notes()...)
	if d := s.Market.Discount; d != 0 {
		notes = append(notes, fmt.Sprintf("amounts are present values at %s%% a year (--discount); on-demand use is paid at the start of its month", strconv.FormatFloat(100*d, 'f', -1, 64)))
	}
	if len(s.Held) > 0 {
		notes = append(notes, fmt.Sprintf("existing commitments serve %s of %s GPU-hours; their cost is sunk and not included", wholeHours(s.served), wholeHours(s.whole.Sum())))
	}
	return append(notes, s.AfterNotes(s.best.Purchases)...)
}

// wholeHours returns a GPU time in whole GPU-hours, with commas.
func wholeHours(t capcli.GPUTime) string { return capcli.Grouped(int64(t.Hours() + 0.5)) }

// Source is the source of a demand curve. It has one input: a table, a job log, or one JSON
// document with a start, a step and values, a list of rows, or a forecast.
type Source struct {
	demand.Request
	Series   string  // only the series of that name; "" is the series total or else the sum of all
	Quantile float64 // of a forecast, the demand that is not exceeded with this probability; 0 is the mean
}

// Read reads the curve.
func (s *Source) Read(ctx context.Context, from demand.Sources) (*Demand, error) {
	ask := *s
	ask.Curve = true
	if err := ask.Check(); err != nil {
		return nil, err
	}
	in, closer, err := from.Open(s.Inputs[0])
	if err != nil {
		return nil, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	if isDocument(trace.PlainHead(in.Name, trace.Peek(&in))) {
		return ask.readDocument(in)
	}
	if s.Quantile > 0 {
		return nil, &capcli.RequestError{Field: "quantile", Text: "is for what capcli forecast -o json wrote, and " + in.Name + " is not", Hint: "name a column of a table: value-col=hi-80"}
	}
	hs, err := demand.ReadInput(ctx, ask.Request, from, in)
	if err != nil {
		return nil, err
	}
	return fromHistories(hs, s.Series, s.Step)
}

// Check returns a *capcli.RequestError where the source is wrong, before anything is read.
func (s *Source) Check() error {
	if s.Quantile < 0 || s.Quantile >= 1 {
		return &capcli.RequestError{Field: "quantile", Text: fmt.Sprintf("wants a chance between 0 and 1, found %g", s.Quantile), Hint: "quantile=0.8"}
	}
	return s.Request.Check()
}
