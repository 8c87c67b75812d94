package play

import (
	"capcli"
	"capcli/scenarios/money/billing"
)

// PoolLine is a pool's line of the invoice.
type PoolLine struct {
	Name, Terms, Model string
	Tier               billing.Tier
	billing.Line
}

// PoolLines returns the invoice by pool as the scenario states the pools: those that float, in the
// order of the scenario, then the places. The line of a pool that floats has what it covered of
// other pools' use as held, and what it did not cover as idle; the lines of those pools lack it. The
// costs sum to the invoice less what was moved.
func (r *Run) PoolLines() []PoolLine {
	rec := r.Result.Record
	places := make([]PoolLine, len(rec.Pools))
	for p := range places {
		pool := &rec.Pools[p]
		places[p] = PoolLine{Name: pool.Name, Terms: r.terms(p), Model: pool.GPUModel, Tier: billing.TierOf(pool.Terms), Line: r.Invoice.ByPool[p]}
	}
	var out []PoolLine
	for i := range r.Case.Scenario.Capacity {
		c := &r.Case.Scenario.Capacity[i]
		parts := r.Invoice.CoveredBy(c.Name)
		if !c.Floats || parts == nil {
			continue
		}
		own := PoolLine{Name: c.Name, Terms: c.KindName(), Model: c.GPUModel, Tier: billing.Committed}
		for p := range parts {
			places[p].give(&own.Line, &parts[p])
		}
		out = append(out, own)
	}
	return append(out, places...)
}

// give moves the part of a commitment from the line of the pool whose use it covered to its own.
func (l *PoolLine) give(own, part *billing.Line) {
	own.Cost += part.Cost
	own.Direct += part.Direct
	own.Idle += part.Idle
	own.Time.Offered += part.Time.Offered
	own.Time.Used += part.Time.Used
	own.Time.Idle += part.Time.Idle
	l.Cost -= part.Cost
	l.Direct -= part.Direct
	rest := part.Idle // the invoice divides it in proportion to the pool's time
	for _, slot := range []*capcli.USD{&l.Idle, &l.Blocked, &l.Down} {
		taken := min(rest, *slot)
		*slot, rest = *slot-taken, rest-taken
	}
	used, idle := min(part.Time.Used, l.Time.Used), min(part.Time.Idle, l.Time.Idle)
	l.Time.Used -= used
	l.Time.Idle -= idle
	l.Time.Offered -= used + idle
}
