package decide

import (
	"context"
	"slices"

	"capcli"
	"capcli/scenarios/prices"
	"capcli/simulate/billing"
	"capcli/simulate/plan"
	"capcli/simulate/plan/mix"
)

// answer fills in the result of the plan r.
func (s *search) answer(ctx context.Context, r *mix.Result) (*Result, error) {
	out := s.out
	out.Mix, out.Texts, out.Bound = r, s.docs, r.Bound
	out.Start, out.End = s.set.Futures.Start(), s.set.Futures.End()
	out.Length = capcli.Seconds(out.End - out.Start)
	for _, l := range r.Limits {
		out.Limits = append(out.Limits, l.Text)
	}
	s.describeLog()
	s.listPrices()
	chosen, found := s.chosen(r)
	if out.Found = found; !found {
		near := s.choice("nearest to the limits", chosen, s.found[chosen], nil)
		out.Nearest = &near
	}
	if err := s.alternatives(ctx, chosen); err != nil {
		return nil, err
	}
	s.review()
	out.Warnings = append(out.Warnings, s.warnings()...)
	if !found {
		if err := s.withinBudget(ctx); err != nil {
			return nil, err
		}
		failure := r.NoPlan()
		out.Failure = failure.Error()
		out.Answer = s.noAnswer()
		return out, failure
	}
	out.Answer = s.sentence()
	return out, nil
}

// chosen returns the point of the best mix of a plan; where there is none, of the nearest, and false.
func (s *search) chosen(r *mix.Result) (point, bool) {
	m := r.Best
	if m == nil {
		m = r.Closest
	}
	if m == nil {
		return s.bestPoint(), false
	}
	return s.pointOf(m), r.Best != nil
}

func (s *search) pointOf(m *mix.Mix) point {
	for p := range s.found {
		c := p.changes()
		if m.Choices[0].Path+"="+m.Choices[0].Value == c[0] && m.Choices[1].Path+"="+m.Choices[1].Value == c[1] {
			return p
		}
	}
	return s.bestPoint()
}

// choice returns the document of a mix. base is the recommendation, from which differences are
// taken; nil is the mix itself.
func (s *search) choice(name string, p point, m *mix.Mix, base *Choice) Choice {
	list := costs(m)
	out := Choice{
		Name: name, GPUs: p.gpus, Patience: p.patience, Cost: plan.Risk{}.USD(list, true), Worst: worst5.USD(list, true),
		Held: m.Entry.HeldShare(), Holds: m.Holds(s.hold), WaitP95: m.Entry.Wait(), Mix: m,
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
	if len(m.CostRange) == 2 {
		out.Range = [2]capcli.USD{m.CostRange[0], m.CostRange[1]}
	}
	out.PerYear, _ = billing.PerYear(out.Cost, m.Length)
	if base != nil {
		out.Difference = out.Cost - base.Cost
	}
	return out
}

// alternatives runs what a meeting asks about beside the recommendation, and compares the plan for
// the futures.
func (s *search) alternatives(ctx context.Context, chosen point) error {
	out := s.out
	alone := s.round(boughtGPUs(s.bought.Plans[0].First))
	list := []struct {
		name string
		point
	}{
		{"recommended", chosen},
		{"10% fewer", point{s.sizeBelow(chosen.gpus), chosen.patience}},
		{"10% more", point{s.sizeAbove(chosen.gpus), chosen.patience}},
		{"nobody waits", point{chosen.gpus, s.waits[0]}},
		{"all on demand", point{0, s.waits[0]}},
		{"owned now", point{s.round(float64(out.Owned)), chosen.patience}},
		{"for the futures alone", point{alone, s.waits[0]}},
		{"for the futures alone, with waits", point{alone, chosen.patience}},
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
	base := s.choice("recommended", chosen, s.found[chosen], nil)
	if out.Found {
		out.Plan = &base
	}
	var seen []point
	for i, a := range list {
		if i == 0 && !out.Found || slices.Contains(seen, a.point) {
			continue
		}
		seen = append(seen, a.point)
		out.Alternatives = append(out.Alternatives, s.choice(a.name, a.point, s.found[a.point], &base))
	}
	s.compare(alone, chosen)
	return nil
}

// sizeBelow and sizeAbove return sizes a tenth below and above a size, at least one lot.
func (s *search) sizeBelow(n int) int { return max(0, min(n-s.lot(), s.round(0.9*float64(n)))) }
func (s *search) sizeAbove(n int) int { return max(n+s.lot(), s.round(1.1*float64(n))) }

// compare sets the plan for the futures beside the recommendation.
func (s *search) compare(alone int, chosen point) {
	risk := func(p point) capcli.USD { return *s.found[p].Cost }
	m := &Meeting{
		GPUs: alone, Bought: s.bought.Optimum.Cost, Played: risk(point{alone, s.waits[0]}),
		Patient: risk(point{alone, chosen.patience}), Cost: risk(chosen),
	}
	m.Hours, m.Waits, m.Size = m.Played-m.Bought, m.Patient-m.Played, m.Cost-m.Patient
	apart := max(alone-chosen.gpus, chosen.gpus-alone)
	m.Meet = apart <= max(s.lot(), chosen.gpus/20)
	s.out.Meeting = m
	m.Sentence = s.meetingSentence(chosen)
}

// withinBudget adds what the budget alone would pay for, where no plan keeps to it: committed GPUs
// for which jobs wait as long as it takes.
func (s *search) withinBudget(ctx context.Context) error {
	limit := s.costLimit()
	if limit <= 0 || s.out.Nearest == nil {
		return nil
	}
	hours := capcli.GPUTime(int64(s.out.Length)) * capcli.GPUSecond
	each := capcli.Cost(s.term.PerGPU(), hours)
	if each <= 0 {
		return nil
	}
	n := int(limit/each) / s.lot() * s.lot()
	if n == 0 {
		return nil
	}
	p := point{n, "never"}
	mixes, err := s.planner.Assess(ctx, [][]string{p.changes()})
	if err != nil {
		return err
	}
	s.out.Alternatives = append(s.out.Alternatives, s.choice(budgetName, p, mixes[0], s.out.Nearest))
	return nil
}

// budgetName is the alternative that the budget pays for.
const budgetName = "what the budget pays for"

// costLimit returns the lowest limit on the cost; 0 is none.
func (s *search) costLimit() capcli.USD {
	var least capcli.USD
	for _, l := range s.out.Mix.Limits {
		if l.Metric == "cost" && l.Op[0] == '<' {
			if v := capcli.USDOf(l.Value); least == 0 || v < least {
				least = v
			}
		}
	}
	return least
}

func (s *search) describeLog() {
	d := s.described
	log := &s.out.Log
	*log = Log{
		File: s.Trace, Jobs: d.Jobs - d.CPUOnlyJobs, First: d.FirstSubmit, Last: d.LastSubmit, Days: d.SpanS / int64(capcli.Day),
		Demand: d.Demand.MeanGPUs, Peak: d.Demand.PeakGPUs, Tail: s.tail, Tested: s.tested, Ahead: s.bought.Futures.Mean,
	}
	if d.Use != nil {
		log.Use = &d.Use.MeanGPUs
	}
	if d.Wait != nil {
		log.WaitP95 = &d.Wait.P95
	}
	log.AheadLow, log.AheadTop = slices.Min(s.bought.Futures.Levels), slices.Max(s.bought.Futures.Levels)
}

func (s *search) listPrices() {
	for _, row := range []*prices.Row{&s.term.Row, &s.offer.OnDemand.Row} {
		s.out.Prices = append(s.out.Prices, Price{row.Key(), row.Term, row.PerGPU(), row.Date, row.Origin()})
	}
}

// review says when to decide again.
func (s *search) review() {
	w := s.bought.Waiting
	if w == nil || len(w.Decisions) < 2 {
		return
	}
	r := &Review{Date: w.Decisions[1].Date.Time.Date(), Value: w.Now - w.Again, Purchases: []ReviewBuy{}}
	for i := range w.Decisions[1:] {
		d := &w.Decisions[i+1]
		if d.Date != w.Decisions[1].Date || len(d.Purchases) == 0 {
			continue
		}
		b := ReviewBuy{Share: float64(len(d.Futures)) / float64(s.bought.Futures.Count), GPUs: boughtGPUs(d.Purchases), Term: d.Purchases[0].Term}
		if d.Least != nil && d.Most != nil {
			b.Least, b.Most = *d.Least, *d.Most
		}
		r.Purchases = append(r.Purchases, b)
	}
	s.out.Review = r
}
