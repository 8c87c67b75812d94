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

// filter returns the jobs of the part.
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

// has reports whether a job is of the part.
func (p *part) has(j *capcli.Job) bool { return p.keep == nil || p.keep(j.Partition) }

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

// leastOfParts returns the least cost of the jobs of a run whose curves are given, and the committed GPUs that reach it.
func (m *menu) leastOfParts(curve curves) (capcli.USD, int64, error) {
	var cost capcli.USD
	var gpus int64
	menus, parts := m.divide()
	for i, sub := range menus {
		s, time, err := curve(parts[i])
		if err != nil {
			return 0, 0, err
		}
		walls, err := sub.walls(parts[i], curve)
		if err != nil {
			return 0, 0, err
		}
		c, k := sub.leastUnder(s, walls, time)
		cost, gpus = cost+c, gpus+k
	}
	return cost, gpus, nil
}
