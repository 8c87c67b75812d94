package plan

import (
	"slices"

	"capcli"
)

// Cliff is an instant at which commitments end.
type Cliff struct {
	At            capcli.Seconds
	Milli         int64 // thousandths of GPUs that end
	Before, After int64 // thousandths of GPUs committed just before, and from then on with the purchases of that time
	// Wanted is the mean demand of the following month in GPUs, and High the demand that four of
	// five futures do not exceed. Known is false where the futures end before.
	Wanted, High float64
	Known        bool
}

// Month is the purchases of one instant.
type Month struct {
	At        capcli.Seconds
	Purchases []Purchase
	Cost      capcli.USD // of these purchases, to the end of their terms
	SoFar     capcli.USD // Cost and that of all earlier purchases
	Milli     int64      // thousandths of GPUs committed from then on
}

// Calendar returns the purchases of a plan, in order of time.
func Calendar(a *Assessed) []Month {
	var out []Month
	var sum capcli.USD
	for _, p := range a.Purchases {
		if n := len(out); n == 0 || out[n-1].At != p.From {
			out = append(out, Month{At: p.From, Milli: a.level(p.From)})
		}
		m := &out[len(out)-1]
		sum += p.Cost
		m.Purchases, m.Cost, m.SoFar = append(m.Purchases, p), m.Cost+p.Cost, sum
	}
	return out
}

// level returns the thousandths of GPUs that are committed at an instant.
func (a *Assessed) level(at capcli.Seconds) int64 {
	for _, l := range a.Levels {
		if l.From <= at && at < l.To {
			return l.Milli
		}
	}
	return 0
}

// Cliffs returns the instants at which purchases of a plan, or GPUs held before, end, with the
// demand of the month that follows.
func (f *Field) Cliffs(a *Assessed) []Cliff {
	var out []Cliff
	note := func(at capcli.Seconds, milli int64) {
		i, found := slices.BinarySearchFunc(out, at, func(c Cliff, at capcli.Seconds) int { return int(min(1, max(-1, c.At-at))) })
		if !found {
			out = slices.Insert(out, i, Cliff{At: at})
		}
		out[i].Milli += milli
	}
	for _, p := range a.Purchases {
		note(p.To, p.Milli)
	}
	for _, h := range f.sunk {
		if h.To > 0 {
			note(h.To, h.Milli)
		}
	}
	for i := range out {
		c := &out[i]
		c.Before, c.After = f.committed(a, c.At-1), f.committed(a, c.At)
		c.Wanted, c.High, c.Known = f.demandFrom(c.At)
	}
	return out
}

// committed returns the thousandths of GPUs that are committed at an instant, also after the end of
// the demand.
func (f *Field) committed(a *Assessed, at capcli.Seconds) int64 {
	if at < f.deal.c.Len() {
		return a.level(at)
	}
	var sum int64
	for _, p := range a.Purchases {
		if p.From <= at && at < p.To {
			sum += p.Milli
		}
	}
	for _, h := range f.sunk {
		if h.From <= at && at < h.To {
			sum += h.Milli
		}
	}
	return sum
}

// demandFrom returns the demand, in GPUs, of the month from an instant on: the mean over the
// futures, and the level that four of five do not exceed. known is false where the futures end
// before.
func (f *Field) demandFrom(at capcli.Seconds) (mean, high float64, known bool) {
	d := f.deal.c
	until := min(d.Len(), d.AddSteps(at, capcli.Step{Months: 1}, 1))
	if at >= until {
		return 0, 0, false
	}
	levels := make([]float64, f.Count())
	for s, c := range f.curves {
		var sum float64
		for i := range c.Work {
			if from, to := max(at, c.StepStart(i)), min(until, c.StepStart(i+1)); from < to {
				sum += c.GPUs(i) * float64(to-from)
			}
		}
		levels[s] = sum / float64(until-at)
		mean += levels[s] / float64(f.Count())
	}
	slices.Sort(levels)
	return mean, levels[Risk{Kind: Quantile, Level: 800_000}.rank(len(levels))-1], true
}
