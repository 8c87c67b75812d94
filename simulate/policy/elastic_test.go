package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"

	"pgregory.net/rapid"
)

// elasticPolicies are the policies that choose models or widths themselves.
func elasticPolicies() (names []string) {
	for _, e := range policy.Catalog.All() {
		if _, ok := e.Value(simulate.Settings{}).(simulate.Resizer); ok {
			names = append(names, e.Name)
		}
	}
	return names
}

// stays checks each stay of each job against its way.
type stays struct {
	pools []simulate.Pool
	held  []int64
	since map[int64]capcli.Seconds
	way   map[int64]int
	gpus  map[int64]int64
	done  map[int64]float64 // seconds as submitted
	n     map[int64]int
	end   map[int64]capcli.Seconds
	fault string
}

func newStays(pools []simulate.Pool) *stays {
	return &stays{
		pools: pools, held: make([]int64, len(pools)), since: map[int64]capcli.Seconds{}, way: map[int64]int{}, gpus: map[int64]int64{},
		done: map[int64]float64{}, n: map[int64]int{}, end: map[int64]capcli.Seconds{},
	}
}

func (s *stays) Observe(e simulate.Event, _ *simulate.Cluster) {
	l := e.Job
	if l == nil {
		return
	}
	i := l.Index()
	switch e.Kind {
	case simulate.Start:
		w := l.Shape.Ways[l.Way()]
		if got := int64(0); true {
			for _, part := range l.Slices() {
				got += int64(part.GPUs)
			}
			if got != int64(w.GPUs) || int64(l.GPUs) != got || w.Model != s.pools[e.Pool].GPUModel {
				s.fault = fmt.Sprintf("job %d holds %d GPUs of %s in way %+v", i, got, s.pools[e.Pool].GPUModel, w)
			}
		}
		s.since[i], s.way[i], s.gpus[i] = e.At, l.Way(), int64(w.GPUs)
		s.held[e.Pool] += int64(w.GPUs)
		if s.held[e.Pool] > int64(s.pools[e.Pool].Capacity()) {
			s.fault = fmt.Sprintf("%d GPUs of pool %d are held at %d", s.held[e.Pool], e.Pool, e.At)
		}
	case simulate.Preempt, simulate.Finish:
		w := l.Shape.Ways[s.way[i]]
		s.held[e.Pool] -= s.gpus[i]
		s.done[i] += float64(e.At-s.since[i]) * float64(w.Den) / float64(w.Num)
		s.n[i]++
		if e.Kind == simulate.Finish {
			s.end[i] = e.At
		}
	default:
	}
}

func drawShape(t *rapid.T, models []string) *capcli.Shape {
	s := &capcli.Shape{Name: "drawn"}
	for _, m := range models {
		speed := int64(rapid.IntRange(1, 9).Draw(t, "speed"))
		for _, n := range []int{1, 2, 3, 4, 8} {
			if speed = max(1, speed+int64(rapid.IntRange(-1, 4).Draw(t, "more"))); n == 1 || rapid.Bool().Draw(t, "has way") {
				s.Ways = append(s.Ways, capcli.Way{Model: m, GPUs: n, Num: 4, Den: speed})
			}
		}
	}
	return s
}

// TestElasticLaws: no pool lends more GPUs than it has, and each job does all of its work, and less than a
// second more for each stay, whatever its ways were.
func TestElasticLaws(t *testing.T) {
	for _, name := range elasticPolicies() {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			models := rapid.SampledFrom([][]string{{"A"}, {"A", "B"}, {"B", "A", "C"}}).Draw(rt, "models")
			var pools []simulate.Pool
			for _, m := range models {
				pools = append(pools, simulate.Pool{Name: m, GPUModel: m, Nodes: rapid.IntRange(1, 3).Draw(rt, "nodes"), GPUsPerNode: rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(rt, "gpus")})
			}
			shapes := []*capcli.Shape{drawShape(rt, models), drawShape(rt, models)}
			var jobs []capcli.Job
			at := capcli.Time(0)
			for i := range rapid.IntRange(1, 20).Draw(rt, "jobs") {
				at += capcli.Time(rapid.SampledFrom([]int{0, 1, 50, 600, 4000}).Draw(rt, "gap"))
				s := rapid.SampledFrom(shapes).Draw(rt, "shape")
				w := rapid.SampledFrom(s.Ways).Draw(rt, "asked")
				jobs = append(jobs, capcli.Job{ID: fmt.Sprint(i), Submit: at, GPUs: w.GPUs, Run: capcli.Seconds(rapid.IntRange(1, 9000).Draw(rt, "run")), Deadline: capcli.NoTime, Shape: s})
			}
			place := rapid.SampledFrom(placement.Catalog.All()).Draw(rt, "placement")
			choices := map[string]string{"objective": rapid.SampledFrom([]string{"las", "finish_time_fairness"}).Draw(rt, "objective"), "agnostic": rapid.SampledFrom([]string{"true", "false"}).Draw(rt, "agnostic")}
			restarts := simulate.Restarts{Mode: rapid.SampledFrom([]simulate.Mode{simulate.Suspend, simulate.Suspend, simulate.Checkpoint, simulate.Scratch}).Draw(rt, "mode")}
			if rapid.Bool().Draw(rt, "has checkpoints") {
				restarts.Classes = []simulate.RestartClass{{Interval: 300, Cost: 7, Restart: capcli.Seconds(rapid.SampledFrom([]int{0, 40, 900}).Draw(rt, "restart"))}}
			}
			o := newStays(pools)
			r, err := simulate.Run(context.Background(), simulate.Config{
				Start: 0, Restarts: restarts, Pools: pools, Jobs: streamOf(jobs), Policy: mustPolicy(t, name), Placement: place.Value(), Observers: []simulate.Observer{o},
				Settings: simulate.Settings{Choices: choices},
			})
			if err != nil || o.fault != "" {
				rt.Fatal(err, o.fault)
			}
			if r.Jobs.Finished+r.Jobs.Unplaceable != int64(len(jobs)) {
				rt.Fatalf("%+v of %d jobs", r.Jobs, len(jobs))
			}
			for i, done := range o.done {
				run := float64(jobs[i].Run)
				slack := 0.0
				for _, w := range jobs[i].Shape.Ways {
					slack = max(slack, float64(w.Den)/float64(w.Num))
				}
				kept := restarts.Mode == simulate.Suspend && restarts.Classes == nil
				if done < run-1e-6 || kept && done > run+slack*float64(o.n[i])+1e-6 {
					rt.Fatalf("job %d has %v s of work and did %v in %d stays", i, run, done, o.n[i])
				}
			}
		}))
	}
}

// TestMalleableOptimum plays the reference cases in which jobs change their width each hour: no policy beats
// the optimum.
func TestMalleableOptimum(t *testing.T) {
	text, err := os.ReadFile(shared + "golden/elastic/width/cases.json")
	if err != nil {
		t.Skip("reference cases are not here: " + err.Error())
	}
	var cases []struct {
		Kind, ID string
		Input    struct {
			GPUs int
			Jobs []struct {
				ID           int
				Submit, Work int64
				Rates        map[string]int64
			}
		}
		Expect struct {
			Makespan int64
			Sum      int64 `json:"sum_completion"`
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	const hour = 3600
	for _, name := range elasticPolicies() {
		n, sums, best, late, least := 0, int64(0), int64(0), int64(0), int64(0)
		for _, c := range cases {
			if c.Kind != "malleable" {
				continue
			}
			var jobs []capcli.Job
			for _, j := range c.Input.Jobs {
				s := &capcli.Shape{Name: strconv.Itoa(j.ID)}
				for w := 1; w <= c.Input.GPUs; w++ {
					if rate := j.Rates[strconv.Itoa(w)]; rate > 0 {
						s.Ways = append(s.Ways, capcli.Way{GPUs: w, Num: 1, Den: rate})
					}
				}
				jobs = append(jobs, capcli.Job{ID: s.Name, Submit: capcli.Time(j.Submit * hour), GPUs: 1, Run: capcli.Seconds(j.Work * hour), Deadline: capcli.NoTime, Shape: s})
			}
			slices.SortStableFunc(jobs, func(a, b capcli.Job) int { return int(a.Submit - b.Submit) })
			pools := []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: c.Input.GPUs}}
			o := newStays(pools)
			_, err := simulate.Run(context.Background(), simulate.Config{
				Pools: pools, Jobs: streamOf(jobs), Policy: mustPolicy(t, name), Placement: mustCounted(t), Observers: []simulate.Observer{o},
				Settings: simulate.Settings{Round: hour}, Start: 0,
			})
			if err != nil || o.fault != "" {
				t.Fatal(err, o.fault)
			}
			sum, last, first := int64(0), int64(0), int64(jobs[0].Submit)
			for i, end := range o.end {
				e := (int64(end) + first + hour - 1) / hour
				sum += e - int64(jobs[i].Submit)/hour
				last = max(last, e)
			}
			if sum < c.Expect.Sum || last < c.Expect.Makespan {
				t.Errorf("%s beats the optimum of %s: sum %d, want at least %d; last end %d, want at least %d", name, c.ID, sum, c.Expect.Sum, last, c.Expect.Makespan)
			}
			n++
			sums, best, late, least = sums+sum, best+c.Expect.Sum, late+last, least+c.Expect.Makespan
		}
		t.Logf("%s: %d cases, completion times %.1f %% above the optimum, last ends %.1f %%", name, n, 100*float64(sums-best)/float64(best), 100*float64(late-least)/float64(least))
		if n == 0 {
			t.Error("no cases")
		}
	}
}

func mustCounted(t testing.TB) simulate.Placement {
	t.Helper()
	p, err := placement.Catalog.Get("consolidate")
	if err != nil {
		t.Fatal(err)
	}
	return p()
}
