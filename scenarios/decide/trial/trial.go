// Package trial tries a decision about commitments on the past of a demand: what the program would
// have bought at earlier dates from what was known then, what that would have cost, and what the
// rules of thumb and hindsight would have. Package scenarios/decide/plan/backtest has the rules and the
// prices; this package adds the decision by a forecast.
package trial

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/forecast"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/backtest"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
)

// Request is what to try.
type Request struct {
	Market  market.Request
	Model   string // of the forecast, a name in forecast.Models; "" is DefaultModel
	Paths   int    // futures behind a decision; 0 is 200
	Seed    capcli.Seed
	Origins string // number of origins, or dates with commas; "" is 6
	Horizon string // how much of a term counts, 1mo; "" is all of it
	Rolled  string // for how long the decision is made again at each expiry, 1y; "" is once
	Flat    bool   // prices stay those of the origin
}

// DefaultModel is the model that decides.
const DefaultModel = "mixture"

// Defaults, and the most futures and origins.
const (
	pathsUsual   = 200
	pathsMost    = 1000
	originsUsual = 6
	originsMost  = 1000
)

// leastPast is the shortest past from which a decision is tried: two of each weekday.
const leastPast = 14 * capcli.Day

// Question is a parsed request.
type Question struct {
	Request
	sketch          *market.Sketch
	count           int
	dates           []string
	horizon, rolled capcli.Step
}

// Parse parses the request. The error is a *capcli.RequestError or a *capcli.UnknownError.
func (r *Request) Parse() (*Question, error) {
	q := &Question{Request: *r, count: originsUsual}
	q.Model = cmp.Or(q.Model, DefaultModel)
	q.Paths = cmp.Or(q.Paths, pathsUsual)
	if _, err := forecast.Models.Get(q.Model); err != nil {
		return nil, err
	}
	if q.Paths < 10 || q.Paths > pathsMost {
		return nil, &capcli.RequestError{Field: "paths", Text: fmt.Sprintf("wants 10 to %d futures, found %d", pathsMost, q.Paths), Hint: fmt.Sprintf("paths=%d", pathsUsual)}
	}
	if n, err := strconv.Atoi(r.Origins); err == nil {
		if q.count = n; n < 1 || n > originsMost {
			return nil, &capcli.RequestError{Field: "origins", Text: fmt.Sprintf("wants 1 to %d origins, found %d", originsMost, n), Hint: "origins=24"}
		}
	} else if r.Origins != "" {
		q.dates = strings.Split(r.Origins, ",")
	}
	for _, l := range []struct {
		field, text string
		to          *capcli.Step
	}{{"horizon", r.Horizon, &q.horizon}, {"rolled", r.Rolled, &q.rolled}} {
		if l.text == "" {
			continue
		}
		var err error
		if *l.to, err = capcli.ParseStep(l.text); err != nil {
			return nil, &capcli.RequestError{Field: l.field, Text: ": " + err.Error(), Hint: l.field + "=1y"}
		}
	}
	if r.Horizon != "" && r.Rolled != "" {
		return nil, &capcli.RequestError{Field: "horizon", Text: "is for a decision that is made once, and --rolled makes it again at each expiry", Hint: "leave one of them out"}
	}
	var err error
	if q.sketch, err = r.Market.Parse(); err == nil && len(r.Market.Terms) == 0 {
		err = &capcli.RequestError{Field: "term", Text: "is missing: what could be committed to", Hint: "term=1mo=2.20"}
	}
	return q, err
}

// Run tries the decision on a demand. Where ctx ends, the result has the origins that were done, and
// says so.
func (q *Question) Run(ctx context.Context, d *curve.Demand) (*Result, error) {
	f, err := q.sketch.Frame(d.Curve)
	if err != nil {
		return nil, err
	}
	if len(f.Held) > 0 || f.Market.Discount != 0 {
		return nil, &capcli.RequestError{Text: "a backtest knows no GPUs that are held already, and no cost of capital", Hint: "leave out --held and --discount"}
	}
	out := newResult(q, d, &f)
	for term := range f.Market.Terms {
		t, err := q.try(ctx, &f, term)
		if err != nil {
			return nil, err
		}
		out.Terms = append(out.Terms, *t)
		if t.Missing > 0 {
			out.Partial = fmt.Sprintf("%d of %d origins were tried in the time that there was", len(t.Origins), len(t.Origins)+t.Missing)
		}
	}
	out.Answer = out.sentences()
	return out, nil
}

// TryPast tries a decision for one term of a market on a demand, for a decision to come: from up to
// origins earlier dates. Where the demand is short, less of each term counts. It returns nil where
// the demand is too short for any date, under two weeks and as much to come as a week. Where ctx
// ends, the result has the origins that were done.
func TryPast(ctx context.Context, c *plan.Curve, m *plan.Market, term, origins int, seed capcli.Seed) (*Result, error) {
	q := &Question{Request: Request{Model: DefaultModel, Paths: pathsUsual, Seed: seed, Flat: true}, count: origins}
	if room := (c.Len() - leastPast) / 2; c.AddSteps(0, m.Terms[term].Length, 1) > room {
		days := int(room / capcli.Day)
		if days < 7 {
			return nil, nil
		}
		q.horizon = capcli.Step{Days: days}
	}
	f := market.Frame{Curve: c, Market: m}
	out := newResult(q, &curve.Demand{Curve: c}, &f)
	t, err := q.try(ctx, &f, term)
	if err != nil {
		return nil, err
	}
	out.Terms = append(out.Terms, *t)
	out.Answer = out.sentences()
	return out, nil
}

func (q *Question) try(ctx context.Context, f *market.Frame, term int) (*Term, error) {
	b := &backtest.Question{
		Curve: f.Curve, Market: f.Market, Term: term, Horizon: q.horizon, Rolled: q.rolled, Flat: q.Flat,
		Rules: slices.Concat([]backtest.Rule{q.rule()}, backtest.Rules(), backtest.OnlineRules()),
	}
	var err error
	if b.Origins, err = q.origins(f, b); err != nil {
		return nil, err
	}
	trials, err := b.Run(ctx)
	if err != nil {
		return nil, err
	}
	if len(trials) == 0 && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(trials) == 0 {
		return nil, tooShort(f, term)
	}
	return newTerm(f, b, trials), nil
}

// origins returns the dates of the request, or dates spread evenly over the demand.
func (q *Question) origins(f *market.Frame, b *backtest.Question) ([]capcli.Seconds, error) {
	var out []capcli.Seconds
	for _, text := range q.dates {
		at, err := capcli.ParseTime(strings.TrimSpace(text), nil, false)
		if err != nil || !f.Curve.Dated() {
			return nil, &capcli.RequestError{Field: "origins", Text: fmt.Sprintf("wants a number, or dates of a demand that has dates, found %q", text), Hint: "origins=24"}
		}
		past := capcli.Seconds(at - f.Curve.Start)
		if past < leastPast || b.EndOf(past) > f.Curve.Len() {
			return nil, &capcli.RequestError{Field: "origins", Text: fmt.Sprintf("has %s, which lies less than two weeks after the start of the demand, or less than the term before its end", text), Hint: "give another date, or a shorter --horizon"}
		}
		out = append(out, past)
	}
	if len(q.dates) > 0 {
		return out, nil
	}
	last := f.Curve.Len() / capcli.Day * capcli.Day
	for last >= leastPast && b.EndOf(last) > f.Curve.Len() {
		last -= capcli.Day
	}
	if last < leastPast {
		return nil, tooShort(f, b.Term)
	}
	days := int64((last - leastPast) / capcli.Day)
	n := min(int64(q.count), days+1)
	for i := range n {
		at := days
		if n > 1 {
			at = days * i / (n - 1)
		}
		out = append(out, leastPast+capcli.Seconds(at)*capcli.Day)
	}
	return out, nil
}

func tooShort(f *market.Frame, term int) error {
	t := &f.Market.Terms[term]
	return &capcli.RequestError{
		Field: "term", Text: fmt.Sprintf("%s: expected a demand of two weeks and what counts of the term, found %s", t.Name, f.Curve.Len()),
		Hint: "give a longer demand, or let less of the term count: horizon=1w",
	}
}

// Names of rules: the decision by the forecast, and the rule of thumb that stands beside it.
const (
	ruleName  = "forecast"
	usualName = "break-even-30"
)

// rule returns the decision by the forecast: the lots with the least mean cost over its futures.
// Where the model cannot be fitted to a past, it decides by the last 30 days.
func (q *Question) rule() backtest.Rule {
	fallback := backtest.Rules()[slices.IndexFunc(backtest.Rules(), func(r backtest.Rule) bool { return r.Name == usualName })]
	return backtest.Rule{Name: ruleName, Doc: "the optimum over futures of the model " + q.Model, Decide: func(p *backtest.Past) (backtest.Decision, error) {
		paths, err := q.futures(p)
		switch {
		case err != nil:
			return backtest.Decision{}, err
		case paths == nil:
			return fallback.Decide(p)
		}
		return p.Choose(paths)
	}}
}

// futures returns possible futures of the steps that a decision is for, none below zero; nil where the
// model cannot be fitted to the past.
func (q *Question) futures(p *backtest.Past) ([][]float64, error) {
	y := capcli.Series{Unit: "GPUs", Start: p.Curve.Start, Step: p.Curve.Step.Length(), Values: p.Levels()}
	opts := forecast.Options{Seed: q.Seed}
	for _, season := range []capcli.Seconds{capcli.Day, 7 * capcli.Day} {
		if n := int(season / y.Step); season%y.Step == 0 && n > 1 && 2*n <= len(y.Values) {
			opts.Seasons = append(opts.Seasons, n)
		}
	}
	shipped, err := forecast.Shipped(q.Model, y, p.Steps, opts)
	if err != nil {
		return nil, err
	}
	fit, err := shipped.Fit(y)
	if err != nil {
		return nil, nil
	}
	paths := make([][]float64, q.Paths)
	for k := range paths {
		paths[k] = fit.Path(p.Steps, q.Seed.Child(k).Stream("path/"))
		for i, v := range paths[k] {
			paths[k][i] = math.Max(0, v)
		}
	}
	return paths, nil
}
