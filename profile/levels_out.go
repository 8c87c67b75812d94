package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"capcli"
)

// Level is the level of a group by step. A gap is NaN.
type Level struct {
	Values []float64 // GPUs, or watts
	There  []float64 // capacity in GPUs; nil if the group is not a place
	Scaled int       // steps that were sampled in part
}

// Range returns the grid and its number of steps from the first sample to the last, without a
// first or last step that is not whole.
func (l *Levels) Range() (capcli.Grid, int) {
	if len(l.order) == 0 {
		return l.grid, 0
	}
	from, to := l.lifetime()
	g := l.Step.Grid(from.Second(), l.Zone)
	first, last := 0, g.Index((to - 1).Second())
	whole := func(i int) bool {
		return overlap(g, i, from, to) >= wholeCover*float64(instantOf(g.At(i+1))-instantOf(g.At(i)))
	}
	if !whole(first) {
		first++
	}
	if last >= first && !whole(last) {
		last--
	}
	g.Origin = g.At(first)
	return g, max(0, last-first+1)
}

func (l *Levels) lifetime() (from, to Instant) {
	from, to = l.order[0].lifetime()
	for _, h := range l.order {
		a, b := h.lifetime()
		from, to = min(from, a), max(to, b)
	}
	return from, to
}

// LateBoxes returns the boxes whose samples begin more than one step after those of
// the first box, or end more than one step before those of the last.
func (l *Levels) LateBoxes() []string {
	if len(l.order) == 0 {
		return nil
	}
	from, to := l.lifetime()
	step := Instant(int64(l.Step.Length()) * 1_000_000)
	var out []string
	for _, h := range l.order {
		if a, b := h.lifetime(); a > from+step || b < to-step {
			out = append(out, h.name)
		}
	}
	return out
}

// GroupLevel returns the level of a group over the steps of Range.
func (l *Levels) GroupLevel(name string) Level {
	grid, n := l.Range()
	skip := l.grid.Index(grid.Origin)
	fine := l.sumFine(name, skip, l.grid.Index(grid.At(n))-skip)
	out := Level{Values: make([]float64, n), There: make([]float64, n)}
	for k := range n {
		a, b := l.grid.Index(grid.At(k))-skip, l.grid.Index(grid.At(k+1))-skip
		known, partly := 0, false
		for i := a; i < b; i++ {
			if math.IsNaN(fine.values[i]) {
				partly = true
				continue
			}
			known++
			out.Values[k] = math.Max(out.Values[k], fine.values[i]) // without Peaks there is one fine step
			out.There[k] += fine.there[i]
			partly = partly || fine.partly[i]
		}
		if float64(known) < enoughCover*float64(b-a) {
			out.Values[k], out.There[k] = math.NaN(), math.NaN()
			continue
		}
		out.There[k] /= float64(known)
		if partly {
			out.Scaled++
		}
	}
	if !fine.place {
		out.There = nil
	}
	return out
}

// fineLevel is a Level on the steps of the sums.
type fineLevel struct {
	values, there []float64
	partly        []bool
	place         bool
}

// sumFine adds up a group over its boxes. A box that was not sampled enough in a step counts like
// the other boxes, in proportion to its size.
func (l *Levels) sumFine(name string, skip, n int) fineLevel {
	out := fineLevel{values: make([]float64, n), there: make([]float64, n), partly: make([]bool, n)}
	weights, all := make([]float64, n), make([]float64, n)
	for _, h := range l.order {
		g := h.groups[name]
		if g == nil {
			continue
		}
		from, to := h.lifetime()
		size := h.size()
		for k := range n {
			span := overlap(l.grid, skip+k, from, to)
			if span == 0 {
				continue
			}
			all[k] += size * span
			i := skip + k - h.base
			cover, factor := h.coverage(i, span)
			out.partly[k] = out.partly[k] || cover < wholeCover
			if cover < enoughCover {
				continue
			}
			weights[k] += size * span
			out.values[k] += g.value[i] * factor
			out.there[k] += g.there[i] * span / h.cover.ticks[i]
			out.place = out.place || g.there[i] > 0
		}
	}
	for k := range n {
		share := weights[k] / all[k]
		if !(share >= enoughCover) { // also where no box was there
			share = math.NaN()
		}
		length := share * float64(instantOf(l.grid.At(skip+k+1))-instantOf(l.grid.At(skip+k)))
		out.values[k], out.there[k] = out.values[k]/length, out.there[k]/length
	}
	return out
}

// size returns the mean number of GPUs of a box over time.
func (h *levelHost) size() float64 {
	there, ticks := 0.0, 0.0
	for i, v := range h.cover.there {
		there, ticks = there+v, ticks+h.cover.ticks[i]
	}
	if ticks == 0 {
		return 0
	}
	return there / ticks
}

// coverage returns the sampled share of step i, of the box's time and of its GPUs, and
// the factor that scales the sampled part to the whole.
func (h *levelHost) coverage(i int, span float64) (share, factor float64) {
	c := &h.cover
	if i < 0 || i >= len(c.ticks) || c.known[i] == 0 || c.ticks[i] == 0 {
		return 0, 0
	}
	time, figures := math.Min(1, c.ticks[i]/span), c.known[i]/c.there[i]
	return time * figures, 1 / (time * figures)
}

// Check returns an error where samples of one box overlap, since they would count twice.
func (l *Levels) Check() error {
	for _, h := range l.order {
		slices.SortFunc(h.spans, func(a, b [2]Instant) int { return cmp.Compare(a[0], b[0]) })
		for i := 1; i < len(h.spans); i++ {
			if h.spans[i][0] < h.spans[i-1][1] {
				return fmt.Errorf("samples of %s from %s to %s are there twice", h.name, h.spans[i][0].Second(), min(h.spans[i][1], h.spans[i-1][1]).Second())
			}
		}
	}
	return nil
}

// Names returns the groups, sorted.
func (l *Levels) Names() []string {
	out := slices.Clone(l.names)
	slices.Sort(out)
	return out
}

// Hosts returns the number of boxes.
func (l *Levels) Hosts() int { return len(l.order) }

// lifetime returns the time range from a box's first sample to its last.
func (h *levelHost) lifetime() (from, to Instant) {
	from, to = h.spans[0][0], h.spans[0][1]
	for _, s := range h.spans {
		from, to = min(from, s[0]), max(to, s[1])
	}
	return from, to
}

// overlap returns the microseconds of step i of a grid between two times.
func overlap(g capcli.Grid, i int, from, to Instant) float64 {
	return math.Max(0, float64(min(to, instantOf(g.At(i+1)))-max(from, instantOf(g.At(i)))))
}
