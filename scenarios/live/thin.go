package live

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"capcli"
)

// MaxJobs is the most jobs that a page carries. The engine plays as many in about half a second in
// a browser.
const MaxJobs = 40_000

// Thinned says how jobs were thinned.
type Thinned struct {
	From  int            `json:"from_jobs"`
	Kept  int            `json:"jobs"`
	Least capcli.GPUTime `json:"least_gpu_hours"` // jobs with less GPU time were thinned
	Load  float64        `json:"load"`            // GPU time of the kept jobs over that of all jobs
}

// Note says what was thinned, and what that does to the figures.
func (t *Thinned) Note() string {
	return fmt.Sprintf("%s of %s jobs: jobs below %.2f GPU-hours are thinned, and those kept run longer in their place, so that %.2f%% of the load stays. "+
		"Use and cost are near those of all jobs; waits are longer, since the jobs are fewer and larger: compare them with each other. capcli serve plays all jobs",
		capcli.Grouped(int64(t.Kept)), capcli.Grouped(int64(t.From)), t.Least.Hours(), 100*t.Load)
}

// Thin returns about most of the jobs, with nearly the same load at any time and of any tenant; nil
// says that all jobs fit. It is threshold sampling (Duffield, Lund, Thorup: "Learn more, sample
// less", IEEE Transactions on Information Theory 51(5), 2005): with the threshold z, a job with the
// GPU time w is kept with the probability min(1, w/z), and then counts with the GPU time max(w, z),
// so that the expected load is the load. z is the one for which the probabilities sum to most. The
// draw is systematic within each tenant, in order of submission: at any time the load of a tenant is
// within z of what it was. A job that is kept for others runs longer by the same factor, its limit
// too, and its deadline is as much later. Jobs without GPU time are left out.
func Thin(jobs []capcli.Job, most int, seed capcli.Seed) ([]capcli.Job, *Thinned) {
	if len(jobs) <= most {
		return jobs, nil
	}
	work := make([]float64, 0, len(jobs))
	for i := range jobs {
		work = append(work, float64(jobs[i].Work()))
	}
	z := threshold(work, most)
	out := make([]capcli.Job, 0, most+1)
	draws := seed.Stream("live/thin")
	tenants := map[string]*float64{}
	var before, after float64
	for i := range jobs {
		j := jobs[i]
		before += work[i]
		if work[i] < z || work[i] == 0 {
			if work[i] == 0 || !draw(tenants, j.Tenant, work[i]/z, draws) {
				continue
			}
			lengthen(&j, z/work[i])
		}
		after += float64(j.Work())
		out = append(out, j)
	}
	t := &Thinned{From: len(jobs), Kept: len(out), Least: capcli.GPUTime(z)}
	if before > 0 {
		t.Load = after / before
	}
	return out, t
}

// threshold returns the z for which the sum of min(1, w/z) is most. With the works in falling order,
// the k largest are whole and z is the sum of the others over most-k, for the first k whose next
// work is below that z.
func threshold(work []float64, most int) float64 {
	sorted := slices.Clone(work)
	slices.SortFunc(sorted, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	rest := 0.0
	for _, w := range sorted {
		rest += w
	}
	for k := range most {
		z := rest / float64(most-k)
		if sorted[k] <= z {
			return z
		}
		rest -= sorted[k]
	}
	return sorted[most-1]
}

// draw reports whether the next job of a tenant is kept, with probability p: it is when the sum of
// the tenant's probabilities passes a whole number. The sum starts at a random number.
func draw(tenants map[string]*float64, tenant string, p float64, draws *rand.Rand) bool {
	sum := tenants[tenant]
	if sum == nil {
		start := draws.Float64()
		sum = &start
		tenants[tenant] = sum
	}
	*sum += p
	if *sum < 1 {
		return false
	}
	*sum--
	return true
}

// lengthen makes j run longer by a factor.
func lengthen(j *capcli.Job, by float64) {
	run := capcli.Seconds(math.Round(float64(j.Run) * by))
	more := capcli.Time(run - j.Run)
	if j.Limit > 0 {
		j.Limit = capcli.Seconds(math.Round(float64(j.Limit) * by))
	}
	if j.End.IsKnown() {
		j.End += more
	}
	if j.Deadline.IsKnown() {
		j.Deadline += more
	}
	j.Run = run
}
