package mix

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// tier is capacity that is paid for while it is held: a number of GPUs at a price.
type tier struct {
	price capcli.Rate
	gpus  int64
}

// lowest returns the lowest price of a GPU-hour at any time.
func lowest(r *billing.Rate) capcli.Rate {
	least := r.Price
	for _, s := range r.Path {
		least = min(least, s.Price)
	}
	return least
}

// tiersOf returns the elastic pools of a mix in order of price. The dearest counts as unlimited,
// which makes the bound cheaper than the mix, never dearer.
func tiersOf(pools []simulate.Pool, rates []billing.Rate) []tier {
	var out []tier
	for i := range pools {
		if !pools[i].Terms.Committed() {
			out = append(out, tier{lowest(&rates[i]), int64(pools[i].Capacity())})
		}
	}
	slices.SortFunc(out, compareTiers)
	return out
}

func compareTiers(a, b tier) int {
	return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.gpus, b.gpus))
}

// elastic returns the least cost of the work beyond the committed GPUs: each tier takes the work
// beyond the cheaper ones. The smooth curve is least at all levels at once, so the sum of the
// minima is the minimum of the sum. walls, where a tier has one, has the jobs that no cheaper tier serves.
func elastic(s *smooth, walls []*wall, tiers []tier, committed int64) capcli.USD {
	var sum capcli.USD
	var last capcli.Rate
	level := committed
	for i, t := range tiers {
		if t.price > last {
			over := s.workOver(level)
			if i < len(walls) && walls[i] != nil {
				over = max(over, walls[i].workOver(committed))
			}
			sum += capcli.Cost(t.price-last, over)
		}
		last, level = max(last, t.price), level+t.gpus
	}
	return sum
}

// commitments returns the cost of the committed pools of a mix until end, and the most of their
// GPUs at once.
func commitments(pools []simulate.Pool, rates []billing.Rate, end capcli.Seconds) (cost capcli.USD, most int64) {
	var gpus capcli.Steps[capcli.Seconds]
	for i := range pools {
		p := &pools[i]
		if !p.Terms.Committed() {
			continue
		}
		from, until := p.From, p.Until
		if until == 0 || until > end {
			until = end
		}
		if from >= until {
			continue
		}
		cost += capcli.Cost(lowest(&rates[i]), capcli.GPUTime(int64(p.Capacity())*int64(until-from))*capcli.GPUSecond)
		gpus.Add(from, until, int64(p.Capacity()))
	}
	most, _ = gpus.Peak()
	return cost, most
}

// bounds computes lower bounds on the cost of candidates. It computes the smooth curve of each run
// and set of rules once.
type bounds struct {
	p      *Problem
	known  map[string]*ruled
	undone map[string]undone
	// allowed is the share of the work that each run may leave undone; above 1 there is no limit.
	// The floors are of runs that leave no more.
	allowed float64
}

// ruled is the windows of one run's jobs under one set of rules, and their smooth curve.
type ruled struct {
	*promised
	smooth *smooth
}

func newBounds(p *Problem) *bounds {
	return &bounds{p: p, known: map[string]*ruled{}, undone: map[string]undone{}, allowed: 2}
}

// rules returns the windows of the jobs of a run under cfg.
func (b *bounds) rules(cfg *simulate.Config, run int) (*ruled, error) {
	key := ruleKey(cfg, run)
	r := b.known[key]
	if r != nil {
		return r, nil
	}
	kept, err := recall(b.p.Memory, "rules|"+b.p.Jobset+"|"+key, func() (*rulesKept, error) {
		jobs, err := b.p.Jobs(run)
		if err != nil {
			return nil, err
		}
		r = &ruled{promised: promises(cfg, jobs, nil)}
		if r.why == "" {
			r.smooth = newSmooth(r.windows, r.end())
		}
		if b.p.Memory == nil {
			return nil, nil //nolint:nilnil // r is the answer
		}
		return r.toKeep()
	})
	switch {
	case errors.Is(err, errTooHigh) || kept == nil && err == nil: // r was just computed
	case err != nil:
		return nil, err
	default:
		r = kept.ruled()
	}
	b.known[key] = r
	return r, nil
}

// ruleKey identifies what the windows of a run depend on.
func ruleKey(cfg *simulate.Config, run int) string {
	return fmt.Sprint(run, cfg.Start, cfg.Until, lateness(cfg), cfg.Settings.Perfect, cfg.KillAtLimit, cfg.Overflow.Patience, cfg.Delayer != nil)
}

// discounted is the reason why on-demand use has no lower bound under commitments.
const discounted = "commitments make use on demand cheaper"

// floor is a lower bound on the cost of a candidate in a run that leaves no more work undone than
// allowed, whatever the policy.
type floor struct {
	Cost capcli.USD
	// Why is "" where Cost includes the least on-demand cost because every job must start in its
	// window. Else it says why Cost does not include it.
	Why string
	// Undone is a lower bound on the share of the work that the run leaves undone.
	Undone float64
	// Base holds whatever the run leaves undone. A run that leaves nothing undone costs Full more, and one that
	// leaves a share undone at least that share of Slope less than so.
	Base, Full, Slope capcli.USD
}

// floorOf returns the floor of a candidate in a run. Committed capacity is paid in any case. Work
// that it cannot do within the promised waits costs at least the price of the elastic pools.
func (b *bounds) floorOf(c *Candidate, run int) (floor, error) {
	cfg, err := c.Config(run)
	if err != nil {
		return floor{}, err
	}
	r, err := b.rules(&cfg, run)
	if err != nil {
		return floor{}, err
	}
	why := r.fits(&cfg)
	if why == "" && c.Discounted {
		why = discounted
	}
	end := r.until
	if end == 0 && why == "" {
		end = r.ended
	} else if end == 0 {
		end = r.arrived
	}
	rates := b.p.tariff.floorRates(cfg.Pools, c)
	cost, gpus := commitments(cfg.Pools, rates, end)
	f := floor{Cost: cost, Why: why}
	if why == "" {
		f.Cost += elastic(r.smooth, nil, tiersOf(cfg.Pools, rates), gpus)
	}
	f.Cost -= rounding(len(cfg.Pools), end)
	left, err := b.leastUndone(&cfg, run)
	if err != nil {
		return floor{}, err
	}
	f.Undone, f.Base = left.share(), f.Cost
	switch {
	case why == "" || c.Discounted:
	case b.p.PriceUnserved:
		if price, fixed := leastOnDemand(cfg.Pools, c.Rates); fixed {
			f.Cost += left.use(rates, 0, price)
			f.Base = f.Cost
		}
	case b.allowed <= 1:
		f.Full, f.Slope = left.useOfAll(rates)
		f.Cost += left.use(rates, b.allowed, 0)
	}
	return f, nil
}

// leastOnDemand returns the lowest price that unserved work can have, 0 where none is known; false
// where prices change over time.
func leastOnDemand(pools []simulate.Pool, rates []billing.Rate) (capcli.Rate, bool) {
	least := capcli.Rate(-1)
	for i := range rates {
		if len(rates[i].Path) > 0 {
			return 0, false
		}
		for _, price := range []capcli.Rate{rates[i].OnDemand, rates[i].Price} {
			of := price == rates[i].OnDemand || pools[i].Terms == simulate.OnDemand
			if of && price > 0 && (least < 0 || price < least) {
				least = price
			}
		}
	}
	return max(0, least), true
}

// rounding returns the most by which the rounding of invoices, one cell per pool and month, can
// differ from the rounding here.
func rounding(pools int, length capcli.Seconds) capcli.USD {
	return capcli.USD(2 * pools * (int(length/(28*capcli.Day)) + 3))
}
