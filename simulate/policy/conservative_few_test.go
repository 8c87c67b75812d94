package policy

import (
	"context"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
)

// firsts returns the start of each job by the rule of startFirst, from an array with one figure for
// each second: the first jobs are promised their earliest starts anew at each instant, and a later
// job starts where it delays none of them.
func firsts(jobs []capcli.Job, gpus, first int) []capcli.Seconds {
	const length = 4000
	starts := make([]capcli.Seconds, len(jobs))
	for i := range starts {
		starts[i] = -1
	}
	for now := 0; now < length/2; now++ {
		var free [length]int
		for i := range free {
			free[i] = gpus
		}
		take := func(j *capcli.Job, from, to int) {
			for s := from; s < to; s++ {
				free[s] -= j.GPUs
			}
		}
		fits := func(j *capcli.Job, from int) bool {
			for s := from; s < from+int(j.Limit); s++ {
				if free[s] < j.GPUs {
					return false
				}
			}
			return true
		}
		event := false
		for i := range jobs {
			j := &jobs[i]
			event = event || int(j.Submit) == now || starts[i] >= 0 && int(starts[i]+j.Run) == now
			if starts[i] >= 0 && int(starts[i]+j.Run) > now {
				take(j, now, int(starts[i]+j.Limit))
			}
		}
		if !event {
			continue
		}
		n := 0
		for i := range jobs {
			j := &jobs[i]
			if starts[i] >= 0 || int(j.Submit) > now {
				continue
			}
			n++
			at := now
			for n <= first && !fits(j, at) {
				at++
			}
			switch {
			case n > first && !fits(j, now):
			case at == now:
				starts[i] = capcli.Seconds(now)
				fallthrough
			default:
				take(j, at, at+int(j.Limit))
			}
		}
	}
	return starts
}

type startTimes map[string]capcli.Seconds

func (s startTimes) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start {
		s[e.Job.ID] = e.Job.FirstStart
	}
}

func TestFirstJobsAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gpus := rapid.IntRange(2, 12).Draw(rt, "gpus")
		first := rapid.IntRange(1, 4).Draw(rt, "first")
		jobs := make([]capcli.Job, rapid.IntRange(1, 40).Draw(rt, "jobs"))
		at := 0
		for i := range jobs {
			at += rapid.IntRange(0, 6).Draw(rt, "gap")
			run := rapid.IntRange(1, 20).Draw(rt, "run")
			jobs[i] = capcli.Job{
				ID: strconv.Itoa(i), Submit: capcli.Time(at), Run: capcli.Seconds(run), Limit: capcli.Seconds(run + rapid.IntRange(0, 20).Draw(rt, "over")),
				GPUs: rapid.IntRange(1, gpus).Draw(rt, "size"), Deadline: capcli.NoTime,
			}
		}
		place, err := placement.Catalog.Get("count")
		if err != nil {
			rt.Fatal(err)
		}
		got := startTimes{}
		_, err = simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: jobs, Placement: place(), Observers: []simulate.Observer{got},
			Policy: func(simulate.Settings) simulate.Policy {
				return &conservative{few: true, allowed: allowance{first: first, short: -1}}
			},
			Pools: []simulate.Pool{{Name: "all", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: gpus}},
		})
		if err != nil {
			rt.Fatal(err)
		}
		for i, want := range firsts(jobs, gpus, first) {
			if s, ok := got[jobs[i].ID]; !ok || s != want {
				rt.Fatalf("job %d starts at %d (%v), want %d", i, s, ok, want)
			}
		}
	})
}
