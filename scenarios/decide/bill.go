package decide

import (
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/vary"
)

// desk prices purchases that cover: commitments that lower the bill hour by hour, whatever runs where.
// Everything that is wanted runs at once, so nobody waits, and a plan is what is paid.
type desk struct {
	*chain
	frame market.Frame
	field *plan.Field
	best  *plan.Assessed
}

func (c *chain) newDesk() (*desk, error) {
	d := &desk{chain: c, frame: c.bought.Frame, field: c.bought.Field}
	var err error
	d.best, err = d.field.Reprice("recommended", "the least cost over the futures", d.purchases(c.bought.Optimum.Purchases))
	return d, err
}

// purchases returns purchases of a document as the market counts them.
func (d *desk) purchases(list []market.Purchase) []plan.Purchase {
	var out []plan.Purchase
	for _, p := range list {
		term := slices.IndexFunc(d.frame.Market.Terms, func(t plan.Term) bool { return t.Name == p.Term })
		out = append(out, plan.Purchase{Term: term, From: capcli.Seconds(p.Start.Time - d.frame.Curve.Start), Milli: int64(math.Round(1000 * p.GPUs))})
	}
	return out
}

// choice returns the document of purchases. base is the recommendation, from which differences are
// taken; nil is the plan itself.
func (d *desk) choice(name string, a *plan.Assessed, base *Choice) Choice {
	f := vary.Summarise(a.Outcomes, d.out.Length, d.checks)
	out := Choice{
		Name: name, As: asBill, GPUs: int(market.GPUs(plan.FirstMilli(a.Purchases))), Patience: "0s", Cost: f.Cost, PerYear: f.PerYear, Range: f.Range, Worst: f.Worst,
		Committed: f.Committed, OnDemand: f.OnDemand, Stranded: f.Stranded, Covered: f.Covered, Used: f.Used, Held: f.Held, Commitments: d.frame.Purchases(a.Purchases),
	}
	if out.GPUs == 0 && len(a.Purchases) == 0 {
		out.As = asNothing
	}
	out.Holds = out.Held >= d.hold
	if base != nil {
		out.Difference = out.Cost - base.Cost
	}
	return out
}

// What a plan commits to.
const (
	asBill    = "bill"    // it covers use wherever it runs
	asPlace   = "place"   // fenced GPUs: only jobs put there use them
	asBoth    = "both"    // fenced GPUs, and a bill that covers what overflows to on demand
	asNothing = "nothing" // everything is on demand
)

// answerBill fills in the plan of what covers, its baselines and what is tied with it.
func (d *desk) answerBill() error {
	out := d.out
	base := d.choice("recommended", d.best, nil)
	if out.Found = base.Holds; base.Holds {
		out.Plan = &base
	} else {
		near := base
		near.Name = "nearest to the limits"
		out.Nearest = &near
	}
	list, err := d.baselines()
	if err != nil {
		return err
	}
	if out.Found {
		out.Alternatives = append(out.Alternatives, base)
	}
	for _, a := range list {
		out.Alternatives = append(out.Alternatives, d.choice(a.Name, a, &base))
	}
	ties, err := d.field.Ties(d.best, 0.8, 1.2)
	if err != nil {
		return err
	}
	out.Ties = &Ties{Least: market.GPUs(ties.Least), Most: market.GPUs(ties.Most), Within: ties.Within, Wrong: []WrongSize{}}
	for _, w := range ties.Wrong {
		out.Ties.Wrong = append(out.Ties.Wrong, WrongSize{market.GPUs(w.Milli), w.Added})
	}
	return d.priceSizes()
}

// sizesListed is about the number of sizes whose cost is listed.
const sizesListed = 30

// priceSizes lists what sizes of the first purchases cost, from none to the highest mean of a future or
// half as much again as the plan buys.
func (d *desk) priceSizes() error {
	if len(d.frame.Market.Terms) == 0 {
		return nil
	}
	lot, best := 1000*int64(d.lot()), plan.FirstMilli(d.best.Purchases)
	most := max(best*3/2, int64(1000*slices.Max(d.bought.Futures.Levels)))
	step := max(lot, most/sizesListed/lot*lot)
	sizes := []int64{best}
	for at := int64(0); at <= most+step-1; at += step {
		sizes = append(sizes, at)
	}
	slices.Sort(sizes)
	for _, milli := range slices.Compact(sizes) {
		a, err := d.field.Reprice("", "", plan.ScaleFirst(d.best.Purchases, milli, lot))
		if err != nil {
			return err
		}
		c := d.choice("", a, nil)
		d.out.Sizes = append(d.out.Sizes, SizeCost{market.GPUs(milli), c.Cost, c.Range, milli == best})
	}
	return nil
}

// Names of alternatives.
const (
	allOnDemand = "all on demand"
	tenthFewer  = "10% fewer"
	tenthMore   = "10% more"
	ruleOf30    = "break-even of the last 30 days"
	heldAlone   = "what is held, and no more"
)

// IsBaseline reports whether an alternative is a named baseline: what people do without a plan.
func IsBaseline(name string) bool {
	return name == allOnDemand || name == ruleOf30 || name == heldAlone
}

// baselines returns the plans that the recommendation is compared with: all on demand, the rule of
// thumb of the providers' consoles, and sizes a tenth below and above.
func (d *desk) baselines() ([]*plan.Assessed, error) {
	var out []*plan.Assessed
	put := func(name, doc string, list []plan.Purchase) error {
		a, err := d.field.Reprice(name, doc, list)
		if err == nil {
			out = append(out, a)
		}
		return err
	}
	name := allOnDemand
	if len(d.frame.Held) > 0 {
		name = heldAlone
	}
	if err := put(name, "nothing is bought", nil); err != nil {
		return nil, err
	}
	list, err := d.rule()
	if err != nil {
		return nil, err
	}
	if len(d.frame.Market.Terms) > 0 {
		if err := put(ruleOf30, "the level of use that the last 30 days would have paid for, bought now and again whenever it ends", list); err != nil {
			return nil, err
		}
	}
	was := plan.FirstMilli(d.best.Purchases)
	lot := 1000 * int64(d.lot())
	if was == 0 {
		return out, nil
	}
	for _, x := range []struct {
		name string
		to   int64
	}{
		{tenthFewer, max(0, min(was-lot, int64(0.9*float64(was)+float64(lot)/2)/lot*lot))},
		{tenthMore, max(was+lot, int64(1.1*float64(was)+float64(lot)/2)/lot*lot)},
	} {
		if err := put(x.name, fmt.Sprintf("%s of the GPUs bought first", x.name), plan.ScaleFirst(d.best.Purchases, x.to, lot)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
