package simulate_test

import (
	"context"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/policy"

	"pgregory.net/rapid"
)

// work gives thousandths of GPU-seconds.
func work(gpus, seconds int64) capcli.GPUTime { return capcli.GPUTime(1000 * gpus * seconds) }

// Two GPUs until 100 s. Each case says what could have been done and what was.
func TestServed(t *testing.T) {
	job := func(id string, submit, run, gpus int) capcli.Job {
		return capcli.Job{ID: id, Submit: capcli.Time(submit), Run: capcli.Seconds(run), GPUs: gpus, Deadline: capcli.NoTime}
	}
	limited := job("killed", 0, 500, 2)
	limited.Limit = 40
	shared := job("half", 90, 50, 1)
	shared.GPUMilli = 500
	spot := simulate.Pool{Name: "spot", Terms: simulate.Spot, Nodes: 1, GPUsPerNode: 2}
	base := simulate.Pool{Name: "base", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 2}
	saves := simulate.Restarts{Mode: simulate.Checkpoint, Classes: []simulate.RestartClass{{Interval: 10, Cost: 1, Restart: 4}}}
	for _, c := range []struct {
		name     string
		jobs     []capcli.Job
		pool     simulate.Pool
		restarts simulate.Restarts
		open     bool // no period
		want     simulate.Served
	}{
		{
			name: "in flight, could not have ended", jobs: []capcli.Job{job("long", 40, 500, 2)},
			want: simulate.Served{Possible: work(2, 60), Done: work(2, 60)},
		},
		{
			name: "one behind another", jobs: []capcli.Job{job("a", 0, 60, 2), job("b", 10, 500, 2), job("c", 95, 1, 1)},
			want: simulate.Served{Possible: work(2, 60+90) + work(1, 1), Done: work(2, 60+40), Backlog: work(1, 1), Waiting: 1},
		},
		{
			name: "never placeable", jobs: []capcli.Job{job("big", 30, 500, 3), job("a", 30, 10, 2)},
			want: simulate.Served{Possible: work(3, 70) + work(2, 10), Done: work(2, 10), Refused: work(3, 500), Unplaceable: 1},
		},
		{
			name: "killed at its limit", jobs: []capcli.Job{limited},
			want: simulate.Served{Possible: work(2, 40), Done: work(2, 40)},
		},
		{
			name: "a share of a GPU", jobs: []capcli.Job{shared},
			want: simulate.Served{Possible: work(1, 10) / 2, Done: work(1, 10) / 2},
		},
		{
			name: "lost without a checkpoint", jobs: []capcli.Job{job("a", 0, 90, 2)}, pool: spot,
			want: simulate.Served{Possible: work(2, 90), Done: work(2, 55)},
		},
		{ // 35 s hold three checkpoints of 10 s; the job goes on at 45 s, works again from 49 s, and 51 s are 4 x 11 s and 7 s
			name: "lost with checkpoints", jobs: []capcli.Job{job("a", 0, 500, 2)}, pool: spot, restarts: saves,
			want: simulate.Served{Possible: work(2, 91), Done: work(2, 30+47)},
		},
		{
			name: "its own checkpoints are not in the way", jobs: []capcli.Job{job("a", 0, 500, 2)}, restarts: saves,
			want: simulate.Served{Possible: work(2, 91), Done: work(2, 91)},
		},
		{
			name: "without a period all work could be done", jobs: []capcli.Job{job("a", 0, 500, 2), job("big", 0, 70, 3)}, open: true,
			want: simulate.Served{Possible: work(2, 500) + work(3, 70), Done: work(2, 500), Refused: work(3, 70), Unplaceable: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.pool.Name == "" {
				c.pool = base
			}
			if c.pool.Terms == simulate.Spot {
				c.pool.Supply = &comings{[]simulate.Change{{At: 35, Kind: simulate.Lose}, {At: 45, Kind: simulate.Gain}}}
			}
			cfg := simulate.Config{
				Until: 100, Pools: []simulate.Pool{c.pool}, List: c.jobs, Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
				Restarts: c.restarts, KillAtLimit: true,
			}
			if c.open {
				cfg.Until = 0
			}
			res, err := simulate.Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if res.Served != c.want {
				t.Errorf("got  %+v\nwant %+v", res.Served, c.want)
			}
		})
	}
}

// In drawn worlds with a period possible work is that of the jobs alone,
// whatever the policy; what was done is what was held and not lost; and all is
// booked once, by what the jobs asked for.
func TestServedLaw(t *testing.T) {
	left, drawn := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		drawn++
		w := drawWorld(rt)
		w.withoutRules()
		until := capcli.Seconds(rapid.IntRange(1, 150).Draw(rt, "until"))
		kill := rapid.Bool().Draw(rt, "kill")
		w.jobs = slices.DeleteFunc(w.jobs, func(j capcli.Job) bool { return j.Submit >= capcli.Time(until) })
		w.restart.Classes[0].Interval, w.restart.Classes[0].Restart = 0, 0 // then a stay is all progress
		pools := slices.Clone(w.pools)
		for i, changes := range w.supply {
			pools[i].Supply = &comings{slices.Clone(changes)}
		}
		res, err := simulate.Run(context.Background(), simulate.Config{
			Until: until, Pools: pools, List: w.jobs, Settings: w.set, Overflow: w.over, Restarts: w.restart, Tenants: w.tenants,
			Policy: mustPolicy(t, rapid.SampledFrom(policy.Catalog.Names()).Draw(rt, "policy")), Placement: mustPlacement(t, "pack"),
			CPUJobs: w.cpuJobs, KillAtLimit: kill,
		})
		if err != nil {
			rt.Fatal(err)
		}
		var possible, held, lost capcli.GPUTime
		for _, j := range w.jobs {
			run := j.Run
			if kill && j.Limit > 0 {
				run = min(run, j.Limit)
			}
			possible += capcli.GPUTime(j.Milli() * int64(min(run, until-capcli.Seconds(j.Submit))))
		}
		for _, m := range res.Record.Months {
			for p := range m.Use {
				for _, u := range m.Use[p] {
					held, lost = held+u.Used, lost+u.Lost
				}
			}
		}
		s := &res.Served
		if s.Possible != possible || s.Done != held-lost || s.Done+s.Unserved() != possible {
			rt.Fatalf("possible %d, want %d; done %d, held %d of which %d lost", s.Possible, possible, s.Done, held, lost)
		}
		if s.Waiting != res.Jobs.Waiting || s.Unplaceable != res.Jobs.Unplaceable {
			rt.Fatalf("%+v of %+v", s, res.Jobs)
		}
		var sum simulate.Served
		for _, c := range res.ServedBy {
			sum.Possible, sum.Done = sum.Possible+c.Possible, sum.Done+c.Done
			sum.Backlog, sum.Refused = sum.Backlog+c.Backlog, sum.Refused+c.Refused
			sum.GivenUp, sum.Dropped = sum.GivenUp+c.GivenUp, sum.Dropped+c.Dropped
			sum.Waiting, sum.Unplaceable = sum.Waiting+c.Waiting, sum.Unplaceable+c.Unplaceable
		}
		if sum != *s {
			rt.Fatalf("by class %+v, in all %+v", sum, *s)
		}
		if s.Unserved() > 0 {
			left++
		}
	})
	if 4*left < drawn {
		t.Errorf("work was left in %d of %d worlds, too few to say anything", left, drawn)
	}
}
