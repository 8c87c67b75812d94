package allocate

import (
	"math"

	"capcli"
)

// Objective solves a problem that Check has passed.
type Objective func(p *Problem, o Options) *Result

// Options say which of the optima is taken.
type Options struct {
	// Fill takes the lexicographic optimum of a least value that is as high as possible: raise the
	// least, fix those that cannot rise, raise the next. Without it, it is the optimum with the largest
	// sum of values (las) or of relative speeds.
	Fill bool
	// Even takes the optimum in which each job has its time on all types where it runs in proportion to
	// their GPUs, if that is one. It is for problems in which a job is as fast on all of them.
	Even bool
}

// Agnostic returns p with each throughput above 0 replaced by that of the first type on which the job
// runs: the problem as a scheduler sees it that does not know that types differ.
func (p *Problem) Agnostic() *Problem {
	return p.alike(func(b *Job, _ float64) float64 {
		for _, t := range b.Throughput {
			if t > 0 {
				return t
			}
		}
		return 0
	})
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
	Objectives.Add("las", "the job that has had least, in shares of what it would have alone, gets as much as possible (max-min fairness)", func(p *Problem, o Options) *Result {
		return p.fair(o)
	})
	Objectives.Add("las_agnostic", "las, with all types taken as equally fast", func(p *Problem, o Options) *Result {
		return p.alike(func(*Job, float64) float64 { return 1 }).fair(o)
	})
	Objectives.Add("makespan", "the last job ends as early as possible", func(p *Problem, o Options) *Result {
		return p.shortest(o)
	})
	Objectives.Add("makespan_agnostic", "makespan, with all types taken as fast as the first", func(p *Problem, o Options) *Result {
		return p.alike(func(b *Job, _ float64) float64 { return b.Throughput[0] }).shortest(o)
	})
	Objectives.Add("finish_time_fairness", "the job that is slowed down most, against an equal share of its own, is slowed down as little as possible (Themis)", func(p *Problem, o Options) *Result {
		return p.timely(o)
	})
	Objectives.Add("fifo", "earlier jobs go first: the sum of speeds, weighted by the order of arrival", func(p *Problem, _ Options) *Result {
		return p.inOrder()
	})
	Objectives.Add("cost", "the most work per dollar, with each SLO kept", func(p *Problem, _ Options) *Result {
		return p.cheapest()
	})
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
	r := solve(p, o)
	if o.Even && r.Feasible {
		r.X = p.spreadEvenly(r.X)
	}
	return r, nil
}

// alike returns p with each throughput above 0 replaced by as. Where as is 0 it stays.
func (p *Problem) alike(as func(b *Job, throughput float64) float64) *Problem {
	out := &Problem{Workers: p.Workers, Prices: p.Prices, Jobs: make([]Job, len(p.Jobs))}
	for m := range p.Jobs {
		b := p.Jobs[m]
		row := make([]float64, len(b.Throughput))
		for j, t := range b.Throughput {
			if t > 0 {
				row[j] = as(&p.Jobs[m], t)
			}
		}
		b.Throughput = row
		out.Jobs[m] = b
	}
	return out
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
func (p *Problem) fair(o Options) *Result {
	entitled := p.entitled()
	scale := make([]float64, len(p.Jobs))
	for m := range p.Jobs {
		b := &p.Jobs[m]
		mean := 0.0
		for j, t := range b.Throughput {
			mean += t * entitled[j]
		}
		weight := b.Weight
		if weight == 0 {
			weight = 1
		}
		scale[m] = float64(b.GPUs) / weight / mean
	}
	k := p.market(func(m int) float64 { return scale[m] })
	claims := make([]claim, len(p.Jobs))
	for m := range claims {
		claims[m] = claim{work: 1, base: 1}
	}
	r := k.solve(claims, o, func(m int) float64 { return p.Jobs[m].count() })
	r.Values = make([]float64, len(p.Jobs))
	r.Objective = math.Inf(1)
	for m := range r.Values {
		r.Values[m] = scale[m] * p.Throughput(m, r.X[m])
		r.Objective = min(r.Objective, r.Values[m])
	}
	return r
}

// shortest makes the longest time that a job needs as short as possible. A job without steps needs none.
func (p *Problem) shortest(o Options) *Result {
	return p.lowestRatio(o, func(m int) claim { return claim{work: p.Jobs[m].Steps, base: 1} }, func(m int, throughput float64) float64 {
		return p.Jobs[m].Steps / throughput
	})
}

// timely makes the largest ratio as small as possible of the time that a job takes, from its start, to
// the time that it takes with an equal share of its own:
//
//	ρ = (elapsed + steps / throughput) / (isolated + steps / throughput of the share).
func (p *Problem) timely(o Options) *Result {
	alone := make([]float64, len(p.Jobs))
	for m := range alone {
		alone[m] = p.Jobs[m].Isolated + p.Jobs[m].Steps/p.IsolatedThroughput(m)
	}
	return p.lowestRatio(o, func(m int) claim {
		return claim{work: p.Jobs[m].Steps, base: alone[m], elapsed: p.Jobs[m].Elapsed}
	}, func(m int, throughput float64) float64 {
		return (p.Jobs[m].Elapsed + p.Jobs[m].Steps/throughput) / alone[m]
	})
}

// lowestRatio makes the largest of the ratios as small as possible: the level of the claims is 1 / ratio. A
// job without steps asks for nothing, and has no ratio but that of its past.
func (p *Problem) lowestRatio(o Options, of func(m int) claim, ratio func(m int, throughput float64) float64) *Result {
	top := 0.0
	for m := range p.Jobs {
		top = max(top, p.Jobs[m].topSpeed())
	}
	k := p.market(func(int) float64 { return 1 / top }) // values near 1
	claims := make([]claim, len(p.Jobs))
	any := false
	for m := range claims {
		claims[m] = of(m)
		claims[m].work /= top
		if p.Jobs[m].Steps == 0 {
			claims[m] = claim{fixed: true}
		}
		any = any || !claims[m].fixed
	}
	if !any {
		return &Result{Feasible: true, X: k.rowsOf(&answer{x: make([]float64, len(p.Jobs)*k.types)})}
	}
	r := k.solve(claims, o, func(m int) float64 { return p.Jobs[m].count() / k.bidders[m].top() })
	for m := range p.Jobs {
		if p.Jobs[m].Steps > 0 {
			r.Objective = max(r.Objective, ratio(m, p.Throughput(m, r.X[m])))
		}
	}
	return r
}

// solve raises the level of all claims, then what else can be had: each claim in turn, or the sum of
// values times their units.
func (k *market) solve(claims []claim, o Options, unit func(m int) float64) *Result {
	l := k.raise(claims, 0)
	r := &Result{Feasible: true, Duals: l.prices}
	if o.Fill {
		for k.freeze(claims, &l) {
			l = k.raise(claims, l.s)
		}
		r.X = k.rowsOf(&l.answer)
		return r
	}
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
	r.X = k.rowsOf(&best)
	return r
}

// rowsOf returns an answer's X, a row for each bidder.
func (k *market) rowsOf(a *answer) [][]float64 {
	rows := make([][]float64, len(k.bidders))
	for i := range rows {
		rows[i] = a.x[i*k.types : (i+1)*k.types : (i+1)*k.types]
	}
	return rows
}

// inOrder makes the sum of relative speeds as large as possible, each times the number of jobs from it
// to the last. A group of equal jobs has the mean of their numbers.
func (p *Problem) inOrder() *Result {
	k := p.market(func(m int) float64 { return 1 / p.Jobs[m].topSpeed() })
	rest, sum := p.size(), 0.0
	for m := range k.bidders {
		b, n := &k.bidders[m], p.Jobs[m].count()
		b.reward = make([]float64, k.types)
		for j, v := range b.value {
			b.reward[j] = n * (rest - (n-1)/2) * v
		}
		sum += n * (rest - (n-1)/2)
		rest -= n
	}
	a, _ := k.respond(make([]float64, k.types)) // all on their best type: too much, but it scales down
	a.scaleDown()
	best, duals := k.enrich(a, sum)
	best.scaleDown()
	return &Result{Feasible: true, Objective: best.worth, X: k.rowsOf(&best), Duals: duals}
}

// cheapest makes the work per dollar as large as possible, where the work of a job is its throughput
// over its highest one, and each SLO is kept. It is Dinkelbach's method ("On Nonlinear Fractional
// Programming", Management Science 1967): the best of work − λ dollars, with λ raised to the ratio of
// the best until nothing is gained.
func (p *Problem) cheapest() *Result {
	k := p.market(func(m int) float64 { return 1 / p.Jobs[m].topSpeed() })
	for m := range k.bidders {
		b := &k.bidders[m]
		if job := &p.Jobs[m]; job.SLO > 0 {
			b.floor = job.Steps / job.SLO / job.topSpeed()
		}
		if b.floor > 1+1e-12 {
			return &Result{}
		}
		b.floor = min(b.floor, 1)
	}
	first, busiest, full := k.spread(k.evenPrices())
	if busiest > 1+1e-9 {
		return &Result{}
	}
	if busiest >= 1-1e-9 {
		k.restrict(full)
	}
	first.scaleDown()
	lambda, scale := 0.0, 0.0
	for m := range k.bidders {
		k.bidders[m].reward = make([]float64, k.types)
		scale += p.Jobs[m].count()
	}
	best := first
	for range 200 {
		for m := range k.bidders {
			b := &k.bidders[m]
			for j, v := range b.value {
				b.reward[j] = p.Jobs[m].count() * (v - lambda*p.price(m, j))
			}
		}
		first.worth = k.worth(&first)
		next, duals := k.enrich(first, scale)
		next.scaleDown()
		work, dollars := p.ratio(k, &next)
		if dollars > 0 && work/dollars > lambda*(1+1e-12) {
			lambda, best = work/dollars, next
			first = next
			continue
		}
		return &Result{Feasible: true, Objective: lambda, X: k.rowsOf(&best), Duals: duals}
	}
	return &Result{Feasible: true, Objective: lambda, X: k.rowsOf(&best)}
}

// price returns the dollars an hour of job m with X = 1 on type j.
func (p *Problem) price(m, j int) float64 {
	if p.Prices == nil {
		return float64(p.Jobs[m].GPUs)
	}
	return p.Prices[j] * float64(p.Jobs[m].GPUs)
}

// worth returns the rewards of an answer.
func (k *market) worth(a *answer) (sum float64) {
	for m := range k.bidders {
		for j, x := range a.x[m*k.types : (m+1)*k.types] {
			sum += x * k.bidders[m].reward[j]
		}
	}
	return sum
}

// ratio returns the work and the dollars of an answer.
func (p *Problem) ratio(k *market, a *answer) (work, dollars float64) {
	for m := range k.bidders {
		for j, x := range a.x[m*k.types : (m+1)*k.types] {
			work += p.Jobs[m].count() * x * k.bidders[m].value[j]
			dollars += p.Jobs[m].count() * x * p.price(m, j)
		}
	}
	return work, dollars
}
