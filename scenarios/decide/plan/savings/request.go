package savings

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/scenarios/decide/plan/market"
)

// Request is a question about a savings plan.
type Request struct {
	SKUs []string // series and their prices per GPU-hour, NAME=ON_DEMAND:PLAN
}

// Question is a parsed request.
type Question struct {
	skus []SKU
}

// Result is the best savings plan for the use.
type Result struct {
	Schema      string     `json:"schema"`
	Currency    string     `json:"currency"`
	Hours       int        `json:"hours"`
	Commit      capcli.USD `json:"commitment_usd_per_hour"`
	Cost        capcli.USD `json:"cost_usd"`
	AllOnDemand capcli.USD `json:"all_on_demand_cost_usd"`
	Unused      capcli.USD `json:"unused_usd"`
	Utilisation *float64   `json:"utilisation"`
	Why         string     `json:"utilisation_why,omitempty"`

	Notes []string `json:"-"`
}

// Parse parses the request. The error is a *capcli.RequestError.
func (r *Request) Parse() (*Question, error) {
	if len(r.SKUs) == 0 {
		return nil, &capcli.RequestError{Text: "plan savings wants prices: --sku is missing", Hint: "--sku h100=3.90:2.45"}
	}
	q := &Question{}
	for _, text := range r.SKUs {
		s, err := parseSKU(text)
		if err != nil {
			return nil, err
		}
		q.skus = append(q.skus, s)
	}
	return q, nil
}

// parseSKU parses h100=3.90:2.45.
func parseSKU(text string) (SKU, error) {
	name, prices, ok := strings.Cut(text, "=")
	list, under, two := strings.Cut(prices, ":")
	if !ok || !two || strings.TrimSpace(name) == "" {
		return SKU{}, &capcli.RequestError{Field: "sku", Text: fmt.Sprintf("wants NAME=ON_DEMAND:PLAN, found %q", text), Hint: "--sku h100=3.90:2.45"}
	}
	var k market.Keys
	var err error
	s := SKU{Name: strings.TrimSpace(name)}
	if s.OnDemand, err = k.Rate("sku "+s.Name, list); err != nil {
		return s, err
	}
	if s.Plan, err = k.Rate("sku "+s.Name, under); err == nil && s.Plan == 0 {
		err = &capcli.RequestError{Field: "sku", Text: s.Name + ": what the plan covers has a price"}
	}
	return s, err
}

// Plan finds the best savings plan for the use of each hour. It fails with a *capcli.RequestError
// or a *capcli.InputError where a series is missing, does not fit the others or holds no valid use.
func (q *Question) Plan(hs *demand.Histories) (*Result, error) {
	used, err := q.use(hs)
	if err != nil {
		return nil, err
	}
	best, err := BestCommitment(q.skus, used)
	if errors.Is(err, capcli.ErrOverflow) {
		return nil, &capcli.InputError{File: hs.Inputs[0], Text: err.Error(), Hint: "check the units of the use and of the prices", Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("planning %s: %w", hs.Inputs[0], err)
	}
	paid := capcli.USD(int64(best.Commit) * int64(best.Hours)) // at most the cost, which fits
	out := &Result{
		Schema: "capcli/plan_savings/v1", Currency: "USD", Hours: best.Hours, Commit: best.Commit, Cost: best.Cost, AllOnDemand: best.AllOnDemand,
		Unused: max(0, paid-best.Used), Why: "nothing is committed", Notes: hs.Notes,
	}
	if paid > 0 {
		share := best.Used.Float() / paid.Float()
		out.Utilisation, out.Why = &share, ""
	}
	return out, nil
}

// use returns the use of each hour in thousandths of GPUs, in the order of the SKUs.
func (q *Question) use(hs *demand.Histories) ([][]int64, error) {
	input := hs.Inputs[0]
	if hs.Clock && hs.Step.Length() != capcli.Hour {
		return nil, &capcli.InputError{File: input, Text: fmt.Sprintf("expected the use of each hour, found steps of %s", hs.Step), Hint: "a savings plan is used or lost each hour"}
	}
	byName := map[string]*demand.History{}
	for _, h := range hs.List {
		byName[h.Name] = h
	}
	var used [][]int64
	var first *demand.History
	for i, s := range q.skus {
		h := byName[s.Name]
		if h == nil {
			return nil, &capcli.RequestError{Field: "sku", Text: fmt.Sprintf("%s: %s has no such series", s.Name, input)}
		}
		if first == nil {
			first, used = h, make([][]int64, len(h.Values))
		}
		if len(h.Values) != len(used) || h.Stamp(0) != first.Stamp(0) {
			return nil, &capcli.InputError{File: input, Text: fmt.Sprintf("%s and %s do not cover the same hours", first.Name, h.Name), Hint: "give each a row for every hour"}
		}
		for t, v := range h.Values {
			if math.IsNaN(v) || v > 1e9 {
				return nil, &capcli.InputError{File: input, Field: "y", Text: fmt.Sprintf("%s, %s: expected 0 to 1000000000 GPUs, found %v", h.Name, h.StampText(t), v), Hint: "for gaps say --gaps zero, linear or previous"}
			}
			if i == 0 {
				used[t] = make([]int64, len(q.skus))
			}
			used[t][i] = int64(math.Round(v * 1000))
		}
	}
	return used, nil
}
