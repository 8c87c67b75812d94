package simulate

import (
	"slices"
	"strings"

	"capcli"
	"capcli/simulate/exact"
)

// Nearness is over what the jobs of one shape were spread.
type Nearness struct {
	Shape string // "" is the jobs without a place of their own, in pools with domains
	Stays int64  // times that such a job got its GPUs
	Rows  []Spread
}

// Spread is the stays of jobs that one domain of Level held and no narrower one.
type Spread struct {
	Level string // NodeLevel, a level of domains, or ClusterLevel
	Stays int64
	Gangs int64          // of Stays, those of jobs that are larger than a node of the pool
	Held  capcli.GPUTime // GPU time that these stays held
	Lost  capcli.GPUTime // of Held, what the slowdown of being spread so cost; below 0 if it is faster so
}

// spreadTally counts the stays of the jobs of one shape.
type spreadTally struct{ rows []Spread }

func (t *spreadTally) row(level string) *Spread {
	i := slices.IndexFunc(t.rows, func(r Spread) bool { return r.Level == level })
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, Spread{Level: level})
	}
	return &t.rows[i]
}

// spreadRow returns the row in which the current stay of l counts.
func (t *topo) spreadRow(l *Live) *Spread {
	tally := &t.plain
	if l.layout != nil {
		tally = &l.layout.spread
	}
	return tally.row(t.levelName(l.Pool(), t.spreadOf(t.e.c, l.slices)))
}

// startSpread counts a stay of l that begins.
func (t *topo) startSpread(l *Live) {
	if l.GPUs > 0 {
		r := t.spreadRow(l)
		r.Stays++
		if l.GPUs > t.e.c.pools[l.Pool()].GPUsPerNode {
			r.Gangs++
		}
	}
	if l.layout == nil || l.layout.counted == 0 {
		return
	}
	for _, o := range t.layouts {
		t.woken = t.woken || o.beside == l.layout.counted
	}
}

// endSpread books the GPU time of a stay of l that ends now.
func (t *topo) endSpread(l *Live) {
	if l.GPUs == 0 || t.e.c.now <= l.Since {
		return
	}
	r := t.spreadRow(l)
	r.Held += capcli.GPUTime(int64(t.e.c.now-l.Since) * l.Milli())
	f := t.nearFactor(l, l.slices)
	if f.num != f.den {
		r.Lost += slowedTime(int64(l.ran(t.e.c.now))*l.Milli(), f)
	}
}

// slowedTime returns how much of a time the factor f took: t × (num - den) / num.
func slowedTime(t int64, f ratio) capcli.GPUTime {
	if f.num >= f.den {
		return capcli.GPUTime(exact.Portion(t, f.num-f.den, f.num))
	}
	whole, rest := (f.den-f.num)/f.num, (f.den-f.num)%f.num
	return -capcli.GPUTime(t*whole + exact.Portion(t, rest, f.num))
}

// nearFactor returns what the spread of the slices multiplies the run time of l by.
func (t *topo) nearFactor(l *Live, s []Slice) ratio {
	if l.layout == nil {
		return ratio{1, 1}
	}
	slow := l.layout.pools[s[0].Pool].slowdown
	if slow == nil {
		return ratio{1, 1}
	}
	return slow[t.spreadOf(t.e.c, s)+1]
}

// nearness returns over what jobs were spread, by name of shape; jobs without a place of their own come first.
// order has the names of all levels.
func (t *topo) nearness(order []string) (out []Nearness) {
	add := func(shape string, t *spreadTally) {
		i := slices.IndexFunc(out, func(n Nearness) bool { return n.Shape == shape })
		if i < 0 {
			i = len(out)
			out = append(out, Nearness{Shape: shape})
		}
		sum := spreadTally{out[i].Rows}
		for _, r := range t.rows {
			to := sum.row(r.Level)
			to.Stays += r.Stays
			to.Gangs += r.Gangs
			to.Held += r.Held
			to.Lost += r.Lost
			out[i].Stays += r.Stays
		}
		out[i].Rows = sum.rows
	}
	if len(t.plain.rows) > 0 {
		add("", &t.plain)
	}
	for _, l := range t.layouts {
		add(l.shape.Name, &l.spread)
	}
	slices.SortFunc(out, func(a, b Nearness) int { return strings.Compare(a.Shape, b.Shape) })
	for i := range out {
		slices.SortFunc(out[i].Rows, func(a, b Spread) int { return slices.Index(order, a.Level) - slices.Index(order, b.Level) })
	}
	return out
}

// levelOrder returns the names of all levels from the node to the cluster.
func (t *topo) levelOrder() []string {
	order := []string{NodeLevel}
	for p := range t.pools {
		levels := t.pools[p].tree.Levels()
		for _, name := range slices.Backward(levels) {
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
	}
	return append(order, ClusterLevel)
}
