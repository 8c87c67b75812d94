package mix

import (
	"context"
	"math/big"

	"capcli"
	"capcli/simulate"
)

// Try runs candidates as often as asked, all of them, over the same runs as the
// search: for what is asked about a plan once it is found.
func (s *Search) Try(ctx context.Context, p *Problem, candidates []*Candidate) ([]*Entry, error) {
	entries := make([]*Entry, len(candidates))
	for i, c := range candidates {
		entries[i] = &Entry{Candidate: c, Rival: -1, risk: s.Risk}
	}
	for run := range p.Runs {
		out, err := p.Evaluate(ctx, run, candidates)
		if err != nil {
			return nil, err
		}
		for i := range out {
			entries[i].note(out[i], s.Limits)
		}
	}
	return entries, nil
}

// Tie is the price of one pool at which two mixes cost the same, with all other
// prices as they are.
type Tie struct {
	Pool  string
	Now   capcli.Rate
	At    capcli.Rate // rounded half up to the millionth
	Tied  bool        // there is such a price, of 0 or more
	Lower bool        // the first mix is the cheaper one below it, else above
}

// Ties gives for each pool of a and b the price at which they tie. With the
// schedules fixed the cost of a mix is linear in each price, so this is exact but
// for the rounding of invoices: with A and B the GPU-hours charged at the price p
// and D what a costs more than b, they tie at p - D / (A - B).
func Ties(a, b *Entry) []Tie {
	var out []Tie
	names, rates := prices(a)
	for i, name := range names {
		out = append(out, tie(a, b, name, rates[i]))
	}
	more, rates := prices(b)
	for i, name := range more {
		if !contains(names, name) {
			out = append(out, tie(a, b, name, rates[i]))
		}
	}
	return out
}

func contains(list []string, name string) bool {
	for _, x := range list {
		if x == name {
			return true
		}
	}
	return false
}

// prices are the pools of a mix and what they cost.
func prices(e *Entry) (names []string, rates []capcli.Rate) {
	for i := range e.Outcomes[0].Pools {
		names = append(names, e.Outcomes[0].Pools[i].Name)
		rates = append(rates, e.Rates[i].Price)
	}
	return names, rates
}

// charged is the GPU time that a pool's price was charged on, over all runs.
func charged(e *Entry, pool string) (sum int64) {
	for k := range e.Outcomes {
		for i := range e.Outcomes[k].Pools {
			if p := &e.Outcomes[k].Pools[i]; p.Name == pool {
				sum += int64(p.Charged)
			}
		}
	}
	return sum
}

func tie(a, b *Entry, pool string, now capcli.Rate) Tie {
	t := Tie{Pool: pool, Now: now}
	inA, inB := charged(a, pool), charged(b, pool)
	t.Lower = inA > inB
	if inA == inB {
		return t
	}
	var difference capcli.USD
	for k := range a.Outcomes {
		difference += a.Outcomes[k].Cost - b.Outcomes[k].Cost
	}
	// p - D * 3,600,000 / (A - B): a price is for 3,600,000 thousandths of a
	// GPU-second.
	at := big.NewRat(1, inA-inB)
	at.Mul(at, new(big.Rat).SetInt64(int64(difference)))
	at.Mul(at, big.NewRat(3_600_000, 1))
	at.Sub(new(big.Rat).SetInt64(int64(now)), at)
	if at.Sign() < 0 {
		return t
	}
	at.Add(at, big.NewRat(1, 2))
	whole := new(big.Int).Quo(at.Num(), at.Denom())
	if !whole.IsInt64() {
		return t
	}
	t.At, t.Tied = capcli.Rate(whole.Int64()), true
	return t
}

// Scaled gives the jobs of a run with so much of the demand: by chance, that of
// each job alone, some are left out, or come a second time at the same instant.
// A job that is left out at 90 % is left out at 80 % too.
func Scaled(jobs []capcli.Job, share float64, seed capcli.Seed) []capcli.Job {
	rng := seed.Stream("demand")
	out := make([]capcli.Job, 0, int(float64(len(jobs))*share)+1)
	for i := range jobs {
		u := rng.Float64()
		for n := share; n > u; n-- {
			out = append(out, jobs[i])
		}
	}
	return out
}

// Needed is the time for which the jobs of a run would hold at least so many
// GPUs if none ever waited, and the time that there is.
func (p *Problem) Needed(c *Candidate, run int) (func(gpus int64) capcli.Seconds, capcli.Seconds, error) {
	cfg, err := c.Config(run)
	if err != nil {
		return nil, 0, err
	}
	jobs, err := p.Jobs(run)
	if err != nil {
		return nil, 0, err
	}
	cfg.Overflow = simulate.Overflow{}
	cfg.Settings.Round = 0
	cfg.Pools = nil
	w := promises(&cfg, jobs)
	s := NewSmooth(w.windows, w.end())
	return s.AtLeast, w.end(), nil
}

// AtLeast is for how long the curve is at so many GPUs or above.
func (s *Smooth) AtLeast(gpus int64) capcli.Seconds {
	level := step{1, capcli.GPUTime(gpus) * capcli.GPUSecond}
	var sum capcli.Seconds
	for i := range s.steps {
		if compareSlope(s.steps[i], level) < 0 {
			break
		}
		sum = s.time[i]
	}
	return sum
}
