package review

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/market"
)

// deed is the action of a step. To renew is to buy in place of a contract that ends.
type deed int

const (
	buy deed = iota
	renew
	expire
)

func (d deed) String() string { return [...]string{"buy", "renew", "let expire"}[d] }

// step is one action.
type step struct {
	at    capcli.Seconds // seconds after the end of the time looked at
	deed  deed
	term  int // index in the market's terms; -1 where a contract expires
	milli int64
	cost  capcli.USD
}

// advise finds the best purchases for a coming time in which the use repeats: a year, or the
// longest term if that is longer. Purchases count only up to the end of that time, as if they were
// of use beyond it.
func (p *past) advise(ctx context.Context, out *Result) error {
	ahead := capcli.Step{Months: 12}
	for _, t := range p.Market.Terms {
		if t.Length.Length() > ahead.Length() {
			ahead = t.Length
		}
	}
	later := market.Frame{Curve: &plan.Curve{Start: p.Curve.Start, Step: p.Curve.Step}, Market: p.Market.SeenFrom(p.to)}
	if p.Curve.Dated() {
		later.Curve.Start += capcli.Time(p.to)
	}
	out.Ahead = later.Curve.AddSteps(0, ahead, 1)
	out.AheadUntil = later.Instant(out.Ahead)
	gpus, err := p.repeatUse(later.Curve, out.Ahead)
	if err != nil {
		return err
	}
	later.Market.After = plan.After{}
	var held []plan.Held
	for _, c := range p.contracts {
		if c.To > p.to {
			held = append(held, plan.Held{From: max(0, c.From-p.to), To: c.To - p.to, Milli: c.Milli})
			later.Market.Also = append(later.Market.Also, c.To-p.to)
		}
	}
	f, err := plan.NewField(&plan.Futures{Grid: capcli.Grid{Origin: later.Curve.Start, Step: p.Curve.Step}, Paths: [][]float64{gpus}}, later.Market, held...)
	if err != nil {
		return err
	}
	nothing, err := f.BuyNothing()
	if err != nil {
		return err
	}
	c, err := f.Choose(ctx, plan.Risk{})
	if err != nil {
		return err
	}
	best, err := f.Assess("", "", c)
	if err != nil {
		return err
	}
	out.DoNothing, out.Best = nothing.Outcomes[0].Cost, best.Outcomes[0].Cost
	out.Costs = out.DoNothing - out.Best
	for _, s := range stepsOf(&later, best.Purchases, held, out.Ahead) {
		x := Advice{Date: later.Instant(s.at), Do: s.deed.String(), GPUs: market.GPUs(s.milli)}
		if s.deed != expire {
			x.Term, x.Cost = &p.Market.Terms[s.term].Name, &s.cost
		}
		out.Advice = append(out.Advice, x)
	}
	return nil
}

// maxSteps is the most steps of the coming time.
const maxSteps = 2_000_000

// repeatUse returns the use of the time looked at, repeated on the steps of a curve up to an
// instant, in GPUs.
func (p *past) repeatUse(later *plan.Curve, until capcli.Seconds) ([]float64, error) {
	first := 0
	for p.Curve.StepStart(first) < p.from {
		first++
	}
	var gpus []float64
	for i := 0; later.StepStart(i) < until; i++ {
		if len(gpus) >= maxSteps {
			return nil, fmt.Errorf("over %d steps ahead: take a longer step", maxSteps)
		}
		gpus = append(gpus, p.Curve.GPUs(first+i%(len(p.Curve.Work)-first)))
	}
	return gpus, nil
}

// stepsOf returns purchases and the ends of held contracts as actions, in order of time.
func stepsOf(later *market.Frame, purchases []plan.Purchase, held []plan.Held, until capcli.Seconds) []step {
	ends := map[capcli.Seconds]int64{} // by end of contracts: GPUs, in thousandths, that no purchase replaces
	for _, h := range held {
		if h.To < until {
			ends[h.To] += h.Milli
		}
	}
	var out []step
	for _, p := range purchases {
		again := min(ends[p.From], p.Milli)
		ends[p.From] -= again
		for _, x := range []step{{p.From, renew, p.Term, again, 0}, {p.From, buy, p.Term, p.Milli - again, 0}} {
			if x.milli > 0 {
				end := later.Curve.AddSteps(p.From, later.Market.Terms[p.Term].Length, 1)
				x.cost = capcli.Cost(p.Rate, capcli.GPUTime(x.milli*int64(end-p.From)))
				out = append(out, x)
			}
		}
	}
	for at, milli := range ends {
		if milli > 0 {
			out = append(out, step{at: at, deed: expire, term: -1, milli: milli})
		}
	}
	slices.SortFunc(out, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.deed, b.deed), cmp.Compare(a.term, b.term))
	})
	return out
}
