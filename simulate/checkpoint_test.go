package simulate_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/reliability"
	"capcli/simulate/supply"
	"capcli/testdata/golden"
)

// tried is a job whose node fails: how much work it has, how much of it lies between two checkpoints and
// how long those, a restart, a repair and the mean time between failures are, all in seconds.
type tried struct{ Work, Every, Checkpoint, Restart, Down, MTBF float64 }

// meanLength returns how long the job takes in the mean (Daly, FGCS 2006, equation 20, with the downtime apart).
func (t tried) meanLength() float64 {
	pieces, last := 1.0, t.Work
	if t.Every > 0 && t.Work > t.Every {
		pieces = math.Ceil(t.Work / t.Every)
		last -= (pieces - 1) * t.Every
	}
	tries := (pieces-1)*math.Expm1((t.Every+t.Checkpoint)/t.MTBF) + math.Expm1(last/t.MTBF)
	return math.Exp(t.Restart/t.MTBF) * (t.MTBF + t.Down) * tries
}

// lengths plays a job alone on one node that fails, so many times, and returns how long it took.
func lengths(t *testing.T, runs int, task tried, class simulate.RestartClass) (out []float64) {
	t.Helper()
	for k := range runs {
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: []capcli.Job{{ID: "j", GPUs: 1, Run: capcli.Seconds(task.Work), Deadline: capcli.NoTime}},
			Pools: []simulate.Pool{{
				Name: "p", Nodes: 1, GPUsPerNode: 1, MTBF: capcli.Seconds(task.MTBF),
				Supply: supply.NewHazard(1, capcli.Seconds(task.MTBF), max(1, capcli.Seconds(task.Down)), 0, capcli.Seed(7).Stream(fmt.Sprint("run/", k))),
			}},
			Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			Restarts: simulate.Restarts{Mode: simulate.Checkpoint, Classes: []simulate.RestartClass{class}},
		})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, float64(r.Makespan))
	}
	return out
}

// moments returns the mean and the standard error of the mean.
func moments(x []float64) (mean, se float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		se += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(se / float64(len(x)-1) / float64(len(x)))
}

// TestCompletionAsTheory: a job under failures takes as long as theory says, within three standard
// errors of 1,500 runs.
func TestCompletionAsTheory(t *testing.T) {
	golden.SkipLong(t)
	for _, task := range []tried{
		{Work: 14400, Every: 3600, Checkpoint: 60, Restart: 300, Down: 1800, MTBF: 21600},
		{Work: 43200, Every: 1800, Checkpoint: 300, Restart: 60, Down: 600, MTBF: 14400},
		{Work: 14400, Restart: 60, Down: 60, MTBF: 10800},
		{Work: 86400, Every: 7200, Checkpoint: 5, Restart: 0, Down: 3600, MTBF: 86400},
	} {
		x := lengths(t, 1500, task, simulate.RestartClass{
			Interval: capcli.Seconds(task.Every), Cost: capcli.Seconds(task.Checkpoint), Restart: capcli.Seconds(task.Restart),
		})
		want := task.meanLength()
		if mean, se := moments(x); math.Abs(mean-want) > 3*se {
			t.Errorf("%+v: took %.0f s on average, standard error %.0f; theory says %.0f", task, mean, se, want)
		}
	}
}

// TestAutoCheckpointsAreBest: the chosen interval ends a long job sooner than half or twice of it.
func TestAutoCheckpointsAreBest(t *testing.T) {
	task := tried{Work: 400_000, Checkpoint: 300, Restart: 60, Down: 1, MTBF: 20_000}
	best := capcli.Seconds(math.Round(reliability.BestInterval(300, 20_000)))
	run := func(c simulate.RestartClass) float64 {
		c.Cost, c.Restart = 300, 60
		mean, _ := moments(lengths(t, 150, task, c))
		return mean
	}
	auto := run(simulate.RestartClass{Auto: true})
	if stated := run(simulate.RestartClass{Interval: best}); auto != stated {
		t.Errorf("auto took %.0f s, the best interval of %s %.0f s", auto, best, stated)
	}
	for _, other := range []capcli.Seconds{best / 3, 3 * best} {
		if took := run(simulate.RestartClass{Interval: other}); took <= auto {
			t.Errorf("a checkpoint each %s took %.0f s, auto %.0f s", other, took, auto)
		}
	}
}

// TestSavings: the run says which interval it chose for which gang, and what storage held.
func TestSavings(t *testing.T) {
	r, err := simulate.Run(context.Background(), simulate.Config{
		Start: 0, List: []capcli.Job{
			{ID: "a", GPUs: 8, Run: 40_000, Deadline: capcli.NoTime}, {ID: "b", GPUs: 16, Run: 40_000, Deadline: capcli.NoTime},
		},
		Pools:  []simulate.Pool{{Name: "p", Nodes: 4, GPUsPerNode: 8, MTBF: 100_000}, {Name: "calm", Nodes: 1, GPUsPerNode: 2}},
		Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "consolidate"),
		Restarts: simulate.Restarts{Classes: []simulate.RestartClass{{Auto: true, Shards: simulate.Shards{GB: 80, GPURate: 2, StoreRate: 16, Background: 0.75, Keep: 2}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Interruptions.Savings
	want := []simulate.Saving{
		{Pool: "p", GPUs: 8, Nodes: 1, MTBF: 100_000, Interval: 1408, Cost: 10, Write: 30, Stays: 1},
		{Pool: "p", GPUs: 16, Nodes: 2, MTBF: 50_000, Interval: 1401, Cost: 20, Write: 60, Stays: 1},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// Each keeps two checkpoints of all its GPUs from the first that is safe to its end.
	var mb float64
	for i, s := range want {
		all := 40_000 + (40_000-1)/s.Interval*s.Cost
		mb += float64(160_000*[]int{8, 16}[i]) * (all - s.Interval - s.Cost - s.Write).Hours()
	}
	if math.Abs(float64(r.Interruptions.StoredMB)-mb) > 2 {
		t.Errorf("storage held %d MB-hours, want %.0f", r.Interruptions.StoredMB, mb)
	}
}

// TestUnsafeCheckpoint: a checkpoint that is still being written when the node goes saves nothing.
func TestUnsafeCheckpoint(t *testing.T) {
	for _, c := range []struct{ lost, want capcli.Seconds }{
		{lost: 135, want: 135 + 210}, // the checkpoint after 100 s of work is written until 140 s: all 135 s are lost
		{lost: 140, want: 140 + 100}, // it is safe: 100 of the 200 s of work remain
	} {
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: []capcli.Job{{ID: "a", GPUs: 1, Run: 200, Deadline: capcli.NoTime}},
			Pools: []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: 1, Supply: &comings{[]simulate.Change{
				{At: c.lost, Kind: simulate.Lose}, {At: c.lost, Kind: simulate.Gain},
			}}}},
			Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			Restarts: simulate.Restarts{Classes: []simulate.RestartClass{{Interval: 100, Cost: 10, Write: 30}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Makespan != c.want {
			t.Errorf("lost at %d: ended at %d, want %d", c.lost, r.Makespan, c.want)
		}
	}
}

// TestAutoWithNotice: losses that are announced early enough for a last checkpoint need no others. By hand: a node goes
// at 1,000 s, announced 60 s before, and comes back at once. A checkpoint of 20 s is taken at the end of the notice, so
// that 20 s of the stay are without progress, as is the restart of 10 s.
func TestAutoWithNotice(t *testing.T) {
	for _, c := range []struct {
		name                  string
		notice, racks         capcli.Seconds
		interval, end, redone capcli.Seconds
		noticed               bool
	}{
		{name: "long enough", notice: 60, end: 3000 + 20 + 10, redone: 30, noticed: true},
		{name: "just long enough", notice: 20, end: 3000 + 20 + 10, redone: 30, noticed: true},
		{name: "racks give no notice", notice: 60, racks: 50_000, interval: 1401, end: 3000 + 20 + 10 + 20, redone: 50, noticed: true},
		{name: "too short", notice: 19, interval: 187, end: 0},
		{name: "none", notice: 0, interval: 187, end: 0},
	} {
		changes := []simulate.Change{{At: 1000 - c.notice, Kind: simulate.Drain}, {At: 1000, Kind: simulate.Lose}, {At: 1000, Kind: simulate.Gain}}
		if c.notice == 0 {
			changes = changes[1:]
		}
		pool := simulate.Pool{Name: "p", Nodes: 1, GPUsPerNode: 1, MTBF: 1000, Notice: c.notice, Supply: &comings{changes}}
		if c.racks > 0 {
			pool.RackMTBF, pool.RackNodes = c.racks, 1
		}
		r, err := simulate.Run(context.Background(), simulate.Config{
			Start: 0, List: []capcli.Job{{ID: "a", GPUs: 1, Run: 3000, Deadline: capcli.NoTime}}, Pools: []simulate.Pool{pool},
			Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
			Restarts: simulate.Restarts{Classes: []simulate.RestartClass{{Auto: true, Cost: 20, Restart: 10}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Interruptions.Savings) != 1 {
			t.Fatalf("%s: savings %+v", c.name, r.Interruptions.Savings)
		}
		s := r.Interruptions.Savings[0]
		if s.Interval != c.interval || s.Noticed != c.noticed || c.racks == 0 && s.MTBF != 1000 {
			t.Errorf("%s: %+v, want a checkpoint each %s, on notice %v", c.name, s, c.interval, c.noticed)
		}
		if c.end > 0 && (r.Makespan != c.end || r.Redone != capcli.GPUTime(c.redone)*capcli.GPUSecond) {
			t.Errorf("%s: ended at %s with %v redone, want %s and %s", c.name, r.Makespan, r.Redone, c.end, c.redone)
		}
	}
}
