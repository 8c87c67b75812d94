package eta

import (
	"slices"

	"capcli"
)

// The simple methods that estimates are held against.
const (
	MethodNone      = "nobody waits"
	MethodLast      = "last 100 of the size"
	MethodLimits    = "replay, limits"
	MethodPredicted = "replay, predicted runs"
	MethodLimitsR   = "replay, limits, corrected"
	MethodPredictR  = "replay, predicted runs, corrected"
)

// sizeClass returns the class of a size: up to 1, 4, 16, 64 GPUs, more.
func (l *Log) sizeClass(units int64) int {
	for k, most := range []int64{1, 4, 16, 64} {
		if units <= most*l.PerGPU {
			return k
		}
	}
	return 4
}

// recent keeps the last values that were added.
type recent struct {
	n      int // values kept
	values []float64
}

func (r *recent) add(v float64) {
	if r.values = append(r.values, v); len(r.values) >= 2*r.n {
		r.values = append(r.values[:0], r.values[len(r.values)-r.n:]...)
	}
}

func (r *recent) tail() []float64 { return r.values[max(0, len(r.values)-r.n):] }

// pick returns the last values of own, or of any if own has fewer than twenty.
func pick(own, every *recent) []float64 {
	if len(own.tail()) < 20 {
		own = every
	}
	return slices.Clone(own.tail())
}

// fromWaits returns what a list of waits says, in seconds.
func fromWaits(waits []float64) Estimate {
	slices.Sort(waits)
	over := 0
	for _, w := range waits {
		if w > float64(capcli.Hour)+1e-6 {
			over++
		}
	}
	return Estimate{
		Wait: quantile(waits, 0.5), Lo: quantile(waits, 0.1), Hi: quantile(waits, 0.9),
		OverHour: float64(over) / float64(max(len(waits), 1)),
	}
}

// lastOfSize estimates from the waits of the last 100 jobs of the same size class that started
// before; with fewer than twenty, of any size.
func (l *Log) lastOfSize() []Estimate {
	out := make([]Estimate, len(l.Jobs))
	every := recent{n: 100}
	var own [5]recent
	for k := range own {
		own[k].n = 100
	}
	next := 0
	for i := range l.Jobs {
		for ; next < len(l.byStart) && l.Jobs[l.byStart[next]].Start < l.Jobs[i].Queued; next++ {
			j := &l.Jobs[l.byStart[next]]
			w := float64(j.Wait())
			every.add(w)
			own[l.sizeClass(j.Units)].add(w)
		}
		out[i] = fromWaits(pick(&own[l.sizeClass(l.Jobs[i].Units)], &every))
	}
	return out
}

// points returns estimates without ranges.
func points(waits []capcli.Seconds) []Estimate {
	out := make([]Estimate, len(waits))
	for i, w := range waits {
		out[i] = Estimate{Wait: float64(w), Point: true}
		if w > capcli.Hour {
			out[i].OverHour = 1
		}
	}
	return out
}

// estimateBin returns the bin of an estimate: 0, up to ten minutes, an hour, six hours, a day,
// more.
func estimateBin(w capcli.Seconds) int {
	for k, most := range []capcli.Seconds{0, 600, capcli.Hour, 6 * capcli.Hour, capcli.Day} {
		if w <= most {
			return k
		}
	}
	return 5
}

// corrected adds to point estimates the errors of the last 200 jobs that started before and whose
// estimate was in the same bin; with fewer than twenty, in any.
func (l *Log) corrected(waits []capcli.Seconds) []Estimate {
	out := make([]Estimate, len(waits))
	every := recent{n: 200}
	var own [6]recent
	for k := range own {
		own[k].n = 200
	}
	next := 0
	for i := range l.Jobs {
		for ; next < len(l.byStart) && l.Jobs[l.byStart[next]].Start < l.Jobs[i].Queued; next++ {
			k := l.byStart[next]
			e := logWait(float64(l.Jobs[k].Wait())) - logWait(float64(waits[k]))
			every.add(e)
			own[estimateBin(waits[k])].add(e)
		}
		errors := pick(&own[estimateBin(waits[i])], &every)
		if len(errors) == 0 {
			errors = []float64{0}
		}
		for k, e := range errors {
			errors[k] = waitOf(logWait(float64(waits[i])) + e)
		}
		out[i] = fromWaits(errors)
	}
	return out
}

// Replays holds for each job of a log the wait that its queue played forward would give.
type Replays struct {
	Limits    []capcli.Seconds // each job lasts its limit
	Predicted []capcli.Seconds // each job lasts as its tenant's last two
}

// Baselines scores the simple methods on a log whose queue has been played forward.
func (l *Log) Baselines(r Replays) []ScorePair {
	none := make([]capcli.Seconds, len(l.Jobs))
	return []ScorePair{
		l.Rate(MethodNone, points(none)),
		l.Rate(MethodLast, l.lastOfSize()),
		l.Rate(MethodLimits, points(r.Limits)),
		l.Rate(MethodPredicted, points(r.Predicted)),
		l.Rate(MethodLimitsR, l.corrected(r.Limits)),
		l.Rate(MethodPredictR, l.corrected(r.Predicted)),
	}
}
