// Package choose holds the rules by which a job with ways takes one of them: see simulate.Chooser.
//
// All rules rank the ways by what the job's estimate says. Without a wait, a rule takes the best way that
// fits now. With a wait, a job holds out for its best way alone until it has waited so long since its
// submission; then it takes the best that fits. A way that no longer meets the deadline is no longer best,
// so a job with a deadline does not wait itself late if another way would still meet it.
package choose

import (
	"math/bits"
	"slices"

	"capcli"
	"capcli/simulate"
)

// Settings are what a rule needs to know.
type Settings struct {
	Wait   capcli.Seconds // how long a job holds out for its best way; 0 takes what fits
	Prices []capcli.USD   // by pool, of a GPU for an hour; a missing one is a dollar
}

// New returns the chooser of a rule; nil is the way that each job asked for.
type New func(Settings) simulate.Chooser

// Catalog holds the rules by name.
var Catalog capcli.Catalog[New]

// option is a choice with what rules compare.
type option struct {
	simulate.Choice
	gpus  int
	takes capcli.Seconds // from now to the end, with the time until the pool delivers
	late  bool           // ends after the deadline
	cost  [2]uint64      // price x GPUs x time, as a number of 128 bits
}

// rule ranks options.
type rule struct {
	Settings
	rank    func(a, b *option) int // 0 is as good
	options []option               // scratch
	ways    []simulate.Choice      // scratch
}

// Choose implements simulate.Chooser.
func (r *rule) Choose(c *simulate.Cluster, l *simulate.Live, pools []int, dst []simulate.Choice) []simulate.Choice {
	r.gather(c, l, pools)
	best := len(r.options)
	if r.Wait > 0 && c.Now()-l.Submitted < r.Wait {
		for best = 1; best < len(r.options) && r.rank(&r.options[best-1], &r.options[best]) == 0; best++ {
		}
		best = min(best, len(r.options))
	}
	for i := range r.options[:best] {
		o := &r.options[i]
		o.Late = o.late
		o.Equal = i > 0 && o.Way == r.options[i-1].Way && r.rank(&r.options[i-1], o) == 0
		dst = append(dst, o.Choice)
	}
	return dst
}

// BestChoice implements simulate.Ranker.
func (r *rule) BestChoice(c *simulate.Cluster, l *simulate.Live, choices []simulate.Choice) int {
	r.add(c, l, choices)
	best := 0
	for i := range r.options {
		if r.rank(&r.options[i], &r.options[best]) < 0 {
			best = i
		}
	}
	return best
}

// gather makes the options of l, best first. Options that are as good keep the order of the ways and pools.
func (r *rule) gather(c *simulate.Cluster, l *simulate.Live, pools []int) {
	r.ways = l.Ways(pools, r.ways[:0])
	r.add(c, l, r.ways)
	slices.SortStableFunc(r.options, func(a, b option) int { return r.rank(&a, &b) })
}

// add makes options of choices, in their order.
func (r *rule) add(c *simulate.Cluster, l *simulate.Live, choices []simulate.Choice) {
	r.options = r.options[:0]
	due, has := l.DueTime()
	for _, o := range choices {
		x := option{Choice: o, gpus: l.GPUs, takes: max(0, o.From-c.Now()) + o.Left}
		if o.Way >= 0 {
			x.gpus = l.Shape.Ways[o.Way].GPUs
		}
		pool := c.Pool(o.Pool)
		if !pool.PaidWhole() {
			x.takes += pool.Lead
		}
		x.late = has && c.Now()+x.takes > due
		x.cost = r.costOf(&x)
		r.options = append(r.options, x)
	}
}

// costOf returns what an option costs in millionths of a dollar times 3600 s.
func (r *rule) costOf(o *option) [2]uint64 {
	price := capcli.Dollar
	if o.Pool < len(r.Prices) {
		price = max(0, r.Prices[o.Pool])
	}
	hi, lo := bits.Mul64(uint64(price), uint64(o.gpus)*uint64(o.Left))
	return [2]uint64{hi, lo}
}

// NextLook implements simulate.Waiter: it returns the next time at which the best way of l may be another.
func (r *rule) NextLook(c *simulate.Cluster, l *simulate.Live, pools []int) (capcli.Seconds, bool) {
	if r.Wait == 0 {
		return 0, false
	}
	now := c.Now()
	next, some := l.Submitted+r.Wait, l.Submitted+r.Wait > now
	due, has := l.DueTime()
	if !has {
		return next, some
	}
	r.gather(c, l, pools)
	for i := range r.options {
		if at := due - r.options[i].takes + 1; at > now && (!some || at < next) {
			next, some = at, true
		}
	}
	return next, some
}

// uniform is a rule without a wait, which offers all ways of a job: see simulate.UniformChooser.
type uniform struct{ rule }

// Uniform implements simulate.UniformChooser.
func (*uniform) Uniform() {}

func ranked(s Settings, rank func(a, b *option) int) simulate.Chooser {
	if s.Wait == 0 {
		return &uniform{rule{Settings: s, rank: rank}}
	}
	return &rule{Settings: s, rank: rank}
}
