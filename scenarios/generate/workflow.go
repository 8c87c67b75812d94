package generate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"capcli"
)

// Workflow is a pipeline whose stages depend on each other, such as pre-train, fine-tune, align, distil and
// deploy. It runs once, or again and again.
type Workflow struct {
	Name     string
	Tenants  []Tenant // who pays, drawn for each run of it
	From     capcli.Seconds
	Every    capcli.Seconds // between the starts of two runs; 0 is one run
	Runs     int            // most runs; 0 is as many as begin in the period
	Deadline capcli.Seconds // since the start of a run; 0 is none
	Dollars  capcli.USD     // what a run may cost; 0 is any
	Priority int
	Stages   []Stage
}

// Stage is one step of a workflow: a job, some jobs at once, or the trials of a sweep.
type Stage struct {
	Name      string
	Class     string // kind of work; "" is the stage's name
	GPUModel  string
	Partition string
	GPUs      int
	Jobs      int            // at once; 0 is 1
	Run       capcli.Seconds // median
	RunP95    capcli.Seconds // 95th percentile of a log-normal; 0 is always Run
	Limit     capcli.Seconds // time asked for; 0 is unknown
	After     []string       // stages that must have ended
	When      string         // what their end must be: one of Whens; "" is ok, some after a sweep
	Fails     float64        // probability that a try ends in failure
	Retries   int
	Deadline  capcli.Seconds // since the start of the run of the workflow; 0 is none
	Dollars   capcli.USD     // what the stage of a run may cost; 0 is any
	Sweep     *Sweep
}

// Sweep is a search over hyper-parameters: the jobs of its stage are trials.
type Sweep struct {
	Trials      int
	MaxParallel int
	Stop        string      // "", halving or median
	Keep        int         // halving: one of so many goes on
	Grace       int         // median: trials that report before one is judged
	Rungs       []float64   // shares of the run time at which losses are compared
	Losses      [][]float64 // by trial and rung; nil draws them
}

// Whens are the words for what the end of an earlier stage must be: of all of its jobs, or of some.
var Whens = []string{"ok", "any", "failed", "started", "some"}

// defaultRungs are the shares of a run at which trials are compared: a quarter of the run is one rung of a
// sweep that keeps one of four.
var defaultRungs = []float64{1.0 / 16, 1.0 / 4, 1.0 / 2}

// RungsDefault is the number of rungs of a sweep that states none.
const RungsDefault = 3

// Play returns the jobs of the workflow's runs that begin from start on and before end, in order of
// submission. With end NoTime there are Runs of them.
func (w *Workflow) Play(start, end capcli.Time, seed capcli.Seed) (jobs []capcli.Job) {
	for n := 0; w.Runs == 0 || n < w.Runs; n++ {
		at := start + capcli.Time(w.From) + capcli.Time(n)*capcli.Time(w.Every)
		if end.IsKnown() && at >= end || n > 0 && w.Every == 0 || !end.IsKnown() && w.Runs == 0 && n > 0 {
			break
		}
		jobs = append(jobs, w.play(n, at, seed)...)
	}
	return jobs
}

// play returns the jobs of run n, which begins at a time.
func (w *Workflow) play(n int, at capcli.Time, seed capcli.Seed) (jobs []capcli.Job) {
	id := fmt.Sprintf("%s-%04d", w.Name, n+1)
	var tenants shares
	for i := range w.Tenants {
		tenants.add(w.Tenants[i].Weight)
	}
	rng := seed.Stream("workflow/" + id)
	var pays Tenant
	if len(w.Tenants) > 0 {
		pays = w.Tenants[tenants.find(rng.Float64())]
	}
	for i := range w.Stages {
		s := &w.Stages[i]
		// A stream of its own for each stage: a change of one moves no other.
		draws := seed.Stream("workflow/" + id + "/" + s.Name)
		after := w.dependencies(id, s)
		sweep := s.sweep(id)
		for k := range s.width() {
			j := s.job(id, k, at, draws)
			j.Tenant, j.Tags, j.Priority = pays.Name, pays.Tags, w.Priority
			j.Stage.Of, j.Stage.After, j.Stage.Sweep = w.Name, after, sweep
			if sweep != nil && sweep.Stop != capcli.StopNever {
				j.Stage.Scores = s.Sweep.scores(k, sweep.Rungs, seed.Stream(fmt.Sprintf("workflow/%s/%s/loss/%d", id, s.Name, k)))
			}
			due := s.Deadline
			if due == 0 && !slices.ContainsFunc(w.Stages, func(o Stage) bool { return slices.Contains(o.After, s.Name) }) {
				due = w.Deadline
			}
			if due > 0 {
				j.Deadline = at + capcli.Time(due)
			}
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func (s *Stage) width() int {
	if s.Sweep != nil {
		return s.Sweep.Trials
	}
	return max(1, s.Jobs)
}

// dependencies returns what the jobs of stage s of a run wait for. They share the list.
func (w *Workflow) dependencies(id string, s *Stage) (after []capcli.After) {
	for _, name := range s.After {
		i := slices.IndexFunc(w.Stages, func(o Stage) bool { return o.Name == name })
		if i < 0 {
			continue
		}
		word := s.When
		if word == "" && w.Stages[i].Sweep != nil {
			word = "some"
		}
		for k := range w.Stages[i].width() {
			after = append(after, capcli.After{ID: w.Stages[i].id(id, k), When: capcli.AfterWhen(max(0, slices.Index(Whens, word)))})
		}
	}
	return after
}

func (s *Stage) id(run string, k int) string {
	if s.width() == 1 {
		return run + "/" + s.Name
	}
	return fmt.Sprintf("%s/%s-%d", run, s.Name, k+1)
}

func (s *Stage) job(run string, k int, at capcli.Time, rng *rand.Rand) capcli.Job {
	length := lognormal{mu: math.Log(float64(s.Run)), low: 1, high: math.Inf(1), to: 1}
	if s.RunP95 > s.Run {
		length.sigma = (math.Log(float64(s.RunP95)) - length.mu) / z95
	}
	j := capcli.Job{
		ID: s.id(run, k), Class: cmp.Or(s.Class, s.Name), GPUModel: s.GPUModel, Partition: s.Partition, GPUs: s.GPUs, Submit: at,
		Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime, Run: s.Run, Limit: s.Limit,
		Stage: &capcli.Stage{Workflow: run, Name: s.Name, Retries: s.Retries},
	}
	if length.sigma > 0 {
		j.Run = length.draw(rng)
	}
	if s.Fails > 0 {
		for j.Stage.FailTries <= s.Retries && rng.Float64() < s.Fails {
			j.Stage.FailTries++
		}
	}
	return j
}

// sweep returns the sweep of the stage in a run; nil if it has none.
func (s *Stage) sweep(run string) *capcli.Sweep {
	if s.Sweep == nil {
		return nil
	}
	out := &capcli.Sweep{Name: run + "/" + s.Name, MaxParallel: s.Sweep.MaxParallel, Keep: s.Sweep.Keep, Grace: s.Sweep.Grace, Rungs: s.Sweep.Rungs}
	switch s.Sweep.Stop {
	case "halving":
		out.Stop = capcli.StopHalving
	case "median":
		out.Stop = capcli.StopMedian
	}
	if out.Rungs == nil {
		out.Rungs = defaultRungs
	}
	out.Keep = cmp.Or(out.Keep, 4)
	out.Grace = cmp.Or(out.Grace, 5)
	return out
}

// scores returns the losses of trial k at the rungs: those given, or drawn. A drawn curve is the power law
//
//	loss(x) = a + b x^(-1/2), times a normal error of 2 %
//
// at share x of the run, with a and b even in 0.1 to 1 and 0.01 to 0.2: the family of Domhan et al.,
// "Speeding up Automatic Hyperparameter Optimization" (IJCAI 2015).
func (s *Sweep) scores(k int, rungs []float64, rng *rand.Rand) []float64 {
	if len(s.Losses) > 0 {
		return s.Losses[k%len(s.Losses)]
	}
	a, b := 0.1+0.9*rng.Float64(), 0.01+0.19*rng.Float64()
	return capcli.Map(rungs, func(x float64) float64 { return (a + b/math.Sqrt(x)) * (1 + 0.02*rng.NormFloat64()) })
}
