package main

import (
	"capcli"
	"capcli/scenarios/play"
	"capcli/simulate/billing"
)

// emitFocus writes the invoice of one run in FOCUS.
func (o *simulateOptions) emitFocus(e *env, r *play.Run) error {
	for _, n := range play.Warnings([]*play.Run{r}) {
		e.note(n)
	}
	if !r.Priced() {
		return &capcli.InputError{File: r.Case.Scenario.File, Field: "price", Text: "a bill wants a price for every pool", Hint: r.Cost.WhyNoTotal}
	}
	until := r.Start + capcli.Time(r.Ended)
	var contracts []billing.PoolContract
	for i := range r.Contracts {
		c := &r.Contracts[i]
		contracts = append(contracts, billing.PoolContract{Pool: c.Name, Term: billing.Period{From: c.Start, Until: c.End}, Upfront: c.Upfront, Paid: c.Paid})
	}
	return writeFocus(e, o.output.out, func(add func(*billing.FOCUS)) {
		r.Invoice.FocusRows(r.Result.Record, until, focusAccount, contracts, add)
	})
}
