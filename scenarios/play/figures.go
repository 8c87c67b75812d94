package play

import (
	"cmp"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
)

func (r *Run) figures(run int, d simulate.Delayer) outcome.Outcome {
	res, s := r.Result, r.Case.Scenario
	out := outcome.Outcome{
		Scenario: s.Name, Policy: s.PolicyName(), Placement: s.PlacementName(), Seed: uint64(r.Case.Seed.Child(run)), Run: run,
		Trace: r.Case.Source.Name, Start: res.Record.Start, Ended: res.Ended, Jobs: res.Jobs,
		Served: r.served(), Waits: outcome.WaitsOf(&res.Wait), QueueTime: res.MeanQueueTime,
		JCTMean: res.MeanJCT, JCTFinished: res.JCTFinished,
		BoundedSlowdown: res.BoundedSlowdown, SlowdownEnded: res.SlowdownEnded, Makespan: res.Makespan,
		Queue: outcome.Queue{Max: res.QueueMax, Mean: res.QueueMean}, Capacity: r.capacity(), Cost: r.cost(),
		OutsideThePeriod: r.intake.Outside, LogWait: outcome.LogWaitsOf(r.Recorded), Assumptions: s.Assumptions(),
		Pools: []outcome.Pool{}, Tenants: []outcome.Tenant{}, Sizes: []outcome.Size{}, Loads: []outcome.Load{}, Limits: []outcome.Limit{},
		UnplaceableJobs: append([]simulate.Refused{}, res.Refused...),
		GPUBudgets:      res.Budgets, Budget: r.budget, Approval: s.Approvals.Signature(r.CommittedGPUs()), Energy: r.energy,
		Near: outcome.NearOf(res, s.NearShapes()), Slices: outcome.SlicesOf(res), Shared: outcome.ContentionOf(res),
		Bought: outcome.BoughtOf(res), PutOff: outcome.DelaysOf(res, r.shifted(d)), Places: outcome.PlacesOf(res, r.Case.Rates, r.pricedOrNil(r.Invoice.Total.Moved)),
		Interruptions: outcome.InterruptionsOf(res.Interruptions, s.Storage),
	}
	if r.Priced() {
		out.Contracts = r.contracts
	}
	out.WaitP99, out.WaitP99From = outcome.Quantile(&res.Wait, 99, res.Wait.P99)
	out.WaitMax, out.WaitMaxFrom = outcome.Quantile(&res.Wait, 100, res.Wait.Max)
	if share, known := res.Availability(outcome.AvailableWithin(s.Limits)); known {
		out.Availability = &share
	}
	for i := range res.Sizes {
		out.Sizes = append(out.Sizes, outcome.SizeOf(&res.Sizes[i]))
	}
	for _, l := range r.PoolLines() {
		out.Pools = append(out.Pools, outcome.Pool{Name: l.Name, Terms: l.Terms, Model: l.Model, Span: l.Time, Cost: r.pricedOrNil(l.Cost), Stranded: r.pricedOrNil(l.Stranded())})
	}
	for i, t := range res.Tenants {
		b := &r.Invoice.ByTenant[i]
		out.Tenants = append(out.Tenants, outcome.Tenant{
			Name: t.Name, Jobs: t.Jobs, Finished: t.Finished, Preemptions: t.Preempted, Used: b.Used, Waits: outcome.WaitsOf(&t.Wait), JCTMean: t.MeanJCT,
			Weight: t.Weight, Slowdown: t.MeanSlowdown, ServedShare: t.ServedShare(),
			Direct: r.pricedOrNil(b.Direct), Share: r.pricedOrNil(b.Share), Cost: r.pricedOrNil(b.Total),
		})
	}
	out.Fairness = outcome.FairnessOf(res.Tenants, r.Invoice.TenantUse())
	slices.SortStableFunc(out.Tenants, func(a, b outcome.Tenant) int { return cmp.Compare(a.Name, b.Name) })
	out.Tags, out.Services, out.Speed = r.tags, r.services, r.intake.SpeedUse(s)
	if r.stages != nil {
		out.Stages = r.stages.figures(r)
	}
	out.Campaigns = r.intake.Campaigns
	out.Ways = outcome.WaysOf(res.Ways)
	for i := range res.Loads {
		out.Loads = append(out.Loads, outcome.LoadOf(&res.Loads[i]))
	}
	for _, c := range s.Limits {
		l := outcome.Limit{Limit: c.String()}
		if holds, known := c.Holds(&out); known {
			l.Held = &holds
		}
		out.Limits = append(out.Limits, l)
	}
	return out
}

// pricedOrNil returns u, or nil if a pool has no price.
func (r *Run) pricedOrNil(u capcli.USD) *capcli.USD {
	if !r.Priced() {
		return nil
	}
	return &u
}

func (r *Run) capacity() outcome.Capacity {
	all, committed := r.Invoice.Total.Time, r.Invoice.ByTier[billing.Committed].Time
	left := r.Invoice.Uncovered()
	out := outcome.Capacity{
		Span: all, Stranded: committed.Idle + committed.Blocked + committed.Down + left,
		StrandedIdle: committed.Idle + left, StrandedBlock: committed.Blocked, StrandedDown: committed.Down,
		Goodput: r.Result.Goodput, Redone: r.Result.Redone, Fragmentation: r.Result.Fragmentation,
	}
	if all.Offered > 0 {
		rate := float64(all.Used) / float64(all.Offered)
		out.AllocationRate = &rate
	}
	return out
}

// served returns how much of the possible work was done.
func (r *Run) served() outcome.Served {
	s := &r.Result.Served
	out := outcome.Served{
		Possible: s.Possible, Served: s.Done, Unserved: s.Unserved(), UnservedShare: s.UnservedShare(),
		Backlog: s.LeftOver(), BacklogRefused: s.Refused,
	}
	out.UnservedJobs.Waiting, out.UnservedJobs.Unplaceable, out.UnservedJobs.Dropped = s.Waiting, s.Unplaceable, s.Dropped
	if w, ok := r.Invoice.Worth(r.Result.Record, r.Result.ServedBy, r.end()); ok {
		out.UnservedAmount, out.BacklogAmount = &w.Unserved, &w.LeftOver
	} else {
		out.WhyNoAmount = "no on-demand price is known for the jobs that are left"
	}
	return out
}

func (r *Run) cost() outcome.Cost {
	inv := r.Invoice
	t, committed := &inv.Total, &inv.ByTier[billing.Committed]
	out := outcome.Cost{
		Total: r.pricedOrNil(t.Cost), Stranded: r.pricedOrNil(committed.Stranded()), StrandedIdle: r.pricedOrNil(committed.Idle),
		StrandedBlock: r.pricedOrNil(committed.Blocked), StrandedDown: r.pricedOrNil(committed.Down), Unallocated: r.pricedOrNil(inv.Unallocated),
		ByTier: map[string]capcli.USD{}, ByTenant: map[string]capcli.USD{}, ByMonth: map[string]capcli.USD{},
	}
	if t.Unlisted == 0 {
		out.Equivalent = &t.Equivalent
	}
	if r.Case.Scenario.BilledByMachine() {
		out.Rounding = r.pricedOrNil(inv.Rounding)
	}
	if u, ok := inv.Utilisation(); ok {
		out.CommittedUsed = &u
	}
	if c, ok := inv.Coverage(); ok {
		out.CommittedCover = &c
	}
	if !r.Priced() {
		out.WhyNoTotal = "no price is stated for " + strings.Join(r.Case.Scenario.Unpriced(), ", ")
		out.WhyNoSavings = out.WhyNoTotal
		return out
	}
	out.Cash, out.LockIn = r.cashView()
	out.Owed = r.owedAfter()
	if year, ok := billing.PerYear(t.Cost, r.Result.Ended); ok {
		out.PerYear = &year
	}
	if rate, ok := t.SavingsRate(); ok {
		out.Savings = &rate
	} else {
		out.WhyNoSavings = inv.WhyNoSavings()
	}
	if unit, ok := t.UnitCost(); ok {
		out.PerGPUHour = &unit
	}
	for tier := range inv.ByTier {
		out.ByTier[billing.Tier(tier).String()] = inv.ByTier[tier].Cost
	}
	for i := range inv.ByTenant {
		out.ByTenant[inv.ByTenant[i].Name] += inv.ByTenant[i].Total
	}
	for i := range inv.ByMonth {
		out.ByMonth[inv.ByMonth[i].Start.Std().Format("2006-01")] += inv.ByMonth[i].Line.Cost
	}
	return out
}
