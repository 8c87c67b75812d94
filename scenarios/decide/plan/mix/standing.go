package mix

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"capcli"
	"capcli/scenarios/decide/plan"
)

// Standing says how sure the size of the best mix is: which sizes cost the same, waits counted, within the noise of the runs, and
// what a wrong one costs. Sizes are the best mix with other numbers of committed GPUs; differences are paired over the
// runs, with ranges of 95 %.
type Standing struct {
	From     int64      `json:"tied_from_gpus"`
	To       int64      `json:"tied_to_gpus"`
	Step     int64      `json:"step_gpus"` // from one size that can be chosen to the next
	Runs     int        `json:"runs"`
	RunsMost int        `json:"runs_most"`    // the budget: where the request does not say, runs go on until the answer stands, or to this many
	Stake    capcli.USD `json:"at_stake_usd"` // the most that another size of the tie may cost less
	// Stands means that the tie is at most one step wide, or that the stake is at most Share of the cost.
	Stands bool    `json:"stands"`
	Share  float64 `json:"stake_share"`
	Wrong  []Wrong `json:"wrong_choices"`
}

// Wrong is a size outside the tie, and what it costs more.
type Wrong struct {
	GPUs  int64        `json:"committed_gpus"`
	More  capcli.USD   `json:"more_usd"` // below 0: it costs less, and its waits count more
	In    []capcli.USD `json:"more_range_usd"`
	Waits capcli.USD   `json:"waits_more_usd,omitempty"` // by what its waits count more; no part of More
	Holds bool         `json:"holds_limits"`
}

// stakeShare is the share of the cost under which a stake does not matter.
const stakeShare = 0.01

// difference returns the mean by which an amount of e is more than that of best over the runs, and the half width of its range of 95 %
// (Student, paired). A single run has no noise.
func difference(e, best *Entry, amount func(o *Outcome) capcli.USD) (mean, half float64) {
	n := float64(min(len(e.Outcomes), len(best.Outcomes)))
	d := make([]float64, int(n))
	for k := range d {
		d[k] = (amount(&e.Outcomes[k]) - amount(&best.Outcomes[k])).Float()
		mean += d[k] / n
	}
	if n < 2 {
		return mean, 0
	}
	square := 0.0
	for _, x := range d {
		square += (x - mean) * (x - mean)
	}
	return mean, distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * math.Sqrt(square/(n-1)/n)
}

// standing compares the best mix with the same mix of other sizes; nil where there are none, or the runs have weights
// or another risk than the mean is minimised.
func (s *study) standing(by map[int64]*Entry) *Standing {
	if s.best == nil || len(by) < 2 || s.problem.Weights != nil || s.Search.Risk.Kind != plan.Mean {
		return nil
	}
	sizes := make([]int64, 0, len(by))
	for gpus := range by {
		sizes = append(sizes, gpus)
	}
	slices.Sort(sizes)
	own := slices.IndexFunc(sizes, func(g int64) bool { return by[g] == s.best })
	if own < 0 {
		return nil
	}
	out := &Standing{From: sizes[own], To: sizes[own], Runs: len(s.best.Outcomes), RunsMost: s.runsMost(), Share: stakeShare, Wrong: []Wrong{}}
	out.Step = s.sizeStep()
	tied := func(g int64) bool {
		e := by[g]
		mean, half := difference(e, s.best, (*Outcome).costWithWaits)
		if !e.holds(s.Search.Hold) || mean-half > 0 {
			return false
		}
		out.Stake = max(out.Stake, capcli.USDOf(half-mean))
		return true
	}
	lo, hi := own, own
	for lo > 0 && tied(sizes[lo-1]) {
		lo--
	}
	for hi+1 < len(sizes) && tied(sizes[hi+1]) {
		hi++
	}
	out.From, out.To = sizes[lo], sizes[hi]
	cost := s.best.Cost().Float()
	out.Stands = out.To-out.From <= out.Step || out.Stake.Float() <= stakeShare*cost
	far := max(out.Step, sizes[own]/10)
	wrong := func(g int64) {
		e := by[g]
		mean, half := difference(e, s.best, func(o *Outcome) capcli.USD { return o.Cost })
		out.Wrong = append(out.Wrong, Wrong{
			GPUs: g, More: capcli.USDOf(mean), In: []capcli.USD{capcli.USDOf(mean - half), capcli.USDOf(mean + half)}, Holds: e.holds(s.Search.Hold),
			Waits: e.CostWithWaits() - e.Cost() - s.best.CostWithWaits() + s.best.Cost(),
		})
	}
	for k := lo - 1; k >= 0; k-- {
		if out.From-sizes[k] >= far || k == 0 {
			wrong(sizes[k])
			break
		}
	}
	for k := hi + 1; k < len(sizes); k++ {
		if sizes[k]-out.To >= far || k == len(sizes)-1 {
			wrong(sizes[k])
			break
		}
	}
	return out
}

// sizeStep returns the least difference between two sizes that can be chosen, in GPUs.
func (s *study) sizeStep() int64 {
	step := int64(math.MaxInt64)
	for _, a := range s.sizeAxes() {
		axis := &s.problem.Space.Axes[a]
		unit := int64(1)
		for i := range s.req.Case.Scenario.Capacity {
			if c := &s.req.Case.Scenario.Capacity[i]; strings.HasSuffix(axis.Path, ".nodes") && strings.HasPrefix(axis.Path, "capacity."+c.Name+".") {
				unit = int64(max(1, c.GPUsPerNode))
			}
		}
		last := int64(-1)
		for _, v := range axis.Values {
			n := int64(largest([]string{v}))
			if last >= 0 && n > last {
				step = min(step, (n-last)*unit)
			}
			last = n
		}
	}
	if step == math.MaxInt64 {
		return 1
	}
	return step
}

// The budget of runs where the request does not say how many: at most runsBudget times the default, of mixes whose
// jobs are not more than growthJobs in all, and whose hours of use on demand are not more than growthHours.
const (
	runsBudget  = 4
	growthJobs  = 3_000_000
	growthHours = 30_000_000
)

// runsMost returns the most runs that the plan may have.
func (p *Planner) runsMost() int {
	if p.req.Runs > 0 || !p.chance || p.first <= 1 || len(p.req.Futures) > 0 || p.req.Confidence == 0 {
		return p.problem.Runs
	}
	most := runsBudget * p.first
	if p.ahead != nil {
		most = min(most, len(p.ahead.set.Futures.Paths))
	}
	return max(most, p.problem.Runs)
}

// Find searches for the best mix. Where the request does not say how many runs to do, it doubles them until the
// answer stands or the budget is spent. Where ctx ends it returns the error and what it has found so far:
// nil where not one run has finished. It fails with *capcli.InputError where no mix is valid.
func (p *Planner) Find(ctx context.Context) (*Found, error) {
	p.first = p.problem.Runs
	most := p.runsMost()
	if most == p.problem.Runs {
		f, err := p.Search.Run(ctx)
		return f, p.Fault(err)
	}
	cache := p.remember()
	f, err := p.Search.Run(ctx)
	for err == nil && p.mayGrow(f, most) {
		before := p.problem.Runs
		p.problem.Runs = min(2*before, most)
		more, failed := p.Search.Run(ctx)
		if failed != nil { // the answer of fewer runs is whole
			p.problem.Runs, err = before, failed
			break
		}
		f = more
	}
	if f != nil && !f.Partial {
		f.Simulations = cache.simulations
	}
	return f, p.Fault(err)
}

// mayGrow reports whether more runs are worth their time: the answer does not stand, and the budget allows twice
// as many.
func (p *Planner) mayGrow(f *Found, most int) bool {
	if p.problem.Runs >= most {
		return false
	}
	jobs, err := p.problem.Jobs(0)
	if err != nil || f.Simulations*len(jobs) > growthJobs {
		return false
	}
	s := &study{Planner: p, found: f, best: f.BestEntry(), bound: noBound(""), out: &Result{}}
	axes := s.sizeAxes()
	if s.best == nil || len(axes) == 0 {
		return false
	}
	if p.problem.tariff != nil && int64(len(f.Entries)*2*p.problem.Runs)*int64(s.best.Length()/capcli.Hour) > growthHours {
		return false
	}
	by := map[int64]*Entry{}
	if s.sortSizes(by, f.Entries, s.best, axes) != nil {
		return false
	}
	x := s.standing(by)
	return x != nil && !x.Stands
}

// outcomeCache keeps the outcomes of a search, so that a search of more runs computes none twice.
type outcomeCache struct {
	known       map[[2]int]Outcome // by candidate and run
	simulations int
}

// remember makes the search keep its outcomes.
func (p *Planner) remember() *outcomeCache {
	c := &outcomeCache{known: map[[2]int]Outcome{}}
	evaluate := p.Search.Evaluate
	if evaluate == nil {
		evaluate = p.problem.evaluate
	}
	p.Search.Evaluate = func(ctx context.Context, run int, candidates []*Candidate) ([]Outcome, error) {
		out := make([]Outcome, len(candidates))
		var places []int
		var unknown []*Candidate
		for i, x := range candidates {
			o, ok := c.known[[2]int{x.Index, run}]
			if out[i] = o; !ok {
				out[i].Run = notRun
				places, unknown = append(places, i), append(unknown, x)
			}
		}
		if len(unknown) == 0 {
			return out, ctx.Err()
		}
		fresh, err := evaluate(ctx, run, unknown)
		for k := range fresh {
			out[places[k]] = fresh[k]
			if fresh[k].Run != notRun {
				c.known[[2]int{unknown[k].Index, run}] = fresh[k]
			}
		}
		if err == nil {
			c.simulations += len(groupByKey(unknown))
		}
		return out, err
	}
	return c
}

// StandingText says in a sentence what the plan is tied with and what a wrong choice costs; "" where that is not known.
func (r *Result) StandingText() string {
	x := r.Standing
	if x == nil {
		return ""
	}
	var parts []string
	if x.To > x.From {
		noise := ""
		if x.Runs > 1 {
			noise = fmt.Sprintf(" within the noise of %d runs", x.Runs)
		}
		parts = append(parts, fmt.Sprintf("%s to %s GPUs cost the same%s", capcli.Grouped(x.From), capcli.Grouped(x.To), noise))
	}
	var wrong []string
	for _, w := range slices.SortedFunc(slices.Values(x.Wrong), func(a, b Wrong) int { return cmp.Compare(a.GPUs, b.GPUs) }) {
		switch {
		case !w.Holds:
			wrong = append(wrong, fmt.Sprintf("%s would break a limit", capcli.Grouped(w.GPUs)))
		case w.More < 0:
			wrong = append(wrong, fmt.Sprintf("%s would cost %s less, and its waits count %s more", capcli.Grouped(w.GPUs), -w.More, w.Waits))
		default:
			wrong = append(wrong, fmt.Sprintf("%s would cost %s more", capcli.Grouped(w.GPUs), w.More))
		}
	}
	if len(wrong) > 0 {
		parts = append(parts, strings.Join(wrong, ", "))
	}
	if !x.Stands {
		parts = append(parts, fmt.Sprintf("the answer does not stand after %d runs: another size may cost up to %s less (--runs does more)", x.Runs, x.Stake))
	}
	return strings.Join(parts, "; ")
}
