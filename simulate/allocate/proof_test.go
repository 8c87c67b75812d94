package allocate

import (
	"context"
	"fmt"
	"math"
	"testing"

	"capcli/simulate/plan/linear"

	"pgregory.net/rapid"
)

// drawProblem draws a problem: measured tables are not monotone, have zeros, and jobs that are alike.
func drawProblem(t *rapid.T, throughputs ...float64) *Problem {
	if throughputs == nil {
		throughputs = []float64{0, 0.3, 1, 1, 2, 3.7, 60, 1e-3}
	}
	types := rapid.IntRange(1, 5).Draw(t, "types")
	p := &Problem{}
	for range types {
		p.Workers = append(p.Workers, rapid.SampledFrom([]int{1, 1, 2, 4, 7, 64}).Draw(t, "workers"))
		p.Prices = append(p.Prices, float64(rapid.IntRange(1, 40).Draw(t, "price"))/8)
	}
	var rows [][]float64
	for range rapid.IntRange(1, 4).Draw(t, "kinds") {
		row := make([]float64, types)
		for j := range row {
			row[j] = rapid.SampledFrom(throughputs).Draw(t, "throughput")
		}
		row[rapid.IntRange(0, types-1).Draw(t, "runs on")] = rapid.SampledFrom([]float64{1, 5.5}).Draw(t, "throughput")
		rows = append(rows, row)
	}
	for range rapid.IntRange(1, 14).Draw(t, "jobs") {
		p.Jobs = append(p.Jobs, Job{
			Throughput: rapid.SampledFrom(rows).Draw(t, "kind"), GPUs: rapid.SampledFrom([]int{1, 1, 2, 4}).Draw(t, "gpus"),
			Count: rapid.SampledFrom([]int{0, 1, 1, 3}).Draw(t, "count"), Weight: rapid.SampledFrom([]float64{0, 1, 2, 0.5}).Draw(t, "weight"),
			Steps: rapid.SampledFrom([]float64{1, 100, 1e5}).Draw(t, "steps"), Elapsed: rapid.SampledFrom([]float64{0, 0, 50, 1e5}).Draw(t, "elapsed"),
			Isolated: rapid.SampledFrom([]float64{0, 10, 1e4}).Draw(t, "isolated"), SLO: rapid.SampledFrom([]float64{0, 0, 50, 1e4}).Draw(t, "slo"),
		})
	}
	return p
}

// bound returns a lower bound of the cost of all jobs that have at least the given throughputs, where
// GPUs of type j have prices[j] in all, less the rewards. It is the dual of each job's own program, at
// the best of the multipliers at which its terms meet; any multiplier would be a bound.
func bound(p *Problem, prices, floors []float64, reward func(m, j int) float64) (sum float64) {
	for m := range p.Jobs {
		b := &p.Jobs[m]
		cost := make([]float64, len(prices))
		for j := range cost {
			cost[j] = prices[j]*b.count()*float64(b.GPUs)/float64(p.Workers[j]) - reward(m, j)
		}
		dual := func(mu float64) float64 {
			most := 0.0
			for j, t := range b.Throughput {
				if t > 0 {
					most = max(most, mu*t-cost[j])
				}
			}
			return floors[m]*mu - most
		}
		best := dual(0)
		for j, t := range b.Throughput {
			if t == 0 {
				continue
			}
			best = max(best, dual(max(0, cost[j]/t)))
			for k, u := range b.Throughput {
				if u > 0 && u != t {
					best = max(best, dual(max(0, (cost[j]-cost[k])/(t-u))))
				}
			}
		}
		sum += best
	}
	return sum
}

func nothing(int, int) float64 { return 0 }

// floorsAt returns the throughputs that every job needs at least for an objective to be good.
func floorsAt(p *Problem, objective string, good float64) []float64 {
	e, out := p.entitled(), make([]float64, len(p.Jobs))
	for m := range out {
		b, mean := &p.Jobs[m], 0.0
		for j, t := range b.Throughput {
			mean += t * e[j]
		}
		switch objective {
		case "las":
			w := b.Weight
			if w == 0 {
				w = 1
			}
			out[m] = good * w * mean / float64(b.GPUs)
		case "makespan":
			out[m] = b.Steps / good
		default:
			out[m] = b.Steps / (good*(b.Isolated+b.Steps/p.IsolatedThroughput(m)) - b.Elapsed)
		}
	}
	return out
}

// TestProved holds each answer against the constraints, and against a bound that no allocation passes.
func TestProved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		for _, name := range []string{"las", "makespan", "finish_time_fairness"} {
			for _, fill := range []bool{true, false} {
				r, err := Solve(p, name, Options{Fill: fill})
				if err != nil {
					rt.Fatal(err)
				}
				if e := p.Excess(r.X); e > 1e-9 {
					rt.Fatalf("%s breaks a constraint by %v", name, e)
				}
				better := r.Objective * (1 - 1e-7)
				if name == "las" {
					better = r.Objective * (1 + 1e-7)
				}
				floors := floorsAt(p, name, better)
				proved := false
				for m := range floors {
					proved = proved || floors[m] < 0 || floors[m] > p.Jobs[m].topSpeed()
				}
				if !proved && (r.Duals == nil || bound(p, r.Duals, floors, nothing) <= 1) {
					rt.Fatalf("%s: %v is not proved, duals %v: %v for %v", name, r.Objective, r.Duals, bound(p, r.Duals, floors, nothing), floors)
				}
			}
		}
	})
}

// TestFillProved: no job can have more without taking from one that has as little or less.
func TestFillProved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt, 0, 0.3, 1, 1, 2, 3.7, 25)
		for m := range p.Jobs {
			p.Jobs[m].Count = 1
		}
		r, err := Solve(p, "las", Options{Fill: true})
		if err != nil {
			rt.Fatal(err)
		}
		for m, v := range r.Values {
			floors := make([]float64, len(p.Jobs))
			for i := range p.Jobs {
				if r.Values[i] <= v*(1+1e-6) {
					floors[i] = p.Throughput(i, r.X[i]) * (1 - 1e-9)
				}
			}
			most, short := mostFor(p, floors, m)
			if had := p.Throughput(m, r.X[m]) / p.Jobs[m].topSpeed(); short < 1e-9 && most > had*(1+1e-4)+1e-6 { // the floors are loose by 1e-9
				rt.Fatalf("job %d has %v of its best and could have %v beside those with no more", m, had, most)
			}
		}
	})
}

// TestSumsProved holds fifo and cost against the bounds of their duals.
func TestSumsProved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		r, err := Solve(p, "fifo", Options{})
		if err != nil {
			rt.Fatal(err)
		}
		rest := p.size()
		weights := make([]float64, len(p.Jobs))
		for m := range weights {
			for range int(p.Jobs[m].count()) {
				weights[m] += rest
				rest--
			}
		}
		none := make([]float64, len(p.Jobs))
		most := -bound(p, r.Duals, none, func(m, j int) float64 { return weights[m] * p.Jobs[m].Throughput[j] / p.Jobs[m].topSpeed() })
		for _, d := range r.Duals {
			most += d
		}
		if p.Excess(r.X) > 1e-9 || !isNear(r.Objective, most, 1e-8) {
			rt.Fatalf("fifo has %v, its bound is %v", r.Objective, most)
		}

		r, err = Solve(p, "cost", Options{})
		if err != nil {
			rt.Fatal(err)
		}
		for m := range p.Jobs {
			if p.Jobs[m].SLO > 0 {
				none[m] = p.Jobs[m].Steps / p.Jobs[m].SLO
			}
		}
		if !r.Feasible {
			if !impossible(p, none) {
				rt.Fatal("cost is called impossible and is not")
			}
			return
		}
		work, dollars := 0.0, 0.0
		for m := range p.Jobs {
			thr := p.Throughput(m, r.X[m])
			if thr < none[m]*(1-1e-9) {
				rt.Fatalf("job %d has %v steps a second, its SLO wants %v", m, thr, none[m])
			}
			work += p.Jobs[m].count() * thr / p.Jobs[m].topSpeed()
			for j, x := range r.X[m] {
				dollars += p.Jobs[m].count() * x * p.price(m, j)
			}
		}
		above := -bound(p, r.Duals, none, func(m, j int) float64 {
			return p.Jobs[m].count() * (p.Jobs[m].Throughput[j]/p.Jobs[m].topSpeed() - r.Objective*p.price(m, j))
		})
		for _, d := range r.Duals {
			above += d
		}
		if p.Excess(r.X) > 1e-9 || !isNear(work/dollars, r.Objective, 1e-9) || above > 1e-8*work {
			rt.Fatalf("cost has %v, of X %v; %v of %v could be gained at that ratio: %+v X %v", r.Objective, work/dollars, above, work, p, r.X)
		}
	})
}

// impossible reports whether floors cannot be met, by a second way.
func impossible(p *Problem, floors []float64) bool {
	load, short := leastLoad(p, floors)
	return short > 1e-6 || load > 1+1e-6
}

// leastLoad returns the least use of the busiest type with floors, and by how much they are missed, from
// the whole program with a row for each constraint, which prices of types have no part in.
func leastLoad(p *Problem, floors []float64) (load, short float64) {
	q, misses, _ := solveWhole(p, floors, -1)
	for _, v := range misses {
		short += max(0, q.Values[v])
	}
	return q.Values[0], short
}

// mostFor returns the highest throughput of job m, as a share of its best, beside the floors of all.
func mostFor(p *Problem, floors []float64, m int) (most, short float64) {
	q, misses, times := solveWhole(p, floors, m)
	for _, v := range misses {
		short += max(0, q.Values[v])
	}
	for j, v := range times {
		if v > 0 {
			most += q.Values[v] * p.Jobs[m].Throughput[j] / p.Jobs[m].topSpeed()
		}
	}
	return most, short
}

// solveWhole solves the whole program: the least use of the busiest type, or with forJob 0 or more the most
// for that job while no type is used above its GPUs. It returns the variables of what floors miss, and
// those of the job's times.
func solveWhole(p *Problem, floors []float64, forJob int) (q *linear.Program, misses, times []int) {
	jobs, types, inf := len(p.Jobs), len(p.Workers), math.Inf(1)
	right := make([]float64, 2*jobs+types)
	basis := make([]int, len(right))
	variables := []linear.Variable{linear.Bounded(nil, nil, 1, 0, inf)}
	if forJob >= 0 {
		variables[0] = linear.Bounded(nil, nil, 0, 1, 1)
	}
	times = make([]int, types)
	add := func(v linear.Variable) int {
		variables = append(variables, v)
		return len(variables) - 1
	}
	for j := range types {
		variables[0].Rows = append(variables[0].Rows, 2*jobs+j)
		variables[0].Coefficients = append(variables[0].Coefficients, -1)
		basis[2*jobs+j] = add(linear.Bounded([]int{2*jobs + j}, nil, 0, 0, inf))
	}
	for m := range p.Jobs {
		b, best := &p.Jobs[m], p.Jobs[m].topSpeed()
		right[m], right[jobs+m] = 1, floors[m]/best
		basis[m] = add(linear.Bounded([]int{m}, nil, 0, 0, inf))
		basis[jobs+m] = add(linear.Bounded([]int{jobs + m}, nil, 1e5, 0, inf))
		misses = append(misses, basis[jobs+m])
		add(linear.Bounded([]int{jobs + m}, []float64{-1}, 0, 0, inf))
		for j, t := range b.Throughput {
			if t > 0 {
				cost := 0.0
				if m == forJob {
					cost = -t / best
				}
				v := add(linear.Bounded([]int{m, jobs + m, 2*jobs + j}, []float64{1, t / best, b.count() * float64(b.GPUs) / float64(p.Workers[j])}, cost, 0, inf))
				if m == forJob {
					times[j] = v
				}
			}
		}
	}
	q = linear.NewProgram(right, variables, basis, nil)
	q.Solve(context.Background(), 20000)
	return q, misses, times
}

// TestSecondSolver compares with the whole program: the objective can be met and a little more cannot.
func TestSecondSolver(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		for _, name := range []string{"las", "makespan", "finish_time_fairness"} {
			r, err := Solve(p, name, Options{})
			if err != nil {
				rt.Fatal(err)
			}
			worse, better := r.Objective*(1+1e-6), r.Objective*(1-1e-6)
			if name == "las" {
				worse, better = better, worse
			}
			if load, missed := leastLoad(p, floorsAt(p, name, worse)); load > 1+1e-7 || missed > 1e-7 {
				rt.Fatalf("%s: %v uses the busiest type %v times and misses %v", name, r.Objective, load, missed)
			}
			floors := floorsAt(p, name, better)
			beyond := false
			for m := range floors {
				beyond = beyond || floors[m] < 0 || floors[m] > p.Jobs[m].topSpeed()
			}
			if load, _ := leastLoad(p, floors); !beyond && load < 1-1e-7 {
				rt.Fatalf("%s: better than %v uses the busiest type %v times: %+v X %v", name, r.Objective, load, p, r.X)
			}
		}
	})
}

// TestOneType compares las on one type with filling by hand: each job gets time in proportion to its
// weight over its GPUs squared, up to all the time.
func TestOneType(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &Problem{Workers: []int{rapid.IntRange(1, 12).Draw(rt, "workers")}}
		for range rapid.IntRange(1, 10).Draw(rt, "jobs") {
			p.Jobs = append(p.Jobs, Job{
				Throughput: []float64{rapid.Float64Range(0.1, 9).Draw(rt, "throughput")},
				GPUs:       rapid.IntRange(1, 4).Draw(rt, "gpus"), Weight: float64(rapid.IntRange(1, 3).Draw(rt, "weight")),
			})
		}
		r, err := Solve(p, "las", Options{Fill: true})
		if err != nil {
			rt.Fatal(err)
		}
		low, high := 0.0, 64.0
		for range 200 {
			mid, used := (low+high)/2, 0.0
			for _, b := range p.Jobs {
				used += float64(b.GPUs) * min(1, mid*b.Weight/float64(b.GPUs))
			}
			if used > float64(p.Workers[0]) {
				high = mid
			} else {
				low = mid
			}
		}
		for m, b := range p.Jobs {
			if want := min(1, low*b.Weight/float64(b.GPUs)); !isNear(r.X[m][0], want, 1e-7) {
				rt.Fatalf("job %d has %v of the time, want %v", m, r.X[m][0], want)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	job := Job{Throughput: []float64{1}, GPUs: 1}
	for want, p := range map[string]*Problem{
		"workers 0 types of GPU, want 1 to 64":            {},
		"jobs no jobs, want at least one":                 {Workers: []int{1}},
		"jobs job 0: it runs on no type":                  {Workers: []int{1}, Jobs: []Job{{Throughput: []float64{0}, GPUs: 1}}},
		"jobs job 1: throughput on 2 types, want 1":       {Workers: []int{1}, Jobs: []Job{job, {Throughput: []float64{1, 2}, GPUs: 1}}},
		"prices type 0 costs 0 an hour, want above 0":     {Workers: []int{1}, Prices: []float64{0}, Jobs: []Job{job}},
		"jobs job 0: 0 GPUs, want 1 to 1073741824":        {Workers: []int{1}, Jobs: []Job{{Throughput: []float64{1}}}},
		"jobs job 0: a throughput of NaN, want 0 or more": {Workers: []int{1, 1}, Jobs: []Job{{Throughput: []float64{1, math.NaN()}, GPUs: 1}}},
		"workers type 0 has 0 GPUs, want 1 to 1073741824": {Workers: []int{0}, Jobs: []Job{job}},
		"prices 2 prices for 1 types":                     {Workers: []int{1}, Prices: []float64{1, 1}, Jobs: []Job{job}},
		"jobs job 0: a count of -1, want 0 to 1073741824": {Workers: []int{1}, Jobs: []Job{{Throughput: []float64{1}, GPUs: 1, Count: -1}}},
		"jobs job 0: +Inf, want 0 or more":                {Workers: []int{1}, Jobs: []Job{{Throughput: []float64{1}, GPUs: 1, Steps: math.Inf(1)}}},
	} {
		if _, err := Solve(p, "las", Options{}); fmt.Sprint(err) != want {
			t.Errorf("got %q, want %q", fmt.Sprint(err), want)
		}
	}
	if _, err := Solve(&Problem{}, "lass", Options{}); err == nil {
		t.Error("an unknown objective is accepted")
	}
	for _, text := range []string{"", "-1", "2", "1/0", "x", "0.12345678901", "1e400", "1/3000000000"} {
		if s, err := ParseShare(text); err == nil {
			t.Errorf("share %q is read as %v", text, s)
		}
	}
}
