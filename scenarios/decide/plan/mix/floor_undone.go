package mix

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/simulate"
)

// undone is a lower bound on the work of one run that a capacity leaves undone, whatever the
// policy.
type undone struct {
	work, possible capcli.GPUTime // the bound, and all possible work, in thousandths of GPU-seconds
	all            beyond         // of all jobs together
	kinds          []beyond       // of the jobs of each partition and GPU model
}

// beyond is a lower bound on the work that committed capacity cannot do, and the other pools that
// may do it.
type beyond struct {
	work  capcli.GPUTime
	pools []int // indexes of elastic pools
}

// share returns the least share of the possible work that is left undone.
func (u undone) share() float64 {
	if u.possible == 0 {
		return 0
	}
	return float64(u.work) / float64(u.possible)
}

// request is the work that a job can do from at to the end of the run.
type request struct {
	at   capcli.Seconds
	work capcli.GPUTime
}

// leastUndone returns a lower bound on the work that a run leaves undone. It is the backlog of a
// fluid queue: all the work of a job arrives at its submission, and all capacity that may serve the
// job drains it, up to the end of the run. No schedule does more, for a job cannot run before it
// arrives, nor on more GPUs than there are. The bound is computed for all jobs together, and for
// the jobs of each partition and GPU model on the pools that may serve them; the largest counts.
// A job with several ways arrives as the least GPU time that it takes in any.
// Without a period it is 0. Where checkpoints pause jobs, each job is taken to work at most the
// share of its time that the costliest checkpoints leave.
func (b *bounds) leastUndone(cfg *simulate.Config, run int) (undone, error) {
	if cfg.Until <= 0 {
		return undone{}, nil
	}
	key := capacityKey(cfg, run)
	if u, ok := b.undone[key]; ok {
		return u, nil
	}
	kept, err := recall(b.p.Memory, "undone|"+b.p.Jobset+"|"+key, func() (*undoneKept, error) {
		u, err := b.computeUndone(cfg, run)
		return u.toKeep(), err
	})
	if err != nil {
		return undone{}, err
	}
	b.undone[key] = kept.undone()
	return b.undone[key], nil
}

// computeUndone is leastUndone without its memory.
func (b *bounds) computeUndone(cfg *simulate.Config, run int) (undone, error) {
	jobs, err := b.p.Jobs(run)
	if err != nil {
		return undone{}, err
	}
	type kind struct {
		partition, model string
		shape            *capcli.Shape // of jobs with ways
	}
	kinds := map[kind][]request{}
	var all []request
	var most undone
	start := cfg.Start
	if !start.IsKnown() && len(jobs) > 0 {
		start = jobs[0].Submit
	}
	pace := leastPace(cfg.Restarts.Classes)
	for i := range jobs {
		j := &jobs[i]
		length := runTime(j, cfg.KillAtLimit)
		at := max(0, capcli.Seconds(j.Submit-start))
		left := max(0, cfg.Until-at)
		most.possible += capcli.GPUTime(j.Milli() * int64(min(length, left)))
		if most.possible > math.MaxInt64/4 {
			return undone{}, nil // the run itself reports the overflow
		}
		work := capcli.GPUTime(j.Milli() * int64(min(length, capcli.Seconds(pace*float64(left)))))
		k := kind{j.Partition, j.GPUModel, nil}
		if j.Shape != nil || j.Stage != nil {
			most.possible += b.mostPossible(j, length) - capcli.GPUTime(j.Milli()*int64(min(length, left)))
			if work, k.shape = leastWork(j, cfg.KillAtLimit, work), nil; hasWays(j) {
				k.shape = j.Shape
			}
		}
		if work <= 0 {
			continue
		}
		kinds[k] = append(kinds[k], request{at, work})
		all = append(all, request{at, work})
	}
	every := func(*simulate.Pool) bool { return true }
	most.work = drain(all, capacityOver(cfg, every), cfg.Until)
	most.all = beyondOf(cfg, all, every)
	for k, list := range kinds { // a maximum, and a sum of whole numbers: the order does not matter
		own := slices.ContainsFunc(cfg.Pools, func(p simulate.Pool) bool { return p.Partition == k.partition })
		serves := func(p *simulate.Pool) bool {
			return (p.Partition == "" || p.Partition == k.partition || !own) && (modelServes(p.GPUModel, k.model) || k.shape != nil && hasModel(k.shape, p.GPUModel))
		}
		most.work = max(most.work, drain(list, capacityOver(cfg, serves), cfg.Until))
		most.kinds = append(most.kinds, beyondOf(cfg, list, serves))
	}
	return most, nil
}

// beyondOf returns the work that the committed pools that may serve it cannot do, and the elastic
// pools that may serve it.
func beyondOf(cfg *simulate.Config, list []request, serves func(*simulate.Pool) bool) beyond {
	var out beyond
	for i := range cfg.Pools {
		if p := &cfg.Pools[i]; !p.Terms.Committed() && serves(p) {
			out.pools = append(out.pools, i)
		}
	}
	out.work = drain(list, capacityOver(cfg, func(p *simulate.Pool) bool { return p.Terms.Committed() && serves(p) }), cfg.Until)
	return out
}

// use returns the least cost of the work beyond the committed capacity. Each part of it is done at
// the lowest price of a pool that may do it, or left undone. At most the share allowed of all work
// is left undone free of charge; where priced is over 0, undone work costs that rate.
func (u *undone) use(rates []billing.Rate, allowed float64, priced capcli.Rate) capcli.USD {
	if allowed > 1 && priced <= 0 {
		return 0
	}
	var most capcli.USD
	for _, parts := range [][]beyond{{u.all}, u.kinds} {
		sum, top := beyondCost(parts, rates, priced)
		if priced <= 0 {
			sum -= capcli.Cost(top, capcli.GPUTime(math.Ceil(allowed*float64(u.possible)))) + 1
		}
		most = max(most, sum)
	}
	return most
}

// useOfAll returns use of all the work, none of it left undone, and how much less it costs at most where all is
// left undone.
func (u *undone) useOfAll(rates []billing.Rate) (full, slope capcli.USD) {
	for _, parts := range [][]beyond{{u.all}, u.kinds} {
		if sum, top := beyondCost(parts, rates, 0); sum > full {
			full, slope = sum, capcli.Cost(top, u.possible)+1
		}
	}
	return full, slope
}

// beyondCost returns the least cost of work, each part at the lowest price of a pool that may do it or at priced
// where that is over 0 and less, and the highest of these prices.
func beyondCost(parts []beyond, rates []billing.Rate, priced capcli.Rate) (sum capcli.USD, top capcli.Rate) {
	for _, b := range parts {
		price := priced
		for _, i := range b.pools {
			if p := lowest(&rates[i]); price <= 0 || p < price {
				price = p
			}
		}
		sum += capcli.Cost(max(0, price), b.work) - 1
		top = max(top, price)
	}
	return sum, top
}

// leastPace returns the least share of its time in which a job works: checkpoints of cost Cost
// pause it after each interval of work.
func leastPace(classes []simulate.RestartClass) float64 {
	pace := 1.0
	for i := range classes {
		if c := &classes[i]; c.Interval > 0 && c.Cost > 0 {
			pace = min(pace, float64(c.Interval)/float64(c.Interval+c.Cost))
		}
	}
	return pace
}

// modelServes reports whether a pool of a GPU model may serve jobs that want one of the models in
// wanted ("A100|H100").
func modelServes(pool, wanted string) bool {
	return pool == "" || wanted == "" || slices.ContainsFunc(strings.Split(wanted, "|"), func(m string) bool { return strings.EqualFold(strings.TrimSpace(m), pool) })
}

// capacityKey identifies what leastUndone depends on.
func capacityKey(cfg *simulate.Config, run int) string {
	var b strings.Builder
	fmt.Fprint(&b, run, cfg.Start, cfg.Until, cfg.KillAtLimit)
	for i := range cfg.Pools {
		p := &cfg.Pools[i]
		fmt.Fprintf(&b, "|%q %q %v %d %d %d", p.Partition, p.GPUModel, p.Terms, p.Capacity(), p.From, p.Until)
	}
	return b.String()
}

// capacityOver returns the total capacity of the pools that counts selects, over time, in
// thousandths of GPUs. Each pool counts for its whole time, without failures.
func capacityOver(cfg *simulate.Config, counts func(*simulate.Pool) bool) []capcli.Level[capcli.Seconds] {
	var out capcli.Steps[capcli.Seconds]
	for i := range cfg.Pools {
		p := &cfg.Pools[i]
		if !counts(p) {
			continue
		}
		until := capcli.Seconds(math.MaxInt64)
		if p.Until > 0 {
			until = max(p.From, p.Until)
		}
		out.Add(max(0, p.From), until, 1000*int64(p.Capacity()))
	}
	return out.Levels()
}

// drain returns the work that is left at the end, where the capacity does the work in list as it
// arrives.
func drain(list []request, capacity []capcli.Level[capcli.Seconds], end capcli.Seconds) capcli.GPUTime {
	var left capcli.GPUTime
	var now capcli.Seconds
	var milli int64
	pass := func(to capcli.Seconds) {
		span := int64(to - now)
		if now = to; span <= 0 || left == 0 {
			return
		}
		if milli > int64(left)/span {
			left = 0
			return
		}
		left -= capcli.GPUTime(milli * span)
	}
	for len(list) > 0 || len(capacity) > 0 {
		next := end
		if len(list) > 0 {
			next = min(next, list[0].at)
		}
		if len(capacity) > 0 {
			next = min(next, capacity[0].At)
		}
		if next >= end {
			break
		}
		pass(next)
		for ; len(capacity) > 0 && capacity[0].At <= next; capacity = capacity[1:] {
			milli = capacity[0].Level
		}
		for ; len(list) > 0 && list[0].at <= next; list = list[1:] {
			left += list[0].work
		}
	}
	pass(end)
	for _, r := range list {
		left += r.work
	}
	return left
}

// undoneMost returns the lowest limit on the share of the work left undone; above 1 where there is none.
func undoneMost(limits []Limit) float64 {
	most := 2.0
	for i := range limits {
		if l := &limits[i]; l.OnMean && l.Metric == "unserved_share" && l.isUpper() {
			most = min(most, l.Value)
		}
	}
	return most
}
