package simulate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"capcli"
	"capcli/simulate"
)

// uses returns what each GPU of a job takes of one kind, in whole units, with a share of its run time in
// percent.
func uses(kind capcli.SharedKind, each, percent int64) *capcli.Uses {
	var u capcli.Uses
	u[kind] = capcli.Use{Each: each * 1e6, Share: percent * 1e4}
	return &u
}

func runShared(t *testing.T, p simulate.Pool, change func(*simulate.Config), jobs ...capcli.Job) (*simulate.Result, []string) {
	t.Helper()
	if p.Nodes == 0 {
		p.Nodes, p.GPUsPerNode = 4, 4
	}
	p.Name = "own"
	for i := range jobs {
		jobs[i].ID = string(rune('a' + i))
		jobs[i].GPUs = max(1, jobs[i].GPUs)
	}
	var log placeLog
	cfg := simulate.Config{
		Pools: []simulate.Pool{p}, List: jobs, Policy: mustPolicy(t, "fifo"), Settings: simulate.Settings{Skip: true},
		Placement: mustPlacement(t, "consolidate"), Observers: []simulate.Observer{&log},
	}
	if change != nil {
		change(&cfg)
	}
	r, err := simulate.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ends := slices.DeleteFunc(log.lines, func(s string) bool { return s[len(s)-4:] != "ends" })
	return r, ends
}

// TestContentionByHand checks ends worked out by hand.
func TestContentionByHand(t *testing.T) {
	store := func(most int64) simulate.Pool {
		return simulate.Pool{Shared: []simulate.Shared{{Kind: capcli.SharedStore, Micro: most * 1e6}}}
	}
	net := func(node, rack int64) simulate.Pool {
		return simulate.Pool{Domains: []simulate.Domain{{Level: "rack", Nodes: 2}}, Shared: []simulate.Shared{
			{Kind: capcli.SharedNet, Level: "node", Micro: node * 1e6}, {Kind: capcli.SharedNet, Level: "rack", Micro: rack * 1e6},
		}}
	}
	s := func(each int64) *capcli.Uses { return uses(capcli.SharedStore, each, 100) }
	for _, c := range []struct {
		name string
		pool simulate.Pool
		jobs []capcli.Job
		want string
		lost int64 // GPU-seconds
	}{
		{"alone", store(10), []capcli.Job{{Run: 100, Uses: s(10)}}, "[100 a ends]", 0},
		{"two at half of what they want", store(10), []capcli.Job{{Run: 100, Uses: s(10)}, {Run: 100, Uses: s(10)}}, "[200 a ends 200 b ends]", 200},
		{"three at a third", store(1), []capcli.Job{{Run: 1001, Uses: s(1)}, {Run: 1001, Uses: s(1)}, {Run: 1001, Uses: s(1)}}, "[3003 a ends 3003 b ends 3003 c ends]", 6006},
		// Of 12, the job that wants 2 has it; the others get 5 each: 6/5 and 10/5. At 100 a is gone, b
		// has 6 and c 6 of 10; at 117 b is gone, and c has done 50 + 17 x 0.6.
		{"max-min of three", store(12), []capcli.Job{{Run: 100, Uses: s(2)}, {Run: 100, Uses: s(6)}, {Run: 100, Uses: s(10)}}, "[100 a ends 117 b ends 157 c ends]", 74},
		// From 50 on, a has half of what it wants: 25 of its last 50 s are done when b ends.
		{"a neighbour comes and goes", store(10), []capcli.Job{{Run: 100, Uses: s(10)}, {Submit: 50, Run: 25, Uses: s(10)}}, "[100 b ends 125 a ends]", 50},
		{"a neighbour that takes nothing", store(10), []capcli.Job{{Run: 100, Uses: s(10)}, {Run: 100}}, "[100 a ends 100 b ends]", 0},
		// 40 % of the run time takes twice as long.
		{"a share of the step", store(10), []capcli.Job{{Run: 100, Uses: uses(capcli.SharedStore, 10, 40)}, {Run: 100, Uses: uses(capcli.SharedStore, 10, 40)}}, "[140 a ends 140 b ends]", 80},
		// Six flows of 2 on 9: 1.5 each.
		{"each GPU is a flow", store(9), []capcli.Job{{GPUs: 4, Run: 90, Uses: s(2)}, {GPUs: 2, Run: 90, Uses: s(2)}}, "[120 a ends 120 b ends]", 180},
		// Within one node nothing leaves it.
		{"a gang in one node", net(4, 4), []capcli.Job{{GPUs: 4, Run: 100, Uses: uses(capcli.SharedNet, 9, 100)}}, "[100 a ends]", 0},
		// Four flows leave each node of 16 at 4 of 8; within one rack nothing leaves that.
		{"a gang in one rack", net(16, 4), []capcli.Job{{GPUs: 8, Run: 100, Uses: uses(capcli.SharedNet, 8, 100)}}, "[200 a ends]", 800},
		// Over two racks the eight flows out of one share 16: 2 of 8.
		{"a gang over racks", net(16, 16), []capcli.Job{{GPUs: 16, Run: 100, Uses: uses(capcli.SharedNet, 8, 100)}}, "[400 a ends]", 4800},
		{"CPUs of a node", simulate.Pool{Shared: []simulate.Shared{{Kind: capcli.SharedCPU, Level: "node", Micro: 8e6}}}, []capcli.Job{
			{GPUs: 2, Run: 100, Uses: uses(capcli.SharedCPU, 4, 100)}, {GPUs: 2, Run: 100, Uses: uses(capcli.SharedCPU, 4, 100)}, {GPUs: 2, Run: 100, Uses: uses(capcli.SharedCPU, 4, 100)},
		}, "[100 c ends 200 a ends 200 b ends]", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, got := runShared(t, c.pool, nil, c.jobs...)
			if fmt.Sprint(got) != c.want {
				t.Errorf("got  %v\nwant %s", got, c.want)
			}
			var lost capcli.GPUTime
			for _, row := range r.Contention.Rows {
				lost += row.Lost
			}
			if d := c.lost*1000 - int64(lost); d < 0 || d > 1000*int64(len(c.jobs)) {
				t.Errorf("%v lost, want %d GPU-seconds, rounded up by less than a second a job", lost, c.lost)
			}
		})
	}
}

// TestContentionAndLosses checks slow jobs that come to their limit, lose a node, or are preempted, by hand.
func TestContentionAndLosses(t *testing.T) {
	pool := func() simulate.Pool {
		return simulate.Pool{Nodes: 2, GPUsPerNode: 1, Shared: []simulate.Shared{{Kind: capcli.SharedStore, Micro: 10e6}}}
	}
	takes := uses(capcli.SharedStore, 10, 100)
	t.Run("limit", func(t *testing.T) {
		r, got := runShared(t, pool(), func(c *simulate.Config) { c.KillAtLimit = true },
			capcli.Job{Run: 100, Limit: 150, Uses: takes}, capcli.Job{Run: 100, Limit: 150, Uses: takes})
		if fmt.Sprint(got) != "[150 a ends 150 b ends]" || r.Jobs.Killed != 2 {
			t.Errorf("%v, %d killed", got, r.Jobs.Killed)
		}
	})
	t.Run("limit that is not reached", func(t *testing.T) { // its neighbour goes in time
		r, got := runShared(t, pool(), func(c *simulate.Config) { c.KillAtLimit = true },
			capcli.Job{Run: 100, Limit: 130, Uses: takes}, capcli.Job{Run: 25, Limit: 60, Uses: takes})
		if fmt.Sprint(got) != "[50 b ends 125 a ends]" || r.Jobs.Killed != 0 {
			t.Errorf("%v, %d killed", got, r.Jobs.Killed)
		}
	})
	// At 50 both have done 25. a keeps 20 and is back at 60; b has done 35 by then. Both want their share again, and a restarts for 5 s.
	// b ends 130 s later; a has then 17.5 s left, at full speed.
	t.Run("a node is lost", func(t *testing.T) {
		p := pool()
		p.Supply = &changes{{At: 50, Kind: simulate.Lose}, {At: 60, Kind: simulate.Gain}}
		_, got := runShared(t, p, func(c *simulate.Config) {
			c.Restarts = simulate.Restarts{Mode: simulate.Checkpoint, Classes: []simulate.RestartClass{{Interval: 10, Restart: 5}}}
		}, capcli.Job{Run: 100, Uses: takes}, capcli.Job{Run: 100, Uses: takes})
		if fmt.Sprint(got) != "[190 b ends 208 a ends]" {
			t.Errorf("%v", got)
		}
	})
}

// TestContentionInSweeps checks that slow trials report when they have done the work of a rung: three at a third of their speed come
// to 25 of 100 at 75, where b ends; the other two come to 50 at 125, where c ends.
func TestContentionInSweeps(t *testing.T) {
	half := &capcli.Sweep{Name: "h", Stop: capcli.StopHalving, Keep: 2, Rungs: []float64{0.25, 0.5}}
	trial := func(scores ...float64) capcli.Job {
		return capcli.Job{Run: 100, Uses: uses(capcli.SharedStore, 10, 100), Stage: &capcli.Stage{Sweep: half, Scores: scores}}
	}
	r, got := runShared(t, simulate.Pool{Shared: []simulate.Shared{{Kind: capcli.SharedStore, Micro: 10e6}}}, nil, trial(5, 5), trial(9, 1), trial(1, 9))
	if fmt.Sprint(got) != "[75 b ends 125 c ends 175 a ends]" || r.Stages.EndedEarly != 2 || r.Stages.Spared != 125*capcli.GPUSecond {
		t.Errorf("%v, %+v", got, *r.Stages)
	}
}

// changes is a supply of a list.
type changes []simulate.Change

func (c *changes) Next() (simulate.Change, bool) {
	if len(*c) == 0 {
		return simulate.Change{}, false
	}
	x := (*c)[0]
	*c = (*c)[1:]
	return x, true
}
