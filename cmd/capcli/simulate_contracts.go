package main

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios"
	"capcli/simulate/billing"
)

// contract works out what the scenario's commitments come to in the run, where
// it says more of them than a price for each hour.
func (r *outcome) contract(o scenarios.Options) error {
	s := r.plan.scenario
	if !s.HasContracts() && !s.Committing() {
		return nil
	}
	var err error
	if r.owed, err = s.Contracts(r.result.Record, r.result.Ended, o); err != nil || !s.HasContracts() {
		return err
	}
	r.contracts = slices.Clone(r.owed)
	for p := range r.result.Record.Pools {
		for i := range r.contracts { // a capacity reservation that commitments make cheaper
			if c := &r.contracts[i]; r.invoice.Settled(p) && c.Name == r.result.Record.Pools[p].Name {
				c.Paid, c.UsedUp = r.invoice.Standard(p), r.invoice.Standard(p)
			}
		}
	}
	for i := range r.contracts { // a promise to spend costs what was spent, or the least
		c := &r.contracts[i]
		if d := r.discount(c); d != nil && c.Kind == (billing.MinimumSpend{}).Name() {
			c.Paid, c.UsedUp = d.Billed, d.Used+d.Unused
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

// discount is what became of a commitment beside the pools, of one step of a ramp;
// nil for a pool.
func (r *outcome) discount(c *scenarios.Contract) *billing.CommitmentBill {
	for i := range r.invoice.Commitments {
		if d := &r.invoice.Commitments[i]; d.ID == c.Name && d.Start == c.Start {
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
		if r.discount(c) == nil {
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
func contractTables(runs []*outcome) []report.Table {
	first := runs[0]
	if first.contracts == nil || !first.priced() {
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
	for i := range first.contracts {
		c := &first.contracts[i]
		of := func(get func(*scenarios.Contract) any) any {
			return cellOf(runs, func(r *outcome) any { return get(&r.contracts[i]) })
		}
		t.Rows = append(t.Rows, []any{
			c.Name, c.Kind, c.Start.Std().Format("2006-01-02"), c.End.Std().Format("2006-01-02"), c.Upfront,
			of(func(c *scenarios.Contract) any { return c.Paid }), of(func(c *scenarios.Contract) any { return c.UsedUp }),
			cellOf(runs, func(r *outcome) any {
				if u, ok := r.utilisation(&r.contracts[i]); ok {
					return report.Percent(u)
				}
				return nil
			}),
			of(func(c *scenarios.Contract) any { return c.Unexpired }), of(func(c *scenarios.Contract) any { return c.Unpaid }),
		})
	}
	return []report.Table{t}
}

// owedNotes say which commitments outlast the run, of which it is charged its own
// time alone, and what of them remains.
func (r *outcome) owedNotes() []string {
	var out []string
	end := r.result.Record.Start + capcli.Time(r.result.Ended)
	for i := range r.owed {
		c := &r.owed[i]
		if c.End <= end || c.Unexpired == 0 {
			continue
		}
		text := fmt.Sprintf("%s (%s) goes on until %s and is charged here for the time of the run alone: ", c.Name, c.Kind, c.End.Std().Format("2006-01-02"))
		switch c.Unpaid {
		case c.Unexpired:
			text += fmt.Sprintf("%s remains to be paid after it", c.Unpaid)
		case 0:
			text += fmt.Sprintf("%s of what is paid is for the time after it", c.Unexpired)
		default:
			text += fmt.Sprintf("%s is for the time after it, of which %s remains to be paid", c.Unexpired, c.Unpaid)
		}
		out = append(out, text)
	}
	return out
}

// owedAfter is what remains to be paid of commitments that outlast the run.
func (r *outcome) owedAfter() *capcli.USD {
	if !r.priced() {
		return nil
	}
	var sum capcli.USD
	for i := range r.owed {
		sum += r.owed[i].Unpaid
	}
	return &sum
}

// utilisation is how much of a contract was used in the run; false where none
// of it is in the run.
func (r *outcome) utilisation(c *scenarios.Contract) (float64, bool) {
	if d := r.discount(c); d != nil {
		if d.Share == nil {
			return 0, false
		}
		return *d.Share, true
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
