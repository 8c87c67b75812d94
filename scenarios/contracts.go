package scenarios

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
)

// HasContracts reports whether a commitment has more than an hourly price: payments at
// the start, terms of a provider, or discounts.
func (s *Scenario) HasContracts() bool {
	return s.Settles() || slices.ContainsFunc(s.Capacity, func(c Capacity) bool { return c.Upfront > 0 || c.Product != "" || c.Machine != nil })
}

// Committing reports whether a pool is bought for a term or until a date, which may lie
// after the end of a run.
func (s *Scenario) Committing() bool {
	return slices.ContainsFunc(s.Capacity, func(c Capacity) bool { return c.Kind.Committed() && (c.Term != "" || c.Until.Given) })
}

// Contracts returns the commitments of a scenario in a run: its committed places, its pools that
// float, then its discounts. ended is the length of the run. A pool without a term and an end lasts
// until the run ends. It fails with capcli.ErrOverflow.
func (s *Scenario) Contracts(rec *simulate.Record, ended capcli.Seconds, o Options) ([]outcome.Contract, error) {
	rates, err := s.Rates(o)
	if err != nil {
		return nil, err
	}
	files, err := s.load(o.Open)
	if err != nil {
		return nil, err
	}
	end := rec.Start + capcli.Time(max(1, ended))
	var out []outcome.Contract
	put := func(c *billing.Commitment, kind string) error {
		k, err := contractOf(c, kind, rec.Start, end)
		if err != nil {
			return fmt.Errorf("the contract of %s: %w", c.ID, err)
		}
		out = append(out, k)
		return nil
	}
	k := 0
	for c := range s.groups(files) {
		pool, rate := &rec.Pools[k], rates[k]
		k++
		if !c.Kind.Committed() {
			continue
		}
		bought, err := c.contract(pool, rate.Price, rec.Start, end)
		if err != nil {
			return nil, fmt.Errorf("the contract of %s: %w", c.Name, err)
		}
		if err := put(bought, c.KindName()); err != nil {
			return nil, err
		}
	}
	floats, err := s.floatingBills(rec.Start, end)
	if err != nil {
		return nil, err
	}
	for i := range floats {
		if err := put(&floats[i], s.pool(floats[i].ID).KindName()); err != nil {
			return nil, err
		}
	}
	for i := range s.Commitments {
		if err := put(&s.Commitments[i], s.Commitments[i].Product.Name()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// contract returns a committed pool as a commitment.
func (c *Capacity) contract(p *simulate.Pool, rate capcli.Rate, start, end capcli.Time) (k *billing.Commitment, err error) {
	k = &billing.Commitment{ID: p.Name, Start: start + capcli.Time(p.From), End: end}
	if c.From.Given && c.From.Date.IsKnown() {
		k.Start = c.From.Date
	}
	switch {
	case c.Until.Given && c.Until.Date.IsKnown():
		k.End = c.Until.Date
	case c.Until.Given:
		k.End = start + capcli.Time(c.Until.After)
	case c.Term != "" && c.Product != "capacity_reservation":
		k.End = addTerm(k.Start, c.Term)
	}
	k.End = max(k.End, k.Start+1)
	if c.Floats && !c.Until.Given {
		k.End = max(k.End, end) // it is renewed, as a place is
	}
	if c.Machine != nil {
		k.End = k.Start + capcli.Time(nominal(c.Term))
		k.Fees, err = c.Machine.Fees(1000 * int64(p.Capacity()))
		return k, err
	}
	whole, err := billing.Cost(rate, capcli.GPUTime(1000*int64(p.Capacity()))*capcli.GPUTime(capcli.Hour))
	if err != nil {
		return nil, err
	}
	ahead := billing.Share(whole, c.Upfront, allUpfront)
	k.Fees.Hourly = whole - ahead
	k.Fees.Upfront, err = billing.Cost(ahead, capcli.GPUTime(k.End-k.Start)*capcli.GPUSecond)
	return k, err
}

// contractOf returns the figures of a commitment in a run.
func contractOf(c *billing.Commitment, kind string, start, end capcli.Time) (outcome.Contract, error) {
	k := outcome.Contract{Name: c.ID, Kind: kind, Start: c.Start, End: c.End, Upfront: c.Fees.Upfront}
	var err error
	if k.Paid, err = c.AmountPaid(start, end); err != nil {
		return k, err
	}
	if k.UsedUp, err = c.UsedUp(start, end); err != nil {
		return k, err
	}
	k.Unexpired, k.Unpaid, err = c.Unexpired(end)
	return k, err
}

// KindNames returns the kind of each pool of Config, in order, as the scenario states it.
func (s *Scenario) KindNames(o Options) ([]string, error) {
	files, err := s.load(o.Open)
	if err != nil {
		return nil, err
	}
	var out []string
	for c := range s.groups(files) {
		out = append(out, c.KindName())
	}
	return out, nil
}
