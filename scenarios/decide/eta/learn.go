package eta

import (
	"context"
	"math/rand/v2"

	"capcli"
)

// Settings of the learning.
const (
	learnWindow = 8000 // latest jobs that a forest is grown from
	learnFirst  = 50   // jobs that must have started before the first forest
)

// noWait is no wait on the log scale.
var noWait = float32(logWait(0))

// forecast is an estimate whose outcome is not known yet.
type forecast struct {
	at, start capcli.Time // when it was made, and when the job starts; NoTime is never
	ends      capcli.Time // when a job that never starts leaves the queue; NoTime is never
	x         []float32
	d         *distribution
	claim     claim
}

// learner estimates waits from features, in order of time, and learns from each start once it has
// happened.
type learner struct {
	seed   capcli.Seed
	rng    *rand.Rand
	x      [][]float32 // features of the jobs that have started
	y      []float32   // their waits, on the log scale
	known  int         // jobs that have started, also those no longer in x
	next   int         // number of known jobs at which a new forest is grown
	grown  int
	forest *forest
	ranges *ranges
	linear bool   // the forest learns what a linear regression leaves over
	line   *ridge // nil without
	open   []forecast
	buf    []float32
}

func newLearner(seed capcli.Seed) *learner {
	return &learner{seed: seed, rng: seed.Stream("eta/waiting"), next: learnFirst, ranges: newRanges()}
}

// advance takes in what happened before now, and grows a new forest if enough jobs have started.
func (l *learner) advance(ctx context.Context, now capcli.Time) error {
	l.ranges.begin()
	kept := l.open[:0]
	for i := range l.open {
		f := l.open[i]
		switch {
		case f.start.IsKnown() && f.start < now:
			wait := float64(f.start - f.at)
			l.ranges.settle(&f.claim, wait)
			l.x, l.y = append(l.x, f.x), append(l.y, float32(logWait(wait)))
			l.known++
			continue
		case !f.start.IsKnown() && f.ends.IsKnown() && f.ends < now:
			continue
		}
		l.ranges.exceed(&f.claim, float64(now-f.at))
		kept = append(kept, f)
	}
	clear(l.open[len(kept):])
	l.open = kept
	if l.known < l.next {
		return nil
	}
	return l.regrow(ctx, now)
}

// refresh returns after how many more starts a new forest is grown.
func refresh(known int) int {
	if known < 15_000 {
		return max(10, min(known/40, 200))
	}
	return max(200, known/75)
}

// regrow grows a new forest from the latest jobs that have started, and from those that wait: each
// of these counts with a wait drawn from its own distribution beyond what it has waited. Without
// them the forest would learn from the short waits only, since long ones are known last (Efron,
// "The Two Sample Problem with Censored Data", 1967, redistributes censored values so).
func (l *learner) regrow(ctx context.Context, now capcli.Time) error {
	if cut := len(l.x) - learnWindow; cut > learnWindow {
		l.x, l.y = append(l.x[:0:0], l.x[cut:]...), append(l.y[:0:0], l.y[cut:]...)
	}
	from := max(0, len(l.x)-learnWindow)
	x, y := append(l.x[:0:0], l.x[from:]...), append(l.y[:0:0], l.y[from:]...)
	for i := range l.open[max(0, len(l.open)-learnWindow/2):] {
		f := &l.open[i]
		x = append(x, f.x)
		y = append(y, f.d.drawBeyond(float32(logWait(float64(now-f.at))), l.rng.Float64()))
	}
	if l.linear {
		l.line = fitRidge(x, y)
		for i := range y {
			y[i] -= l.line.predict(x[i])
		}
	}
	var err error
	l.forest, err = train(ctx, x, y, l.seed.Child(l.grown+1))
	l.grown++
	l.next = l.known + refresh(l.known)
	return err
}

// estimate returns the estimate of a job with features x, as of f.at, and waits for its outcome.
// Before the first forest the distribution is that of the values in cold, in order.
func (l *learner) estimate(f forecast, cold []float32) (Estimate, *distribution) {
	l.buf = l.buf[:0]
	if l.forest != nil {
		l.buf = l.forest.values(f.x, l.buf)
		line := l.line.predict(f.x)
		for i := range l.buf {
			l.buf[i] = max(l.buf[i]+line, noWait)
		}
	} else {
		l.buf = append(l.buf, cold...)
	}
	f.d = distributionOf(l.buf)
	f.claim = l.ranges.propose(f.d)
	l.open = append(l.open, f)
	return Estimate{
		Wait: min(max(seconds(f.d.quantile(0.5)), f.claim.lo), f.claim.hi), Lo: f.claim.lo, Hi: f.claim.hi,
		OverHour: f.d.chanceAbove(float64(capcli.Hour)),
	}, f.d
}
