// Package futures plans purchases for an unknown demand: the least mean, quantile or CVaR of the
// cost over possible futures, the value of deciding again, and the outcomes of other plans and
// rules in each future.
//
// A Request says what can be bought and which risk a plan minimises; Parse checks its text before
// any future is read. A Set is the futures, from a file or drawn around one demand. The Result is
// the document of the plan.
package futures

import (
	"cmp"
	"fmt"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
)

// Source is the source of the futures.
type Source struct {
	File        string       // path of a file of futures; "" draws them around a demand
	Demand      curve.Source // the demand; its columns and its series also apply to File
	DemandError string       // standard deviation of the demand's error: 10%
	HalfLife    string       // after which half of an error is gone: 90d
	Paths       int          // number of futures; 0 is all of a file, or 200 drawn ones
	Seed        capcli.Seed
	Signals     []string // events of File of which it is known from a date on whether they happen: campaign=2027-07-01

	wobble  plan.Wobble
	signals []Signal
}

// Parse parses the text of the source. The error is a *capcli.RequestError.
func (s *Source) Parse() error {
	if s.File != "" && s.DemandError != "" {
		return &capcli.RequestError{Field: "futures", Text: "and demand-error both say what may come", Hint: "give one of them"}
	}
	if err := s.parseSignals(); err != nil || s.DemandError == "" {
		return err
	}
	var err error
	if s.wobble.Error, err = market.ParseShare("demand-error", s.DemandError); err != nil {
		return err
	}
	if s.wobble.HalfLife, err = capcli.ParseSeconds(s.HalfLife); err != nil || s.wobble.HalfLife < 1 {
		return &capcli.RequestError{Field: "half-life", Text: fmt.Sprintf("wants a length of time, found %q", s.HalfLife), Hint: "half-life=90d"}
	}
	return nil
}

// drawnPaths is the default number of futures drawn.
const drawnPaths = 200

// Draw draws futures around a demand: GPUs in each step of a grid. It fails with a
// *capcli.RequestError where the numbers are out of range.
func (s *Source) Draw(input string, grid capcli.Grid, gpus []float64) (*Set, error) {
	n := s.Paths
	n = cmp.Or(n, drawnPaths)
	out := &Set{Input: input, Drawn: true}
	var err error
	if out.Futures, err = s.wobble.Futures(grid, gpus, n, s.Seed); err != nil {
		return nil, &capcli.RequestError{Text: err.Error()}
	}
	return out, out.check()
}

// ParseRisk parses the risk that a plan minimises. It fails with *capcli.RequestError.
func ParseRisk(text string) (plan.Risk, error) {
	r, err := plan.ParseRisk(text)
	if err != nil {
		return r, &capcli.RequestError{Field: "risk", Text: ": " + err.Error(), Hint: "risk=cvar95"}
	}
	return r, nil
}

// Request is a question about futures.
type Request struct {
	Source
	Market    market.Request
	Risk      string    // the risk to minimise: mean, q80 or cvar95
	SizedFor  []float64 // three quantiles of demand to size further plans for
	Baselines bool      // also assess rules of thumb
	Wait      string    // interval between decisions, 3mo; "" decides once
	Most      []string  // upper limits, cost=1.7M
	Least     []string  // lower limits, coverage=80%
	Hold      string    // share of the futures in which all limits must hold together; "" is 95%
}

// Question is a parsed request.
type Question struct {
	Sketch *market.Sketch

	request *Request
	risk    plan.Risk
	wait    capcli.Step
	limits  []limit
	hold    float64
}

// Parse parses the request. The error is a *capcli.RequestError.
func (r *Request) Parse() (*Question, error) {
	q := &Question{request: r}
	var err error
	if q.risk, err = ParseRisk(r.Risk); err != nil {
		return nil, err
	}
	if q.Sketch, err = r.Market.Parse(); err != nil {
		return nil, err
	}
	if err := r.Source.Parse(); err != nil {
		return nil, err
	}
	if r.File == "" && len(r.Demand.Inputs) == 0 {
		return nil, &capcli.RequestError{Field: "demand-error", Text: "is about a demand: demand is missing", Hint: "demand=demand.csv demand-error=10%"}
	}
	if err := r.checkNumbers(); err != nil {
		return nil, err
	}
	if r.Wait != "" {
		if q.wait, err = capcli.ParseStep(r.Wait); err != nil {
			return nil, &capcli.RequestError{Field: "wait", Text: ": " + err.Error(), Hint: "wait=3mo"}
		}
	}
	if q.hold, err = market.ParseShare("hold", cmp.Or(r.Hold, holdDefault)); err != nil {
		return nil, err
	}
	if q.hold <= 0 || q.hold > 1 {
		return nil, &capcli.RequestError{Field: "hold", Text: "wants a share over 0% and up to 100%, found " + r.Hold, Hint: "futures=hold=95%"}
	}
	q.limits, err = parseLimits(r.Most, r.Least)
	return q, err
}

func (r *Request) checkNumbers() error {
	switch {
	case r.Paths < 0 || r.Paths > plan.MaxFutures:
		return &capcli.RequestError{Field: "paths", Text: fmt.Sprintf("wants 1 to %d, found %d", plan.MaxFutures, r.Paths)}
	case len(r.SizedFor) != 3:
		return &capcli.RequestError{Field: "sized-for", Text: fmt.Sprintf("wants three quantiles, found %d", len(r.SizedFor)), Hint: "sized-for=0.5,0.8,0.95"}
	}
	for _, v := range r.SizedFor {
		if !(v > 0 && v < 1) {
			return &capcli.RequestError{Field: "sized-for", Text: fmt.Sprintf("wants quantiles between 0 and 1, found %g", v), Hint: "sized-for=0.5,0.8,0.95"}
		}
	}
	return nil
}

// Set is the futures to plan for, and their source.
type Set struct {
	Input   string
	Series  []string // names of the series whose sum the futures are
	Futures plan.Futures
	Mean    *plan.Curve
	Drawn   bool // drawn around a demand, not read
	Signals []Signal
	Notes   []string
	Partial string // what is missing of the input; "" is nothing
}

// check returns an error where the futures are invalid, and computes their mean.
func (s *Set) check() error {
	if err := s.Futures.Check(); err != nil {
		return &capcli.InputError{File: s.Input, Text: err.Error(), Hint: "a demand is GPUs, 0 or more, in every step of every future"}
	}
	var err error
	s.Mean, err = plan.NewCurve(s.Futures.Grid.Origin, s.Futures.Grid.Step, s.Futures.Means())
	return err
}
