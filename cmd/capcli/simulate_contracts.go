package main

import (
	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/simulate/billing"
)

// contract works out what the scenario's commitments come to in the run, where
// it says more of them than a price for each hour.
func (r *outcome) contract(o scenarios.Options) error {
	s := r.plan.scenario
	if !s.HasContracts() {
		return nil
	}
	var err error
	if r.contracts, err = s.Contracts(r.result.Record, r.result.Ended, o); err != nil {
		return err
	}
	for p := range r.result.Record.Pools {
		for i := range r.contracts { // a capacity reservation that commitments make cheaper
			if c := &r.contracts[i]; r.invoice.Settled(p) && c.Name == r.result.Record.Pools[p].Name {
				c.Paid, c.UsedUp = r.invoice.Standard(p), r.invoice.Standard(p)
			}
		}
	}
	r.kinds, err = s.KindNames(o)
	return err
}

// terms are a pool's terms as its scenario states them.
func (r *outcome) terms(p int) string {
	if p < len(r.kinds) {
		return r.kinds[p]
	}
	return r.result.Record.Pools[p].Terms.String()
}

// discount is what became of a commitment beside the pools; nil for a pool.
func (r *outcome) discount(name string) *billing.CommitmentBill {
	for i := range r.invoice.Commitments {
		if r.invoice.Commitments[i].ID == name {
			return &r.invoice.Commitments[i]
		}
	}
	return nil
}

// cashView is what is paid in the run, and for what time to come is committed;
// nil where the scenario has no contracts.
func (r *outcome) cashView() (paid, lockIn *capcli.USD) {
	if r.contracts == nil {
		return nil, nil
	}
	cash, locked := r.invoice.Cash(), capcli.USD(0)
	at := map[string]int{}
	for i := range r.contracts {
		c := &r.contracts[i]
		locked += c.Unexpired
		if r.discount(c.Name) == nil {
			at[c.Name] = i
		}
	}
	for p := range r.result.Record.Pools {
		if r.invoice.Settled(p) { // in Cash
			continue
		}
		if i, is := at[r.result.Record.Pools[p].Name]; is {
			cash += r.contracts[i].Paid
		} else {
			cash += r.invoice.ByPool[p].Cost
		}
	}
	return &cash, &locked
}

// contractTables says what was paid for commitments, what was used up of them
// and what is left of them.
func (r *outcome) contractTables() []report.Table {
	if r.contracts == nil || !r.priced() {
		return nil
	}
	t := report.Table{Name: "contracts", Title: "Commitments: paid in the run, used up in it, and yet to come", Columns: []report.Column{
		{Name: "contract"},
		{Name: "kind"},
		{Name: "start", Priority: 4},
		{Name: "end", Priority: 1},
		{Name: "upfront_usd", Head: "up front", Priority: 2},
		{Name: "paid_usd", Head: "paid"},
		{Name: "used_up_usd", Head: "used up"},
		{Name: "utilisation", Head: "used"},
		{Name: "lock_in_usd", Head: "yet to expire"},
		{Name: "unpaid_usd", Head: "yet to pay", Priority: 3},
	}}
	for i := range r.contracts {
		c := &r.contracts[i]
		var used any
		if u, ok := r.utilisation(c); ok {
			used = report.Percent(u)
		}
		t.Rows = append(t.Rows, []any{
			c.Name, c.Kind, c.Start.Std().Format("2006-01-02"), c.End.Std().Format("2006-01-02"), c.Upfront, c.Paid, c.UsedUp, used, c.Unexpired, c.Unpaid,
		})
	}
	return []report.Table{t}
}

// utilisation is how much of a contract was used in the run; false where none
// of it is in the run.
func (r *outcome) utilisation(c *scenarios.Contract) (float64, bool) {
	if d := r.discount(c.Name); d != nil {
		return d.Share, d.Share >= 0
	}
	for p := range r.result.Record.Pools {
		if l := &r.invoice.ByPool[p]; r.result.Record.Pools[p].Name == c.Name && l.Time.Offered > 0 {
			return float64(l.Time.Used) / float64(l.Time.Offered), true
		}
	}
	return 0, false
}

// contractJSON is one commitment of a run.
type contractJSON struct {
	Name        string      `json:"contract"`
	Kind        string      `json:"kind"`
	Start       capcli.Time `json:"start"`
	End         capcli.Time `json:"end"`
	Upfront     capcli.USD  `json:"upfront_usd"`
	Paid        capcli.USD  `json:"paid_usd"`
	UsedUp      capcli.USD  `json:"used_up_usd"`
	Utilisation *float64    `json:"utilisation"`
	LockIn      capcli.USD  `json:"lock_in_usd"`
	Unpaid      capcli.USD  `json:"unpaid_usd"`
}

func (r *outcome) contractsJSON() []contractJSON {
	if !r.priced() {
		return nil
	}
	var out []contractJSON
	for i := range r.contracts {
		c := &r.contracts[i]
		j := contractJSON{Name: c.Name, Kind: c.Kind, Start: c.Start, End: c.End, Upfront: c.Upfront, Paid: c.Paid, UsedUp: c.UsedUp, LockIn: c.Unexpired, Unpaid: c.Unpaid}
		if u, ok := r.utilisation(c); ok {
			j.Utilisation = &u
		}
		out = append(out, j)
	}
	return out
}
