package mix

import (
	"context"
	"math/big"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// BillTie is what an offer that covers is worth to the best mix: all is computed on the use that was played, where any
// other offers are bought anew as is best.
type BillTie struct {
	Offer string      `json:"offer"`
	GPUs  int64       `json:"gpus"` // most at once that the plan buys; 0 is none
	Now   capcli.Rate `json:"usd_per_gpu_hour"`
	// At is the price of a GPU-hour at which the plan costs the same without the offer; of an offer that it does not
	// buy, that below which a first unit pays. Null where there is none of 0 or more.
	At      *capcli.Rate `json:"break_even_usd_per_gpu_hour"`
	Without capcli.USD   `json:"without_it_usd"` // what the plan costs more without the offer
}

// weighBills works out the break-even price of each offer and the marginal value of the GPUs of those that are bought.
func (s *study) weighBills(ctx context.Context) error {
	if s.problem.tariff == nil || s.best.Cover == nil {
		return nil
	}
	entries, err := s.Search.runUnsettled(ctx, s.problem, []*Candidate{s.best.Candidate})
	if err != nil {
		return err
	}
	x, err := s.problem.tariff.lay(entries[0])
	if err != nil || len(x.kinds) == 0 {
		return err
	}
	var done []*Offer
	for _, o := range x.offers {
		if slices.Contains(done, o) {
			continue
		}
		done = append(done, o)
		if err := s.billTie(ctx, x, o); err != nil {
			return err
		}
		if err := s.billMargins(ctx, x, o); err != nil {
			return err
		}
	}
	return nil
}

// boughtOf returns the purchases of an offer in the best mix.
func (s *study) boughtOf(x *laid, o *Offer) []purchase {
	return slices.DeleteFunc(x.purchases(s.best.Cover.units), func(p purchase) bool { return p.offer != o || o.floating != nil && o.floating.gpus >= 0 })
}

// billTie adds the break-even price of an offer. The cost of purchases is linear in their price, whatever figure of
// the cost over the runs counts: with C the cost of the plan, W that without the offer, and H the GPU-hours that it
// commits to, they tie at its price + (W - C) / H.
func (s *study) billTie(ctx context.Context, x *laid, o *Offer) error {
	list := s.boughtOf(x, o)
	first := x.contracts[slices.Index(x.offers, o)]
	row := BillTie{Offer: o.Name}
	if len(list) > 0 {
		first = list[0].contract
	}
	unit := x.kinds[first.Use].unit
	row.Now = first.Rate / capcli.Rate(unit)
	tie := big.NewRat(int64(first.Rate), unit)
	if len(list) == 0 { // the first unit, at no price
		free := purchase{offer: o, contract: first, units: 1}
		free.contract.Rate = 0
		with, err := x.leastWith(ctx, s.Search.Risk, nil, free)
		if err != nil {
			return err
		}
		tie = perHour(s.best.Cost()-with, unit*int64(min(first.To, x.end)-first.From))
	} else {
		var held capcli.Steps[capcli.Seconds]
		seconds := int64(0)
		for _, p := range list {
			held.Add(p.contract.From, p.contract.To, p.units*unit)
			seconds += p.units * unit * int64(min(p.contract.To, x.end)-p.contract.From)
		}
		row.GPUs, _ = held.Peak()
		without, err := x.leastWith(ctx, s.Search.Risk, func(i int) bool { return x.offers[i] != o })
		if err != nil {
			return err
		}
		row.Without = without - s.best.Cost()
		tie.Add(tie, perHour(row.Without, seconds))
	}
	if tie.Sign() >= 0 {
		at := roundRate(tie)
		row.At = &at
	}
	s.out.Bills = append(s.out.Bills, row)
	return nil
}

// perHour returns an amount over GPU-seconds as a price of a GPU-hour, in millionths.
func perHour(amount capcli.USD, seconds int64) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(int64(amount), max(1, seconds)), big.NewRat(int64(capcli.Hour), 1))
}

// roundRate rounds a price in millionths half up.
func roundRate(v *big.Rat) capcli.Rate {
	v = new(big.Rat).Add(v, big.NewRat(1, 2))
	return capcli.Rate(new(big.Int).Quo(v.Num(), v.Denom()).Int64())
}

// billMargins adds the sizes around what the best mix buys first of an offer, and their costs on the use that was
// played.
func (s *study) billMargins(ctx context.Context, x *laid, o *Offer) error {
	list := s.boughtOf(x, o)
	if len(list) == 0 {
		return nil
	}
	p := list[0]
	own := slices.IndexFunc(x.contracts, func(c plan.Contract) bool { return c == p.contract })
	unit, step := x.kinds[p.contract.Use].unit, max(1, p.units/20)
	var last *capcli.USD
	for k := p.units - 3*step; k <= p.units+3*step; k += step {
		if k < 0 || p.contract.Most > 0 && k > p.contract.Most {
			continue
		}
		size := p
		size.units = k
		cost, err := x.leastWith(ctx, s.Search.Risk, func(i int) bool { return i != own }, size)
		if err != nil {
			return err
		}
		row := MarginalGPU{
			Pool: o.Name, GPUs: int(k * unit), Needed: x.neededShare(&size.contract, k), Cost: cost, Wait: s.best.Wait(), Held: s.best.HeldShare(),
			Undone: s.best.undoneShare(), Serves: s.best.Serves(), Holds: s.best.holds(s.Search.Hold), Best: k == p.units,
		}
		if last != nil {
			saved := *last - cost
			row.Saved = &saved
		}
		s.out.Marginal, last = append(s.out.Marginal, row), &cost
	}
	return nil
}

// neededShare returns the share of a contract's time within the runs in which so many units are in use at once, by
// the hour; of a last unit that is in use for a part of an hour, that part.
func (x *laid) neededShare(c *plan.Contract, units int64) float64 {
	use, used, all := &x.uses[c.Use], 0.0, 0.0
	for run, list := range use.Charge {
		weight := 1.0
		if x.weights != nil {
			weight = float64(x.weights[run])
		}
		byHour := make([]int64, len(use.Cuts)-1)
		for _, charge := range list {
			byHour[charge.Hour] += charge.Work
		}
		for i, work := range byHour {
			if use.Cuts[i] < c.From || use.Cuts[i] >= c.To {
				continue
			}
			whole := 1000 * int64(use.Cuts[i+1]-use.Cuts[i])
			used += weight * float64(max(0, min(whole, work-(units-1)*whole)))
			all += weight * float64(whole)
		}
	}
	return used / max(1, all)
}

// leastWith returns the least cost of the use with some purchases, and of the contracts those that keep selects; nil
// is all.
func (x *laid) leastWith(ctx context.Context, risk plan.Risk, keep func(contract int) bool, with ...purchase) (capcli.USD, error) {
	y := laid{rest: x.rest, sunk: x.sunk, end: x.end}
	for i, c := range x.contracts {
		if keep == nil || keep(i) {
			y.contracts = append(y.contracts, c)
		}
	}
	uses := slices.Clone(x.uses)
	for _, p := range with {
		c := p.contract
		c.Most = p.units
		uses[c.Use].Held = append(slices.Clip(uses[c.Use].Held), c)
		y.sunk += p.cost(c.From, min(c.To, x.end))
	}
	if err := y.makeField(uses, x.weights); err != nil {
		return 0, err
	}
	c, err := y.field.ChooseExactly(ctx, risk)
	if err != nil {
		return 0, err
	}
	cost, _, err := y.field.RiskOf(c, risk)
	return cost, err
}
