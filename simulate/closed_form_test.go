package simulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/testdata/golden"
)

// service is the mean length of a job: so long that whole seconds do not show.
const service = 36_000.0

// erlangB is the chance that all of c servers are busy when a job arrives that
// then goes away, at an offered load of a: B(c) = a B(c-1) / (c + a B(c-1)).
// It holds whatever the distribution of service times (Erlang 1917, Sevastyanov
// 1957).
func erlangB(c int, a float64) float64 {
	b := 1.0
	for k := 1; k <= c; k++ {
		b = a * b / (float64(k) + a*b)
	}
	return b
}

// erlangC is the chance that a job has to wait for one of c servers, for
// exponential service times: C = B / (1 - rho (1 - B)).
func erlangC(c int, rho float64) float64 {
	b := erlangB(c, rho*float64(c))
	return b / (1 - rho*(1-b))
}

// oneGPUJobs is n jobs on one GPU each, some seconds apart on average (a Poisson
// process) and of lengths drawn by length.
func oneGPUJobs(n int, apart float64, rng *rand.Rand, length func(*rand.Rand) float64) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		at := 0.0
		for i := range n {
			at += apart * rng.ExpFloat64()
			j := capcli.Job{
				ID: strconv.Itoa(i), GPUs: 1, Submit: capcli.Time(at), Deadline: capcli.NoTime,
				Run: capcli.Seconds(max(1, math.Round(length(rng)))),
			}
			if !yield(j, nil) {
				return
			}
		}
	}
}

// queueSeen counts jobs that waited, and how long, once the system is no longer
// empty as at the start.
type queueSeen struct {
	skip         int
	jobs, waited float64
	sum          float64
	beyond       float64 // jobs on pools other than the first
}

func (w *queueSeen) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind != simulate.Start {
		return
	}
	if w.skip--; w.skip >= 0 {
		return
	}
	w.jobs++
	if wait := e.At - e.Job.Submitted; wait > 0 {
		w.waited++
		w.sum += float64(wait)
	}
	if e.Job.Slices()[0].Pool > 0 {
		w.beyond++
	}
}

// interval returns the mean of replications and the half-width of its 99.9 %
// confidence interval, by Student's t.
func interval(x []float64) (mean, half float64) {
	student := map[int]float64{10: 4.7809, 20: 3.8834}[len(x)] // by the number of replications
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		half += (v - mean) * (v - mean)
	}
	return mean, student * math.Sqrt(half/float64(len(x)-1)/float64(len(x)))
}

// replications is the number of runs of a system: 10, or 20 with CAPCLI_LONG=1.
var replications = map[bool]int{false: 10, true: 20}[os.Getenv("CAPCLI_LONG") == "1"]

// manyRuns runs a system of identical GPUs with Poisson arrivals many times, and
// gives what each replication saw.
func manyRuns(t *testing.T, name string, runs, jobs int, apart float64, length func(*rand.Rand) float64, pools ...simulate.Pool) []queueSeen {
	t.Helper()
	out := make([]queueSeen, runs)
	for r := range out {
		out[r].skip = jobs / 10
		rng := capcli.Seed(2027).Child(r).Stream(name)
		_, err := simulate.Run(context.Background(), simulate.Config{
			Jobs: oneGPUJobs(jobs, apart, rng, length), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			Pools: pools, Observers: []simulate.Observer{&out[r]},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func exponentialRun(rng *rand.Rand) float64 { return service * rng.ExpFloat64() }

// insideInterval checks a formula's answer against the replications'.
func insideInterval(t *testing.T, what string, x []float64, want, slack float64) {
	t.Helper()
	got, half := interval(x)
	t.Logf("%-24s %.5f ± %.5f, formula %.5f", what, got, half, want)
	if math.Abs(got-want) > half+slack {
		t.Errorf("%s is %.5f ± %.5f, want %.5f", what, got, half, want)
	}
	if half > 0.2*want {
		t.Errorf("%s: ± %.5f of %.5f is no test", what, half, want)
	}
}

// M/M/k: first come, first served, against Erlang's second formula, and the
// cases of the textbook file where it is there.
func TestWaitsAreErlangC(t *testing.T) {
	if golden.Short() {
		t.Skip("closed forms want long runs")
	}
	cases := []struct {
		C        int
		Rho      float64
		PWait    float64 `json:"p_wait"`
		MeanWait float64 `json:"mean_wait"`
	}{{2, 0.5, 1. / 3, 1. / 3}, {1, 0.8, 0.8, 4}, {4, 0.75, 0, 0}, {8, 0.9, 0, 0}, {64, 0.95, 0, 0}}
	if b, err := os.ReadFile(filepath.Join(goldenDir, "textbook.json")); err == nil {
		var file []struct {
			ID     string
			Expect json.RawMessage
		}
		if err := json.Unmarshal(b, &file); err != nil {
			t.Fatal(err)
		}
		for _, c := range file {
			if c.ID != "erlang-c" {
				continue
			}
			expect := struct{ Cases any }{&cases}
			if err := json.Unmarshal(c.Expect, &expect); err != nil {
				t.Fatal(err)
			}
		}
	} else {
		t.Logf("the textbook's cases are not here: %v", err)
	}
	for i, c := range cases {
		if i%3 != 0 && !golden.Full() {
			continue
		}
		name := fmt.Sprintf("M/M/%d at %v", c.C, c.Rho)
		pWait := erlangC(c.C, c.Rho)
		meanWait := pWait / (float64(c.C) * (1 - c.Rho))
		if c.PWait > 0 && (math.Abs(pWait-c.PWait) > 1e-9 || math.Abs(meanWait-c.MeanWait) > 1e-9) {
			t.Errorf("%s: the formula gives %v and %v, the textbook %v and %v", name, pWait, meanWait, c.PWait, c.MeanWait)
		}
		var p, w []float64
		runs, jobs := replications, 60_000
		if c.C > 32 {
			runs, jobs = 20, 150_000 // the busier, the longer what was lasts
		}
		for _, r := range manyRuns(t, name, runs, jobs, service/float64(c.C)/c.Rho, exponentialRun,
			simulate.Pool{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: c.C}) {
			p, w = append(p, r.waited/r.jobs), append(w, r.sum/r.jobs/service)
		}
		// A wait under a second is none to the simulator: of the exponential queueSeen
		// of those that wait, with mean service / (k (1 - rho)), that is a share of
		// about k (1 - rho) / service, under a thousandth.
		slack := pWait * float64(c.C) * (1 - c.Rho) / service
		insideInterval(t, name+" P(wait)", p, pWait, slack)
		insideInterval(t, name+" mean wait", w, meanWait, 1/service)
	}
}

// M/G/k/k: jobs that find all of k GPUs busy go to on-demand capacity at once.
// Erlang's first formula says how many, whatever the lengths of jobs.
func TestOverflowIsErlangB(t *testing.T) {
	if golden.Short() {
		t.Skip("closed forms want long runs")
	}
	lengths := []struct {
		name string
		draw func(*rand.Rand) float64
	}{
		{"exponential", exponentialRun},
		{"constant", func(*rand.Rand) float64 { return service }},
		{"log-normal", func(rng *rand.Rand) float64 { return service * math.Exp(rng.NormFloat64()-0.5) }},
		{"two kinds", func(rng *rand.Rand) float64 { // one in ten is 5.5 times the mean
			if rng.IntN(10) == 0 {
				return 5.5 * service
			}
			return 0.5 * service
		}},
	}
	for _, c := range []struct {
		k int
		a float64
	}{{5, 4}, {32, 30}} {
		want := erlangB(c.k, c.a)
		for i, l := range lengths {
			if i > 0 && !golden.Full() {
				continue
			}
			name := fmt.Sprintf("M/G/%d/%d %s", c.k, c.k, l.name)
			var beyond []float64
			for _, r := range manyRuns(t, name, replications, 30_000, service/c.a, l.draw,
				simulate.Pool{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: c.k},
				simulate.Pool{Name: "flex", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 1_000_000}) {
				if r.waited > 0 {
					t.Fatalf("%s: %v jobs waited, though on-demand capacity had no end", name, r.waited)
				}
				beyond = append(beyond, r.beyond/r.jobs)
			}
			insideInterval(t, name, beyond, want, 0)
		}
	}
}
