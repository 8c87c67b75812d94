package main

import (
	"fmt"
	"math"
	"sort"
	"sync"

	"capcli"
	"capcli/forecast"
	"capcli/profile/series"
)

// past is what is known of what held a history down, on the finest steps that
// there are: a mean over a day hides the hours in which all was taken.
type past struct {
	fine    series.Regular // usage
	pending []float64      // nil where no queue is known
	limit   []float64      // nil where no capacity is known
	into    []int          // the step of the history that holds each fine step; nil where they are the same
	combine series.Combine // of fine steps into one of the history
	seasons []int          // in fine steps; nil takes those of the history

	together *together // of a sum whose parts tell it; nil else

	mu   sync.Mutex
	told map[int]*told // by the number of steps known
}

// told is the demand behind the first steps of a history.
type told struct {
	demand []float64
	draw   []float64        // one demand that may have been; nil where demand is not guessed
	unsure forecast.Unknown // of the level of the steps ahead
	hidden []bool           // steps in which usage was held down and nobody knows by how much
	info   forecast.Unconstrained
	err    error
}

// behind tells the demand behind usage, the first steps of the history, from
// these steps alone: what a backtest forecasts from has seen nothing later.
func (p *past) behind(usage []float64, opts forecast.Options) *told {
	n := len(usage)
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.told[n]
	if t == nil {
		if p.together != nil {
			t = p.together.behind(n)
		} else {
			t = p.tell(usage, opts)
		}
		if p.told == nil {
			p.told = map[int]*told{}
		}
		p.told[n] = t
	}
	return t
}

// tell does the telling of one series.
func (p *past) tell(usage []float64, opts forecast.Options) *told {
	t := &told{hidden: make([]bool, len(usage))}
	k := p.fineSteps(len(usage))
	c := forecast.Censoring{Pending: upTo(p.pending, k), Limit: upTo(p.limit, k), Seasons: opts.Seasons, Seed: opts.Seed}
	if p.into != nil {
		c.Seasons = p.seasons
	}
	y := p.fine.Series
	y.Values = y.Values[:k:k]
	var latent capcli.Series
	if latent, t.info, t.err = forecast.Unconstrain(y, c); t.err == nil {
		t.demand = p.fold(usage, latent.Values)
		if t.info.Draw != nil {
			t.draw = p.fold(usage, t.info.Draw)
		}
		t.unsure = t.info.Unknown
		if p.into != nil && len(usage) > 0 {
			t.unsure = t.unsure.Coarse(max(1, k/len(usage)), p.combine == series.Sum)
		}
	}
	for k := range t.info.Cut {
		i := k
		if p.into != nil {
			i = p.into[k]
		}
		if i >= 0 && t.info.Cut[k] && !p.queueKnown(k) {
			t.hidden[i] = true
		}
	}
	return t
}

func upTo(v []float64, n int) []float64 {
	if v == nil {
		return nil
	}
	return v[:n:n]
}

// fineSteps is how many fine steps lie in the first n steps of the history.
func (p *past) fineSteps(n int) int {
	if p.into == nil {
		return min(n, len(p.fine.Values))
	}
	return sort.SearchInts(p.into, n)
}

// fold adds to usage, on the steps of the history, what demand was over it on
// the fine ones.
func (p *past) fold(usage, fine []float64) []float64 {
	out := append([]float64(nil), usage...)
	if p.into == nil {
		for i, v := range fine {
			if !math.IsNaN(v) {
				out[i] = v
			}
		}
		return out
	}
	more, counts := make([]float64, len(out)), make([]float64, len(out))
	for k, v := range fine {
		i := p.into[k]
		if i < 0 || math.IsNaN(v) {
			continue
		}
		counts[i]++
		if p.combine == series.Max {
			more[i] = max(more[i], v)
		} else {
			more[i] += v - p.fine.Values[k]
		}
	}
	for i := range out {
		switch {
		case counts[i] == 0:
		case p.combine == series.Max:
			out[i] = max(out[i], more[i])
		case p.combine == series.Sum:
			out[i] += more[i]
		default:
			out[i] += more[i] / counts[i]
		}
	}
	return out
}

func (p *past) queueKnown(k int) bool { return p.pending != nil && !math.IsNaN(p.pending[k]) }

func (p *past) limitKnown(k int) bool { return p.limit != nil && !math.IsNaN(p.limit[k]) }

// came is what a forecast of demand is held against: the demand where it is
// known, missing where usage stood at the capacity and no queue says what more
// was wanted.
func (t *told) came() []float64 {
	out := append([]float64(nil), t.demand...)
	for i, hidden := range t.hidden {
		if hidden {
			out[i] = math.NaN()
		}
	}
	return out
}

// forget leaves out the first k steps of the history.
func (p *past) forget(k int) {
	j := k
	if p.into != nil {
		j = sort.SearchInts(p.into, k)
		p.into = append([]int(nil), p.into[j:]...)
		for i := range p.into {
			p.into[i] -= k
		}
	}
	p.fine.Values = p.fine.Values[j:]
	if p.pending != nil {
		p.pending = p.pending[j:]
	}
	if p.limit != nil {
		p.limit = p.limit[j:]
	}
	p.fine.First += int64(j) * p.fine.Stride
	if p.fine.Stride == 0 {
		p.fine.Grid.Origin = p.fine.Grid.At(j)
		p.fine.Start = p.fine.Grid.Origin
	}
}

// check refuses usage that is none.
func (p *past) check(h *history) error {
	for k, v := range p.fine.Values {
		if v < 0 {
			return &capcli.InputError{
				File: h.hs.input[0], Text: fmt.Sprintf("%s, %s: expected 0 or more GPUs held, found %g", h.Name, h.hs.text(p.fine.Stamp(k)), v),
				Hint: "usage is not negative; leave it empty where it is not known",
			}
		}
	}
	return nil
}
