package simulate_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"

	"pgregory.net/rapid"
)

// servedBy gives the figures of a run that tell how well jobs were served, less being
// better; one that is not known is worse than all that are.
func servedBy(r *simulate.Result) map[string]float64 {
	out := map[string]float64{
		"wait_mean": r.Wait.Mean, "queue_time_mean": r.MeanQueueTime, "jct_mean": r.MeanJCT, "bounded_slowdown_mean": r.BoundedSlowdown,
		"makespan": float64(r.Makespan), "queue_max": float64(r.QueueMax), "queue_mean": r.QueueMean, "finished": -float64(r.Jobs.Finished),
		"waiting": float64(r.Jobs.Waiting), "unplaceable": float64(r.Jobs.Unplaceable), "deadline_misses": float64(r.Jobs.Misses),
		"unserved_gpu_hours": float64(r.Served.Unserved()), "unserved_share": r.Served.UnservedShare(), "unserved_jobs": float64(r.Served.Jobs()),
		"backlog_gpu_hours": float64(r.Served.LeftOver()),
	}
	for percent, v := range map[int64]capcli.Seconds{50: r.Wait.P50, 95: r.Wait.P95, 99: r.Wait.P99, 100: r.Wait.Max} {
		out[fmt.Sprint("wait_p", percent)] = math.Inf(1)
		if r.Wait.KnowsRank(percent) {
			out[fmt.Sprint("wait_p", percent)] = float64(v)
		}
	}
	if share, known := r.Availability(30); known {
		out["availability"] = -share
	}
	return out
}

// Under fifo on one counted pool no job starts earlier for there being fewer GPUs,
// as long as each can still run; so nothing that tells how jobs are served is
// better. Figures of the jobs that started, or finished, alone are: where few
// start they are those that came first.
func TestFewerGPUsServeNoBetter(t *testing.T) {
	alone := 0
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 8).Draw(rt, "most")
		var jobs []capcli.Job
		at := capcli.Time(0)
		for i := range rapid.IntRange(1, 30).Draw(rt, "jobs") {
			at += capcli.Time(rapid.SampledFrom([]int{0, 0, 1, 5, 30}).Draw(rt, "gap"))
			j := capcli.Job{
				ID: fmt.Sprint("j", i), Submit: at, Run: capcli.Seconds(rapid.IntRange(0, 200).Draw(rt, "run")),
				GPUs: rapid.IntRange(1, most).Draw(rt, "gpus"), Deadline: capcli.NoTime,
			}
			if rapid.Bool().Draw(rt, "due") {
				j.Deadline = at + capcli.Time(rapid.IntRange(1, 300).Draw(rt, "deadline"))
			}
			jobs = append(jobs, j)
		}
		until := capcli.Seconds(at) + capcli.Seconds(rapid.IntRange(1, 300).Draw(rt, "until"))
		few := rapid.IntRange(most, 2*most).Draw(rt, "few")
		play := func(gpus int) *simulate.Result {
			res, err := simulate.Run(context.Background(), simulate.Config{
				Until: until, Pools: []simulate.Pool{{Name: "base", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: gpus}}, List: jobs,
				Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			})
			if err != nil {
				rt.Fatal(err)
			}
			return res
		}
		a, b := play(few+rapid.IntRange(1, 8).Draw(rt, "more")), play(few)
		many, fewer := servedBy(a), servedBy(b)
		for name, v := range fewer {
			if was, known := many[name]; known && v < was-1e-9*math.Abs(was) {
				rt.Errorf("with fewer GPUs %s goes from %g to %g", name, was, v)
			}
		}
		if b.Wait.MeanStarted < a.Wait.MeanStarted || b.JCTFinished < a.JCTFinished {
			alone++
		}
	})
	if alone == 0 {
		t.Error("no world in which those that started or finished alone would have been better: the law says nothing")
	}
}

// A quantile among jobs that never started is not known; its lower bound is that
// of the waits until the end.
func TestWaitsOfAllJobs(t *testing.T) {
	var jobs []capcli.Job
	for i := range 8 { // one after another for 100 s: four start in 350 s, at 0, 100, 200 and 300
		jobs = append(jobs, capcli.Job{ID: fmt.Sprint(i), GPUs: 1, Run: 100, Deadline: capcli.NoTime})
	}
	jobs = append(jobs, capcli.Job{ID: "big", GPUs: 2, Run: 1, Submit: 50, Deadline: capcli.NoTime})
	res, err := simulate.Run(context.Background(), simulate.Config{
		Until: 350, Pools: []simulate.Pool{{Name: "base", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 1}}, List: jobs,
		Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := simulate.Stats{Jobs: 9, Started: 4, Mean: (0 + 100 + 200 + 300 + 4*350 + 300) / 9., MeanStarted: 150, P50: 300, P95: 350, P99: 350, Max: 350}
	if w := res.Wait; w != want || w.KnowsRank(50) || w.KnowsRank(100) || !w.KnowsRank(40) {
		t.Errorf("got %+v, want %+v", w, want)
	}
	if got, want := res.MeanJCT, (100+200+300+5*350+300)/9.; got != want {
		t.Errorf("mean JCT %g, want %g", got, want)
	}
	if res.JCTFinished != 200 || res.Makespan != 350 {
		t.Errorf("mean JCT of those that finished %g, want 200; makespan %d, want 350", res.JCTFinished, res.Makespan)
	}
}

// The quantiles of both kinds of wait together are those of the sorted list.
func TestQuantilesOfBothKinds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []capcli.Job
		for i := range rapid.IntRange(1, 40).Draw(rt, "jobs") {
			jobs = append(jobs, capcli.Job{
				ID: fmt.Sprint(i), GPUs: 1, Run: capcli.Seconds(rapid.IntRange(0, 90).Draw(rt, "run")), Submit: capcli.Time(3 * i), Deadline: capcli.NoTime,
			})
		}
		until := capcli.Seconds(rapid.IntRange(121, 400).Draw(rt, "until"))
		starts := map[string]capcli.Seconds{}
		res, err := simulate.Run(context.Background(), simulate.Config{
			Until: until, Pools: []simulate.Pool{{Name: "base", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 1}}, List: jobs,
			Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Observers: []simulate.Observer{onStart(func(e simulate.Event) { starts[e.Job.ID] = e.At })},
		})
		if err != nil {
			rt.Fatal(err)
		}
		var over, all []capcli.Seconds
		for _, j := range jobs {
			if s, did := starts[j.ID]; did {
				over = append(over, s-capcli.Seconds(j.Submit))
				all = append(all, over[len(over)-1])
			} else {
				all = append(all, until-capcli.Seconds(j.Submit))
			}
		}
		slices.Sort(over)
		slices.Sort(all)
		for percent, got := range map[int64]capcli.Seconds{50: res.Wait.P50, 95: res.Wait.P95, 99: res.Wait.P99, 100: res.Wait.Max} {
			rank := (int(percent)*len(all) + 99) / 100
			want := all[rank-1]
			if rank <= len(over) {
				want = over[rank-1]
			}
			if known := rank <= len(over); got != want || res.Wait.KnowsRank(percent) != known {
				rt.Fatalf("p%d is %d (known %v), want %d (%v)", percent, got, res.Wait.KnowsRank(percent), want, known)
			}
		}
	})
}

// onStart is an observer of jobs' starts.
type onStart func(simulate.Event)

func (f onStart) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start {
		f(e)
	}
}
