package play

import (
	"slices"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
	"capcli/scenarios/outcome"
)

// contract computes the figures of the scenario's commitments in the run, if they have more than an
// hourly price.
func (r *Run) contract(o scenarios.Options) error {
	s := r.Case.Scenario
	if !s.HasContracts() && !s.Committing() {
		return nil
	}
	var err error
	if r.Owed, err = s.Contracts(r.Result.Record, r.Result.Ended, o); err != nil || !s.HasContracts() {
		return err
	}
	r.contracts = slices.Clone(r.Owed)
	for p := range r.Result.Record.Pools {
		for i := range r.contracts { // commitments may discount a capacity reservation
			if c := &r.contracts[i]; r.Invoice.Settled(p) && c.Name == r.Result.Record.Pools[p].Name {
				c.Paid, c.UsedUp = r.Invoice.Standard(p), r.Invoice.Standard(p)
			}
		}
	}
	for i := range r.contracts { // a minimum spend costs what was spent, at least the minimum
		c := &r.contracts[i]
		if d := r.discount(c); d != nil && c.Kind == (billing.MinimumSpend{}).Name() {
			c.Paid, c.UsedUp = d.Billed, d.Used+d.Unused
		}
		c.Utilisation = r.utilisation(c)
	}
	r.kinds, err = s.KindNames(o)
	return err
}

// terms returns a pool's terms as the scenario states them.
func (r *Run) terms(p int) string {
	if p < len(r.kinds) {
		return r.kinds[p]
	}
	return r.Result.Record.Pools[p].Terms.String()
}

// discount returns the bill of a commitment that is no pool (for a ramp, of one step); nil for a
// pool.
func (r *Run) discount(c *outcome.Contract) *billing.CommitmentBill {
	for i := range r.Invoice.Commitments {
		if d := &r.Invoice.Commitments[i]; d.ID == c.Name && d.Start == c.Start {
			return d
		}
	}
	return nil
}

// cashView returns the cash paid in the run and the lock-in: the value of commitments for time
// after the run. Both are nil if the scenario has no contracts.
func (r *Run) cashView() (paid, lockIn *capcli.USD) {
	if r.contracts == nil {
		return nil, nil
	}
	cash, locked := r.Invoice.Cash()+r.Invoice.Total.Moved, capcli.USD(0)
	at := map[string]int{}
	for i := range r.contracts {
		c := &r.contracts[i]
		locked += c.Unexpired
		if r.discount(c) == nil {
			at[c.Name] = i
		}
	}
	for p := range r.Result.Record.Pools {
		if r.Invoice.Settled(p) { // Cash includes it
			continue
		}
		if i, is := at[r.Result.Record.Pools[p].Name]; is {
			cash += r.contracts[i].Paid
		} else {
			cash += r.Invoice.ByPool[p].Cost
		}
	}
	return &cash, &locked
}

// owedAfter returns what is still to be paid, after the run, of commitments that outlast it.
func (r *Run) owedAfter() *capcli.USD {
	var sum capcli.USD
	for i := range r.Owed {
		sum += r.Owed[i].Unpaid
	}
	return r.pricedOrNil(sum)
}

// utilisation returns the share of a contract that was used in the run; nil if none of it lies in
// the run.
func (r *Run) utilisation(c *outcome.Contract) *float64 {
	if d := r.discount(c); d != nil {
		return d.Share
	}
	for p := range r.Result.Record.Pools {
		if l := &r.Invoice.ByPool[p]; r.Result.Record.Pools[p].Name == c.Name && l.Time.Offered > 0 {
			share := float64(l.Time.Used) / float64(l.Time.Offered)
			return &share
		}
	}
	return nil
}

// FocusRows calls add with each row of the run's bill in FOCUS, under the given account. Every pool
// must have a price.
func (r *Run) FocusRows(account string, add func(*focus.Row)) {
	var contracts []billing.PoolContract
	for i := range r.Contracts {
		c := &r.Contracts[i]
		contracts = append(contracts, billing.PoolContract{Pool: c.Name, Term: focus.Period{From: c.Start, Until: c.End}, Upfront: c.Upfront, Paid: c.Paid})
	}
	r.Invoice.FocusRows(r.Result.Record, r.end(), account, contracts, add)
}
