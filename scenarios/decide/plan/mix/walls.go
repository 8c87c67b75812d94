package mix

import (
	"fmt"
	"slices"

	"capcli"
)

// Pools that serve one partition alone wall jobs off: no job of another partition ever uses them. The lower bounds
// count that in two ways. Partitions that share no pool are bounded one by one, and the sum of their bounds is a bound.
// Where they share pools, the work of jobs that no pool under a price serves is paid at that price, or is done on
// committed GPUs.

// part is some of the jobs of a run.
type part struct {
	key  string                      // tells parts apart
	keep func(partition string) bool // nil is all jobs
}

func (p *part) filter(jobs []capcli.Job) []capcli.Job {
	if p.keep == nil {
		return jobs
	}
	var out []capcli.Job
	for i := range jobs {
		if p.keep(jobs[i].Partition) {
			out = append(out, jobs[i])
		}
	}
	return out
}

// divide returns the menus of partitions that share no pool, each with its jobs; the menu itself, with all jobs, where a
// pool serves all partitions.
func (m *menu) divide() ([]*menu, []part) {
	var names []string
	for _, x := range m.items {
		if x.partition == "" {
			return []*menu{m}, []part{{}}
		}
		if !slices.Contains(names, x.partition) {
			names = append(names, x.partition)
		}
	}
	slices.Sort(names)
	var menus []*menu
	var parts []part
	for _, name := range names {
		sub := &menu{none: true}
		for _, x := range m.items {
			if x.partition == name {
				sub.items = append(sub.items, x)
				sub.add(x.committed, x.tier)
			}
		}
		slices.SortFunc(sub.tiers, compareTiers)
		menus = append(menus, sub)
		parts = append(parts, part{"partition " + name, func(partition string) bool { return partition == name }})
	}
	return menus, parts
}

// curves returns the smooth curve of some of the jobs of a run, and the time for which committed GPUs are paid.
type curves func(p part) (*smooth, capcli.Seconds, error)

// wall is the jobs that no pool under a price paid by use serves, by whether a committed pool serves them.
type wall struct{ inside, outside *smooth } // nil is no job

// workOver returns the least work of the jobs that so many committed GPUs cannot do.
func (w *wall) workOver(committed int64) (work capcli.GPUTime) {
	if w.inside != nil {
		work = w.inside.workOver(committed)
	}
	if w.outside != nil {
		work += w.outside.total()
	}
	return work
}

// partitionsOf returns the partitions of some pools of the menu, in order; "" is all.
func (m *menu) partitionsOf(some func(x *item) bool) []string {
	var out []string
	for i := range m.items {
		if some(&m.items[i]) {
			out = append(out, m.items[i].partition)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// walls returns the wall of each tier of the menu; nil where all jobs may use all that is cheaper.
func (m *menu) walls(within part, curve curves) ([]*wall, error) {
	out := make([]*wall, len(m.tiers))
	if within.keep != nil {
		return out, nil
	}
	fenced := m.partitionsOf(func(x *item) bool { return x.committed })
	free := m.none || slices.Contains(fenced, "") // no job is kept out of committed GPUs
	for i, t := range m.tiers {
		cheaper := m.partitionsOf(func(x *item) bool { return !x.committed && x.price < t.price })
		if slices.Contains(cheaper, "") || len(cheaper) == 0 && free {
			continue
		}
		some := func(inside bool) (*smooth, error) {
			s, _, err := curve(part{fmt.Sprintf("beyond %q, inside %q %t", cheaper, fenced, inside), func(partition string) bool {
				return (free || slices.Contains(fenced, partition)) == inside && !slices.Contains(cheaper, partition)
			}})
			return s, err
		}
		w := &wall{}
		var err error
		if w.inside, err = some(true); err != nil {
			return nil, err
		}
		if !free {
			if w.outside, err = some(false); err != nil {
				return nil, err
			}
		}
		out[i] = w
	}
	return out, nil
}

// supplied is the jobs of a part of a run with the menu that serves them alone. time is that for which committed GPUs are
// paid.
type supplied struct {
	*menu
	smooth *smooth
	walls  []*wall
	time   capcli.Seconds
}

// supply returns the parts of the jobs of a run, whose curves are given, each with its menu.
func (m *menu) supply(curve curves) ([]supplied, error) {
	var out []supplied
	menus, parts := m.divide()
	for i, sub := range menus {
		s, time, err := curve(parts[i])
		if err != nil {
			return nil, err
		}
		walls, err := sub.walls(parts[i], curve)
		if err != nil {
			return nil, err
		}
		out = append(out, supplied{sub, s, walls, time})
	}
	return out, nil
}

// leastOfParts returns the least cost of the parts of a run, and the committed GPUs that reach it.
func leastOfParts(parts []supplied) (cost capcli.USD, gpus int64) {
	for i := range parts {
		c, k := parts[i].leastUnder(parts[i].smooth, parts[i].walls, parts[i].time)
		cost, gpus = cost+c, gpus+k
	}
	return cost, gpus
}

// leastOfRuns returns the least of the costs of all runs together, where each part has as many committed GPUs in
// one run as in the others: a mix has one size, whichever future comes. Each cost is convex in that number, so their sum
// is, and a binary search finds the least. Without committed GPUs it is the sum of the least costs.
func leastOfRuns(runs [][]supplied) capcli.USD {
	var sum capcli.USD
	for k := range runs[0] {
		cost := func(gpus int64) (all capcli.USD) {
			for r := range runs {
				p := &runs[r][k]
				all += max(p.costAt(p.smooth, p.walls, p.time, gpus), capcli.Cost(p.lowest(), p.smooth.total()))
			}
			return all
		}
		lo, hi := int64(0), int64(0)
		for r := range runs {
			if p := &runs[r][k]; !p.none {
				hi = max(hi, p.smooth.peak())
			}
		}
		if p := &runs[0][k]; !p.none && len(p.tiers) == 0 {
			lo = hi // only committed capacity
		}
		for lo < hi {
			mid := (lo + hi) / 2
			if cost(mid+1) < cost(mid) {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		sum += cost(lo)
	}
	return sum
}
