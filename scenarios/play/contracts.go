package play

import (
	"slices"

	"capcli"
	"capcli/scenarios"
	"capcli/simulate/billing"
	"capcli/simulate/billing/focus"
	"capcli/simulate/outcome"
)

// contract works out what the scenario's commitments come to in the run, where it says
// more of them than a price for each hour.
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
		for i := range r.contracts { // a capacity reservation that commitments make cheaper
			if c := &r.contracts[i]; r.Invoice.Settled(p) && c.Name == r.Result.Record.Pools[p].Name {
				c.Paid, c.UsedUp = r.Invoice.Standard(p), r.Invoice.Standard(p)
			}
		}
	}
	for i := range r.contracts { // a promise to spend costs what was spent, or the least
		c := &r.contracts[i]
		if d := r.discount(c); d != nil && c.Kind == (billing.MinimumSpend{}).Name() {
			c.Paid, c.UsedUp = d.Billed, d.Used+d.Unused
		}
		c.Utilisation = r.utilisation(c)
	}
	r.kinds, err = s.KindNames(o)
	return err
}

// terms are a pool's terms as its scenario states them.
func (r *Run) terms(p int) string {
	if p < len(r.kinds) {
		return r.kinds[p]
	}
	return r.Result.Record.Pools[p].Terms.String()
}

// discount is what became of a commitment beside the pools, of one step of a ramp; nil
// for a pool.
func (r *Run) discount(c *outcome.Contract) *billing.CommitmentBill {
	for i := range r.Invoice.Commitments {
		if d := &r.Invoice.Commitments[i]; d.ID == c.Name && d.Start == c.Start {
			return d
		}
	}
	return nil
}

// cashView returns what is paid in the run, and for what time to come is committed;
// nil where the scenario has no contracts.
func (r *Run) cashView() (paid, lockIn *capcli.USD) {
	if r.contracts == nil {
		return nil, nil
	}
	cash, locked := r.Invoice.Cash(), capcli.USD(0)
	at := map[string]int{}
	for i := range r.contracts {
		c := &r.contracts[i]
		locked += c.Unexpired
		if r.discount(c) == nil {
			at[c.Name] = i
		}
	}
	for p := range r.Result.Record.Pools {
		if r.Invoice.Settled(p) { // in Cash
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

// owedAfter returns what remains to be paid of commitments that outlast the run.
func (r *Run) owedAfter() *capcli.USD {
	var sum capcli.USD
	for i := range r.Owed {
		sum += r.Owed[i].Unpaid
	}
	return r.pricedOrNil(sum)
}

// utilisation returns how much of a contract was used in the run; nil where none of it
// is in the run.
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

// FocusRows calls add with the rows of the run's bill in FOCUS, under an account. Every
// pool must have a price.
func (r *Run) FocusRows(account string, add func(*focus.Row)) {
	var contracts []billing.PoolContract
	for i := range r.Contracts {
		c := &r.Contracts[i]
		contracts = append(contracts, billing.PoolContract{Pool: c.Name, Term: focus.Period{From: c.Start, Until: c.End}, Upfront: c.Upfront, Paid: c.Paid})
	}
	r.Invoice.FocusRows(r.Result.Record, r.end(), account, contracts, add)
}
