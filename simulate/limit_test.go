package simulate_test

import (
	"context"
	"fmt"
	"testing"

	"capcli"
	"capcli/simulate"
)

// TestALimitIsWallTime ends jobs at their limit, checkpoints and restarts
// included, with the work that they had done by then.
func TestALimitIsWallTime(t *testing.T) {
	every := func(interval, cost, restart capcli.Seconds) []simulate.RestartClass {
		return []simulate.RestartClass{{Interval: interval, Cost: cost, Restart: restart}}
	}
	for _, c := range []struct {
		name       string
		run, limit capcli.Seconds
		mode       simulate.Mode
		classes    []simulate.RestartClass
		lost       capcli.Seconds // the node goes for a second; 0 is never
		end        capcli.Seconds
		killed     int64
		progress   capcli.Seconds
	}{
		{name: "without checkpoints", run: 200, limit: 100, end: 100, killed: 1, progress: 100},
		{name: "with checkpoints", run: 200, limit: 100, classes: every(10, 5, 0), end: 100, killed: 1, progress: 70},
		{name: "checkpoints take it over its limit", run: 90, limit: 100, classes: every(10, 5, 0), end: 100, killed: 1, progress: 70},
		{name: "checkpoints leave it time", run: 60, limit: 100, classes: every(10, 5, 0), end: 85, progress: 60},
		{name: "a loss gives it a new limit", run: 90, limit: 100, lost: 50, end: 51 + 90, progress: 90},
		{name: "a restart counts", run: 90, limit: 100, classes: every(0, 0, 30), lost: 50, end: 151, killed: 1, progress: 70},
	} {
		t.Run(c.name, func(t *testing.T) {
			supply := &script{}
			if c.lost > 0 {
				supply.changes = []simulate.Change{{At: c.lost, Kind: simulate.Lose}, {At: c.lost + 1, Kind: simulate.Gain}}
			}
			var end capcli.Seconds
			r, err := simulate.Run(context.Background(), simulate.Config{
				List:   []capcli.Job{{ID: "a", Run: c.run, Limit: c.limit, GPUs: 2, Deadline: capcli.NoTime}},
				Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), KillAtLimit: true,
				Pools:     []simulate.Pool{{Name: "base", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 2, Supply: supply}},
				Restarts:  simulate.Restarts{Mode: c.mode, Classes: c.classes},
				Observers: []simulate.Observer{onFinish(func(l *simulate.Live) { end = l.Ended })},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint(end, r.Jobs.Killed, r.Goodput), fmt.Sprint(c.end, c.killed, capcli.GPUTime(c.progress)*2*capcli.GPUSecond); got != want {
				t.Errorf("ended, killed, progress: got %s, want %s", got, want)
			}
		})
	}
}

// TestSuspendedTimeIsNoPartOfALimit suspends a job for one of more priority: its
// limit goes on where it was.
func TestSuspendedTimeIsNoPartOfALimit(t *testing.T) {
	var end capcli.Seconds
	_, err := simulate.Run(context.Background(), simulate.Config{
		List: []capcli.Job{
			{ID: "low", Run: 200, Limit: 100, GPUs: 2, Deadline: capcli.NoTime},
			{ID: "high", Submit: 40, Run: 1000, GPUs: 2, Priority: 1, Deadline: capcli.NoTime},
		},
		Policy: mustPolicy(t, "priority-preempt"), Placement: mustPlacement(t, "count"), KillAtLimit: true,
		Pools:    []simulate.Pool{{Name: "base", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 2}},
		Restarts: simulate.Restarts{Mode: simulate.Suspend, Classes: []simulate.RestartClass{{Restart: 7}}},
		Observers: []simulate.Observer{onFinish(func(l *simulate.Live) {
			if l.ID == "low" {
				end = l.Ended
			}
		})},
	})
	if want := capcli.Seconds(1040 + 60); err != nil || end != want {
		t.Errorf("ended at %d, %v; want %d", end, err, want)
	}
}

// TestOrderedGPUsAreWaitedFor has one job order GPUs that come after a lead
// time: until then it starts, it does not run, and the queue holds it.
func TestOrderedGPUsAreWaitedFor(t *testing.T) {
	run := func(until capcli.Seconds) *simulate.Result {
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, Until: until, List: []capcli.Job{{ID: "a", Run: 100, GPUs: 2, Deadline: capcli.NoTime}},
			Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			Pools: []simulate.Pool{{Name: "od", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 2, Lead: 300}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		until             capcli.Seconds
		starting, running int64
		waits             int64
		queue             float64
		used              capcli.Seconds
	}{
		{200, 1, 0, 1, 1, 0},
		{350, 0, 1, 1, 300.0 / 350, 50},
		{400, 0, 0, 1, 0.75, 100},
	} {
		r := run(c.until)
		got := fmt.Sprint(r.Jobs.Starting, r.Jobs.Running, r.Wait.Jobs, r.QueueMax, r.QueueMean, usedIn(r.Record))
		if want := fmt.Sprint(c.starting, c.running, c.waits, 1, c.queue, capcli.GPUTime(c.used)*2*capcli.GPUSecond); got != want {
			t.Errorf("until %d: starting, running, waits, most and mean queue, used: got %s, want %s", c.until, got, want)
		}
	}
}
