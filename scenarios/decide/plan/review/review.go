// Package review compares commitments with use, and advises what to buy, renew or let expire.
//
// Use is a demand: from a job log, a table, a bill (BillUse) or a simulated run (Gauge).
// Commitments come from text or from the pools of a scenario (Pools). The Result is the document of
// the review.
package review

import (
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
	"capcli/simulate"
)

// Request is a question about past use.
type Request struct {
	Market market.Request // held GPUs have their price: 64@2026-01-01..2027-01-01=2.20
	Last   string         // length of the use to look at, from its end back: 90d
}

// Question is a parsed request.
type Question struct {
	sketch *market.Sketch
	held   []string
	last   capcli.Seconds
}

// Parse parses the request, except for the held GPUs, whose dates count from the start of the use.
// The error is a *capcli.RequestError.
func (r *Request) Parse() (*Question, error) {
	ask := r.Market
	q := &Question{held: ask.Held}
	ask.Held = nil
	var err error
	if q.last, err = capcli.ParseSeconds(r.Last); err != nil || q.last < 1 {
		return nil, &capcli.RequestError{Field: "last", Text: fmt.Sprintf("wants a length of time, found %q", r.Last), Hint: "--last 90d"}
	}
	q.sketch, err = ask.Parse()
	return q, err
}

// Contracts parses the held GPUs, with dates that count from the start of the use.
func (q *Question) Contracts(used *curve.Demand) ([]market.Contract, error) {
	return q.sketch.Contracts(q.held, used.Curve)
}

// Pools returns the owned and reserved pools of a scenario as contracts that count from the start
// of a curve.
func Pools(s *scenarios.Scenario, opts scenarios.Options, c *plan.Curve) ([]market.Contract, error) {
	cfg, err := s.Config(func(func(capcli.Job, error) bool) {}, opts)
	if err != nil {
		return nil, err
	}
	rates, err := s.Rates(opts)
	if err != nil {
		return nil, err
	}
	start := capcli.Seconds(0) // start of the scenario, from that of the curve
	if cfg.Start.IsKnown() && c.Dated() {
		start = capcli.Seconds(cfg.Start - c.Start)
	}
	var out []market.Contract
	unpriced := s.Unpriced()
	for i := range cfg.Pools {
		p := &cfg.Pools[i]
		if p.Terms != simulate.Owned && p.Terms != simulate.Reserved {
			continue
		}
		x := market.Contract{Name: p.Name, From: start + p.From, To: start + p.Until, Milli: int64(p.Capacity()) * 1000, Rate: rates[i].Price, Priced: !slices.Contains(unpriced, p.Name)}
		if p.Until == 0 {
			x.To = c.Len() + market.Century
		}
		out = append(out, x)
	}
	base := cfg.Start
	if !base.IsKnown() {
		base = 0
	}
	floats, err := s.FloatingPools(base, base+1)
	for i := range floats {
		f := &floats[i]
		x := market.Contract{
			Name: f.Name, From: start + capcli.Seconds(max(base, f.Unit.Start)-base), To: c.Len() + market.Century,
			Milli: int64(f.GPUs) * 1000, Rate: s.Capacity[f.Pool].Price.Rate, Priced: !slices.Contains(unpriced, f.Name),
		}
		if s.Capacity[f.Pool].Until.Given {
			x.To = start + capcli.Seconds(f.Unit.End-base)
		}
		out = append(out, x)
	}
	return out, err
}

// Result is a review. Figures of the coming time assume that the use repeats.
type Result struct {
	Schema      string          `json:"schema"`
	Currency    string          `json:"currency"`
	Input       string          `json:"used"`
	From        market.Instant  `json:"from"`
	To          market.Instant  `json:"to"`
	Used        capcli.GPUTime  `json:"used_gpu_hours"`
	Covered     capcli.GPUTime  `json:"covered_gpu_hours"`
	Committed   capcli.GPUTime  `json:"committed_gpu_hours"`
	Coverage    *float64        `json:"coverage"`
	CoverageWhy string          `json:"coverage_why,omitempty"`
	Utilisation *float64        `json:"utilisation"`
	UtilWhy     string          `json:"utilisation_why,omitempty"`
	Unused      capcli.USD      `json:"unused_usd"` // of the commitments whose price is known
	OnDemand    capcli.USD      `json:"on_demand_usd"`
	Commitments []Commitment    `json:"commitments"`
	AheadUntil  market.Instant  `json:"ahead_until"`
	DoNothing   capcli.USD      `json:"do_nothing_usd"`
	Best        capcli.USD      `json:"best_usd"`
	Costs       capcli.USD      `json:"doing_nothing_costs_usd"`
	Advice      []Advice        `json:"advice"`
	Market      market.Document `json:"market"`
	Notes       []string        `json:"notes"`

	Length  capcli.Seconds `json:"-"` // of the time looked at
	Ahead   capcli.Seconds `json:"-"` // length of the time after To that the advice is for
	Partial string         `json:"-"` // what is missing of the input; "" is nothing
}

// Commitment is one contract in the time looked at.
type Commitment struct {
	Name        string          `json:"commitment"`
	GPUs        float64         `json:"gpus"`
	From        market.Instant  `json:"from"`
	Until       *market.Instant `json:"until"`
	DaysLeft    *float64        `json:"days_left"`
	LeftWhy     string          `json:"days_left_why,omitempty"`
	Rate        *capcli.Rate    `json:"usd_per_gpu_hour"`
	RateWhy     string          `json:"usd_per_gpu_hour_why,omitempty"`
	Utilisation *float64        `json:"utilisation"`
	Committed   capcli.GPUTime  `json:"committed_gpu_hours"`
	Used        capcli.GPUTime  `json:"used_gpu_hours"`
	Unused      capcli.GPUTime  `json:"unused_gpu_hours"`
	UnusedUSD   *capcli.USD     `json:"unused_usd"`
	Idle        *float64        `json:"idle_gpus"` // GPUs whose use did not justify their price
}

// Advice is one action.
type Advice struct {
	Date market.Instant `json:"date"`
	Do   string         `json:"do"`
	GPUs float64        `json:"gpus"`
	Term *string        `json:"term"` // null where a contract expires
	Cost *capcli.USD    `json:"cost_usd"`
}

// Review compares the use with the contracts and advises what to do. Errors are those of
// curve.Question.Plan, and a *capcli.InputError where nothing was used that is known, and jobs are not known.
func (q *Question) Review(ctx context.Context, used *curve.Demand, contracts []market.Contract) (*Result, error) {
	f, err := q.sketch.Frame(used.Curve)
	if err != nil {
		return nil, err
	}
	out, err := review(ctx, f, contracts, q.last)
	if err != nil {
		return nil, curve.Failed(used.Input, err)
	}
	if out.Used == 0 && used.Unknown > 0 {
		return nil, &capcli.InputError{
			File: used.Input, Field: "start",
			Text: fmt.Sprintf("no use is known of the last %s, and of %s GPU %s the log lacks start or end: there is nothing to advise on", Span(out.Length), capcli.Grouped(used.Unknown), capcli.Plural(used.Unknown, "job")),
			Hint: "give a log with starts (--read start=COLUMN), or a longer --last",
		}
	}
	out.Input, out.Partial, out.Notes = used.Input, used.Partial, q.notes(out, used)
	return out, nil
}

// review reviews the last part of a curve of use.
func review(ctx context.Context, f market.Frame, contracts []market.Contract, last capcli.Seconds) (*Result, error) {
	p, err := newPast(f, contracts, last)
	if err != nil {
		return nil, err
	}
	out := &Result{
		Schema: "capcli/plan_review/v1", Currency: "USD", From: f.Instant(p.from), To: f.Instant(p.to),
		Commitments: []Commitment{}, Advice: []Advice{}, Market: f.Document(), Length: p.to - p.from,
	}
	p.serve(out)
	if out.Coverage = market.Share(out.Covered, out.Used); out.Coverage == nil {
		out.CoverageWhy = "nothing was used"
	}
	if out.Utilisation = market.Share(out.Covered, out.Committed); out.Utilisation == nil {
		out.UtilWhy = "nothing was committed"
	}
	return out, p.advise(ctx, out)
}

func (q *Question) notes(r *Result, used *curve.Demand) []string {
	out := append(append([]string{}, used.Notes...), q.sketch.Notes()...)
	if r.Length < q.last {
		out = append(out, fmt.Sprintf("only %s are known of the last %s", r.Length, q.last))
	}
	if len(r.Commitments) == 0 {
		out = append(out, "no commitments are given: --held 64@2026-01-01..2027-01-01=2.20, or --commitments plan.yaml")
	}
	if len(r.Market.Terms) == 0 {
		out = append(out, "no term is given to buy on (--term 12mo=2.20): the advice is only what to let expire")
	}
	return append(out,
		fmt.Sprintf("assumed*: for the next %s, use repeats that of the past period; purchases count only within it", Span(r.Ahead)),
		"commitments serve use in order of their rate, lowest first; they are paid whether used or not, and are not part of the cost to come")
}

// Span returns a duration in words, in days where it is whole days.
func Span(s capcli.Seconds) string {
	if s%capcli.Day == 0 {
		return fmt.Sprintf("%d days", s/capcli.Day)
	}
	return s.String()
}
