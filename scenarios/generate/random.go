package generate

import (
	"math"
	"math/rand/v2"
	"slices"

	"capcli"
)

// random is random work. Bursts arrive as a Poisson process whose rate follows the class's rhythm,
// by thinning one of constant rate (Lewis and Shedler 1979). Arrivals and job shapes have separate
// random streams, so another distribution of run times does not move the arrivals.
type random struct {
	recipe
	runs             lognormal
	rhythm           rhythm
	arrivals, shapes *rand.Rand
	at               float64 // time of the last burst, in seconds since the start
	rate             float64 // bursts a second at the highest rate of the rhythm
	tenants, sizes   shares
	left             int     // jobs of the burst still to come
	gpus             int     // GPUs of the burst's jobs
	tenant           int     // index of the burst's tenant; -1 is none
	logStay          float64 // ln of the probability that a burst has a further job
}

func newRandom(t recipe, scale float64, seed capcli.Seed) *random {
	c := t.c
	r := &random{
		recipe: t, runs: c.lognormal(), rhythm: c.rhythm(), at: float64(t.from), tenant: -1,
		arrivals: seed.Stream("jobs/" + c.Name + "/arrivals"), shapes: seed.Stream("jobs/" + c.Name + "/shapes"),
	}
	burst := max(1, c.Burst)
	r.rate = c.perDay() * scale / burst / float64(capcli.Day) / r.rhythm.mean() * r.rhythm.top()
	r.logStay = math.Log(1 - 1/burst)
	for i := range c.Tenants {
		r.tenants.add(c.Tenants[i].Weight)
	}
	for _, s := range c.Sizes {
		r.sizes.add(s.Weight)
	}
	return r
}

// perDay returns the mean number of jobs a day over whole weeks.
func (c *Class) perDay() float64 {
	if c.JobsPerDay > 0 {
		return c.JobsPerDay
	}
	runs := c.lognormal()
	return c.MeanGPUs * float64(capcli.Day) / (c.meanSize() * runs.mean())
}

func (c *Class) meanSize() float64 {
	var gpus, all float64
	for _, s := range c.Sizes {
		gpus, all = gpus+weight(s.Weight)*float64(s.GPUs), all+weight(s.Weight)
	}
	return gpus / all
}

func (r *random) next() (capcli.Job, bool) {
	if r.left == 0 && !r.burst() {
		return capcli.Job{}, false
	}
	r.left--
	run := r.runs.draw(r.shapes)
	j := r.job(capcli.Seconds(r.at), r.gpus, run)
	if r.tenant >= 0 {
		r.setTenant(&j, r.tenant)
	}
	if over := r.c.LimitOver; over > 0 {
		j.Limit = capcli.Seconds(math.Ceil(float64(run) * (1 + (over-1)*r.shapes.Float64())))
		if r.c.LimitModal {
			j.Limit = modal(j.Limit)
		}
	}
	if r.c.Slack > 0 {
		j.Deadline = j.Submit + capcli.Time(math.Ceil(r.c.Slack*float64(run)))
	}
	return j, true
}

// burst finds the next arrival and draws the common properties of its jobs. It reports false at the
// end.
func (r *random) burst() bool {
	for {
		r.at += r.arrivals.ExpFloat64() / r.rate
		if !(r.at < float64(r.end)) {
			return false
		}
		if r.arrivals.Float64()*r.rhythm.top() < r.rhythm.rateAt(float64(r.start)+r.at) {
			break
		}
	}
	r.left = 1
	if r.logStay > math.Inf(-1) { // the mean is above 1
		r.left += int(min(math.Log(1-r.shapes.Float64())/r.logStay, maxBurst))
	}
	r.gpus = r.c.Sizes[r.sizes.draw(r.shapes)].GPUs
	if len(r.c.Tenants) > 0 {
		r.tenant = r.tenants.draw(r.shapes)
	}
	return true
}

// usualLimits are usual time limits: a few round values make up most of the limits in logs
// (Tsafrir, Etsion and Feitelson, JSSPP 2005).
var usualLimits = []capcli.Seconds{
	5 * capcli.Minute, 15 * capcli.Minute, 30 * capcli.Minute, capcli.Hour, 2 * capcli.Hour, 4 * capcli.Hour, 8 * capcli.Hour,
	12 * capcli.Hour, capcli.Day, 2 * capcli.Day, 3 * capcli.Day, 5 * capcli.Day, 7 * capcli.Day, 14 * capcli.Day, 30 * capcli.Day,
}

// modal rounds a limit up to a usual one, and past a month to whole days.
func modal(s capcli.Seconds) capcli.Seconds {
	if i, _ := slices.BinarySearch(usualLimits, s); i < len(usualLimits) {
		return usualLimits[i]
	}
	return (s + capcli.Day - 1) / capcli.Day * capcli.Day
}

// shares are cumulative weights.
type shares []float64

func weight(w float64) float64 {
	if w == 0 {
		return 1
	}
	return w
}

func (s *shares) add(w float64) { *s = append(*s, s.total()+weight(w)) }

func (s *shares) total() float64 {
	if len(*s) == 0 {
		return 0
	}
	return (*s)[len(*s)-1]
}

// find returns the index whose part of the total contains the share u, from 0 to 1.
func (s *shares) find(u float64) int {
	for i, sum := range *s {
		if u*s.total() < sum {
			return i
		}
	}
	return len(*s) - 1
}

func (s *shares) draw(rng *rand.Rand) int { return s.find(rng.Float64()) }
