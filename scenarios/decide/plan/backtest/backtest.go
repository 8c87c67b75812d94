// Package backtest tries decisions about commitments on the past. At earlier dates of a demand it
// asks rules what to commit to, from what was known then, and prices what they bought by the demand
// that came. Beside each stands hindsight: the number of lots that cost least.
//
// A decision for one term costs
//
//	r k hours + sum over steps of p_t max(0, d_t - k),
//
// with the rate r of the day of purchase for k committed GPUs, used or not, and the on-demand price
// p_t of each step for the demand d_t above them. Regret is the cost above that of hindsight.
package backtest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// Question is what to try.
type Question struct {
	Curve   *plan.Curve
	Market  *plan.Market // instants count from the start of the curve
	Term    int          // index of the term that is bought
	Horizon capcli.Step  // how much of a term counts, prorated; zero is all of it
	Rolled  capcli.Step  // for how long the decision is made again at each expiry; zero is once
	Flat    bool         // prices stay those of the origin, which is what rules know; else they are dated
	Origins []capcli.Seconds
	Rules   []Rule
}

// Trial is one origin.
type Trial struct {
	At   capcli.Seconds // when the first decision was made, from the start of the curve
	End  capcli.Seconds // when the last term, or what counts of it, ended
	Best Outcome        // hindsight; the fewest lots
	Most []int64        // the most lots of equal cost, by purchase
	Rule []Outcome      // in the order of the rules
}

// Outcome is what a rule bought, and what that cost.
type Outcome struct {
	Lots    []int64 // by purchase
	Cost    capcli.USD
	Promise *[2]capcli.USD // range of the cost of all decisions together; nil where one made none

	ranges []Range // by decision
}

// check returns an error where the question cannot be asked.
func (q *Question) check() error {
	switch {
	case q.Term < 0 || q.Term >= len(q.Market.Terms):
		return fmt.Errorf("backtest: expected a term of the market, found number %d of %d", q.Term, len(q.Market.Terms))
	case len(q.Rules) == 0:
		return fmt.Errorf("backtest: expected rules to try, found none")
	}
	return q.Curve.Check()
}

// lot returns the thousandths of a GPU that are bought together.
func (q *Question) lot() int64 {
	if q.Market.Lot == 0 {
		return 1000
	}
	return q.Market.Lot
}

// Run tries the rules at every origin, in order. Origins whose terms end after the demand are left
// out. Where ctx ends before all are done, Run returns those that are, in order of time, and no
// error: it looks at the first, the last and then those between.
func (q *Question) Run(ctx context.Context) ([]Trial, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	var fits []capcli.Seconds
	for _, at := range q.Origins {
		if at >= 0 && q.EndOf(at) <= q.Curve.Len() {
			fits = append(fits, at)
		}
	}
	slices.Sort(fits)
	fits = slices.Compact(fits)
	out := make([]Trial, len(fits))
	// Running calls are waited for, so that what they write is whole.
	_, err := capcli.MapParallel(context.WithoutCancel(ctx), spread(len(fits)), nil, func(_ context.Context, i int) (bool, error) {
		if ctx.Err() != nil {
			return false, nil
		}
		var err error
		out[i], err = q.try(fits[i])
		return true, err
	})
	return slices.DeleteFunc(out, func(t Trial) bool { return t.Rule == nil }), err
}

// spread returns the numbers below n so that any first part of them is spread over all: the first,
// the last, then the middle of the widest gap.
func spread(n int) []int {
	out := make([]int, 0, n)
	seen := make([]bool, n)
	add := func(i int) {
		if i >= 0 && i < n && !seen[i] {
			seen[i], out = true, append(out, i)
		}
	}
	add(0)
	add(n - 1)
	for step := n; len(out) < n; step = max(1, step/2) {
		for i := step / 2; i < n; i += step {
			add(i)
		}
		if step == 1 {
			for i := range n {
				add(i)
			}
		}
	}
	return out
}

// EndOf returns when the last term of a trial from an origin ends, or what counts of it, in seconds
// from the start of the curve.
func (q *Question) EndOf(at capcli.Seconds) capcli.Seconds {
	cuts := q.cuts(at)
	return cuts[len(cuts)-1]
}

// cuts returns the dates of the decisions from an origin, and the end of the last.
func (q *Question) cuts(at capcli.Seconds) []capcli.Seconds {
	term := q.Market.Terms[q.Term].Length
	if q.Rolled.Length() == 0 {
		end := q.Curve.AddSteps(at, term, 1)
		if q.Horizon.Length() > 0 {
			end = min(end, q.Curve.AddSteps(at, q.Horizon, 1))
		}
		return []capcli.Seconds{at, end}
	}
	last := q.Curve.AddSteps(at, q.Rolled, 1)
	out := []capcli.Seconds{at}
	for k := 1; out[len(out)-1] < last; k++ {
		out = append(out, min(last, q.Curve.AddSteps(at, term, k)))
	}
	return out
}

// stepAt returns the first step that starts at an instant or later.
func (q *Question) stepAt(at capcli.Seconds) int {
	return sort.Search(len(q.Curve.Work), func(i int) bool { return q.Curve.StepStart(i) >= at })
}

// try asks the rules at one origin.
func (q *Question) try(at capcli.Seconds) (Trial, error) {
	cuts := q.cuts(at)
	out := Trial{At: at, End: cuts[len(cuts)-1], Rule: make([]Outcome, len(q.Rules))}
	for k := range q.Rules {
		if play := q.Rules[k].play; play != nil {
			var err error
			if out.Rule[k], err = play(&spell{q, at, q.stepAt(at), q.stepAt(out.End)}); err != nil {
				return out, fmt.Errorf("%s: %w", q.Rules[k].Name, err)
			}
		}
	}
	for i := range len(cuts) - 1 {
		from, to := q.stepAt(cuts[i]), q.stepAt(cuts[i+1])
		priced := cuts[i]
		if q.Flat {
			priced = at
		}
		term := &q.Market.Terms[q.Term]
		past := &Past{
			Curve: q.Curve, Now: from, Steps: to - from, Term: term, Paid: term.Rate.At(priced), Open: q.Market.OnDemand.At(priced), Lot: q.lot(), End: cuts[i+1],
		}
		came := newStretch(q.Curve, from, to, past.Paid, past.Lot, func(step int) capcli.Rate {
			if q.Flat {
				return past.Open
			}
			return q.Market.OnDemand.At(q.Curve.StepStart(step))
		})
		fewest, most := came.optimum()
		out.Best.add(fewest, came.cost(fewest))
		out.Most = append(out.Most, most)
		for k := range q.Rules {
			if q.Rules[k].Decide == nil {
				continue
			}
			if err := out.Rule[k].decide(&q.Rules[k], past, came); err != nil {
				return out, err
			}
		}
	}
	for k := range out.Rule {
		out.Rule[k].settlePromise()
	}
	return out, nil
}

// decide adds what a rule buys and what that costs by the demand that came.
func (o *Outcome) decide(r *Rule, past *Past, came *stretch) error {
	d, err := r.Decide(past)
	if err == nil && d.Lots < 0 {
		err = fmt.Errorf("expected 0 lots or more, found %d", d.Lots)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	o.add(d.Lots, came.cost(d.Lots))
	if d.Promise != nil {
		o.ranges = append(o.ranges, *d.Promise)
	}
	return nil
}

// likeness is the correlation of what one decision's cost is off by and the next one's, where the
// decision is made again at each expiry: each knows the demand that came since, so it is low.
const likeness = 0.25

// settlePromise sets the range of the cost of all decisions: their means are added up, and the
// distances to their ends as standard deviations of errors of one correlation are.
func (o *Outcome) settlePromise() {
	if len(o.ranges) == 0 || len(o.ranges) < len(o.Lots) {
		return
	}
	var mean, low, high, lows, highs float64
	for _, r := range o.ranges {
		mean += r.Mean.Float()
		low, high = low+(r.Mean-r.Low).Float(), high+(r.High-r.Mean).Float()
		lows, highs = lows+math.Pow((r.Mean-r.Low).Float(), 2), highs+math.Pow((r.High-r.Mean).Float(), 2)
	}
	reach := func(sum, squares float64) float64 { return math.Sqrt(likeness*sum*sum + (1-likeness)*squares) }
	o.Promise = &[2]capcli.USD{dollars(mean - reach(low, lows)), dollars(mean + reach(high, highs))}
}

func dollars(v float64) capcli.USD { return capcli.USD(math.Round(1e6 * v)) }

func (o *Outcome) add(lots int64, cost capcli.USD) {
	o.Lots, o.Cost = append(o.Lots, lots), o.Cost+cost
}

// PromiseHeld reports whether the cost lies in the promised range, and whether one was promised.
func (o *Outcome) PromiseHeld() (held, promised bool) {
	if o.Promise == nil {
		return false, false
	}
	return o.Promise[0] <= o.Cost && o.Cost <= o.Promise[1], true
}

// Summary is the regret of one rule over trials. Shares are of the cost of hindsight. Origins where
// hindsight costs nothing have no share, and count in the sums.
type Summary struct {
	Name            string
	Cost, Best      capcli.USD // summed
	Shares          []float64  // by origin that has one, rising
	Held, Promised  int        // origins whose 80 % range held the cost, and that had one
	Mean, P90, Most float64    // of the shares; NaN where there are none
}

// Regret returns the summed cost above that of hindsight.
func (s *Summary) Regret() capcli.USD { return s.Cost - s.Best }

// Share returns the summed regret over the summed cost of hindsight; NaN where that is 0.
func (s *Summary) Share() float64 {
	if s.Best == 0 {
		return math.NaN()
	}
	return float64(s.Regret()) / float64(s.Best)
}

// Summarise returns the summaries of the rules, in their order. The 90 % quantile interpolates
// between origins (R's type 7).
func Summarise(rules []Rule, trials []Trial) []Summary {
	out := make([]Summary, len(rules))
	for k := range rules {
		s := &out[k]
		s.Name, s.Mean, s.P90, s.Most = rules[k].Name, math.NaN(), math.NaN(), math.NaN()
		for i := range trials {
			o := &trials[i].Rule[k]
			s.Cost, s.Best = s.Cost+o.Cost, s.Best+trials[i].Best.Cost
			if held, promised := o.PromiseHeld(); promised {
				s.Promised++
				if held {
					s.Held++
				}
			}
			if best := trials[i].Best.Cost; best > 0 {
				s.Shares = append(s.Shares, float64(o.Cost-best)/float64(best))
			}
		}
		slices.Sort(s.Shares)
		n := len(s.Shares)
		if n == 0 {
			continue
		}
		s.Mean, s.Most = 0, s.Shares[n-1]
		for _, v := range s.Shares {
			s.Mean += v / float64(n)
		}
		at := 0.9 * float64(n-1)
		i := min(int(at), n-1)
		s.P90 = s.Shares[i] + (at-float64(i))*(s.Shares[min(i+1, n-1)]-s.Shares[i])
	}
	return out
}
