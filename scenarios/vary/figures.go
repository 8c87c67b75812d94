package vary

import (
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
)

// Figures are what purchases that cover come to over some futures. Amounts are means over the futures unless named
// otherwise.
type Figures struct {
	Cost      capcli.USD    `json:"cost_usd"`
	PerYear   capcli.USD    `json:"cost_per_year_usd"`
	Range     [2]capcli.USD `json:"cost_range_usd"` // see capcli.RangeRanks
	Worst     capcli.USD    `json:"cost_worst_5_percent_usd"`
	Committed capcli.USD    `json:"committed_usd"`
	OnDemand  capcli.USD    `json:"on_demand_usd"`
	Stranded  capcli.USD    `json:"stranded_usd"`
	Covered   *float64      `json:"covered_share"`         // of the GPU time wanted; null where none is
	Used      *float64      `json:"commitment_used_share"` // of the GPU time committed; null where none is
	Held      float64       `json:"held_share"`            // of the futures in which all limits hold together
	Each      []float64     `json:"held_share_by_limit"`   // of the futures in which a limit holds, in order of the limits
}

// worst5 is the mean of the worst 5 % of the futures.
var worst5 = plan.Risk{Kind: plan.CVaR, Level: 950_000}

// Summarise returns the figures of outcomes over futures of a length, under limits.
func Summarise(in []plan.InFuture, length capcli.Seconds, limits []outcome.Check) Figures {
	n := len(in)
	costs := make([]capcli.USD, n)
	var wanted, covered, paid float64
	out := Figures{Each: make([]float64, len(limits))}
	for i := range in {
		o := &in[i]
		costs[i] = o.Cost
		wanted, covered, paid = wanted+o.Wanted.Hours(), covered+o.Covered.Hours(), paid+o.Paid.Hours()
	}
	mean := func(f func(o *plan.InFuture) capcli.USD) capcli.USD {
		return capcli.MeanUSD(n, true, func(i int) capcli.USD { return f(&in[i]) })
	}
	out.Cost, out.Worst = plan.Risk{}.USD(costs, true), worst5.USD(costs, true)
	out.Committed = mean(func(o *plan.InFuture) capcli.USD { return o.Committed })
	out.OnDemand = mean(func(o *plan.InFuture) capcli.USD { return o.OnDemand })
	out.Stranded = mean(func(o *plan.InFuture) capcli.USD { return o.Unused })
	slices.Sort(costs)
	lo, hi := capcli.RangeRanks(n)
	out.Range = [2]capcli.USD{costs[lo-1], costs[hi-1]}
	out.PerYear, _ = billing.PerYear(out.Cost, length)
	out.Covered, out.Used = share(covered, wanted), share(covered, paid)
	out.hold(in, length, limits)
	return out
}

// share returns part / whole; nil where whole is 0.
func share(part, whole float64) *float64 {
	if whole <= 0 {
		return nil
	}
	v := part / whole
	return &v
}

// hold counts the futures in which limits hold.
func (f *Figures) hold(in []plan.InFuture, length capcli.Seconds, limits []outcome.Check) {
	all := 0
	each := make([]int, len(limits))
	for i := range in {
		o, together := served(&in[i], length), true
		for k, c := range limits {
			holds, known := c.Holds(o)
			if holds && known {
				each[k]++
			} else {
				together = false
			}
		}
		if together {
			all++
		}
	}
	f.Held = float64(all) / float64(max(1, len(in)))
	for k, n := range each {
		f.Each[k] = float64(n) / float64(max(1, len(in)))
	}
}

// served returns the figures of a future in which everything runs at once and nobody waits.
func served(in *plan.InFuture, length capcli.Seconds) *outcome.Outcome {
	cost, unused, all, zero := in.Cost, in.Unused, 1.0, capcli.Seconds(0)
	perYear, _ := billing.PerYear(cost, length)
	o := &outcome.Outcome{Availability: &all}
	o.Started = 1 // no figure over jobs is known where none came
	o.WaitP50, o.WaitP95, o.WaitP99, o.WaitMax = &zero, &zero, &zero, &zero
	o.Cost.Total, o.Cost.Stranded, o.Cost.PerYear = &cost, &unused, &perYear
	return o
}
