package plan

import (
	"cmp"
	"slices"
)

// maxTries is the most choices that polish tries.
const maxTries = 3000

// polish is a local search around the best choice. It adds or removes a lot of any option that some
// cut used, or moves one to another option, as long as that helps.
func (h *hunt) polish() error {
	used := h.usedOptions()
	for tries := 0; tries < maxTries && !h.best.Exact(); {
		was := h.best
		for _, a := range used {
			for _, b := range append([]int{-1}, used...) {
				if tries += 2; a == b || tries > maxTries {
					continue
				}
				if err := h.shift(a, b, 1); err != nil {
					return err
				}
				if err := h.shift(a, b, -1); err != nil {
					return err
				}
			}
		}
		if h.best == was {
			break
		}
	}
	return nil
}

// usedOptions returns the options that some cut used, at most forty.
func (h *hunt) usedOptions() []int {
	var out []int
	for i := range h.best.bought {
		for _, p := range h.plans {
			if p[i] > 0 {
				out = append(out, i)
				break
			}
		}
	}
	return out[:min(len(out), 40)]
}

// shift tries the best choice with more lots of a and as many fewer of b, as far as the terms allow; b is -1 for
// none.
func (h *hunt) shift(a, b int, by int64) error {
	if h.near == nil || h.near.of != h.best {
		h.near = h.margins()
	}
	more, fewer := h.changeOf(a, by), int64(0)
	if b >= 0 {
		fewer = h.changeOf(b, -by)
	}
	if h.near.cannotHelp(a, more, b, fewer) {
		return nil
	}
	try := slices.Clone(h.best.bought)
	try[a] += more
	if b >= 0 {
		try[b] += fewer
	}
	_, err := h.keep(h.capped(try))
	return err
}

// changeOf returns by how much the lots of an option change where by lots are added to those of the best choice.
func (h *hunt) changeOf(option int, by int64) int64 {
	n := h.best.bought[option]
	return h.f.deal.options[option].capLots(max(0, n+by)) - n
}

// margins tell which small changes of a choice cannot lower its risk. The risk of a choice is the mean of its
// costs over the futures by the weights that are worst for it; for a quantile all weight is on the dearest
// future of the hunt. By the same weights, every other choice's mean is at most its risk. So a change that does
// not lower this mean does not lower the risk. Sums by period give the change of the mean at once, whatever the length of a
// term.
type margins struct {
	of       *Choice
	options  []option
	cost     []float64 // of a lot of each option, times the sum of the weights
	up, down []float64 // in the periods before each: what one lot more saves, and what one fewer adds
	noise    float64   // no change is computed with a larger error
}

func (h *hunt) margins() *margins {
	f := h.f
	weights, whole := h.worstFor(h.best.Costs)
	m := &margins{of: h.best, options: f.deal.options, cost: make([]float64, len(f.cost))}
	dear := 0.0
	for i, c := range f.cost {
		m.cost[i] = float64(c) * float64(whole)
		dear = max(dear, m.cost[i])
	}
	levels := f.levels(h.best.bought)
	m.up, m.down = make([]float64, len(levels)+1), make([]float64, len(levels)+1)
	for i, level := range levels {
		var up, down float64
		for s, w := range weights {
			if w == 0 {
				continue
			}
			at := f.uncovered(s, i, level)
			up += float64(w) * float64(at-f.uncovered(s, i, level+1))
			down += float64(w) * float64(f.uncovered(s, i, level-1)-at)
		}
		m.up[i+1], m.down[i+1] = m.up[i]+up, m.down[i]+down
	}
	// Each sum has at most so many terms, none below 0, and each term and addition errs by at most 2^-52 of the sum.
	terms := float64(len(levels)+4) * float64(len(weights)+4)
	m.noise = terms * 0x1p-50 * (m.up[len(levels)] + m.down[len(levels)] + dear)
	return m
}

// worstFor returns the weights of the futures with which the mean of some costs is their risk, and their sum.
func (h *hunt) worstFor(costs []int64) (weights []int64, whole int64) {
	if h.risk.Kind != Quantile {
		return h.risk.worstWeights(costs, h.f.weights)
	}
	weights = make([]int64, len(costs))
	weights[slices.MaxFunc(h.in, func(a, b int) int { return cmp.Compare(costs[a], costs[b]) })] = 1
	return weights, 1
}

// cannotHelp reports whether one lot more or fewer of option a, and one of b the other way, is sure not to
// lower the risk; 0 lots are no change.
func (m *margins) cannotHelp(a int, ofA int64, b int, ofB int64) bool {
	x := &m.options[a]
	change := float64(ofA)*m.cost[a] + m.saved(ofA, x.first, x.last)
	if ofB != 0 {
		y := &m.options[b]
		change += float64(ofB)*m.cost[b] + m.saved(ofB, y.first, y.last)
		if first, last := max(x.first, y.first), min(x.last, y.last); ofA != 0 && first < last { // there the level stays
			change -= m.saved(ofA, first, last) + m.saved(ofB, first, last)
		}
	}
	return change > m.noise || ofA == 0 && ofB == 0
}

// saved returns the change of the on-demand cost by one lot more, or one fewer, from one period to another.
func (m *margins) saved(lots int64, first, last int) float64 {
	switch {
	case lots > 0:
		return m.up[first] - m.up[last]
	case lots < 0:
		return m.down[last] - m.down[first]
	}
	return 0
}
