package plan

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate/billing"
)

// hourCurve is a demand by the hour.
func hourCurve(t interface{ Fatal(...any) }, gpus ...float64) *Curve {
	c, err := NewCurve(capcli.NoTime, capcli.Step{Seconds: capcli.Hour}, gpus)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func hoursStep(n int) capcli.Step { return capcli.Step{Seconds: capcli.Seconds(n) * capcli.Hour} }

// drawJoint is a small joint plan: two models, a plan or two that both share, and
// reservations, blocks, exits and extensions of each.
func drawJoint(t *rapid.T, hours int) *Joint {
	j := &Joint{Every: hoursStep(rapid.IntRange(1, 3).Draw(t, "every")), Overrun: rapid.Bool().Draw(t, "overrun")}
	models := rapid.IntRange(1, 2).Draw(t, "models")
	for m := range models {
		var gpus []float64
		for range hours {
			gpus = append(gpus, float64(rapid.IntRange(0, 3).Draw(t, "gpus")))
		}
		price := capcli.Rate(rapid.IntRange(2, 6).Draw(t, "on demand")) * 1_000_000
		j.Models = append(j.Models, JointModel{Name: string(rune('a' + m)), Curve: hourCurve(t, gpus...), OnDemand: Flat(price)})
	}
	for range rapid.IntRange(0, 2).Draw(t, "offers") {
		m := rapid.IntRange(0, models-1).Draw(t, "model")
		o := JointOffer{Name: "r", Model: m, Length: hoursStep(rapid.IntRange(1, hours).Draw(t, "length")), Rate: capcli.Rate(rapid.IntRange(300_000, 5_000_000).Draw(t, "rate"))}
		switch rapid.IntRange(0, 3).Draw(t, "way") {
		case 0:
			o.Fixed, o.At = true, capcli.Seconds(rapid.IntRange(0, hours-1).Draw(t, "at"))*capcli.Hour
			o.Max = 2000
		case 1:
			o.Exits = []JointExit{{After: hoursStep(1), Share: int64(rapid.IntRange(0, Whole).Draw(t, "fee"))}}
		case 2:
			o.Extend, o.ExtendRate = hoursStep(1), o.Rate/2
		}
		j.Offers = append(j.Offers, o)
	}
	for range rapid.IntRange(0, 2).Draw(t, "plans") {
		o := JointOffer{Name: "p", Model: -1, Length: hoursStep(rapid.IntRange(1, hours).Draw(t, "length")), Rate: 1_000_000}
		for range models {
			o.Rates = append(o.Rates, capcli.Rate(rapid.IntRange(0, 4).Draw(t, "plan rate"))*1_000_000)
		}
		if o.Rates[0] == 0 {
			o.Rates[0] = 1_000_000
		}
		j.Offers = append(j.Offers, o)
	}
	return j
}

// brute tries every choice of whole units, plans in whole dollars an hour.
func brute(p *joint) float64 {
	step := make([]int64, len(p.columns))
	most := make([]int64, len(p.columns))
	for i := range p.columns {
		step[i], most[i] = 1, p.columns[i].most
		if p.columns[i].dim >= len(p.j.Models) {
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
		j := drawJoint(t, rapid.IntRange(1, 3).Draw(t, "hours"))
		p, err := j.prepare()
		if err != nil {
			t.Fatal(err)
		}
		choices := 1.0
		for i := range p.columns {
			n := float64(p.columns[i].most + 1)
			if p.columns[i].dim >= len(p.j.Models) {
				n = float64(p.columns[i].most/1000 + 1)
			}
			choices *= n
		}
		if choices > 20_000 {
			t.Skip("too many")
		}
		got, err := j.Solve(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		best := brute(p)
		if got.Bound.Float()*1e6 > best+2 {
			t.Fatalf("bound %s, but %f is to be had", got.Bound.Decimal(), best/1e6)
		}
		if got.Bound > got.Cost || got.Commitments+got.OnDemand != got.Cost || got.Cost > got.AllOnDemand {
			t.Fatalf("%+v", got)
		}
		cases++
		if got.Cost.Float()*1e6 > best+2 {
			missed++
			t.Logf("missed: %s, best %f", got.Cost.Decimal(), best/1e6)
		}
		var sum capcli.USD
		for _, x := range got.Purchases {
			sum += x.Cost
		}
		if sum != got.Commitments {
			t.Fatalf("purchases sum to %s, commitments are %s", sum.Decimal(), got.Commitments.Decimal())
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
		j := drawJoint(t, rapid.IntRange(1, 6).Draw(t, "hours"))
		var m Market
		m.OnDemand, m.Every, m.Overrun = j.Models[0].OnDemand, j.Every, j.Overrun
		var offers []JointOffer
		for _, o := range j.Offers {
			if o.Model != 0 || o.Fixed || len(o.Exits) > 0 || o.Extend.Length() > 0 {
				continue
			}
			offers = append(offers, o)
			m.Terms = append(m.Terms, Term{Name: o.Name, Length: o.Length, Rate: Flat(o.Rate), Max: o.Max})
		}
		j.Offers, j.Models = offers, j.Models[:1]
		want, err := m.Solve(context.Background(), j.Models[0].Curve)
		if err != nil {
			t.Fatal(err)
		}
		got, err := j.Solve(context.Background())
		if err != nil || got.Cost != want.Cost || got.Bound != want.Cost || got.AllOnDemand != want.AllOnDemand {
			t.Fatalf("got %+v, %v, want %s", got, err, want.Cost.Decimal())
		}
	})
}

// Worked out by hand: 10 hours, 1 H100 at 4 $ and 2 A100 at 2 $ always. A plan of
// 10 hours at half the list price costs 4 $ an hour for all: 40. A reservation of
// the H100 at 1.50 with the plan for the A100 alone costs 15 + 20.
func TestJointPlanByHand(t *testing.T) {
	always := func(n float64) *Curve {
		var g []float64
		for range 10 {
			g = append(g, n)
		}
		return hourCurve(t, g...)
	}
	j := &Joint{
		Models: []JointModel{{Name: "H100", Curve: always(1), OnDemand: Flat(4e6)}, {Name: "A100", Curve: always(2), OnDemand: Flat(2e6)}},
		Offers: []JointOffer{{Name: "plan", Model: -1, Length: hoursStep(10), Rate: 1e6, Rates: []capcli.Rate{2e6, 1e6}}},
		Every:  hoursStep(10),
	}
	got, err := j.Solve(context.Background())
	if err != nil || got.Cost != 40e6 || got.Gap() > 1e-6 || len(got.Purchases) != 1 || got.Purchases[0].Milli != 4000 || got.AllOnDemand != 80e6 {
		t.Fatalf("got %+v, %v", got, err)
	}
	j.Offers = append(j.Offers, JointOffer{Name: "ri", Model: 0, Length: hoursStep(10), Rate: 1_500_000})
	got, err = j.Solve(context.Background())
	if err != nil || got.Cost != 35e6 || got.Gap() > 1e-6 || got.Reserved[0].Hours() != 10 || got.Planned[1].Hours() != 20 {
		t.Fatalf("got %+v, %v", got, err)
	}
}

// What a joint plan says it costs is what the bill of its purchases says, laid over
// the demand hour by hour.
func TestJointPlanIsWhatItsBillSays(t *testing.T) {
	const day0 = capcli.Time(1798761600)
	rapid.Check(t, func(t *rapid.T) {
		j := drawJoint(t, rapid.IntRange(1, 8).Draw(t, "hours"))
		j.Overrun = false
		for i := range j.Offers {
			o := &j.Offers[i]
			for m, r := range o.Rates { // no two plans charge the same: providers do not say which comes first
				if r > 0 {
					o.Rates[m] = min(r, j.Models[m].OnDemand[0].Rate) - capcli.Rate(1000*i)
				}
			}
		}
		got, err := j.Solve(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		rec := &billing.UseRecord{From: day0, To: day0 + capcli.Time(j.Models[0].Curve.Len())}
		for _, m := range j.Models {
			for h := range m.Curve.Work {
				rec.Lines = append(rec.Lines, billing.UseLine{
					Start: day0 + capcli.Time(m.Curve.StepStart(h)), Seconds: capcli.Hour, Units: int64(m.Curve.Work[h]) / 3600,
					Price: m.OnDemand[0].Rate, SKU: billing.SKU{GPUModel: m.Name}, Tenant: m.Name,
				})
			}
		}
		p := &billing.Portfolio{}
		for i, x := range got.Purchases {
			o := &j.Offers[x.Offer]
			c := billing.Commitment{ID: fmt.Sprint("c", i), Start: day0 + capcli.Time(x.From), End: day0 + capcli.Time(x.To), Fees: billing.Fees{Upfront: x.Cost}}
			if o.Model >= 0 {
				c.Scope.GPUModel, c.Product = j.Models[o.Model].Name, billing.AzureReservation{Units: billing.Units(x.Milli)}
			} else {
				plan := billing.SavingsPlan{Commit: capcli.Rate(x.Milli * 1000)}
				for m, r := range o.Rates {
					if r > 0 {
						plan.Rates = append(plan.Rates, billing.PlanRate{Scope: billing.Scope{GPUModel: j.Models[m].Name}, Rate: r})
					}
				}
				c.Product = plan
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
		if off := b.Total.Effective - got.Cost; off < -100 || off > 100 {
			t.Fatalf("the bill is %s, the plan says %s: %+v", b.Total.Effective.Decimal(), got.Cost.Decimal(), got)
		}
	})
}
