package allocate

import (
	"cmp"
	"math"
	"slices"

	"capcli"
)

// Objective solves a problem that Check has passed.
type Objective func(p *Problem) *Result

// Options say which of the optima is taken: that with the largest sum of values (las) or of relative speeds, or
// an even one.
type Options struct {
	// Even takes the optimum in which each job has its time on all types where it runs in proportion to
	// their GPUs, if that is one. It is for problems in which a job is as fast on all of them.
	Even bool
}

// Agnostic returns p with each throughput above 0 replaced by that of the first type on which the job
// runs: the problem as a scheduler sees it that does not know that types differ.
func (p *Problem) Agnostic() *Problem {
	out := &Problem{Workers: p.Workers, Jobs: slices.Clone(p.Jobs)}
	for m := range out.Jobs {
		b := &out.Jobs[m]
		b.Throughput = slices.Clone(b.Throughput)
		first := 0.0
		for j, t := range b.Throughput {
			if t > 0 {
				first = cmp.Or(first, t)
				b.Throughput[j] = first
			}
		}
	}
	return out
}

// spreadEvenly returns x with the time of each job on all types in proportion to their GPUs; x itself if
// that is too much for one.
func (p *Problem) spreadEvenly(x [][]float64) [][]float64 {
	entitled, out := p.entitled(), make([][]float64, len(x))
	for m, row := range x {
		time, share := 0.0, 0.0
		for j, v := range row {
			if time += v; p.Jobs[m].Throughput[j] > 0 {
				share += entitled[j]
			}
		}
		out[m] = make([]float64, len(row))
		for j := range row {
			if p.Jobs[m].Throughput[j] > 0 {
				out[m][j] = time * entitled[j] / share
			}
		}
	}
	if p.Excess(out) > 1e-9 {
		return x
	}
	return out
}

// Objectives holds the objectives by name.
var Objectives = capcli.Catalog[Objective]{Kind: "objective"}

func init() {
	Objectives.Add("las", "the job that has had least, in shares of what it would have alone, gets as much as possible (max-min fairness)", (*Problem).fair)
	Objectives.Add("finish_time_fairness", "the job that is slowed down most, against an equal share of its own, is slowed down as little as possible (Themis)", (*Problem).timely)
}

// Solve checks p and returns an optimum of the objective called name.
func Solve(p *Problem, name string, o Options) (*Result, error) {
	solve, err := Objectives.Get(name)
	if err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	r := solve(p)
	if o.Even {
		r.X = p.spreadEvenly(r.X)
	}
	return r, nil
}

// market returns the program in which job m has value times scale(m) of its throughput.
func (p *Problem) market(scale func(m int) float64) *market {
	out := &market{types: len(p.Workers), bidders: make([]bidder, len(p.Jobs))}
	numbers := make([]float64, 2*len(p.Jobs)*out.types)
	for m := range p.Jobs {
		b, s := &p.Jobs[m], scale(m)
		load, value := numbers[:out.types:out.types], numbers[out.types:2*out.types:2*out.types]
		numbers = numbers[2*out.types:]
		for j, t := range b.Throughput {
			load[j] = b.count() * float64(b.GPUs) / float64(p.Workers[j])
			value[j] = t * s
		}
		out.bidders[m] = bidder{load: load, value: value}
	}
	return out
}

// fair raises the least of the values
//
//	v = GPUs / weight × throughput / (throughput with an equal share of all types all the time).
func (p *Problem) fair() *Result {
	entitled := p.entitled()
	scale := make([]float64, len(p.Jobs))
	for m := range p.Jobs {
		b := &p.Jobs[m]
		mean := 0.0
		for j, t := range b.Throughput {
			mean += t * entitled[j]
		}
		weight := cmp.Or(b.Weight, 1)
		scale[m] = float64(b.GPUs) / weight / mean
	}
	k := p.market(func(m int) float64 { return scale[m] })
	claims := make([]claim, len(p.Jobs))
	for m := range claims {
		claims[m] = claim{work: 1, base: 1}
	}
	r := k.solve(claims, func(m int) float64 { return p.Jobs[m].count() })
	r.Objective = math.Inf(1)
	for m := range scale {
		r.Objective = min(r.Objective, scale[m]*p.Throughput(m, r.X[m]))
	}
	return r
}

// timely makes the largest ratio as small as possible of the time that a job takes, from its start, to
// the time that it takes with an equal share of its own:
//
//	ρ = (elapsed + steps / throughput) / (isolated + steps / throughput of the share).
//
// A job without steps asks for nothing, and has no ratio but that of its past. The level of the claims is 1 / ρ.
func (p *Problem) timely() *Result {
	top := 0.0
	for m := range p.Jobs {
		top = max(top, p.Jobs[m].topSpeed())
	}
	k := p.market(func(int) float64 { return 1 / top }) // values near 1
	claims, alone := make([]claim, len(p.Jobs)), make([]float64, len(p.Jobs))
	anySteps := false
	for m := range claims {
		b := &p.Jobs[m]
		alone[m] = b.Isolated + b.Steps/p.IsolatedThroughput(m)
		claims[m] = claim{work: b.Steps / top, base: alone[m], elapsed: b.Elapsed}
		if b.Steps == 0 {
			claims[m] = claim{fixed: true}
		}
		anySteps = anySteps || b.Steps > 0
	}
	if !anySteps {
		return &Result{X: k.rowsOf(&answer{x: make([]float64, len(p.Jobs)*k.types)})}
	}
	r := k.solve(claims, func(m int) float64 { return p.Jobs[m].count() / k.bidders[m].top() })
	for m := range p.Jobs {
		if b := &p.Jobs[m]; b.Steps > 0 {
			r.Objective = max(r.Objective, (b.Elapsed+b.Steps/p.Throughput(m, r.X[m]))/alone[m])
		}
	}
	return r
}

// solve raises the level of all claims, then what else can be had: the sum of values times their units.
func (k *market) solve(claims []claim, unit func(m int) float64) *Result {
	l := k.raise(claims)
	sum := 0.0
	k.claimAll(claims, l.s)
	if l.full != nil {
		k.restrict(l.full)
	}
	for m := range k.bidders {
		b := &k.bidders[m]
		b.reward = make([]float64, k.types)
		for j, v := range b.value {
			b.reward[j] = unit(m) * v
		}
		sum += unit(m) * b.top()
	}
	l.answer.worth = k.worth(&l.answer)
	best, _ := k.enrich(l.answer, sum)
	best.scaleDown()
	return &Result{X: k.rowsOf(&best), Duals: l.prices}
}

// rowsOf returns an answer's X, a row for each bidder.
func (k *market) rowsOf(a *answer) [][]float64 {
	rows := make([][]float64, len(k.bidders))
	for i := range rows {
		rows[i] = a.x[i*k.types : (i+1)*k.types : (i+1)*k.types]
	}
	return rows
}

func (k *market) worth(a *answer) (sum float64) {
	for m := range k.bidders {
		for j, x := range a.x[m*k.types : (m+1)*k.types] {
			sum += x * k.bidders[m].reward[j]
		}
	}
	return sum
}
