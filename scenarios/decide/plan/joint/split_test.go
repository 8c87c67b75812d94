package joint

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/simulate/exact"
)

// drawMoves adds moves between the models of a small joint plan: all of the work of a model, or
// half of it.
func drawMoves(t *rapid.T, m *scenarios.Market) {
	for from := range m.GPUs {
		for to := range m.GPUs {
			if from != to && rapid.Bool().Draw(t, "moves") {
				m.Moves = append(m.Moves, scenarios.MarketMove{
					From: from, To: to, Speed: rapid.SampledFrom([]int64{500, 1000, 2000, 3000}).Draw(t, "speed"),
					Share: rapid.SampledFrom([]int64{500_000, 1_000_000}).Draw(t, "share") / int64(len(m.GPUs)-1),
				})
			}
		}
	}
}

// bruteSplit returns the least on-demand cost of a segment over every split of its work in steps
// of a sixth of a GPU, in millionths of a dollar.
func bruteSplit(p *problem, s *segment, levels []float64) float64 {
	const fine = 6
	use := make([]float64, len(s.work))
	for m, w := range s.work {
		use[m] = float64(w) / float64(1000*s.dur)
	}
	plain := *p // serve without moves, on the use that the split gives
	market := *p.Market
	market.Moves, plain.Market = nil, &market
	o := plain.newCoverage()
	best := math.Inf(1)
	var walk func(j int)
	walk = func(j int) {
		if j < len(p.Moves) {
			x := p.Moves[j]
			most := float64(s.work[x.From]) / float64(1000*s.dur) * float64(x.Share) / 1e6
			for n := 0.0; n <= most*fine+1e-9; n++ {
				use[x.From] -= n / fine
				use[x.To] += n / fine * 1000 / float64(x.Speed)
				walk(j + 1)
				use[x.From] += n / fine
				use[x.To] -= n / fine * 1000 / float64(x.Speed)
			}
			return
		}
		cost := 0.0
		if len(p.plans) == 0 { // written out, so that it owes nothing to what it tests
			for m, u := range use {
				cost += max(0, u-levels[m]*float64(p.lots[m])/1000) * float64(p.list[m]) * float64(s.dur) / 3600
			}
		} else {
			given := segment{dur: s.dur}
			for _, u := range use {
				given.work = append(given.work, int64(math.Round(u*float64(1000*s.dur))))
			}
			plain.serve(&given, levels, o)
			for m, left := range o.left {
				cost += left * float64(p.list[m]) / perHour
			}
		}
		best = min(best, cost)
	}
	walk(0)
	return best
}

// bruteMoves tries every choice of whole units, plans in whole dollars an hour, with every split of
// every segment.
func bruteMoves(p *problem) float64 {
	best := math.Inf(1)
	units := make([]int64, len(p.columns))
	var walk func(i int, cost float64)
	walk = func(i int, cost float64) {
		if cost >= best {
			return
		}
		if i == len(units) {
			x := make([]float64, len(units))
			for j, n := range units {
				x[j] = float64(n)
			}
			for t, levels := range p.levelsOf(x) {
				for s := range p.periods[t] {
					cost += bruteSplit(p, &p.periods[t][s], levels)
				}
			}
			best = min(best, cost)
			return
		}
		k := &p.columns[i]
		step := int64(1)
		if k.dim >= len(p.GPUs) {
			step = 1000
		}
		for n := int64(0); n <= k.most; n += step {
			units[i] = n
			walk(i+1, cost+float64(n*k.cost))
		}
		units[i] = 0
	}
	walk(0, 0)
	return best
}

// choices returns how many choices of whole units a problem has.
func choices(p *problem) float64 {
	out := 1.0
	for i := range p.columns {
		n := p.columns[i].most
		if p.columns[i].dim >= len(p.GPUs) {
			n /= 1000
		}
		out *= float64(n + 1)
	}
	return out
}

// The bound is under every choice of purchases and every split of the work, and the plan is as
// cheap as the best of them, but for a few.
func TestMovesAgainstEveryChoiceAndSplit(t *testing.T) {
	missed, cases, moving, plans := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m, curves := drawJoint(t, rapid.IntRange(1, 3).Draw(t, "hours"))
		drawMoves(t, m)
		p, err := newProblem(m, curves)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Moves) == 0 || choices(p) > 400 {
			t.Skip("nothing may move, or too many choices")
		}
		_, got := solved(t, m, curves)
		best := bruteMoves(p)
		if got.bound.Float()*1e6 > best+2 {
			t.Fatalf("bound %s, but %f is to be had", got.bound.Decimal(), best/1e6)
		}
		if got.bound > got.cost || got.commitments+got.onDemand != got.cost || got.cost > got.without.cost {
			t.Fatalf("%+v", got)
		}
		if cases++; len(p.plans) > 0 {
			plans++
		}
		for _, x := range got.moved {
			if x.left > 0 {
				moving++
				break
			}
		}
		if got.cost.Float()*1e6 > best+20 {
			missed++
			t.Logf("missed: %s, best %f", got.cost.Decimal(), best/1e6)
		}
	})
	t.Logf("%d of %d plans (%d with savings plans, %d in which work moves) are not the best of all choices", missed, cases, plans, moving)
	if missed*50 > cases {
		t.Errorf("%d of %d plans are not the best of all choices", missed, cases)
	}
	if moving*5 < cases {
		t.Errorf("work moves in only %d of %d plans", moving, cases)
	}
}

// The split of a segment costs what its prices say it is worth: each proves the other.
func TestSplitCostsItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, curves := drawJoint(t, rapid.IntRange(1, 8).Draw(t, "hours"))
		drawMoves(t, m)
		if len(m.Moves) == 0 {
			t.Skip("nothing may move")
		}
		p, err := newProblem(m, curves)
		if err != nil {
			t.Fatal(err)
		}
		o := p.newCoverage()
		for period := range p.periods {
			levels := make([]float64, len(p.top))
			for d := range levels {
				levels[d] = rapid.Float64Range(0, 1.2*p.top[d]).Draw(t, "level")
			}
			c := p.cutAt(period, levels, o)
			bound := c.at
			for d, l := range levels {
				bound += c.slope[d] * l
			}
			cost := p.uncovered(period, levels, o)
			if bound > cost+1e-6*cost+1e-3 || len(p.plans) < 2 && bound < cost-1e-6*cost-10 {
				t.Fatalf("the split costs %f, its bound is %f", cost, bound)
			}
		}
	})
}

// No work is lost or made: what leaves a model is within its share, what arrives is the same work
// at the speed, rounded up, and what serves a model is its own work that stays with what arrives.
func TestMovedWorkIsConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, curves := drawJoint(t, rapid.IntRange(1, 8).Draw(t, "hours"))
		drawMoves(t, m)
		for j := range m.Moves {
			m.Moves[j].Speed, m.Moves[j].Share = rapid.Int64Range(10, 100_000).Draw(t, "any speed"), rapid.Int64Range(1, 1_000_000).Draw(t, "any share")
		}
		p, got := solved(t, m, curves)
		o := p.newCoverage()
		served := make([]capcli.GPUTime, len(m.GPUs))
		left, arrived := make([]capcli.GPUTime, len(m.Moves)), make([]capcli.GPUTime, len(m.Moves))
		x := make([]float64, len(got.units))
		for j, n := range got.units {
			x[j] = float64(n)
		}
		for period, levels := range p.levelsOf(x) {
			for i := range p.periods[period] {
				s := &p.periods[period][i]
				p.serve(s, levels, o)
				net := make([]int64, len(s.work))
				for j, v := range m.Moves {
					if o.moved[j] < 0 || o.moved[j] > exact.Portion(s.work[v.From], v.Share, 1_000_000) {
						t.Fatalf("%d moves of %d", o.moved[j], s.work[v.From])
					}
					if over := o.arrived[j]*v.Speed - 1000*o.moved[j]; over < 0 || over >= v.Speed {
						t.Fatalf("%d of a move at speed %d arrive as %d", o.moved[j], v.Speed, o.arrived[j])
					}
					net[v.From] -= o.moved[j]
					net[v.To] += o.arrived[j]
					left[j] += capcli.GPUTime(o.moved[j])
					arrived[j] += capcli.GPUTime(o.arrived[j])
				}
				for k, w := range s.work {
					served[k] += capcli.GPUTime(w + net[k])
					if int64(o.use[k]) != w+net[k] || o.use[k] < 0 {
						t.Fatalf("model %d serves %f of %d%+d", k, o.use[k], w, net[k])
					}
				}
			}
		}
		for _, v := range got.moved {
			left[v.move] -= v.left
			arrived[v.move] -= v.arrived
			if v.left > v.may || v.left < 0 || (v.left > 0) != (v.busy > 0) {
				t.Fatalf("%+v", v)
			}
		}
		for j := range m.Moves {
			if left[j] != 0 || arrived[j] != 0 {
				t.Fatalf("move %d: its spans do not sum to what moves", j)
			}
		}
		for k := range served {
			if rest := served[k] - got.reserved[k] - got.planned[k]; rest < 0 || got.reserved[k] < 0 {
				t.Fatalf("model %d: %+v", k, got)
			}
		}
	})
}

// Two models of flat demand, each with its price on demand: all that may move moves if the price of
// the other model is below the speed times its own, and nothing else does. With a reservation of
// the whole time the cheaper of the two prices counts.
func TestWorkMovesWhereThePriceRatioIsBelowTheSpeed(t *testing.T) {
	seen := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		hours := rapid.IntRange(1, 24).Draw(t, "hours")
		flat := func(n int) *plan.Curve {
			var g []float64
			for range hours {
				g = append(g, float64(n))
			}
			return hourCurve(t, g...)
		}
		speed := rapid.SampledFrom([]int64{500, 800, 1000, 1250, 2000, 2500, 4000}).Draw(t, "speed")
		x := scenarios.MarketMove{From: 0, To: 1, Speed: speed, Share: 1_000_000}
		// 20·n GPUs at these speeds are whole GPUs of the other model
		n, other := 20*rapid.IntRange(1, 5).Draw(t, "gpus"), rapid.IntRange(0, 30).Draw(t, "others")
		m := &scenarios.Market{Every: hoursStep(hours), Moves: []scenarios.MarketMove{x}}
		var price [2]int64
		for k := range price {
			price[k] = rapid.Int64Range(1, 100).Draw(t, "price") * 100_000
			m.GPUs = append(m.GPUs, scenarios.MarketGPU{Model: string(rune('a' + k)), OnDemand: scenarios.Price{Rate: capcli.Rate(price[k])}})
			if rapid.Bool().Draw(t, "reservation") {
				rate := rapid.Int64Range(1, 100).Draw(t, "reserved price") * 100_000
				m.Offers = append(m.Offers, scenarios.MarketOffer{Name: "r", Model: k, Length: hoursStep(hours), Rate: capcli.Rate(rate)})
				price[k] = min(price[k], rate)
			}
		}
		_, got := solved(t, m, []*plan.Curve{flat(n), flat(other)})
		moves := 1000*price[1] < speed*price[0]
		seen[moves]++
		want := capcli.GPUTime(0)
		own, there := int64(n)*price[0], int64(other)*price[1]
		if moves {
			want = capcli.GPUTime(n * hours * 3_600_000)
			own = int64(n) * price[1] * 1000 / speed
		}
		left := capcli.GPUTime(0)
		for _, v := range got.moved {
			left += v.left
		}
		if left != want {
			t.Fatalf("%v hours of %v move, at a price ratio of %d to %d and a speed of %d", left.Hours(), want.Hours(), price[1], price[0], speed)
		}
		if off := got.cost - capcli.USD((own+there)*int64(hours)); off < -5 || off > 5 || got.gap() > 5e-6 {
			t.Fatalf("cost %s, want %d millionths; bound %s", got.cost.Decimal(), (own+there)*int64(hours), got.bound.Decimal())
		}
	})
	if seen[true] < 20 || seen[false] < 20 {
		t.Errorf("drawn: %v", seen)
	}
}
