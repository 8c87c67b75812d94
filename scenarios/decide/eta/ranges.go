package eta

import "math"

// Settings of the ranges.
const (
	rangeMiss  = 0.20 // share of waits that a range misses
	missBelow  = 0.08 // of that, below the range; the rest is above
	missAbove  = 0.10 // share of waits above a range where all jobs wait
	sureStart  = 0.10 // a job with a smaller chance to wait over a minute is taken to start at once
	sureUpper  = 0.80 // quantile that is the upper end for a job that is taken to start at once
	marginStep = 0.01 // change of a class's margin for one outcome
	commonStep = 0.003
	cutStep    = 0.001
	cutLeast   = 0.50
	cutMost    = 0.97
	marginMost = 1.0  // margins stay within a factor of ten
	commonMost = 0.3  // and what is added to all within two
	firstUpper = 0.25 // margin before anything is learnt: early forests have seen too little
)

// classEdges part the chances to wait over a minute into classes with a margin each.
var classEdges = [...]float64{0.15, 0.3, 0.5, 0.7, 0.9, 0.97}

// claim is a range that was given, to be held against the outcome.
type claim struct {
	class    int     // -1: taken to start at once
	above    float64 // share of such jobs that wait over a minute and should be above hi
	lo, hi   float64
	exceeded bool // the wait is known to be above hi
}

// ranges makes ranges of distributions and corrects them by their outcomes, so that they hold 80 %
// of the jobs, and 80 % of those that wait over a minute.
//
// Coverage of all jobs alone is no use: most jobs start at once, ranges hold these by nature, and
// may then miss most of the others. So both ends are corrected by the jobs that wait over a minute
// only. Each class of jobs with a like chance to wait has two margins that are added to the ends.
// After an outcome a margin moves by the step times (1 if it was outside, else 0, less the share
// that should be): adaptive conformal inference, Gibbs and Candès, "Adaptive Conformal Inference
// Under Distribution Shift", NeurIPS 2021, with margins in place of levels, as in conformalised
// quantile regression (Romano, Patterson, Candès, NeurIPS 2019). An outcome counts as above as soon
// as the job has waited longer, not first when it starts.
//
// A class in which few wait may miss more of these: missAbove over the root of the chance to wait.
// Its ranges would be very wide otherwise, for the few.
//
// The lower end is 0 unless the job will more likely wait than not. How likely it must be is
// corrected by all outcomes: ranges that hold more than 80 % of all jobs leave 0 earlier.
type ranges struct {
	upper, lower [len(classEdges) + 1]float64
	common       float64 // added to all upper ends

	// Outcomes at this moment. The k-th counts for 1/k: jobs that were submitted together fail
	// together, and say little more than one.
	above, below [len(classEdges) + 1]int
	waited       int
	cut          float64 // the lower end is above 0 if the chance to wait is at least that
}

func newRanges() *ranges {
	r := &ranges{cut: 0.8}
	for k := range r.upper {
		r.upper[k] = firstUpper
	}
	return r
}

// propose returns the range of a wait with distribution d.
func (r *ranges) propose(d *distribution) claim {
	waits := d.chanceAbove(60)
	if waits < sureStart {
		return claim{class: -1, hi: seconds(d.quantile(sureUpper))}
	}
	c := claim{above: missAbove / math.Sqrt(waits)}
	for c.class < len(classEdges) && waits >= classEdges[c.class] {
		c.class++
	}
	c.hi = seconds(max(d.quantile(1-missAbove*math.Sqrt(waits))+r.upper[c.class]+r.common, d.quantile(0.5)))
	delayed := d.chanceAbove(0)
	switch {
	case waits >= r.cut:
		c.lo = max(1, seconds(min(d.quantile(1-waits+missBelow*waits)-r.lower[c.class], d.quantile(0.5))))
	case delayed >= r.cut:
		c.lo = max(1, seconds(min(d.quantile(1-delayed+missBelow*delayed), d.quantile(0.5))))
	}
	c.hi = max(c.hi, c.lo)
	return c
}

// begin says that what follows happens at another moment.
func (r *ranges) begin() {
	clear(r.above[:])
	clear(r.below[:])
	r.waited = 0
}

// exceed takes in that a job still waits after so many seconds.
func (r *ranges) exceed(c *claim, waited float64) {
	if c.class >= 0 && !c.exceeded && waited > max(c.hi, 60) {
		c.exceeded = true
		r.raise(c, 1)
	}
}

// raise corrects the upper end of a class by an outcome: 1 above it, 0 not.
func (r *ranges) raise(c *claim, above float64) {
	r.above[c.class]++
	r.upper[c.class] = bounded(r.upper[c.class] + marginStep*(above-c.above)/float64(r.above[c.class]))
}

func bounded(margin float64) float64 { return min(max(margin, -marginMost), marginMost) }

// settle takes in the wait of a job that has started.
func (r *ranges) settle(c *claim, waited float64) {
	held := 0.0
	if c.lo <= waited && waited <= c.hi {
		held = 1
	}
	r.cut = min(max(r.cut+cutStep*(1-rangeMiss-held), cutLeast), cutMost)
	if waited <= 60 {
		return
	}
	r.waited++
	r.common = min(max(r.common+commonStep*(1-rangeMiss-held)/float64(r.waited), -commonMost), commonMost)
	if c.class < 0 {
		return
	}
	switch {
	case c.exceeded: // counted already
	case waited > c.hi:
		r.raise(c, 1)
	default:
		r.raise(c, 0)
	}
	below := 0.0
	if waited < c.lo {
		below = 1
	}
	r.below[c.class]++
	r.lower[c.class] = bounded(r.lower[c.class] + marginStep*(below-missBelow)/float64(r.below[c.class]))
}
