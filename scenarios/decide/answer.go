package decide

import (
	"context"
	"math"
	"slices"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
)

// decide finds the plan: what covers is solved exactly, fenced GPUs are searched with jobs where any can
// be had, and the two are compared.
func (c *chain) decide(ctx context.Context) error {
	out := c.out
	for _, l := range c.checks {
		out.Limits = append(out.Limits, l.String())
	}
	c.describeLog()
	c.listPrices()
	c.measureShort()
	if w := c.bought.Waiting; w != nil && len(w.Decisions) > 1 {
		c.out.Review = &Review{Date: w.Decisions[1].Date.Time.Date(), Value: w.Now - w.Again}
	}
	if err := c.desk.answerBill(); err != nil {
		return err
	}
	if err := c.desk.compareSellers(ctx); err != nil {
		return err
	}
	if c.place != nil {
		return c.searchPlaces(ctx)
	}
	return nil
}

// answer writes the answer, with what it stands on. Where no plan holds the limits it returns a
// *capcli.ResultError of the kind NoPlan.
func (c *chain) answer() error {
	out := c.out
	out.Warnings, out.Missing = append(out.Warnings, c.warnings()...), c.missing()
	if out.Found {
		out.Order = c.order()
		out.Answer = c.sentence()
		return nil
	}
	c.withinBudget()
	failure := c.noPlan()
	out.Failure = failure.Error()
	out.Answer = c.noAnswer()
	return failure
}

// noPlan says which limit no plan holds.
func (c *chain) noPlan() error {
	if c.noPlace != nil {
		return c.noPlace
	}
	return &capcli.ResultError{Kind: capcli.NoPlan, Text: c.noAnswer()}
}

// order sums the purchases of the first date; nil where nothing is bought then.
func (c *chain) order() *Order {
	p := c.out.Plan
	if p.GPUs == 0 {
		return nil
	}
	out := &Order{Date: c.out.Start, GPUs: p.GPUs}
	if p.isPlace() {
		months, _ := c.place.Months()
		out.Until = capcli.Grid{Origin: out.Date, Step: capcli.Step{Months: months}}.At(1)
		out.Total = capcli.Cost(c.place.PerGPU(), capcli.GPUTime(out.Until-out.Date)*capcli.GPUSecond) * capcli.USD(p.Place)
	}
	if p.As == asBoth {
		out.Parts = []Part{{asPlace, c.place.Term, float64(p.Place), c.place.PerGPU(), out.Until, out.Total}}
	}
	for i := range p.Commitments {
		if x := &p.Commitments[i]; x.Start.Time == c.out.Start {
			out.Total += x.Cost
			out.Until = max(out.Until, x.End.Time)
			if p.As == asBoth {
				out.Parts = append(out.Parts, Part{asBill, x.Term, x.GPUs, x.Rate, x.End.Time, x.Cost})
			}
		}
	}
	return out
}

// withinBudget adds what the budget alone would pay for, where no plan keeps to it: GPUs committed all
// the time, for which work waits as long as it takes.
func (c *chain) withinBudget() {
	limit := c.costLimit()
	rate, ok := c.cheapestRate()
	if limit <= 0 || c.out.Nearest == nil || !ok {
		return
	}
	each := capcli.Cost(rate, capcli.GPUTime(int64(c.out.Length))*capcli.GPUSecond)
	if each <= 0 {
		return
	}
	n := int(limit/each) / c.lot() * c.lot()
	if n == 0 {
		return
	}
	cost := each * capcli.USD(n)
	undone, share := c.leftUndone(float64(n))
	out := Choice{Name: budgetName, As: asPlace, GPUs: n, Patience: "never", Cost: cost, Worst: cost, Committed: cost, Range: [2]capcli.USD{cost, cost}, Commitments: []market.Purchase{}}
	out.PerYear, _ = billing.PerYear(cost, c.out.Length)
	out.Difference = cost - c.out.Nearest.Cost
	out.Undone, out.Unserved = undone, share
	c.out.Alternatives = append(c.out.Alternatives, out)
}

// leftUndone returns the GPU-hours that a number of GPUs leaves undone at the end of the futures, on
// average, where work waits as long as it takes, and their share of what is wanted. Work counts as
// divisible, so it is at least so much.
func (c *chain) leftUndone(gpus float64) (hours, share float64) {
	f := &c.set.Futures
	var left, wanted float64
	for _, path := range f.Paths {
		waiting := 0.0
		for i, v := range path {
			length := capcli.Seconds(f.Grid.At(i+1) - f.Grid.At(i)).Hours()
			wanted += v * length
			waiting = max(0, waiting+(v-gpus)*length)
		}
		left += waiting
	}
	n := float64(len(f.Paths))
	return left / n, left / max(wanted, 1e-9)
}

// cheapestRate returns the lowest rate of a commitment.
func (c *chain) cheapestRate() (capcli.Rate, bool) {
	var best capcli.Rate
	for i := range c.offer.Committed {
		if r := c.offer.Committed[i].PerGPU(); best == 0 || r < best {
			best = r
		}
	}
	return best, best > 0
}

// budgetName is the alternative that the budget pays for.
const budgetName = "what the budget pays for"

// costLimit returns the lowest limit on the cost; 0 is none.
func (c *chain) costLimit() capcli.USD {
	var least capcli.USD
	for _, l := range c.checks {
		if l.Metric.Name == "cost" && l.Op[0] == '<' {
			if v := capcli.USDOf(l.Value); least == 0 || v < least {
				least = v
			}
		}
	}
	return least
}

func (c *chain) describeLog() {
	d := c.described
	log := &c.out.Log
	*log = Log{
		File: c.inputText(), Jobs: d.Jobs - d.CPUOnlyJobs, First: d.FirstSubmit, Last: d.LastSubmit, Days: d.SpanS / int64(capcli.Day),
		Demand: d.Demand.MeanGPUs, Peak: d.Demand.PeakGPUs, Tail: c.tail, Tested: c.tested, Ahead: c.bought.Futures.Mean,
	}
	if d.Use != nil {
		log.Use = &d.Use.MeanGPUs
	}
	if d.Wait != nil {
		log.WaitP95 = &d.Wait.P95
	}
	log.AheadLow, log.AheadTop = slices.Min(c.bought.Futures.Levels), slices.Max(c.bought.Futures.Levels)
}

func (c *chain) listPrices() {
	rows := []*prices.Row{}
	for i := range c.offer.Committed {
		rows = append(rows, &c.offer.Committed[i].Row)
	}
	for _, row := range append(rows, &c.offer.OnDemand.Row) {
		c.out.Prices = append(c.out.Prices, Price{row.Key(), row.Term, row.PerGPU(), row.Date, row.Origin()})
	}
}

// answer compares the best place with the plan of what covers, and takes the cheaper of those that hold
// the limits.
func (s *search) answer(ctx context.Context, r *mix.Result) error {
	out := s.out
	out.Mix, out.Bound = r, r.Bound
	if past := r.OwnPast; past != nil {
		out.Warnings = append(out.Warnings, past.Headline())
	}
	m, held := r.Best, r.Best != nil
	if m == nil {
		m = r.Closest
	}
	if m == nil {
		return nil
	}
	p := s.pointOf(m)
	if held {
		m = s.found[p]
		if note := r.WaitNote(); note != "" {
			out.Notes = append(out.Notes, note)
		}
	}
	place := s.choice(placeAlone, p, m)
	switch bill := out.Plan; {
	case held && s.isBetter(&place, bill):
		place.Name = "recommended"
		out.Found, out.Plan, out.Nearest, out.Ties = true, &place, nil, nil
		out.Alternatives = slices.DeleteFunc(out.Alternatives, func(c Choice) bool { return c.Name == tenthFewer || c.Name == tenthMore || c.Name == "recommended" })
		if bill != nil && bill.As == asBill {
			billed := *bill
			billed.Name = billAlone
			out.Alternatives = append(out.Alternatives, billed)
		}
		out.Alternatives = slices.Insert(out.Alternatives, 0, place)
	case held || bill != nil:
		if !s.stacks() { // else it is one of the ways
			out.Alternatives = append(out.Alternatives, place)
		}
	default:
		place.Name = "nearest to the limits"
		out.Nearest, s.noPlace = &place, r.NoPlan()
	}
	if s.stacks() {
		s.besideWays()
	} else if len(s.Held) > 0 && len(s.desk.frame.Market.Terms) > 0 {
		out.Notes = append(out.Notes, "fenced GPUs were not tried beside a bill, for what is held is not known where jobs are played")
	}
	if !s.stacks() || out.Plan == nil || out.Plan.Played > 0 {
		if err := s.besides(ctx, p); err != nil {
			return err
		}
	}
	base := out.Plan
	if base == nil {
		base = out.Nearest
	}
	for i := range out.Alternatives {
		out.Alternatives[i].Difference = out.Alternatives[i].Cost - base.Cost
	}
	return nil
}

// isBetter reports whether a plan with the jobs that holds the limits is better than the bill on the use of all futures;
// nil is one that does not hold them. Where bills were tried with the jobs too, the search has compared it with them.
func (s *search) isBetter(place, bill *Choice) bool {
	return bill == nil || s.stacks() && place.isPlace() || !s.stacks() && place.Cost < bill.Cost
}

// isPlace reports whether some of what a plan commits to is fenced.
func (c *Choice) isPlace() bool { return c.As == asPlace || c.As == asBoth }

// besides adds sizes and waits beside the best place.
func (s *search) besides(ctx context.Context, chosen point) error {
	list := []struct {
		name string
		point
	}{
		{"fenced, 10% fewer", point{max(0, min(chosen.gpus-s.lot(), s.round(0.9*float64(chosen.gpus)))), chosen.patience}},
		{"fenced, 10% more", point{max(chosen.gpus+s.lot(), s.round(1.1*float64(chosen.gpus))), chosen.patience}},
		{"fenced, nobody waits", point{chosen.gpus, s.waits[0]}},
	}
	var fresh [][]string
	var points []point
	for _, a := range list {
		if s.found[a.point] == nil && !slices.Contains(points, a.point) {
			points, fresh = append(points, a.point), append(fresh, a.changes())
		}
	}
	mixes, err := s.planner.Assess(ctx, fresh)
	if err != nil {
		return err
	}
	for i, m := range mixes {
		s.found[points[i]] = m
	}
	seen := []point{chosen}
	for _, a := range list {
		if !slices.Contains(seen, a.point) {
			seen = append(seen, a.point)
			s.out.Alternatives = append(s.out.Alternatives, s.choice(a.name, a.point, s.found[a.point]))
		}
	}
	return nil
}

func (s *search) pointOf(m *mix.Mix) point {
	for p := range s.found {
		c := p.changes()
		if m.Choices[0].Path+"="+m.Choices[0].Value == c[0] && m.Choices[1].Path+"="+m.Choices[1].Value == c[1] {
			return p
		}
	}
	return s.bestOf(s.found)
}

// choice returns the document of a mix with fenced GPUs, without its difference from the plan.
func (s *search) choice(name string, p point, m *mix.Mix) Choice {
	list := costs(m)
	out := Choice{
		Name: name, As: committedAs(p, m), GPUs: p.gpus, Place: p.gpus, Played: len(list), Patience: p.patience, Cost: plan.Risk{}.USD(list, true), Worst: worst5.USD(list, true),
		Held: m.Entry.HeldShare(), Holds: m.Holds(s.hold), WaitP95: m.Entry.Wait(), Commitments: []market.Purchase{}, Mix: m,
	}
	n := len(m.Entry.Outcomes)
	mean := func(f func(o *mix.Outcome) capcli.USD) capcli.USD {
		return capcli.MeanUSD(n, true, func(i int) capcli.USD { return f(&m.Entry.Outcomes[i]) })
	}
	out.Committed = mean(func(o *mix.Outcome) capcli.USD { return o.Committed })
	out.OnDemand = mean(func(o *mix.Outcome) capcli.USD { return o.OnDemand })
	out.Stranded = mean(func(o *mix.Outcome) capcli.USD { return o.StrandedIdle + o.StrandedBlocked + o.StrandedDown })
	for i := range m.Entry.Outcomes {
		o := &m.Entry.Outcomes[i]
		out.WaitWorst = max(out.WaitWorst, o.WaitP95)
		out.Unserved += o.UnservedShare() / float64(n)
		out.UndoneMost = max(out.UndoneMost, o.UnservedShare())
		out.Undone += (o.Possible - o.Served).Hours() / float64(n)
	}
	if v, ok := m.Entry.Mean("wait_mean"); ok && !math.IsNaN(v) {
		out.WaitMean = v
	}
	out.WaitHours = m.Entry.WaitHours()
	if len(m.CostRange) == 2 {
		out.Range = [2]capcli.USD{m.CostRange[0], m.CostRange[1]}
	}
	out.PerYear, _ = billing.PerYear(out.Cost, m.Length)
	out.addBills(m.Commitments, s.out.Start)
	return out
}
