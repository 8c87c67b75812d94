package allocate

import (
	"context"
	"fmt"
	"math"
	"testing"

	"capcli/simulate/linear"

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
			Isolated: rapid.SampledFrom([]float64{0, 10, 1e4}).Draw(t, "isolated"),
		})
	}
	return p
}

// bound returns a lower bound of the cost of all jobs that have at least the given throughputs, where
// GPUs of type j have prices[j] in all. It is the dual of each job's own program, at
// the best of the multipliers at which its terms meet; any multiplier would be a bound.
func bound(p *Problem, prices, floors []float64) (sum float64) {
	for m := range p.Jobs {
		b := &p.Jobs[m]
		cost := make([]float64, len(prices))
		for j := range cost {
			cost[j] = prices[j] * b.count() * float64(b.GPUs) / float64(p.Workers[j])
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
		for _, name := range Objectives.Names() {
			r, err := Solve(p, name, Options{})
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
			if !proved && (r.Duals == nil || bound(p, r.Duals, floors) <= 1) {
				rt.Fatalf("%s: %v is not proved, duals %v: %v for %v", name, r.Objective, r.Duals, bound(p, r.Duals, floors), floors)
			}
		}
	})
}

// leastLoad returns the least use of the busiest type with floors, and by how much they are missed, from
// the whole program with a row for each constraint, which prices of types have no part in.
func leastLoad(p *Problem, floors []float64) (load, short float64) {
	q, misses := solveWhole(p, floors)
	for _, v := range misses {
		short += max(0, q.Values[v])
	}
	return q.Values[0], short
}

// solveWhole solves the whole program, the least use of the busiest type. It returns the variables of what
// floors miss.
func solveWhole(p *Problem, floors []float64) (q *linear.Program, misses []int) {
	jobs, types, inf := len(p.Jobs), len(p.Workers), math.Inf(1)
	right := make([]float64, 2*jobs+types)
	basis := make([]int, len(right))
	variables := []linear.Variable{linear.Bounded(nil, nil, 1, 0, inf)}
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
				add(linear.Bounded([]int{m, jobs + m, 2*jobs + j}, []float64{1, t / best, b.count() * float64(b.GPUs) / float64(p.Workers[j])}, 0, 0, inf))
			}
		}
	}
	q = linear.NewProgram(right, variables, basis, nil)
	q.Solve(context.Background(), 20000)
	return q, misses
}

// TestSecondSolver compares with the whole program: the objective can be met and a little more cannot.
func TestSecondSolver(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		for _, name := range Objectives.Names() {
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

// TestOneType compares las on one type with the level found by halves: as high as the GPUs allow, and no higher
// than the share of a job that has all the time.
func TestOneType(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &Problem{Workers: []int{rapid.IntRange(1, 12).Draw(rt, "workers")}}
		for range rapid.IntRange(1, 10).Draw(rt, "jobs") {
			p.Jobs = append(p.Jobs, Job{
				Throughput: []float64{rapid.Float64Range(0.1, 9).Draw(rt, "throughput")},
				GPUs:       rapid.IntRange(1, 4).Draw(rt, "gpus"), Weight: float64(rapid.IntRange(1, 3).Draw(rt, "weight")),
			})
		}
		r, err := Solve(p, "las", Options{})
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
		want := low
		for _, b := range p.Jobs {
			want = min(want, float64(b.GPUs)/b.Weight)
		}
		if !isNear(r.Objective, want, 1e-7) {
			rt.Fatalf("the least of the shares is %v, want %v", r.Objective, want)
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
		"jobs job 0: 0 GPUs, want 1 to 1073741824":        {Workers: []int{1}, Jobs: []Job{{Throughput: []float64{1}}}},
		"jobs job 0: a throughput of NaN, want 0 or more": {Workers: []int{1, 1}, Jobs: []Job{{Throughput: []float64{1, math.NaN()}, GPUs: 1}}},
		"workers type 0 has 0 GPUs, want 1 to 1073741824": {Workers: []int{0}, Jobs: []Job{job}},
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
}
