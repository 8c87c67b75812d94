package decide

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/money/prices"
)

// A place and a bill can be had together: jobs run on fenced GPUs where they find some, and commitments that cover lower
// the price of what goes on demand. The sizes of the place are played with the jobs, and of each the best commitments
// on the use that it leaves are found exactly, on the terms and dates of the bill. All four ways to commit are
// compared on the same jobs of the same futures.

// stacks reports whether commitments that cover are planned beside fenced GPUs. What is held serves the use of a bill
// alone: where jobs are played it is not known, so with it nothing is stacked.
func (c *chain) stacks() bool {
	return c.place != nil && len(c.Held) == 0 && slices.ContainsFunc(c.offer.Committed, func(q prices.Quote) bool { return floats(&q) })
}

// The ways to commit that stand beside the plan.
const (
	placeAlone = "fenced GPUs"
	placeBill  = "fenced GPUs and a bill"
	billAlone  = "as a bill"
	billPlayed = "as a bill, with the jobs" // of the same jobs as places, beside the bill on the use of all futures
)

// ways returns the cheapest plan of each way to commit, with the jobs that were played: that which holds the limits,
// else the nearest. A way that no size takes is left out.
func (s *search) ways() []Choice {
	var out []Choice
	for _, w := range []struct {
		name, as string
		of       map[point]*mix.Mix
	}{{placeBill, asBoth, s.found}, {placeAlone, asPlace, s.alone}, {billAlone, asBill, s.found}, {allOnDemand, asNothing, s.alone}} {
		some := map[point]*mix.Mix{}
		for p, m := range w.of {
			if committedAs(p, m) == w.as {
				some[p] = m
			}
		}
		if len(some) > 0 {
			p := s.bestOf(some)
			out = append(out, s.choice(w.name, p, some[p]))
		}
	}
	return out
}

// committedAs says what a mix commits to.
func committedAs(p point, m *mix.Mix) string {
	bill := m.Commitments.BillGPUs() > 0
	switch {
	case p.gpus > 0 && bill:
		return asBoth
	case p.gpus > 0:
		return asPlace
	case bill:
		return asBill
	}
	return asNothing
}

// besideWays puts the other ways to commit beside the plan, and says what each costs with the jobs.
func (s *search) besideWays() {
	out := s.out
	var costs []string
	for _, w := range s.ways() {
		costs = append(costs, fmt.Sprintf("%s %s", map[string]string{asBoth: "fenced GPUs and a bill cost", asPlace: "fenced GPUs alone", asBill: "a bill alone", asNothing: "all on demand"}[w.As], w.Cost.Brief()))
		plan := out.Plan != nil && out.Plan.Played > 0
		switch {
		case plan && w.As == out.Plan.As:
			continue
		case plan || w.As == asBoth || w.As == asPlace:
		case w.As == asBill:
			w.Name = billPlayed
		default:
			continue
		}
		out.Alternatives = slices.DeleteFunc(out.Alternatives, func(c Choice) bool { return c.Name == w.Name })
		out.Alternatives = append(out.Alternatives, w)
	}
	out.Notes = append(out.Notes, fmt.Sprintf("the ways to commit were compared with the jobs of the same %d futures: %s", s.played(), strings.Join(costs, ", ")))
}

// Stacks reports whether fenced GPUs and a bill together are a plan or beside it.
func (r *Result) Stacks() bool {
	return slices.ContainsFunc(r.Alternatives, func(c Choice) bool { return c.As == asBoth })
}

// addBills adds to a choice what it commits to as bills.
func (c *Choice) addBills(b *mix.Coverage, start capcli.Time) {
	if b == nil || len(b.Bought) == 0 {
		return
	}
	for i := range b.Bought {
		x := &b.Bought[i]
		p := market.Purchase{
			Term: x.Offer, Start: market.Instant{Time: x.Start}, End: market.Instant{Time: x.End}, GPUs: float64(x.GPUs), Rate: x.Rate * capcli.Rate(x.Units) / capcli.Rate(x.GPUs),
			Cost: x.Cost, Total: x.Cost + x.Beyond,
		}
		c.Commitments = append(c.Commitments, p)
		if x.Start == start {
			c.GPUs += int(x.GPUs)
		}
	}
	part := func(some, all float64) *float64 {
		if all == 0 {
			return nil
		}
		v := some / all
		return &v
	}
	c.Covered, c.Used = part(b.Covered, b.Wanted), part(b.Covered, b.Covered+b.Unused)
	if c.Used != nil {
		c.Stranded += capcli.USDOf(math.Max(0, (1-*c.Used)*b.Committed.Float()))
	}
}

// Part is one of the orders of the first date, where fenced GPUs and a bill are bought together.
type Part struct {
	As    string      `json:"as"` // place or bill
	Term  string      `json:"term"`
	GPUs  float64     `json:"gpus"`
	Rate  capcli.Rate `json:"usd_per_gpu_hour"`
	Until capcli.Time `json:"until"`
	Total capcli.USD  `json:"total_usd"` // of fenced GPUs to the end of the term, of a bill to that of the horizon
}

// stackText says what to order where fenced GPUs and a bill are bought together.
func (c *chain) stackText() string {
	p, out := c.out.Plan, c.out
	text := fmt.Sprintf("Commit to %s fenced %s for %s from %s, at %s a GPU-hour", capcli.Grouped(int64(p.Place)), out.GPU, c.place.Term, out.Start.Date(), c.place.PerGPU())
	var now []string
	later := 0
	for i := range p.Commitments {
		if x := &p.Commitments[i]; x.Start.Time == out.Start {
			now = append(now, fmt.Sprintf("%s for %s at %s", gpusText(x.GPUs), x.Term, x.Rate))
		} else {
			later++
		}
	}
	if len(now) > 0 {
		text += ", and as a bill on what overflows to " + strings.Join(now, " and ")
	}
	text += fmt.Sprintf("; take the rest on demand at %s", c.offer.OnDemand.PerGPU())
	if p.Patience != "0s" {
		text += ", for jobs that have waited " + p.Patience
	}
	switch {
	case later > 0 && len(now) == 0:
		x := &p.Commitments[0]
		text += fmt.Sprintf(", and commit as a bill to %s for %s from %s (%d %s on later dates)", gpusText(x.GPUs), x.Term, x.Start.Time.Date(), later, capcli.Plural(int64(later), "purchase"))
	case later > 0:
		text += fmt.Sprintf(", with %d further %s of bills on later dates", later, capcli.Plural(int64(later), "purchase"))
	}
	return text
}
