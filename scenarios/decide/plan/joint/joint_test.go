package joint

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/money/billing"
)

// day0 is 2027-01-01.
const day0 = capcli.Time(1798761600)

// hourCurve is a demand by the hour.
func hourCurve(t interface{ Fatal(...any) }, gpus ...float64) *plan.Curve {
	c, err := plan.NewCurve(day0, capcli.Step{Seconds: capcli.Hour}, gpus)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func hoursStep(n int) capcli.Step { return capcli.Step{Seconds: capcli.Seconds(n) * capcli.Hour} }

// drawJoint is a small joint plan: two models, a plan or two that both share, and
// reservations, blocks, exits and extensions of each.
func drawJoint(t *rapid.T, hours int) (*scenarios.Market, []*plan.Curve) {
	j := &scenarios.Market{Every: hoursStep(rapid.IntRange(1, 3).Draw(t, "every")), After: rapid.SampledFrom([]string{"", "tail", "whole", "fitting"}).Draw(t, "after")}
	var curves []*plan.Curve
	models := rapid.IntRange(1, 2).Draw(t, "models")
	for m := range models {
		var gpus []float64
		for range hours {
			gpus = append(gpus, float64(rapid.IntRange(0, 3).Draw(t, "gpus")))
		}
		price := capcli.Rate(rapid.IntRange(2, 6).Draw(t, "on demand")) * 1_000_000
		j.GPUs = append(j.GPUs, scenarios.MarketGPU{Model: string(rune('a' + m)), OnDemand: scenarios.Price{Rate: price}, Tail: 2000})
		curves = append(curves, hourCurve(t, gpus...))
	}
	for range rapid.IntRange(0, 2).Draw(t, "offers") {
		m := rapid.IntRange(0, models-1).Draw(t, "model")
		o := scenarios.MarketOffer{Name: "r", Model: m, Length: hoursStep(rapid.IntRange(1, hours).Draw(t, "length")), Rate: capcli.Rate(rapid.IntRange(300_000, 5_000_000).Draw(t, "rate"))}
		switch rapid.IntRange(0, 3).Draw(t, "way") {
		case 0:
			o.Fixed, o.From = true, day0+capcli.Time(rapid.IntRange(0, hours-1).Draw(t, "at"))*capcli.Time(capcli.Hour)
			o.Max = 2000
		case 1:
			o.Exits = []scenarios.Exit{{After: hoursStep(1), Share: int64(rapid.IntRange(0, plan.Whole).Draw(t, "fee"))}}
		case 2:
			o.Extend, o.ExtendRate = hoursStep(1), o.Rate/2
		}
		j.Offers = append(j.Offers, o)
	}
	for range rapid.IntRange(0, 2).Draw(t, "plans") {
		o := scenarios.MarketOffer{Name: "p", Model: -1, Length: hoursStep(rapid.IntRange(1, hours).Draw(t, "length")), Rate: 1_000_000}
		for range models {
			o.Rates = append(o.Rates, capcli.Rate(rapid.IntRange(0, 4).Draw(t, "plan rate"))*1_000_000)
		}
		if o.Rates[0] == 0 {
			o.Rates[0] = 1_000_000
		}
		j.Offers = append(j.Offers, o)
	}
	return j, curves
}

// solved makes a problem and its solution.
func solved(t interface{ Fatal(...any) }, m *scenarios.Market, curves []*plan.Curve) (*problem, *solution) {
	p, err := newProblem(m, curves)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.solve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// brute tries every choice of whole units, plans in whole dollars an hour.
func brute(p *problem) float64 {
	step := make([]int64, len(p.columns))
	most := make([]int64, len(p.columns))
	for i := range p.columns {
		step[i], most[i] = 1, p.columns[i].most
		if p.columns[i].dim >= len(p.GPUs) {
			step[i] = 1000
		}
	}
	best := math.Inf(1)
	units := make([]int64, len(p.columns))
	var walk func(i int, cost float64)
	walk = func(i int, cost float64) {
		if cost >= best {
			return
		}
		if i == len(units) {
			for _, r := range p.tally(units).rest {
				cost += r
			}
			best = min(best, cost)
			return
		}
		for n := int64(0); n <= most[i]; n += step[i] {
			units[i] = n
			walk(i+1, cost+float64(n*p.columns[i].cost))
		}
		units[i] = 0
	}
	walk(0, 0)
	return best
}

// The bound is under every choice, the plan is as cheap as the best of all whole
// choices, or within a step of one plan or lot of it, and its parts sum.
func TestJointPlanAgainstEveryChoice(t *testing.T) {
	missed, cases := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		j, curves := drawJoint(t, rapid.IntRange(1, 3).Draw(t, "hours"))
		p, err := newProblem(j, curves)
		if err != nil {
			t.Fatal(err)
		}
		choices := 1.0
		for i := range p.columns {
			n := float64(p.columns[i].most + 1)
			if p.columns[i].dim >= len(p.GPUs) {
				n = float64(p.columns[i].most/1000 + 1)
			}
			choices *= n
		}
		if choices > 20_000 {
			t.Skip("too many")
		}
		got, err := p.solve(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		best := brute(p)
		if got.bound.Float()*1e6 > best+2 {
			t.Fatalf("bound %s, but %f is to be had", got.bound.Decimal(), best/1e6)
		}
		if got.bound > got.cost || got.commitments+got.onDemand != got.cost || got.cost > got.allOnDemand {
			t.Fatalf("%+v", got)
		}
		cases++
		if got.cost.Float()*1e6 > best+2 {
			missed++
			t.Logf("missed: %s, best %f", got.cost.Decimal(), best/1e6)
		}
		var sum capcli.USD
		for _, x := range got.purchases {
			sum += x.cost
		}
		if sum != got.commitments {
			t.Fatalf("purchases sum to %s, commitments are %s", sum.Decimal(), got.commitments.Decimal())
		}
	})
	t.Logf("%d of %d plans are not the best of all whole choices", missed, cases)
	if missed*50 > cases {
		t.Errorf("%d of %d plans are not the best of all whole choices", missed, cases)
	}
}

// Without plans a joint plan is the optimum that each market has by itself.
func TestJointPlanOfOneModelIsTheMarkets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j, curves := drawJoint(t, rapid.IntRange(1, 6).Draw(t, "hours"))
		m := plan.Market{OnDemand: plan.Flat(j.GPUs[0].OnDemand.Rate), Every: j.Every}
		var err error
		if m.After, err = parseAfter(j); err != nil {
			t.Fatal(err)
		}
		m.After.Milli = j.GPUs[0].Tail
		var offers []scenarios.MarketOffer
		for _, o := range j.Offers {
			if o.Model != 0 || o.Fixed || len(o.Exits) > 0 || o.Extend.Length() > 0 {
				continue
			}
			offers = append(offers, o)
			m.Terms = append(m.Terms, plan.Term{Name: o.Name, Length: o.Length, Rate: plan.Flat(o.Rate), Max: o.Max})
		}
		j.Offers, j.GPUs = offers, j.GPUs[:1]
		want, err := m.Solve(context.Background(), curves[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, got := solved(t, j, curves[:1]); got.cost != want.Cost || got.bound != want.Cost || got.allOnDemand != want.AllOnDemand {
			t.Fatalf("got %+v, want %s", got, want.Cost.Decimal())
		}
	})
}

// Worked out by hand: 10 hours, 1 H100 at 4 $ and 2 A100 at 2 $ always. A plan of
// 10 hours at half the list price costs 4 $ an hour for all: 40. A reservation of
// the H100 at 1.50 with the plan for the A100 alone costs 15 + 20.
func TestJointPlanByHand(t *testing.T) {
	always := func(n float64) *plan.Curve {
		var g []float64
		for range 10 {
			g = append(g, n)
		}
		return hourCurve(t, g...)
	}
	curves := []*plan.Curve{always(1), always(2)}
	j := &scenarios.Market{
		GPUs:   []scenarios.MarketGPU{{Model: "H100", OnDemand: scenarios.Price{Rate: 4e6}}, {Model: "A100", OnDemand: scenarios.Price{Rate: 2e6}}},
		Offers: []scenarios.MarketOffer{{Name: "plan", Model: -1, Length: hoursStep(10), Rate: 1e6, Rates: []capcli.Rate{2e6, 1e6}}},
		Every:  hoursStep(10),
	}
	_, got := solved(t, j, curves)
	if got.cost != 40e6 || got.gap() > 1e-6 || len(got.purchases) != 1 || got.purchases[0].milli != 4000 || got.allOnDemand != 80e6 {
		t.Fatalf("got %+v", got)
	}
	j.Offers = append(j.Offers, scenarios.MarketOffer{Name: "ri", Model: 0, Length: hoursStep(10), Rate: 1_500_000})
	_, got = solved(t, j, curves)
	if got.cost != 35e6 || got.gap() > 1e-6 || got.reserved[0].Hours() != 10 || got.planned[1].Hours() != 20 {
		t.Fatalf("got %+v", got)
	}
}

// What a joint plan says it costs is what the bill of its purchases says, laid over
// the demand hour by hour.
func TestJointPlanIsWhatItsBillSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j, curves := drawJoint(t, rapid.IntRange(1, 8).Draw(t, "hours"))
		j.After = "fitting"
		for i := range j.Offers {
			o := &j.Offers[i]
			for m, r := range o.Rates { // no two plans charge the same: providers do not say which comes first
				if r > 0 {
					o.Rates[m] = min(r, j.GPUs[m].OnDemand.Rate) - capcli.Rate(1000*i)
				}
			}
		}
		_, got := solved(t, j, curves)
		rec := &billing.UseRecord{From: day0, To: day0 + capcli.Time(curves[0].Len())}
		for i, m := range j.GPUs {
			for h := range curves[i].Work {
				rec.Lines = append(rec.Lines, billing.UseLine{
					Start: day0 + capcli.Time(curves[i].StepStart(h)), Seconds: capcli.Hour, Units: int64(curves[i].Work[h]) / 3600,
					Price: m.OnDemand.Rate, SKU: billing.SKU{GPUModel: m.Model}, Tenant: m.Model,
				})
			}
		}
		p := &billing.Portfolio{}
		for i, x := range got.purchases {
			o := &j.Offers[x.offer]
			c := billing.Commitment{ID: fmt.Sprint("c", i), Start: day0 + capcli.Time(x.from), End: day0 + capcli.Time(x.to), Fees: billing.Fees{Upfront: x.cost}}
			if o.Model >= 0 {
				c.Scope.GPUModel, c.Product = j.GPUs[o.Model].Model, billing.AzureReservation{Units: billing.Units(x.milli)}
			} else {
				savings := billing.SavingsPlan{Commit: capcli.Rate(x.milli * 1000)}
				for m, r := range o.Rates {
					if r > 0 {
						savings.Rates = append(savings.Rates, billing.PlanRate{Scope: billing.Scope{GPUModel: j.GPUs[m].Model}, Rate: r})
					}
				}
				c.Product = savings
			}
			p.Commitments = append(p.Commitments, c)
		}
		hours, err := rec.Hours(false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := hours.Bill(p, billing.InAll)
		if err != nil {
			t.Fatal(err)
		}
		if off := b.Total.Effective - got.cost; off < -100 || off > 100 {
			t.Fatalf("the bill is %s, the plan says %s: %+v", b.Total.Effective.Decimal(), got.cost.Decimal(), got)
		}
	})
}
