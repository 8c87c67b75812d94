package outlook

import (
	"math"
	"sync"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/demand"
	"capcli/forecast/unconstrain"
	"capcli/profile/logs/series"
)

// unconstrainer estimates the demand behind the usage of one history.
type unconstrainer struct {
	*demand.Censoring
	summed *summedDemand // estimates a sum from its parts; nil for other series

	mu    sync.Mutex
	known map[int]*latentDemand // results of latent, by number of steps
}

// latentDemand is the estimated demand behind the first steps of a history.
type latentDemand struct {
	demand []float64
	draw   []float64               // one plausible demand; nil where none is estimated by regression
	unsure unconstrain.Uncertainty // uncertainty of the level of the steps ahead
	hidden []bool                  // steps with limited usage whose unmet demand no queue gives
	info   unconstrain.Estimate
	err    error
}

// latent estimates the demand behind usage, the first steps of the history, from these steps
// alone, so that a backtest uses no later values.
func (p *unconstrainer) latent(usage []float64, opts forecast.Options) *latentDemand {
	n := len(usage)
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.known[n]
	if t == nil {
		if p.summed != nil {
			t = p.summed.latent(n)
		} else {
			t = p.unconstrain(usage, opts)
		}
		if p.known == nil {
			p.known = map[int]*latentDemand{}
		}
		p.known[n] = t
	}
	return t
}

// unconstrain estimates the demand behind the usage of one series.
func (p *unconstrainer) unconstrain(usage []float64, opts forecast.Options) *latentDemand {
	t := &latentDemand{hidden: make([]bool, len(usage))}
	k := p.FineSteps(len(usage))
	c := unconstrain.Censoring{Pending: firstValues(p.Pending, k), Limit: firstValues(p.Limit, k), Seasons: opts.Seasons, Seed: opts.Seed}
	if p.Into != nil {
		c.Seasons = usualSeasons(p.FineStep)
	}
	y := p.Fine.Series
	y.Values = y.Values[:k:k]
	var latent capcli.Series
	if latent, t.info, t.err = unconstrain.Demand(y, c); t.err == nil {
		t.demand = p.Fold(usage, latent.Values)
		if t.info.Draw != nil {
			t.draw = p.Fold(usage, t.info.Draw)
		}
		t.unsure = t.info.Uncertainty
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

func firstValues(v []float64, n int) []float64 {
	if v == nil {
		return nil
	}
	return v[:n:n]
}

// actual returns the values that a forecast of demand is compared with: the demand, NaN where
// usage was limited and no queue gives the unmet demand.
func (t *latentDemand) actual() []float64 {
	out := append([]float64(nil), t.demand...)
	for i, hidden := range t.hidden {
		if hidden {
			out[i] = math.NaN()
		}
	}
	return out
}

// summedDemand computes the demand behind a sum as the sum of the demand behind its parts. Parts
// and sum end together.
type summedDemand struct {
	sum   *view
	parts []*view
}

// addSummedDemand sets the usage of each sum with a part whose demand is estimated.
func (q *question) addSummedDemand() {
	for i := range q.sums() {
		s := &summedDemand{sum: q.views[i], parts: q.partsOf(i)}
		if s.sum.usage != nil {
			continue
		}
		for _, v := range s.parts {
			if v.usage != nil {
				s.sum.usage = &unconstrainer{Censoring: &demand.Censoring{Fine: s.sum.Regular}, summed: s}
				break
			}
		}
	}
}

// latent returns the demand behind the first n steps. A step is hidden where it is hidden in a
// part.
func (s *summedDemand) latent(n int) *latentDemand {
	t := &latentDemand{demand: make([]float64, n), hidden: make([]bool, n)}
	draw, drawn := make([]float64, n), false
	for _, v := range s.parts {
		late := len(s.sum.Values) - len(v.Values) // how many steps later the part begins
		if n <= late {
			continue
		}
		demand, one := v.Values[:n-late], v.Values[:n-late]
		if v.usage != nil {
			own := v.usage.latent(demand, v.options)
			if own.err != nil {
				t.err = own.err
				return t
			}
			if demand, one = own.demand, own.demand; own.draw != nil {
				one, drawn = own.draw, true
			}
			t.unsure = t.unsure.Plus(own.unsure)
			t.info.Queue, t.info.Guessed = t.info.Queue+own.info.Queue, t.info.Guessed+own.info.Guessed
			for i, hidden := range own.hidden {
				t.hidden[late+i] = t.hidden[late+i] || hidden
			}
		}
		for i, x := range demand {
			t.demand[late+i] += x
			draw[late+i] += one[i]
		}
	}
	if drawn {
		t.draw = draw
	}
	known, cut := 0, 0
	for i, c := range t.hidden {
		if !math.IsNaN(s.sum.Values[i]) {
			known++
			if c {
				cut++
			}
		}
	}
	t.info.Share = float64(cut) / float64(max(1, known))
	return t
}
