package main

import (
	"math"
	"sync"

	"capcli"
	"capcli/forecast"
	"capcli/profile/demand"
	"capcli/profile/series"
)

// past is what held a history down, and the demand that was told behind it.
type past struct {
	*demand.Censoring
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
	k := p.FineSteps(len(usage))
	c := forecast.Censoring{Pending: upTo(p.Pending, k), Limit: upTo(p.Limit, k), Seasons: opts.Seasons, Seed: opts.Seed}
	if p.Into != nil {
		c.Seasons = usualSeasons(p.FineStep)
	}
	y := p.Fine.Series
	y.Values = y.Values[:k:k]
	var latent capcli.Series
	if latent, t.info, t.err = forecast.Unconstrain(y, c); t.err == nil {
		t.demand = p.Fold(usage, latent.Values)
		if t.info.Draw != nil {
			t.draw = p.Fold(usage, t.info.Draw)
		}
		t.unsure = t.info.Unknown
		if p.Into != nil && len(usage) > 0 {
			t.unsure = t.unsure.Coarse(max(1, k/len(usage)), p.Combine == series.Sum)
		}
	}
	for k := range t.info.Cut {
		i := k
		if p.Into != nil {
			i = p.Into[k]
		}
		if i >= 0 && t.info.Cut[k] && !p.QueueKnown(k) {
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
