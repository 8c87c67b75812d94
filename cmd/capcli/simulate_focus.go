package main

import (
	"capcli"
	"capcli/simulate/billing"
)

// emitFocus writes the invoice of one run in FOCUS.
func (o *simulateOptions) emitFocus(e *env, r *outcome) error {
	for _, n := range warnings([]*outcome{r}) {
		e.note(n)
	}
	if !r.priced() {
		return &capcli.InputError{File: r.plan.scenario.File, Field: "price", Text: "a bill wants a price for every pool", Hint: r.cost().WhyNoTotal}
	}
	until := r.result.Record.Start + capcli.Time(r.result.Ended)
	var contracts []billing.PoolContract
	for i := range r.contracts {
		c := &r.contracts[i]
		contracts = append(contracts, billing.PoolContract{Pool: c.Name, Term: billing.Period{From: c.Start, Until: c.End}, Upfront: c.Upfront, Paid: c.Paid})
	}
	return writeFocus(e, o.output.out, func(add func(*billing.FOCUS)) {
		r.invoice.FocusRows(r.result.Record, until, focusAccount, contracts, add)
	})
}
